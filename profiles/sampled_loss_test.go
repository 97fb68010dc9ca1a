package profiles_test

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/profiles"
)

// Sampled pairs of Laplace noise have a transform up to a loss of 700, and are left to lattices beyond.
func TestSampledLaplaceHasATransform(t *testing.T) {
	for _, c := range []struct {
		scale float64
		want  bool
	}{{2, true}, {1. / 650, true}, {1. / 750, false}} {
		l := must(profiles.NewLaplace(c.scale)).(interface {
			PoissonTransform(rate, rateErr float64) transform.Transform
			EnvelopeTransform(rate float64) transform.Transform
		})
		if got := l.PoissonTransform(0.1, 0) != nil; got != c.want {
			t.Errorf("scale %v: a transform on a Poisson sample: %v", c.scale, got)
		}
		if got := l.EnvelopeTransform(0.1) != nil; got != c.want {
			t.Errorf("scale %v: a transform of the envelope: %v", c.scale, got)
		}
	}
}
