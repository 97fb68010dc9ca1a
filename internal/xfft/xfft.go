// Package xfft gives benchmarks a unit that does not drift with the machine: the
// processor time of one real FFT of 65,536 points of gonum, taken in the same run,
// written x-fft. It is for tests only. It assumes that nothing else of the process
// computes meanwhile; other processes do not count.
package xfft

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// points is the length of the transform that is the unit.
const points = 65536

// Measure runs op for each iteration of b and reports its processor time in units of
// x-fft, and in milliseconds. What prepare does before an iteration is not counted; it
// may be nil.
func Measure(b *testing.B, prepare func(), op func()) {
	b.Helper()
	b.ReportAllocs()
	var spent float64
	for b.Loop() {
		if prepare != nil {
			b.StopTimer()
			prepare()
			b.StartTimer()
		}
		start := processor()
		op()
		spent += processor() - start
	}
	b.StopTimer()
	b.ReportMetric(spent/float64(b.N)/unit(), "x-fft")
	b.ReportMetric(spent/float64(b.N)*1e3, "cpu-ms")
}

// unit returns the processor time of one transform.
func unit() float64 {
	fft := fourier.NewFFT(points)
	x := make([]float64, points)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	dst := make([]complex128, points/2+1)
	start := processor()
	const times = 40
	for range times {
		fft.Coefficients(dst, x)
	}
	return (processor() - start) / times
}
