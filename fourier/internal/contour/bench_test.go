package contour

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/dpaccountant/accountant/internal/parallel"
)

// cpu returns the processor time of this process: benchmarks run beside other work.
func cpu() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// perFFT reports the processor time of one iteration since start in units of one real FFT of
// 65,536 points of gonum, taken in the same run: machines drift, the ratio does not.
func perFFT(b *testing.B, start float64) {
	b.Helper()
	b.StopTimer()
	spent := cpu() - start
	const n = 65536
	fft := fourier.NewFFT(n)
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i * i))
	}
	dst := make([]complex128, n/2+1)
	start = cpu()
	const times = 40
	for range times {
		fft.Coefficients(dst, x)
	}
	b.ReportMetric(spent/float64(b.N)/((cpu()-start)/times), "x-fft")
}

// BenchmarkEpsilon is one direction of each golden case; "both" is both directions at the
// same time, at 1e-9.
func BenchmarkEpsilon(b *testing.B) {
	for _, k := range []struct {
		name     string
		q, sigma float64
		count    int64
	}{
		{"A", 0.01, 1, 1000}, {"B", 0.001, 0.8, 10000}, {"C", 256. / 60000, 1.1, 14062},
		{"D", 0.02, 0.5, 500}, {"E", 1e-4, 0.6, 1000000}, {"F", 0.1, 4, 2000},
		{"count=1e5", 0.01, 1, 1e5}, {"count=1e8", 0.01, 1, 1e8}, {"count=1e12", 0.01, 1, 1e12},
	} {
		remove, add := poisson(b, k.q, k.sigma, false), poisson(b, k.q, k.sigma, true)
		for _, delta := range []float64{1e-5, 1e-10, 1e-20, 1e-30} {
			ask := func(i int) {
				f := remove
				if i == 1 {
					f = add
				}
				c := newComposition(b, Factor{f, k.count})
				if _, err := c.Epsilon(context.Background(), math.Log(delta), Options{}); err != nil {
					b.Error(err)
				}
			}
			b.Run(fmt.Sprintf("%s/delta=%v/remove", k.name, delta), func(b *testing.B) {
				b.ReportAllocs()
				start := cpu()
				for b.Loop() {
					ask(0)
				}
				perFFT(b, start)
			})
			b.Run(fmt.Sprintf("%s/delta=%v/both", k.name, delta), func(b *testing.B) {
				start := cpu()
				for b.Loop() {
					parallel.Do(2, ask)
				}
				perFFT(b, start)
			})
		}
	}
}

func distinct(t testing.TB, n int, add bool) []Factor {
	f := make([]Factor, n)
	for i := range f {
		q := 0.005 + 0.01*float64(i)/float64(n)
		sigma := 0.8 + 1.2*float64((7*i)%n)/float64(n)
		f[i] = Factor{poisson(t, q, sigma, add), 10}
	}
	return f
}

func BenchmarkDistinct(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		factors := distinct(b, n, false)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				c := newComposition(b, factors...)
				if _, err := c.Epsilon(context.Background(), math.Log(1e-6), Options{}); err != nil {
					b.Error(err)
				}
			}
			perFFT(b, start)
		})
	}
}

// BenchmarkOneMore adds a step to a running total of 10,000 distinct ones.
func BenchmarkOneMore(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newComposition(b, distinct(b, n, false)...)
			opt := Options{Reserve: 0.3}
			if _, err := c.Epsilon(context.Background(), math.Log(1e-6), opt); err != nil {
				b.Fatal(err)
			}
			tables := 0
			i := 0
			start := cpu()
			for b.Loop() {
				i++
				if _, err := c.Add(Factor{poisson(b, 0.01+1e-7*float64(i), 1, false), 10}); err != nil {
					b.Fatal(err)
				}
				a, err := c.Epsilon(context.Background(), math.Log(1e-6), opt)
				if err != nil {
					b.Fatal(err)
				}
				tables += a.Tables
			}
			b.ReportMetric(float64(tables)/float64(b.N), "tables/op")
			perFFT(b, start)
		})
	}
}

// BenchmarkCurve is ε at 200 values of δ of case A.
func BenchmarkCurve(b *testing.B) {
	f := poisson(b, 0.01, 1, false)
	tables := 0
	start := cpu()
	for b.Loop() {
		c := newComposition(b, Factor{f, 1000})
		for i := range 200 {
			logDelta := math.Log(1e-12) + float64(i)/199*math.Log(1e10)
			a, err := c.Epsilon(context.Background(), logDelta, Options{})
			if err != nil {
				b.Error(err)
			}
			tables += a.Tables
		}
	}
	b.ReportMetric(float64(tables)/float64(b.N), "tables/op")
	perFFT(b, start)
}

// BenchmarkRead is one reading of a table: the loop that everything else is made of.
func BenchmarkRead(b *testing.B) {
	c := newComposition(b, Factor{poisson(b, 0.001, 0.8, false), 10000})
	if _, err := c.Epsilon(context.Background(), math.Log(1e-5), Options{}); err != nil {
		b.Fatal(err)
	}
	t := c.tables[0]
	b.ReportAllocs()
	for b.Loop() {
		t.read(0.78, &c.scale)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(t.n+1), "ns/frequency")
}
