package profiles_test

// The floating-point attacks of Mironov (CCS 2012) and of Haney, Desfontaines, Hartman and others
// (2022) live on outputs that one input can have and its neighbour cannot. Here every multiple of the grid
// is shown to be possible for every input, by the random words that lead to it.

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/random/randomtest"
	"github.com/dpaccountant/accountant/profiles"
)

type draw struct {
	name   string
	draw   func(rand.Source, float64, float64, float64) (float64, error)
	script func(*big.Float) []uint64
}

var draws = []draw{{"gaussian", profiles.AddGaussian, randomtest.Normal}, {"laplace", profiles.AddLaplace, randomtest.Laplace}}

// TestEveryMultipleForEveryInput: inputs on the grid and off it, neighbours, with many bits and with few;
// multiples of every residue, near the input and 30 scales away, where a float64 that is put through a
// logarithm has gaps or has ended.
func TestEveryMultipleForEveryInput(t *testing.T) {
	for _, d := range draws {
		for _, scale := range []float64{1, 3, 0.7} {
			const grid = 0x1p-6
			for _, value := range []float64{0, 1, 0.1, 0.1 + 1, -1. / 3, 5e-324, 0x1p-40, math.Nextafter(1, 2), 12345.678} {
				at := math.Round(value/grid) * grid
				for _, from := range []float64{-2 * scale, 30 * scale} {
					for k := range 100 {
						want := math.Round((at+from)/grid)*grid + float64(k)*grid
						got, err := d.draw(&randomtest.Script{Words: d.script(randomtest.Between(value, want, scale))}, value, scale, grid)
						if err != nil || got != want {
							t.Fatalf("%s, %v with scale %v: %v, want %v (%v)", d.name, value, scale, got, want, err)
						}
					}
				}
			}
		}
	}
}

// TestFineGridHasNoGaps: 40 bits below the noise, neighbouring multiples are both possible for both of two
// neighbours, whose difference is no multiple of the grid.
func TestFineGridHasNoGaps(t *testing.T) {
	const grid = 0x1p-40
	for _, d := range draws {
		for _, value := range []float64{0.1, 0.1 + 1./3} {
			for k := range 64 {
				want := 17 + float64(k)*grid
				got, err := d.draw(&randomtest.Script{Words: d.script(randomtest.Between(value, want, 1))}, value, 1, grid)
				if err != nil || got != want {
					t.Fatalf("%s of %v: %v, want %v (%v)", d.name, value, got, want, err)
				}
			}
		}
	}
}

// TestNaiveNoiseIsPorous is the control: Laplace noise as a float64 through a logarithm, from uniform numbers of
// 16 bits, gives 0 and 1 supports of which most of one is not in the other. The test above would refuse it.
func TestNaiveNoiseIsPorous(t *testing.T) {
	support := func(value float64) map[float64]bool {
		s := map[float64]bool{}
		for i := range 1 << 16 {
			e := -math.Log((float64(i) + 0.5) / (1 << 16))
			s[value+e], s[value-e] = true, true
		}
		return s
	}
	a, b := support(0), support(1)
	shared := 0
	for x := range a {
		if b[x] {
			shared++
		}
	}
	if shared*10 > len(a) {
		t.Errorf("%d of %d outputs are shared: the attack should tell 0 and 1 apart by one output", shared, len(a))
	}
}

// TestDrawsDoNotDependOnTheValue: with the same source, the same words are drawn whatever the value. (Where a
// sum is within 2^−63 of the middle between two multiples more digits are looked at: one draw in 2^53 on this grid.)
func TestDrawsDoNotDependOnTheValue(t *testing.T) {
	for _, d := range draws {
		differ := 0
		for seed := range uint64(2000) {
			counts := map[int]bool{}
			for _, value := range []float64{0, 1, 0.1, -1. / 3, 1e6} {
				src := &counting{Source: rand.NewPCG(seed, 1)}
				if _, err := d.draw(src, value, 2, 0x1p-10); err != nil {
					t.Fatal(err)
				}
				counts[src.n] = true
			}
			if len(counts) > 1 {
				differ++
			}
		}
		if differ > 0 { // of a right sampler with probability 10^4·2^−53, about 1e-12
			t.Errorf("%s: the words drawn depend on the value for %d of 2000 seeds", d.name, differ)
		}
	}
}

type counting struct {
	rand.Source
	n int
}

func (c *counting) Uint64() uint64 { c.n++; return c.Source.Uint64() }

// BenchmarkValues: the time of a draw, for values that are short, long and large.
func BenchmarkValues(b *testing.B) {
	for _, d := range draws {
		for name, value := range map[string]float64{"0": 0, "third": 1. / 3, "1e6": 1e6 + 0.1} {
			b.Run(d.name+"/"+name, func(b *testing.B) {
				src := rand.NewPCG(1, 2)
				for b.Loop() {
					if _, err := d.draw(src, value, 2, 0x1p-10); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
