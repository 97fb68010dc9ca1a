package main

// Private prediction, by synthetic teachers without a data set and by the votes of trained ones: how often each rule is right.

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
)

// prediction simulates private prediction without a data set: eleven teachers
// answer each query rightly with one probability, independently.
func (e *experiment) prediction() {
	const k, eps, delta, queries, repeats = 11, 0.0892, 1e-4, 100, 40
	p := darrm.Params{Mechanisms: k, Epsilon: eps, Delta: delta, Allowance: 3, OutputDelta: 3 * delta}
	cs := e.families(p, k, -1+1/math.Pow(1-delta, k))
	sigma, _ := gnmaxNoise(p.Allowance*eps, p.OutputDelta)
	e.page["predictionTeachers"], e.page["predictionEpsilon"], e.page["predictionDelta"] = k, eps, delta
	e.page["answerEpsilon"], e.page["answerDelta"] = p.Allowance*eps, p.OutputDelta
	e.page["answers"], e.page["repeats"], e.page["queries"] = queries*repeats, repeats, queries
	rng := rand.New(rand.NewPCG(11, 3))
	coins := rand.NewChaCha8([32]byte{11})
	for _, q := range []float64{0.6, 0.7, 0.8, 0.9, 0.95, 1} {
		law := try.Must(darrm.PoissonBinomial(same(q, k)))
		gnmax := 0.0
		for l, v := range law {
			gnmax += v * gnmaxAccuracy(float64(2*l-k), sigma)
		}
		right := make([]int, 5)
		for range queries * repeats {
			label, votes, lead := rng.IntN(2) == 1, make([]bool, k), 0
			for i := range votes {
				votes[i] = (rng.Float64() < q) == label
				if votes[i] == label {
					lead++
				} else {
					lead--
				}
			}
			for i, c := range cs {
				bit := try.Must(darrm.Release(c.gamma, votes, coins))
				if bit == label {
					right[i]++
				}
			}
			if float64(lead)+sigma*(rng.NormFloat64()-rng.NormFloat64()) > 0 {
				right[4]++
			}
		}
		share := func(i int) float64 { return float64(right[i]) / (queries * repeats) }
		e.page.Add("prediction", "| %g | %.4f (%.3f) |", q, gnmax, share(4))
		for _, i := range []int{3, 2, 1, 0} {
			e.page.Add("prediction", " %.4f (%.3f) |", accuracy(cs[i].gamma, law), share(i))
		}
		one, _ := darrm.Constant(k, 1)
		e.page.Add("prediction", " %.4f |\n", accuracy(one, law))
	}
}

// accuracy is the probability of the right answer when l of the votes are right.
func accuracy(g darrm.Gamma, law []float64) float64 {
	a := 0.0
	for l, v := range law {
		if 2*l > len(law)-1 {
			a += v * (1 + g[l]) / 2
		} else {
			a += v * (1 - g[l]) / 2
		}
	}
	return a
}

// gnmaxNoise returns the smallest standard deviation for which the noisy
// maximum of the vote counts of non-private teachers on disjoint data (GNMax of
// Papernot and others, "Scalable Private Learning with PATE", ICLR 2018) is
// (ε, δ)-DP by its Rényi bound λ/σ² and the conversion ε + log(1/δ)/(λ−1), with
// the order λ that gives it. It is the paper's comparison; the Gaussian profile
// itself needs less noise.
func gnmaxNoise(epsilon, delta float64) (sigma, order float64) {
	l := -xmath.Log(delta)
	x := (l + math.Sqrt(l*l+epsilon*l)) / epsilon
	// εx − L is √(L² + εL), free of cancellation.
	return math.Sqrt((1 + x) * x / math.Sqrt(l*l+epsilon*l)), 1 + x
}

// gnmaxAccuracy returns the probability that GNMax on two classes answers with
// the class that leads by the given number of votes.
func gnmaxAccuracy(lead, sigma float64) float64 {
	return xmath.NormalTail(-lead / (sigma * math.Sqrt2))
}

// The guarantee of the private teachers of lab/digits.
const digitEpsilon, digitDelta = 0.6, 1e-4

// digits makes the shape of Tables 1, 6, 8 and 10: accuracy on real digits by the votes of
// eleven trained teachers, for each budget of an answer and number of queries.
func (e *experiment) digits() {
	private := try.Must(votes.Read(filepath.Join(e.votes, "digits-58-private.gz"), 0, 1))
	sharded := try.Must(votes.Read(filepath.Join(e.votes, "digits-58-shards.gz"), 0, 1))
	e.page["digitEpsilon"], e.page["digitDelta"] = digitEpsilon, digitDelta
	e.page["tried"], e.page["best"], e.page["bestShare"] = e.chosen("digits-58-private.csv")
	e.page["without"], e.page["shard"], e.page["shardShare"] = e.chosen("digits-58-shards.csv")
	table := []string{"m,Q,method,mean,deviation"}
	rng := rand.New(rand.NewPCG(19, 12))
	coins := rand.NewChaCha8([32]byte{19})
	for i, m := range []float64{1, 3, 5, 7} {
		p := darrm.Params{Mechanisms: 11, Epsilon: digitEpsilon, Delta: digitDelta, Allowance: m, OutputDelta: m * digitDelta}
		cs := e.families(p, 11, -math.Expm1(11*math.Log1p(-digitDelta)))
		c, _ := try.Must2(darrm.BestConstant(e.ctx, p))
		one, _ := darrm.Constant(11, 1)
		fixed, _ := darrm.Constant(11, c)
		sigma, _ := gnmaxNoise(p.Allowance*p.Epsilon, p.OutputDelta)
		methods := []curve{{"GNMax", nil}, {"constant", fixed}, cs[2], cs[1], cs[0], {"noise-free", one}}
		for _, q := range []int{20, 50, 100} {
			e.page.Add("digits", "| %g | %d | %d |", m, []int{6, 1, 8, 10}[i], q)
			for _, method := range methods {
				var sum, squares float64
				for range 10 {
					right := 0
					for _, at := range rng.Perm(len(private))[:q] {
						if e.answer(method, private[at], sharded[at], sigma, rng, coins) {
							right++
						}
					}
					share := float64(right) / float64(q)
					sum, squares = sum+share, squares+share*share
				}
				mean := sum / 10
				sd := math.Sqrt(max(0, squares-sum*sum/10) / 9)
				e.page.Add("digits", " %.2f (%.2f) |", mean, sd)
				table = append(table, fmt.Sprintf("%g,%d,%s,%.4f,%.4f", m, q, method.name, mean, sd))
			}
			e.page.Add("digits", "\n")
		}
	}
	try.Check(os.WriteFile(filepath.Join(e.dir, "darrm-digits.csv"), []byte(strings.Join(table, "\n")+"\n"), 0o644))
}

// chosen returns how many settings of lab/digits were tried, the best one, and how often in a hundred its teachers are right.
func (e *experiment) chosen(file string) (tried int, best string, percent float64) {
	f := try.Must(os.Open(filepath.Join(e.votes, file)))
	defer f.Close()
	rows := try.Must(csv.NewReader(f).ReadAll())
	for _, row := range rows[1:] {
		share := 100 * try.Must(strconv.ParseFloat(row[4], 64))
		if share > percent {
			alike := ""
			if row[1] == "true" {
				alike = " made alike"
			}
			best, percent = fmt.Sprintf("%s×%s means of pixels%s, %s gradients, rate %s", row[0], row[0], alike, row[2], row[3]), share
		}
	}
	return len(rows) - 1, best, percent
}

// answer reports that a method answers a query rightly.
func (e *experiment) answer(method curve, private, sharded votes.Row, sigma float64, rng *rand.Rand, coins rand.Source) bool {
	if method.gamma == nil {
		n := sharded.Counts(2)
		lead := float64(n[1]-n[0]) + sigma*(rng.NormFloat64()-rng.NormFloat64())
		return (lead > 0) == (sharded.Label == 1)
	}
	ones := make([]bool, len(private.Numbers))
	for i, v := range private.Numbers {
		ones[i] = v == 1
	}
	return try.Must(darrm.Release(method.gamma, ones, coins)) == (private.Label == 1)
}
