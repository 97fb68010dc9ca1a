package labeldp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/random"
)

// Values in the benchmarks: labeldp.md §7.5.

func BenchmarkOptimalUnbiased(b *testing.B) {
	for _, c := range []struct {
		name string
		p    Prior
		eps  float64
		want float64
	}{
		{"U52", prior("U52"), 0.998, 1271.6234419},
		{"H52", prior("H52"), 0.998, 1282.1539578},
		{"H52", prior("H52"), 8, 1.769038165},
		{"uniform101", must(uniform(seq(0, 100))), 0.998, 4883.8944072},
		{"uniform201", must(uniform(seq(0, 200))), 2, 3887.9695865},
		{"uniform401", must(uniform(seq(0, 400))), 4, 2105.63355165},
		{"exponential401", exponential400(), 1, 76143.08539},
		{"exponential401", exponential400(), 4, 1663.22105762},
	} {
		b.Run(fmt.Sprintf("%s/eps=%v", c.name, c.eps), func(b *testing.B) {
			for b.Loop() {
				_, cert := optimal(b, c.p, c.eps)
				if math.Abs(cert.Primal-c.want) > 1e-9*c.want {
					b.Fatalf("got %.12g, want %.12g", cert.Primal, c.want)
				}
				b.ReportMetric(cert.RelGap, "gap")
				b.ReportMetric(float64(cert.Iterations), "iterations")
			}
		})
	}
}

func BenchmarkOptimalUnbiasedGrid(b *testing.B) {
	p := prior("U52")
	for _, n := range []int{52, 416, 1664} {
		b.Run(fmt.Sprintf("U52/n=%d", n), func(b *testing.B) {
			grid := must(FeasibleGrid(p.Labels(), 0.998, n))
			for b.Loop() {
				_, c, err := OptimalUnbiasedGrid(context.Background(), p, 0.998, grid)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(c.Iterations), "pivots")
			}
		})
	}
}

func BenchmarkSample(b *testing.B) {
	r, _ := optimal(b, prior("U52"), 0.998)
	src := random.Seeded(1)
	i := 0
	for b.Loop() {
		r.SampleIndex(i%52, src)
		i++
	}
}

func BenchmarkRROnBins(b *testing.B) {
	p := exponential400()
	for b.Loop() {
		if _, err := RROnBins(p, 1); err != nil {
			b.Fatal(err)
		}
	}
}
