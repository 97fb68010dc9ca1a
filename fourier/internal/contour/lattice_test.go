package contour_test

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

var plans = flag.Int("plans", 12, "random plans on which the contour and the lattice must agree")

// Two engines that have nothing in common but the mechanism: their intervals intersect.
func TestLatticeAndContourIntersect(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 13))
	uniform := func(lo, hi float64) float64 { return math.Exp(math.Log(lo) + rng.Float64()*math.Log(hi/lo)) }
	refused, partial, tables := 0, 0, 0
	worst := 0.0
	for i := range *plans {
		q, sigma, count, delta := uniform(1e-4, 0.5), uniform(0.5, 10), int64(uniform(1e2, 1e9)), uniform(1e-30, 1e-3)
		add := rng.IntN(2) == 1
		base, err := profiles.NewGaussian(sigma)
		if err != nil {
			t.Fatal(err)
		}
		profile, err := subsample.PoissonProfile(base, q)
		if err != nil {
			t.Fatal(err)
		}
		f, err := transform.NewPoissonGaussian(q, 0, sigma, 0)
		if err != nil {
			t.Fatal(err)
		}
		if add {
			profile, f = profiles.Reverse(profile), f.Reverse()
		}
		c, err := contour.New(contour.Factor{Transform: f, Count: count})
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Epsilon(context.Background(), math.Log(delta), contour.Options{})
		var not *contour.NotServed
		switch {
		case err == nil:
			worst = max(worst, (a.Upper-a.Lower)/math.Abs(a.Upper))
			tables += a.Tables
		case errors.As(err, &not) && math.IsInf(a.Upper-a.Lower, 1):
			refused++
			t.Logf("plan %d: q=%v σ=%v T=%v δ=%v add=%v: %v", i, q, sigma, count, delta, add, err)
			continue
		case errors.As(err, &not):
			partial++
			t.Logf("plan %d: q=%v σ=%v T=%v δ=%v add=%v: %v: [%v, %v]", i, q, sigma, count, delta, add, err, a.Lower, a.Upper)
		default:
			t.Fatal(err)
		}
		s := fourier.New(fourier.Options{Relative: 1e-2, MaxPoints: 1 << 20, Laws: true})
		if err := s.Add(profile, count); err != nil {
			t.Fatal(err)
		}
		b, err := s.Epsilon(context.Background(), delta)
		if err != nil {
			t.Fatal(err)
		}
		if b.Engine != fourier.Lattice {
			t.Fatalf("plan %d: the lattices did not answer, but %q", i, b.Engine)
		}
		if b.Lower > a.Upper || a.Lower > b.Upper {
			t.Errorf("plan %d: q=%v σ=%v T=%v δ=%v add=%v: contour [%v, %v], lattice [%v, %v]", i, q, sigma, count, delta, add, a.Lower, a.Upper, b.Lower, b.Upper)
		}
	}
	t.Logf("%d plans: %d refused, %d wider than asked, widest of the others %.1e, %d tables", *plans, refused, partial, worst, tables)
	// Rates of 1e-4 with a few hundred runs are the lattice's (docs/theory/contour.md). The share of one in six is
	// calibrated and not derived: with the plans of this seed it is 2 of the first 12, and 53 of 1,000.
	if n := refused + partial; n*6 > *plans {
		t.Errorf("%d of %d plans are refused or not as narrow as asked", n, *plans)
	}
}
