// Package xfft gives measurements a unit that does not drift with the machine, written x-fft. It is
// the processor time of one real FFT of 65,536 points of gonum, taken in the same run. It assumes
// that nothing else of the process computes meanwhile; other processes do not count.
package xfft

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Unit returns the processor time of one real FFT of 65,536 points, in seconds.
func Unit() float64 {
	const points, times = 65536, 10
	fft, x, dst := fourier.NewFFT(points), make([]float64, points), make([]complex128, points/2+1)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	start := Processor()
	for range times {
		fft.Coefficients(dst, x)
	}
	return (Processor() - start) / times
}
