package choice

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpaccountant/accountant/internal/random"
)

// checkLaw compares counts of n draws with a law by χ², at a level of 1e-6.
func checkLaw(t *testing.T, name string, counts, law []float64) {
	t.Helper()
	n, chi, bins := 0.0, 0.0, -1.0
	for _, c := range counts {
		n += c
	}
	for i, p := range law {
		if p*n < 5 {
			if counts[i] > 40 {
				t.Errorf("%s: %v draws of an outcome of probability %v", name, counts[i], p)
			}
			continue
		}
		bins++
		chi += (counts[i] - p*n) * (counts[i] - p*n) / (p * n)
	}
	if limit := (distuv.ChiSquared{K: max(bins, 1)}).Quantile(1 - 1e-6); chi > limit {
		t.Errorf("%s: χ² = %v above %v: %v, want the law %v", name, chi, limit, counts, law)
	}
}

// The samplers draw from the laws that TestScoresExhaustively holds against the profiles.
func TestSamplerLaws(t *testing.T) {
	const n = 40_000
	scores := []float64{0.5, -1, 2, 2, 0}
	for _, noise := range []string{"gumbel", "exponential"} {
		src := random.Seeded(5)
		c := Candidates{Scores: scores, Sensitivity: 0.5}
		counts := make([]float64, len(scores))
		for range n {
			i, err := c.NoisyMax(noise, 0.8, src)
			if err != nil {
				t.Fatal(err)
			}
			counts[i]++
		}
		scaled := make([]float64, len(scores))
		for i, s := range scores {
			scaled[i] = s * 0.8 / (2 * 0.5)
		}
		which := gumbelNoise
		if noise == "exponential" {
			which = exponentialNoise
		}
		checkLaw(t, noise, counts, lawOf(which, scaled))
	}
	// Laplace noise, two candidates: the first is larger with probability 1 − (½ + x/4)e^{−x}.
	src := random.Seeded(6)
	c := Candidates{Scores: []float64{1.2, 0}, Sensitivity: 1, Monotone: true}
	counts := make([]float64, 2)
	for range n {
		i, err := c.NoisyMax("laplace", 1, src)
		if err != nil {
			t.Fatal(err)
		}
		counts[i]++
	}
	miss := (0.5 + 1.2/4) * math.Exp(-1.2)
	checkLaw(t, "laplace", counts, []float64{1 - miss, miss})
}

// Keys: the rate of new ones is π, with equality for whole numbers; the counts shown have
// the law of the noise.
func TestReleaseLaws(t *testing.T) {
	const n = 30_000
	for _, c := range []struct {
		noise            string
		scale, threshold float64
	}{{"gaussian", 2, 4}, {"laplace", 1.5, 3.5}, {"discrete-laplace", 1.5, 3}} {
		th := must(NewThreshold(c.noise, c.scale, c.threshold, 1))
		src := random.Seeded(7)
		counts := make([]float64, 2)
		for range n {
			shown, noisy, err := th.Release(1, src)
			if err != nil {
				t.Fatal(err)
			}
			if !shown {
				counts[0]++
				continue
			}
			counts[1]++
			if noisy < c.threshold-c.scale/1000 {
				t.Errorf("%v: a count of %v is shown below %v", c.noise, noisy, c.threshold)
			}
		}
		pi := shown(c.noise, c.scale, c.threshold)
		checkLaw(t, c.noise, counts, []float64{1 - pi, pi})
		if shown, _, err := th.Release(0, src); shown || err != nil {
			t.Errorf("%v: a partition without persons is shown", c.noise)
		}
	}
	s := must(NewSelectPartitions(0.5, 0.01, 1))
	src := random.Seeded(8)
	for _, persons := range []int64{0, 1, 5, 9, 40, 1 << 50} {
		counts := make([]float64, 2)
		for range n {
			keep, err := s.Keep(persons, src)
			if err != nil {
				t.Fatal(err)
			}
			if keep {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		p := s.(selectPartitions).probability(persons)
		checkLaw(t, "keep", counts, []float64{1 - p, p})
	}
}

// Accepting compares exact numbers: the far tail is in reach, which a uniform float64 put
// through a logarithm has not, and a candidate that is 800 scales worse is no error.
func TestAcceptedIsExact(t *testing.T) {
	// The first words of the source are the digits of the exponential number: a word of
	// zeros below ½ makes it tiny, so that a score next to the best is refused by its last
	// bit alone.
	tiny := math.Nextafter(1, 2) - 1
	src := &fixed{words: []uint64{0, 1 << 40, 1 << 63}}
	if accepted(src, -tiny, 0, 1) {
		t.Error("an exponential number of 2^−88 is above 2^−52")
	}
	src = &fixed{words: []uint64{1 << 20, 1 << 63}}
	if !accepted(src, -0x1p-52, 0, 1) {
		t.Error("an exponential number of 2^−44 is not above 2^−52")
	}
	c := Candidates{Scores: []float64{0, -800, -1e300}, Sensitivity: 1}
	for range 100 {
		if i, err := c.Exponential(2, random.Seeded(1)); i != 0 || err != nil {
			t.Errorf("candidate %d, %v", i, err)
		}
	}
}

// fixed is a source of given words, then of the largest one.
type fixed struct{ words []uint64 }

func (f *fixed) Uint64() uint64 {
	if len(f.words) == 0 {
		return math.MaxUint64
	}
	w := f.words[0]
	f.words = f.words[1:]
	return w
}

// Nil is the operating system's randomness.
func TestNilSource(t *testing.T) {
	c := Candidates{Scores: []float64{0, 0, 0, 0}, Sensitivity: 1}
	seen := map[int]bool{}
	for range 200 {
		i, err := c.PermuteAndFlip(1, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen[i] = true
	}
	if len(seen) != 4 {
		t.Errorf("of four equal candidates %v were chosen", seen)
	}
}

// The table that is drawn from satisfies the inequalities that are priced, exactly.
func TestKeepTableIsSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		eps, delta := math.Exp(rng.Float64()*6-3), math.Exp(-rng.Float64()*60-0.1)
		table, err := newKeepTable(eps, delta)
		if err != nil {
			t.Fatal(err)
		}
		// In units of 1e-15: float64 is all that this check has, so that only what is above
		// its own rounding counts.
		for n := 0; n <= len(table.keep)+len(table.hide); n++ {
			k0, h0 := table.at(n)
			k1, h1 := table.at(n + 1)
			if k1 > (math.Exp(eps)*k0+delta)*(1+1e-15) || h1 < math.Exp(-eps)*(h0-delta)*(1-1e-15)-1e-16 {
				t.Errorf("ε = %v, δ = %v: π_%d = %v, then %v", eps, delta, n, k0, k1)
			}
			if k1 < k0 {
				t.Errorf("ε = %v, δ = %v: π falls from %v to %v", eps, delta, k0, k1)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errOf(NewExponential(0)), "exponential: epsilon: 0 is not in [1e-09, 100]"},
		{errOf(NewExponential(math.NaN())), "exponential: epsilon: NaN is not in [1e-09, 100]"},
		{errOf(NewPermuteAndFlip(101)), "permute-and-flip: epsilon: 101 is not in [1e-09, 100]"},
		{errOf(NewNoisyMax("gausian", 1)), `noisy-max: noise: "gausian" is not one of gumbel, exponential, laplace`},
		{errOf(NewNoisyMax("laplace", -1)), "noisy-max: epsilon: -1 is not in [1e-09, 100]"},
		{errOf(NewThreshold("gumbel", 1, 2, 1)), `threshold: noise: "gumbel" is not one of gaussian, laplace, discrete-laplace`},
		{errOf(NewThreshold("gaussian", 0, 2, 1)), "threshold: standard-deviation: 0 is not in [1e-06, 1e+12]"},
		{errOf(NewThreshold("laplace", math.Inf(1), 2, 1)), "threshold: scale: +Inf is not in [1e-06, 1e+12]"},
		{errOf(NewThreshold("gaussian", 1, 1, 1)), "threshold: threshold: 1 is not in (1, 1e+15]"},
		{errOf(NewThreshold("gaussian", 1, math.Inf(-1), 1)), "threshold: threshold: -Inf is not in (1, 1e+15]"},
		{errOf(NewThreshold("gaussian", 1, 2, 0)), "threshold: partitions: 0 is not an integer in [1, 1000000]"},
		{errOf(NewThreshold("laplace", 1, 2, 3)), "threshold: partitions: 3 is not 1, for laplace noise; a bound for more of them is as many runs (count: 3)"},
		{errOf(NewSelectPartitions(0, 1e-5, 1)), "select-partitions: epsilon: 0 is not in [1e-09, 100]"},
		{errOf(NewSelectPartitions(1, 0, 1)), "select-partitions: delta: 0 is not in [1e-290, 1)"},
		{errOf(NewSelectPartitions(1, 1, 1)), "select-partitions: delta: 1 is not in [1e-290, 1)"},
		{errOf(NewSelectPartitions(1e-7, 1e-9, 1)), "select-partitions: epsilon: 1e-07 is too small for δ = 1e-09: keys of up to 7.9e+07 persons are kept at random, more than 1000000"},
		{errOf(must(NewSelectPartitions(1, 1e-5, 1)).Pair(1)), "select-partitions: neighbors: substitute is not add-remove; selection is proved for one person added or removed"},
		{errOf(must(NewThreshold("gaussian", 1, 5, 1)).Pair(1)), "threshold: neighbors: substitute is not add-remove; thresholds are proved for one person added or removed"},
		{errOf(Candidates{Sensitivity: 1}.Exponential(1, nil)), "scores: is empty; must list at least one candidate"},
		{errOf(Candidates{Scores: []float64{1}}.PermuteAndFlip(1, nil)), "sensitivity: 0 is not in (0, 1e+100]"},
		{errOf(Candidates{Scores: []float64{1, math.NaN()}, Sensitivity: 1}.NoisyMax("laplace", 1, nil)), "scores[1]: NaN is not a finite number"},
		{errOf(Candidates{Scores: []float64{1}, Sensitivity: 1}.Exponential(0, nil)), "epsilon: 0 is not in [1e-09, 100]"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", c.err, c.want)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }
