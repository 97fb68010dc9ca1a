package lattice

import (
	"testing"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// runs is a composition of one profile.
func runs(p profiles.Profile, count int64) *Sum {
	s := New(1<<23, contour.Gonum{})
	s.Set(0, closed.Step{Profile: p, Support: p.Support(), Count: count}, false)
	return s
}

// allowed is the meter of a question that may take as much as by default.
func allowed(t testing.TB) *meter.Meter { return meter.New(t.Context(), 2.5e8, 1<<23, new(float64)) }

// asking is a question to a composition at an accuracy.
func asking(t testing.TB, s *Sum, relative float64) *query {
	return &query{Sum: s, m: allowed(t), relative: relative, absolute: 1e-6}
}

func dpsgd(t testing.TB, rate, sigma float64) profiles.Profile {
	t.Helper()
	g, err := profiles.NewGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	p, err := subsample.PoissonProfile(g, rate)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
