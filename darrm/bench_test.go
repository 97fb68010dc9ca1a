package darrm

import (
	"context"
	"testing"
)

func benchmarkOptimize(b *testing.B, p Params, mean float64, free bool) {
	for b.Loop() {
		r, err := Optimize(context.Background(), p, Surrogate{mean}, Options{Free: free})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Rounds), "rounds")
		b.ReportMetric(float64(r.Rows), "rows")
		b.ReportMetric(r.Value, "V")
	}
}

// 182 104 corner multisets in each sweep.
func BenchmarkOptimizeFree101Pure(b *testing.B) { benchmarkOptimize(b, pure(101, 0.1, 10), 0.75, true) }

func BenchmarkOptimizeMonotone101Pure(b *testing.B) {
	benchmarkOptimize(b, pure(101, 0.1, 10), 0.75, false)
}

// 658 008 pairs in each sweep.
func BenchmarkOptimizeFree35Delta(b *testing.B) {
	benchmarkOptimize(b, approx(35, 0.1, 5, 1e-5), 0.75, true)
}

func BenchmarkOptimizeMonotone1001Pure(b *testing.B) {
	benchmarkOptimize(b, pure(1001, 0.01, 10), 0.55, false)
}

func BenchmarkOptimizeMonotone1001Delta(b *testing.B) {
	benchmarkOptimize(b, approx(1001, 0.01, 20, 1e-6), 0.55, false)
}

func BenchmarkCertifyMonotone1001Delta(b *testing.B) {
	exact, _ := exactDoubleSubsampling(1001, 100)
	p := approx(1001, 0.01, 100, 1e-6)
	p.OutputDelta *= 1.001
	g := rounded(exact)
	for b.Loop() {
		if c, err := Certify(context.Background(), p, g); err != nil || !c.Certified {
			b.Fatal(c, err)
		}
	}
}
