// Package godsp is the Fourier transform of github.com/mjibson/go-dsp for the lattices of package
// fourier: a second opinion beside gonum's.
//
// It is slower, and takes powers of two only. Only the flag --transform of the command line and its
// kin import it, so other programs do not compile it.
package godsp

import (
	"math"

	"github.com/mjibson/go-dsp/fft"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Transform is a fourier.Transform: complex, radix 2. Several goroutines may use it at a time.
var Transform transform

type transform struct{}

// Name names the library.
func (transform) Name() string { return "go-dsp" }

// Length returns the smallest power of two of at least n, and at least 2.
func (transform) Length(n int) int {
	l := 2
	for l < n {
		l *= 2
	}
	return l
}

// Coefficients returns the first len(x)/2+1 values of Σ_j x_j e^{−2πi jk/len(x)}.
func (transform) Coefficients(x []float64) []complex128 {
	return fft.FFTReal(x)[:len(x)/2+1]
}

// Eta bounds ‖computed − exact‖₂/‖exact‖₂ for length n: radix-2 stages alone (1u + √5u
// each) with twiddle factors from math.Sincos of −2π/n·k, two roundings and the error of
// π on an argument of at most 2π, 16u.
func (transform) Eta(n int) float64 { return 20 * math.Log2(float64(n)) * xmath.U }
