package main

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
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
)

// The guarantee of the private teachers of lab/digits.
const digitEpsilon, digitDelta = 0.6, 1e-4

// digits makes the shape of Tables 1, 6, 8 and 10: accuracy on real digits by the votes of
// eleven trained teachers, for each budget of an answer and number of queries. It is long because
// most of it is the text of the page.
func (e *experiment) digits(from string) {
	private := try.Must(votes.Read(filepath.Join(from, "digits-58-private.gz")))
	sharded := try.Must(votes.Read(filepath.Join(from, "digits-58-shards.gz")))
	tried, best := e.chosen(filepath.Join(from, "digits-58-private.csv"))
	without, shard := e.chosen(filepath.Join(from, "digits-58-shards.csv"))
	e.printf(`## Tables 1, 6, 8 and 10, on other data: real digits 5 and 8

Eleven teachers on digits of MNIST ([lab/digits](../../lab/digits/main.go): 1,557 images for training, 250 for queries),
each (%g, %g)-DP and trained on all images; GNMax has eleven teachers without privacy on disjoint parts. Share of right
answers, mean and in brackets the standard deviation of 10 draws of Q queries; the paper's teachers are convolutional networks with seven times as many images. ε times the number of images is the paper's, rounded down. [Numbers](darrm-digits.csv).

Settings were chosen by the mean accuracy of teachers on 300 of the training images. Of %d settings for private teachers ([all](../../lab/votes/testdata/digits-58-private.csv)) the best were
%s: %.1f %% right. Of %d for those without privacy ([all](../../lab/votes/testdata/digits-58-shards.csv)) they were
%s: %.1f %%. The choice is not charged, as in the paper.

| m | table of the paper | Q | GNMax | constant | subsampling | double | optimal | majority without noise |
|---|---|---|---|---|---|---|---|---|
`, digitEpsilon, digitDelta, tried, best.what, 100*best.share,
		without, shard.what, 100*shard.share)
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
			e.printf("| %g | %d | %d |", m, []int{6, 1, 8, 10}[i], q)
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
				e.printf(" %.2f (%.2f) |", mean, sd)
				table = append(table, fmt.Sprintf("%g,%d,%s,%.4f,%.4f", m, q, method.name, mean, sd))
			}
			e.printf("\n")
		}
	}
	e.printf("\nThe budget is what the paper charges, as if each query had teachers of its own.\n\n")
	try.Check(os.WriteFile(filepath.Join(e.dir, "darrm-digits.csv"), []byte(strings.Join(table, "\n")+"\n"), 0o644))
}

// A choice is a setting of lab/digits and how often its teachers are right.
type choice struct {
	what  string
	share float64
}

// chosen returns how many settings were tried, and the best one.
func (e *experiment) chosen(file string) (tried int, best choice) {
	f := try.Must(os.Open(file))
	defer f.Close()
	rows := try.Must(csv.NewReader(f).ReadAll())
	for _, row := range rows[1:] {
		share := try.Must(strconv.ParseFloat(row[4], 64))
		if share > best.share {
			alike := ""
			if row[1] == "true" {
				alike = " made alike"
			}
			best = choice{fmt.Sprintf("%s×%s means of pixels%s, %s gradients, rate %s", row[0], row[0], alike, row[2], row[3]), share}
		}
	}
	return len(rows) - 1, best
}

// answer reports that a method answers a query rightly.
func (e *experiment) answer(method curve, private, sharded votes.Query, sigma float64, rng *rand.Rand, coins rand.Source) bool {
	if method.gamma == nil {
		n := sharded.Counts(2)
		lead := float64(n[1]-n[0]) + sigma*(rng.NormFloat64()-rng.NormFloat64())
		return (lead > 0) == (sharded.Label == 1)
	}
	ones := make([]bool, len(private.Votes))
	for i, v := range private.Votes {
		ones[i] = v == 1
	}
	return try.Must(darrm.Release(method.gamma, ones, coins)) == (private.Label == 1)
}
