package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// FuzzSampled: noise on a Poisson sample passes the conformance test against its exact law,
// whatever the rate, both ways round and as the envelope of a substitution.
func FuzzSampled(f *testing.F) {
	for kind := range uint8(8) {
		f.Add(kind, 1.0, 0.01)
		f.Add(kind, 0.3, 0.999)
		f.Add(kind, 20.0, 1e-9)
	}
	f.Fuzz(func(t *testing.T, kind uint8, noise, rate float64) {
		if !(noise > 0.05 && noise < 1e4 && rate > 1e-12 && rate <= 1) {
			return
		}
		if kind%2 == 1 && noise < 0.08 {
			// The error of a loss is one number for both ends, e^{1/noise} apart each from q: next to the smaller one it is
			// a ninth of the width in which half of the mass is at 0.064, where no test can see on which side the atom is.
			return
		}
		var base profiles.Profile
		var exact profiletest.Exact
		var err error
		size := 0.3 / noise
		if kind%2 == 0 {
			base, err = profiles.NewGaussian(noise)
			exact, size = profiletest.Gaussian(noise), 1/noise+0.5/(noise*noise)
		} else {
			base, err = profiles.NewLaplace(noise)
			exact = profiletest.Laplace(noise)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := PoissonProfile(base, rate)
		truth := profiletest.Poisson(exact, rate)
		if kind%4 >= 2 {
			p, err = Envelope(base, rate)
			truth = profiletest.Envelope(exact, rate)
		}
		if err != nil {
			t.Fatal(err)
		}
		if kind%8 >= 4 {
			p, truth = profiles.Reverse(p), profiletest.Reverse(truth)
		}
		profiletest.Run(t, p, truth, profiletest.Grid(p, min(1, rate+1e-3)*size))
	})
}
