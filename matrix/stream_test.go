package matrix

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/profiles"
)

// inverse solves Cx = y for a lower triangular matrix.
func inverse(c [][]float64, y []float64) []float64 {
	x := make([]float64, len(y))
	for i := range y {
		x[i] = y[i]
		for j := range i {
			x[i] -= c[i][j] * x[j]
		}
		x[i] /= c[i][i]
	}
	return x
}

// TestStreamIsInverseTimesNoise: what is released is x + C⁻¹z for the z that the same source
// draws, for every kind of square matrix.
func TestStreamIsInverseTimesNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const n, dim, sigma, clip = 13, 3, 2.5, 0.75
	strategies := []Strategy{Identity(), rooted(4), rooted(n), must(Toeplitz([]float64{2, -0.5, 0.25})),
		must(BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6}))}
	for len(strategies) < 12 {
		if s := randomStrategy(r, n); s.kind == banded {
			for i, row := range s.rows { // well conditioned
				row.values[len(row.values)-1] = 3 + float64(i%3)
				for j := range row.values[:len(row.values)-1] {
					row.values[j] /= float64(n)
				}
			}
			strategies = append(strategies, s)
		}
	}
	for _, s := range strategies {
		stream := must(NewStream(Config{sigma, n, s, Single()}, clip, dim, random.Seeded(3)))
		src := random.Seeded(3)
		c := dense(s, n)
		var y, got [dim][]float64
		x := make([][]float64, n)
		for i := range n {
			x[i] = []float64{r.NormFloat64(), 10 * r.NormFloat64(), 0}
			kept := append([]float64(nil), x[i]...)
			out := must(stream.Next(x[i]))
			for d := range dim {
				if x[i][d] != kept[d] {
					t.Fatal("x was changed")
				}
				v := 0.0
				for j := range i + 1 {
					v += c[i][j] * x[j][d]
				}
				y[d] = append(y[d], must(profiles.AddGaussian(src, v, sigma*clip, 0x1p-30)))
				got[d] = append(got[d], out[d])
			}
		}
		for d := range dim {
			want := inverse(c, y[d])
			for i := range n {
				// Rows agree to the rounding of sums, or one grid step of 2^-30.
				if math.Abs(got[d][i]-want[i]) > 1e-7 {
					t.Fatalf("%v: step %d, number %d is %v, want %v", s, i, d, got[d][i], want[i])
				}
			}
		}
		if _, err := stream.Next(x[0]); err == nil || !strings.Contains(err.Error(), "steps: all 13 are done") {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestTreeStream: sums of what is released are sums of nodes, so that the noise of the sum
// of t steps has as many parts as t has bits.
func TestTreeStream(t *testing.T) {
	const n, runs, sigma = 11, 400, 3
	var squares [n]float64
	for run := range runs {
		stream := must(NewStream(Config{sigma, n, Tree(false), Single()}, 1, 1, random.Seeded(uint64(run))))
		truth, released := 0.0, 0.0
		for i := range n {
			x := float64(i%4) - 1
			truth += x
			released += must(stream.Next([]float64{x}))[0]
			squares[i] += (released - truth) * (released - truth)
		}
	}
	for i, total := range squares {
		nodes := 0
		for v := i + 1; v > 0; v &= v - 1 {
			nodes++
		}
		// The variance of 400 squares of normal numbers is 2/400 of their square: five
		// standard deviations are 0.36.
		if got := total / runs / (sigma * sigma); math.Abs(got/float64(nodes)-1) > 0.36 {
			t.Errorf("after %d steps the variance is %v, want %d", i+1, got, nodes)
		}
	}
}

// TestStreamMemory: the number of vectors does not grow with the steps.
func TestStreamMemory(t *testing.T) {
	for _, c := range []struct {
		s    Strategy
		n    int
		want int
	}{{rooted(8), 1e6, 14}, {must(BLT([]float64{0.1, 0.2, 0.3}, []float64{0.9, 0.5, 0.1})), 4e6, 6}, {Tree(false), 1e6, 40}, {Identity(), 100, 0}} {
		s := must(NewStream(Config{1, c.n, c.s, Single()}, 1, 2, nil))
		if got := len(s.past) + len(s.known); got != c.want {
			t.Errorf("%v: %d vectors, want %d", c.s, got, c.want)
		}
	}
}

// TestStreamErrors: one line that names the field, and the step is not done.
func TestStreamErrors(t *testing.T) {
	good := Config{1, 3, Identity(), Single()}
	for want, f := range map[string]func() error{
		"clip: NaN is not in (0, +Inf)":                  func() error { _, err := NewStream(good, math.NaN(), 1, nil); return err },
		"clip: 0 is not":                                 func() error { _, err := NewStream(good, 0, 1, nil); return err },
		"clip: 1e-300 times the noise multiplier is not": func() error { _, err := NewStream(good, 1e-300, 1, nil); return err },
		"dimension: 0 is not an integer":                 func() error { _, err := NewStream(good, 1, 0, nil); return err },
		"dimension: 1998 vectors of 1000000 numbers are": func() error { _, err := NewStream(Config{1, 1000, rooted(1000), Single()}, 1, 1e6, nil); return err },
		"x: has 2 numbers, must have 1":                  func() error { _, err := must(NewStream(good, 1, 1, nil)).Next([]float64{1, 2}); return err },
		"x[0]: +Inf is not finite":                       func() error { _, err := must(NewStream(good, 1, 1, nil)).Next([]float64{math.Inf(1)}); return err },
		"strategy: is missing":                           func() error { _, err := NewStream(Config{NoiseMultiplier: 1, Steps: 3}, 1, 1, nil); return err },
	} {
		if err := f(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
