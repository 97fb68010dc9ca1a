package subsample

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var (
	_ Sampler = poissonScheme{}
	_ Sampler = fixedSize{}
)

// Every step of a run is a fresh sample, ranging again goes on, and a run is what one
// Sample after another from the same source is.
func TestBatches(t *testing.T) {
	for _, s := range []interface {
		Sampler
		Sample(src rand.Source, population int64) ([]Pick, error)
	}{ok(NewPoisson(0.4)), ok(NewWithoutReplacement(50, 20)), ok(NewWithReplacement(50, 20)), ok(NewMustOW(50, 30, 20)), ok(NewMustWW(50, 30, 20))} {
		batches := ok(s.Batches(rand.NewPCG(1, 2), 50))
		src := rand.NewPCG(1, 2)
		var last []Pick
		for range 3 { // each loop takes two batches and leaves
			n := 0
			for b := range batches {
				if want := ok(s.Sample(src, 50)); !slices.Equal(b, want) {
					t.Fatalf("%s: batch %v, want %v", s.Name(), b, want)
				}
				if slices.Equal(b, last) {
					t.Errorf("%s: the same batch twice: %v", s.Name(), b)
				}
				last = b
				if n++; n == 2 {
					break
				}
			}
		}
		if _, err := s.Batches(nil, 0); err == nil {
			t.Errorf("%s: a population of 0 is taken", s.Name())
		}
	}
	for _, c := range []struct {
		n    int64
		want string
	}{{49, "must-ww: population: 49 is not the scheme's, 50"}, {-1, "must-ww: population: -1 is not the scheme's, 50"}} {
		if _, err := ok(NewMustWW(50, 30, 20)).Batches(nil, c.n); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
