package rdp

import "testing"

func BenchmarkPoissonGaussianInteger(b *testing.B) {
	c := mustCurve(b, must2(newPoissonGaussian(0.01, 1)), nil)
	for b.Loop() {
		c.RDP(64)
	}
}

func BenchmarkPoissonGaussianFractional(b *testing.B) {
	c := mustCurve(b, must2(newPoissonGaussian(0.01, 1)), nil)
	for b.Loop() {
		c.RDP(7.76)
	}
}

// One answer over all real orders, as for a training run.
func BenchmarkEpsilonPoissonGaussian(b *testing.B) {
	c := Repeat(must2(newPoissonGaussian(0.01, 1)), 1000)
	for b.Loop() {
		if _, _, err := Epsilon(c, 1e-5); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEpsilonWithoutReplacement(b *testing.B) {
	for b.Loop() {
		c := must2(WithoutReplacement(gaussian{1.1}, 60000, 256))
		if _, _, err := Epsilon(Repeat(c, 14062), 1e-5); err != nil {
			b.Fatal(err)
		}
	}
}

// 198 orders, the grid of private aggregation of teachers.
func BenchmarkEpsilonGrid(b *testing.B) {
	orders := make([]float64, 198)
	for i := range orders {
		orders[i] = 1.5 + float64(i)/2
	}
	g := OnOrders(gaussian{10}, orders)
	for b.Loop() {
		if _, _, err := Epsilon(g, 1e-5); err != nil {
			b.Fatal(err)
		}
	}
}
