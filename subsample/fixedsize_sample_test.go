package subsample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/slow"
)

// chiSquareP is the probability of a larger statistic under the law.
func chiSquareP(counts map[string]float64, law map[string]float64, draws float64) float64 {
	x, cells := 0.0, -1.0
	for k, p := range law {
		d := counts[k] - p*draws
		x += d * d / (p * draws)
		cells++
	}
	for k := range counts {
		if _, ok := law[k]; !ok {
			return 0
		}
	}
	return mathext.GammaIncRegComp(cells/2, x/2)
}

// outcomes lists the exact law of the whole sample, as text.
func outcomes(k kind, n, b, m int) map[string]float64 {
	law := map[string]float64{}
	total := 0.0
	add := func(y []int) {
		c := make([]int, n)
		for _, r := range y {
			c[r]++
		}
		law[fmt.Sprint(c)]++
		total++
	}
	var tuples func(n, size int, distinct bool, y []int, f func([]int))
	tuples = func(n, size int, distinct bool, y []int, f func([]int)) {
		if size == 0 {
			f(y)
			return
		}
	next:
		for r := range n {
			for _, s := range y {
				if distinct && s == r {
					continue next
				}
			}
			tuples(n, size-1, distinct, append(y, r), f)
		}
	}
	if k == withoutReplacement || k == withReplacement {
		tuples(n, m, k == withoutReplacement, nil, add)
	} else {
		tuples(n, b, k == mustOW, make([]int, 0, b), func(sub []int) {
			tuples(b, m, k == mustWO, make([]int, 0, m), func(slots []int) {
				y := make([]int, len(slots))
				for i, s := range slots {
					y[i] = sub[s]
				}
				add(y)
			})
		})
	}
	for k := range law {
		law[k] /= total
	}
	return law
}

// The whole sample, not only one record's count, has the law of the procedure.
// A fixed seed: the p-values are constants, and a wrong law gives less than
// 1e-100 at these numbers.
func TestSampleHasTheExactLaw(t *testing.T) {
	slow.Test(t)
	const draws = 150_000
	for _, s := range []fixedSize{
		{withoutReplacement, 6, 0, 3}, {withReplacement, 5, 0, 3}, {mustOW, 5, 3, 3}, {mustOW, 6, 2, 3}, {mustWO, 5, 4, 3}, {mustWW, 5, 3, 3}, {mustWW, 3, 2, 3}, {mustWW, 4, 5, 3},
	} {
		src := rand.NewPCG(1, uint64(s.kind))
		n := int(s.population)
		counts := map[string]float64{}
		distinct := 0.0
		for range draws {
			c := make([]int, n)
			last := int64(-1)
			for _, p := range s.draw(src) {
				if p.Index <= last || p.Copies < 1 {
					t.Fatalf("%v: not ascending, or no copies: %v", s, p)
				}
				last = p.Index
				c[p.Index] = int(p.Copies)
				distinct++
			}
			counts[fmt.Sprint(c)]++
		}
		if p := chiSquareP(counts, outcomes(s.kind, n, int(s.subset), int(s.batch)), draws); p < 1e-3 {
			t.Errorf("%v: chi-square p-value %v", s, p)
		}
		// Standard error at most 3/√draws.
		if mean := distinct / draws; math.Abs(mean-s.ExpectedDistinct()) > 4*1.5/math.Sqrt(draws) {
			t.Errorf("%v: %v distinct records, want %v", s, mean, s.ExpectedDistinct())
		}
	}
}

func TestSampleMultiplicityChiSquare(t *testing.T) {
	// One record's count at a middle size, over all records in turn.
	for _, s := range []fixedSize{{withoutReplacement, 6, 0, 2}, {withReplacement, 50, 0, 20}, {mustOW, 50, 10, 20}, {mustWO, 50, 30, 20}, {mustWW, 50, 10, 20}} {
		law := s.Multiplicity()
		src := rand.NewPCG(2, uint64(s.kind))
		const draws = 100_000
		seen := make([]float64, s.batch+1)
		for i := range draws {
			c := int64(0)
			for _, p := range s.draw(src) {
				if p.Index == int64(i)%s.population {
					c = p.Copies
				}
			}
			seen[c]++
		}
		counts, want := map[string]float64{}, map[string]float64{}
		rest, restP := 0.0, 0.0
		for u, n := range seen {
			p := 0.0
			if u < len(law.LogP) {
				p = math.Exp(law.LogP[u])
			}
			if p*draws < 20 {
				rest, restP = rest+n, restP+p
				continue
			}
			counts[fmt.Sprint(u)], want[fmt.Sprint(u)] = n, p
		}
		if restP*draws > 1 {
			counts["rest"], want["rest"] = rest, restP
		}
		if p := chiSquareP(counts, want, draws); p < 1e-3 {
			t.Errorf("%v: chi-square p-value %v", s, p)
		}
	}
}

func TestSampleSizes(t *testing.T) {
	for _, s := range []fixedSize{{withoutReplacement, 1, 0, 1}, {withoutReplacement, 100, 0, 100}, {withReplacement, 1, 0, 7}, {mustOW, 1e12, 1000, 5000}, {mustWO, 1e12, 5000, 5000}, {mustWW, 1e12, 3, 5000}} {
		for _, src := range []rand.Source{rand.NewPCG(1, 2), random.Source(nil)} {
			total := int64(0)
			for _, p := range s.draw(src) {
				if p.Index < 0 || p.Index >= s.population {
					t.Fatalf("%v: index %d", s, p.Index)
				}
				total += p.Copies
			}
			if total != s.batch {
				t.Errorf("%v: %d draws, want %d", s, total, s.batch)
			}
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for _, s := range []fixedSize{{withoutReplacement, 1e9, 0, 1e6}, {withReplacement, 1e9, 0, 1e6}, {mustOW, 1e9, 1e6, 1e6}, {mustWO, 1e9, 1e6, 1e6}, {mustWW, 1e9, 1e6, 1e6}} {
		for name, src := range map[string]rand.Source{"pcg": rand.NewPCG(1, 2), "system": random.Source(nil)} {
			b.Run(s.Name()+"/"+name, func(b *testing.B) {
				for range b.N {
					s.draw(src)
				}
			})
		}
	}
}
