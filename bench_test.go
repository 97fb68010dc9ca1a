package accountant_test

import (
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// dpsgdStep returns one step of DP-SGD.
func dpsgdStep(tb testing.TB, rate, sigma float64) accountant.Step {
	tb.Helper()
	m, err := profiles.NewGaussianMechanism(sigma)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		tb.Fatal(err)
	}
	return accountant.Step{Mechanism: m, Sampling: s}
}

// BenchmarkDPSGD answers ε at δ = 1e-5 to the default accuracy with a new
// accountant each time. x-fft is the time as a multiple of one real FFT of the
// lattice's length.
func BenchmarkDPSGD(b *testing.B) {
	for _, c := range []struct {
		rate, sigma float64
		steps       int64
	}{
		{0.01, 1, 1e3},
		{256.0 / 60000, 1.1, 14062},
		{0.001, 0.8, 1e4},
		{1e-4, 0.6, 1e6},
		{0.1, 4, 2000},
	} {
		b.Run(fmt.Sprintf("q=%.4g,sigma=%g,T=%d", c.rate, c.sigma, c.steps), func(b *testing.B) {
			step := dpsgdStep(b, c.rate, c.sigma)
			var iv accountant.Interval
			b.ReportAllocs()
			for b.Loop() {
				a := accountant.New(accountant.AddRemove)
				if err := a.Add(b.Context(), step, c.steps); err != nil {
					b.Fatal(err)
				}
				var err error
				if iv, err = a.Epsilon(b.Context(), 1e-5); err != nil {
					b.Fatal(err)
				}
			}
			perOp := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(perOp*1e3, "ms/op")
			b.ReportMetric(float64(iv.Points), "points")
			if iv.Points > 0 {
				b.ReportMetric(perOp/fftSeconds(iv.Points), "x-fft")
			}
		})
	}
}

// fftSeconds times one gonum real FFT of length n, plan excluded.
func fftSeconds(n int) float64 {
	f := fourier.NewFFT(n)
	x, z := make([]float64, n), make([]complex128, n/2+1)
	for i := range x {
		x[i] = float64(i%7) - 3
	}
	f.Coefficients(z, x)
	const rounds = 20
	start := time.Now()
	for range rounds {
		f.Coefficients(z, x)
	}
	return time.Since(start).Seconds() / rounds
}
