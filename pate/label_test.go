package pate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

const runs = 40_000

// within fails unless hits out of runs is within five standard deviations of
// the probability p.
func within(t *testing.T, name string, hits int, p float64) {
	t.Helper()
	if got, sd := float64(hits)/runs, math.Sqrt(p*(1-p)/runs); math.Abs(got-p) > 5*sd {
		t.Errorf("%s: frequency %v, want %v ± %v", name, got, p, 5*sd)
	}
}

func TestGNMaxRuns(t *testing.T) {
	src := rand.NewPCG(1, 2)
	n := []int64{7, 2, 1}
	var hits [3]int
	for range runs {
		hits[must(gnMax{1.5}.Label(n, 0, nil, src)).Class]++
	}
	for i, l := range newQuadrature(1.5).logProbabilities(n) {
		within(t, "gnmax", hits[i], math.Exp(l))
	}
}

func TestLNMaxRuns(t *testing.T) {
	src := rand.NewPCG(3, 4)
	hits := 0
	for range runs {
		hits += must(lnMax{.3}.Label([]int64{5, 1}, 0, nil, src)).Class
	}
	within(t, "lnmax", hits, (2+.3*4)/4*math.Exp(-.3*4))
}

func TestConfidentRuns(t *testing.T) {
	src := rand.NewPCG(5, 6)
	c := confident{6, 3, 1}
	n := []int64{5, 3, 2}
	answered, first := 0, 0
	for range runs {
		if a := must(c.Label(n, 0, nil, src)); a.Answered {
			answered++
			if a.Class == 0 {
				first++
			}
		} else if a.Class != -1 {
			t.Fatalf("no answer, but class %d", a.Class)
		}
	}
	pass, _ := thresholdLogs(6, 3, 5)
	within(t, "pass", answered, math.Exp(pass))
	within(t, "pass and plurality", first, math.Exp(pass+newQuadrature(1).logProbabilities(n)[0]))
}

func TestInteractiveRuns(t *testing.T) {
	src := rand.NewPCG(7, 8)
	n := []int64{5, 3, 2}
	c := interactive{confident{2, 3, 1}, .6, true}
	// v = max(5−7, 3−1, 2−2) = 2 with a student who is sure of class 0.
	answered, reinforced := 0, 0
	for range runs {
		switch a := must(c.Label(n, 10, []float64{.7, .1, .2}, src)); {
		case a.Answered:
			answered++
		case a.Class == 0:
			reinforced++
		default:
			t.Fatalf("a sure student got %+v", a)
		}
	}
	within(t, "answered", answered, .5)
	within(t, "reinforced", reinforced, .5)
	for range 100 {
		if a := must(c.Label(n, 10, []float64{.5, .3, .2}, src)); !a.Answered && a.Class != -1 {
			t.Fatalf("an unsure student is reinforced: %+v", a)
		}
	}
	// Rounding is ⌊v + ½⌋, not half to even (§6.2 E12), and v is clamped.
	for _, x := range []struct{ score, want float64 }{{4.5, 1}, {3.5, 2}, {4.6, 0}, {4.4, 1}} {
		if got := c.statistic([]int64{5, 5}, []float64{x.score, 5.5}, 10); got != x.want {
			t.Errorf("v = 5 − %v is rounded to %v, want %v", x.score, got, x.want)
		}
	}
}

// What runs is what the ledger prices, also where teachers abstain: N is the number of all of
// them. With the number of votes, 6, the check would pass with probability 0.5 instead of 0.37.
func TestInteractiveRunsAsPriced(t *testing.T) {
	src := rand.NewPCG(9, 10)
	n, scores := []int64{4, 1, 1}, []float64{.5, .25, .25}
	c := interactive{confident{0, 3, 1}, 1, true}
	v := must(ballots.NewVotes([][]int64{n}, 10))
	l := ledger(t, v, c, must(ballots.NewScores([][]float64{scores}, 10, false)))
	c.threshold = l.q.statistic[0] + 1
	l = ledger(t, v, c, must(ballots.NewScores([][]float64{scores}, 10, false)))
	answered := 0
	for range runs {
		if must(c.Label(n, 10, scores, src)).Answered {
			answered++
		}
	}
	within(t, "answered", answered, math.Exp(l.q.logPass[0]))
}

// Without a source the noise is seeded by the system: two runs differ.
func TestDefaultSource(t *testing.T) {
	hits := 0
	for range 200 {
		hits += must(gnMax{100}.Label([]int64{1, 0}, 0, nil, nil)).Class
	}
	if hits == 0 || hits == 200 {
		t.Errorf("%d of 200 runs chose the second class", hits)
	}
}

// A vote moves the statistic by at most 1, also where n − N·p has no room for its digits: 2 −
// (½ + 2^−52) rounds down to 1 and, in plain float64, 3 − (½ + 2^−52) up to 3.
func TestInteractiveStatisticMovesByOne(t *testing.T) {
	for _, rounded := range []bool{true, false} {
		c := interactive{rounded: rounded}
		for _, score := range []float64{0.5 + 0x1p-52, 0.5 + 0x1p-50, 1.0 / 3, 2.5 - 0x1p-51} {
			last := math.NaN()
			for n := range int64(10) {
				v := c.statistic([]int64{n, 10 - n}, []float64{score, 10}, 10)
				if v-last > 1 {
					t.Errorf("rounded %v, score %v: from %v to %v by vote %d", rounded, score, last, v, n)
				}
				last = v
			}
		}
	}
}
