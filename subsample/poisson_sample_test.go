package subsample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
)

// Every subset of a small population, with its exact probability. The seed is
// fixed, so the p-values are constants.
func TestPoissonSampleHasTheExactLaw(t *testing.T) {
	const draws = 60_000
	for _, rate := range []float64{1e-3, 0.3, 0.5, 0.97} {
		const n = 4
		law, counts := map[string]float64{}, map[string]float64{}
		for set := range 1 << n {
			p := 1.0
			var in []int64
			for i := range int64(n) {
				if set>>i&1 == 1 {
					p *= rate
					in = append(in, i)
				} else {
					p *= 1 - rate
				}
			}
			key := fmt.Sprint(in)
			if p*draws < 5 { // too rare to have cells of their own
				key = "rare"
			}
			law[key] += p
		}
		src := rand.NewPCG(5, 6)
		for range draws {
			key := fmt.Sprint(indices(ok(ok(NewPoisson(rate)).Sample(src, n))))
			if _, is := law[key]; !is {
				key = "rare"
			}
			counts[key]++
		}
		if p := chiSquareP(counts, law, draws); p < 1e-3 {
			t.Errorf("rate %v: chi-square p-value %v", rate, p)
		}
	}
}

// indices lists records that take part once.
func indices(picks []Pick) []int64 {
	var out []int64
	for _, p := range picks {
		if p.Copies != 1 {
			return nil
		}
		out = append(out, p.Index)
	}
	return out
}

// In a large population the size is binomial and the indices are uniform, even
// where the gaps are far beyond the 53 bits of a plain uniform number.
func TestPoissonSampleOfMany(t *testing.T) {
	for _, c := range []struct {
		rate float64
		n    int64
	}{{1e-6, 1e9}, {2e-13, 1 << 53}} {
		s := ok(NewPoisson(c.rate))
		src := rand.NewPCG(7, 8)
		const draws, cells = 400, 64
		mean := c.rate * float64(c.n)
		var sum, squares, total float64
		counts, law := map[string]float64{}, map[string]float64{}
		low := 0.0
		for range draws {
			xs := indices(ok(s.Sample(src, c.n)))
			last := int64(-1)
			for _, x := range xs {
				if x <= last || x >= c.n {
					t.Fatalf("index %d after %d", x, last)
				}
				last = x
				counts[fmt.Sprint(x/(c.n/cells+1))]++
				low += float64(x & 1)
				total++
			}
			d := float64(len(xs)) - mean
			sum += d
			squares += d * d
		}
		// Six standard errors of mean and variance (of a Poisson law, about).
		if z := sum / draws / math.Sqrt(mean/draws); math.Abs(z) > 6 {
			t.Errorf("rate %v: the mean size is off by %v standard errors", c.rate, z)
		}
		if z := (squares/draws/mean - 1) / math.Sqrt(2./draws); math.Abs(z) > 6 {
			t.Errorf("rate %v: the variance of the size is off by %v standard errors", c.rate, z)
		}
		for i := range int64(cells) {
			width := min(c.n/cells+1, c.n-i*(c.n/cells+1))
			law[fmt.Sprint(i)] = float64(width) / float64(c.n)
		}
		if p := chiSquareP(counts, law, total); p < 1e-3 {
			t.Errorf("rate %v: indices: chi-square p-value %v", c.rate, p)
		}
		if z := (low - total/2) / math.Sqrt(total/4); math.Abs(z) > 6 {
			t.Errorf("rate %v: odd indices are off by %v standard errors", c.rate, z)
		}
	}
}

func TestPoissonSampleEnds(t *testing.T) {
	src := rand.NewPCG(1, 2)
	if xs := ok(ok(NewPoisson(0)).Sample(src, 1e12)); len(xs) != 0 {
		t.Errorf("rate 0: %v", xs)
	}
	if xs := indices(ok(ok(NewPoisson(1)).Sample(src, 3))); fmt.Sprint(xs) != "[0 1 2]" {
		t.Errorf("rate 1: %v", xs)
	}
	if xs := ok(ok(NewPoisson(1e-300)).Sample(src, 1<<53)); len(xs) != 0 {
		t.Errorf("rate 1e-300: %v", xs)
	}
	if xs := ok(ok(NewPoisson(0.5)).Sample(nil, 1000)); len(xs) < 300 || len(xs) > 700 {
		t.Errorf("system: %d records of 1000 at rate 0.5", len(xs))
	}
	for _, n := range []int64{0, -5, 1<<53 + 1} {
		want := fmt.Sprintf("poisson: population: %d is not in [1, 9007199254740992]", n)
		if _, err := ok(NewPoisson(0.5)).Sample(src, n); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func ExamplePoisson_Sample() {
	s, _ := NewPoisson(1e-8)
	batch, _ := s.Sample(rand.NewPCG(1, 2), 1_000_000_000) // a release takes nil
	fmt.Println(len(batch) > 0, len(batch) < 30)
	// Output: true true
}

func BenchmarkPoissonSample(b *testing.B) {
	s := ok(NewPoisson(1e-3)) // a million of 1e9
	for name, src := range map[string]rand.Source{"pcg": rand.NewPCG(1, 2), "system": random.Source(nil)} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				ok(s.Sample(src, 1e9))
			}
		})
	}
}
