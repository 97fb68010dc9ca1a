package matrix

import (
	"context"
	"math/rand/v2"
	"testing"
)

func benchmark(b *testing.B, c Config) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.sensitivity(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToeplitzMillion(b *testing.B) {
	benchmark(b, Config{1, 1e6, rooted(1e6), separated(1000, 1000)})
}

func BenchmarkBLTMillion(b *testing.B) {
	benchmark(b, Config{1, 1e6, must(BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6})), separated(1000, 1000)})
}

func denseStrategy(n int) Strategy {
	r := rand.New(rand.NewPCG(1, 1))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, i+1)
		for j := range rows[i] {
			rows[i][j] = 0.01 + r.Float64()
		}
	}
	return must(Rows(rows))
}

func BenchmarkDense2000(b *testing.B) {
	benchmark(b, Config{1, 2000, denseStrategy(2000), separated(100, 20)})
}

func BenchmarkTree2048(b *testing.B) { benchmark(b, Config{1, 2048, Tree(false), separated(100, 20)}) }

func BenchmarkStreamSquareRoot100Bands(b *testing.B) {
	benchmarkStream(b, rooted(100))
}

func BenchmarkStreamBLT(b *testing.B) {
	benchmarkStream(b, must(BLT([]float64{0.12, 0.25}, []float64{0.98, 0.6})))
}

func benchmarkStream(b *testing.B, s Strategy) {
	const dim = 1000
	x := make([]float64, dim)
	for b.Loop() {
		stream := must(NewStream(Config{10, 120, s, Single()}, 1, dim, nil))
		for range 120 {
			must(stream.Next(x))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/120/dim, "ns/number")
}
