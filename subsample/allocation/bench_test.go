package allocation

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/xfft"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// BenchmarkSchemes takes each question from nothing to both ends of ε in both directions, in
// units of one real FFT of 65,536 points of gonum in the same run (x-fft).
func BenchmarkSchemes(b *testing.B) {
	ends := func(b *testing.B, m profiles.Bounds, err error, runs int64, delta float64) {
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range m.Directions {
			interval(b, d, runs, delta)
		}
	}
	random := func(steps, epochs int64, delta, relative float64) Random {
		return must(must(must(NewRandom(steps)).WithEpochs(epochs, EachEpoch)).For(Target{Delta: delta, Relative: relative}))
	}
	for _, k := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"epoch-1e-3", func(b *testing.B) {
			m, err := random(1000, 1, 1e-6, 1e-3).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 1, 1e-6)
		}},
		{"epoch-1e-4", func(b *testing.B) {
			m, err := random(1000, 1, 1e-6, 1e-4).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 1, 1e-6)
		}},
		{"60-epochs", func(b *testing.B) {
			m, err := random(234, 60, 1e-5, 1e-3).Apply(gaussian(1.1), profiles.AddRemove)
			ends(b, m, err, 1, 1e-5)
		}},
		{"60-epochs-composed", func(b *testing.B) {
			s := must(must(NewRandom(234)).For(Target{Delta: 1e-5, Relative: 1e-3, Runs: 60}))
			m, err := s.Apply(gaussian(1.1), profiles.AddRemove)
			ends(b, m, err, 60, 1e-5)
		}},
		{"deep-1e-100", func(b *testing.B) {
			m, err := random(1000, 1, 1e-100, 1e-3).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 1, 1e-100)
		}},
		{"10-of-1000", func(b *testing.B) {
			m, err := must(random(1000, 1, 1e-6, 1e-3).WithUses(10)).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 1, 1e-6)
		}},
		{"substitute", func(b *testing.B) {
			m, err := random(1000, 1, 1e-6, 1e-3).Apply(gaussian(1), profiles.Substitute)
			ends(b, m, err, 1, 1e-6)
		}},
		{"shuffle-60-epochs", func(b *testing.B) {
			s := must(must(must(NewShuffle(234)).WithEpochs(60, EachEpoch)).For(Target{Delta: 1e-5, Relative: 1e-3}))
			m, err := s.Apply(gaussian(1.1), profiles.ZeroOut)
			ends(b, m, err, 1, 1e-5)
		}},
		{"truncated-poisson", func(b *testing.B) {
			m, err := must(NewTruncated(0.01, 600, 50000)).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 2000, 1e-6)
		}},
		{"poisson", func(b *testing.B) {
			m, err := must(subsample.NewPoisson(0.01)).Apply(gaussian(1), profiles.AddRemove)
			ends(b, m, err, 2000, 1e-6)
		}},
	} {
		b.Run(k.name, func(b *testing.B) {
			xfft.Measure(b, nil, func() { k.run(b) })
		})
	}
}
