// gonum's Fourier transform, and the bound of its error.
//
// It assumes finite numbers. Eta is proved for lengths as Length returns them.

package lattice

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Transform computes discrete Fourier transforms of real sequences. Its methods
// are called by several goroutines at a time. Package fourier documents them.
type Transform interface {
	Length(n int) int
	Coefficients(x []float64) []complex128
	Eta(n int) float64
}

// Gonum is gonum's FFTPACK real transform.
type Gonum struct{}

// Name names the library.
func (Gonum) Name() string { return "gonum" }

// Length keeps to 2^a·{1, 3, 5, 9, 15}: three to five times more accurate than
// high powers of 3 and 5 (docs/accuracy.md §7), and never a large prime, which gonum
// handles in quadratic time.
func (Gonum) Length(n int) int {
	best := math.MaxInt
	for _, m := range []int{1, 3, 5, 9, 15} {
		l := 2 * m
		for l < n {
			l *= 2
		}
		best = min(best, l)
	}
	return best
}

// plans holds gonum's twiddle factors by length: the upper and the lower law use
// the same. A plan is not safe for concurrent use, hence a pool of each.
var plans sync.Map // int → *sync.Pool of *fourier.FFT

func (Gonum) Coefficients(x []float64) []complex128 {
	n := len(x)
	p, ok := plans.Load(n)
	if !ok {
		p, _ = plans.LoadOrStore(n, &sync.Pool{New: func() any { return fourier.NewFFT(n) }})
	}
	pool := p.(*sync.Pool)
	f := pool.Get().(*fourier.FFT)
	defer pool.Put(f)
	return f.Coefficients(nil, x)
}

// Eta: per stage of radix r the butterfly contributes 1u, 2u, 7u, 13.4u
// (r = 2, 4, 3, 5), the complex product √5u and FFTPACK's twiddles 10u, and
// stages are multiples of unitary maps, so relative errors add; the sum is at
// most 14u per log2 n (docs/accuracy.md §7; Higham, 2nd ed., Theorem 24.2).
func (Gonum) Eta(n int) float64 { return 14 * math.Log2(float64(n)) * xmath.U }
