package transform

import (
	"fmt"
	"testing"
)

func BenchmarkPoissonGaussian(b *testing.B) {
	for _, c := range []struct{ q, sigma, theta, t float64 }{{0.01, 1, 4, 25}, {0.01, 1, 4, 200}, {0.2, 2, 3, 10}, {0.001, 0.8, 8, 100}} {
		tr := poisson(c.q, c.sigma)
		tr.Real(c.theta)
		b.Run(fmt.Sprintf("Real/q=%v,σ=%v", c.q, c.sigma), func(b *testing.B) {
			for b.Loop() {
				tr.Real(c.theta)
			}
		})
		b.Run(fmt.Sprintf("Line/q=%v,σ=%v,t=%v", c.q, c.sigma, c.t), func(b *testing.B) {
			for b.Loop() {
				must(tr.Line(b.Context(), c.theta, c.t, 1e-15, 0))
			}
		})
		l := must(tr.Line(b.Context(), c.theta, c.t, 1e-15, 0))
		b.Run(fmt.Sprintf("LogM/q=%v,σ=%v,t=%v,%d", c.q, c.sigma, c.t, int(l.Terms(1))), func(b *testing.B) {
			b.ReportAllocs()
			i := 0.0
			for b.Loop() {
				i = i + 0.37
				if i > 1 {
					i = 0
				}
				l.LogM(i * c.t)
			}
		})
		b.Run(fmt.Sprintf("Decay/q=%v,σ=%v,t=%v", c.q, c.sigma, c.t), func(b *testing.B) {
			for b.Loop() {
				l := must(tr.Line(b.Context(), c.theta, c.t, 1e-15, 0))
				l.Decay(c.t)
			}
		})
	}
}
