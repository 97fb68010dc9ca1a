// gonum's Fourier transform as an FFT; package gonumfft proves the bound of its error.
//
// It assumes finite numbers, and lengths as Length returns them.

package contour

import (
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/gonumfft"
)

// An FFT computes discrete Fourier transforms of real sequences. Its methods
// are called by several goroutines at a time. Package fourier documents them.
type FFT interface {
	Length(n int) int
	Coefficients(x []float64) []complex128
	Eta(n int) float64
}

// Gonum is gonum's FFTPACK real transform.
type Gonum struct{}

// Name names the library.
func (Gonum) Name() string { return "gonum" }

// Length returns the least length of at least n points that is fast and accurate.
func (Gonum) Length(n int) int { return gonumfft.Length(n) }

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

// Eta returns the error of a transform relative to its 2-norm.
func (Gonum) Eta(n int) float64 { return gonumfft.Eta(n) }
