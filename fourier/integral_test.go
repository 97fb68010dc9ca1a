package fourier

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// The two engines share no transform: on random plans their intervals intersect, also of
// losses whose transforms are those of losses above and below.
func TestEnginesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 1))
	served := 0
	for i := range 12 {
		var steps []any
		for range 1 + rng.IntN(3) {
			sigma := math.Exp(rng.Float64()*2 - 0.2)
			g, err := profiles.NewGaussian(sigma)
			if err != nil {
				t.Fatal(err)
			}
			var p profiles.Profile
			switch rng.IntN(4) {
			case 0:
				s, err := subsample.NewWithReplacement(10000, 1+rng.Int64N(200))
				if err != nil {
					t.Fatal(err)
				}
				base, err := profiles.NewGaussianMechanism(sigma)
				if err != nil {
					t.Fatal(err)
				}
				m, err := s.Apply(base, profiles.AddRemove)
				if err != nil {
					t.Fatal(err)
				}
				p = m.Directions[rng.IntN(2)].Upper
			case 1:
				l, err := profiles.NewLaplace(1 + 5*rng.Float64())
				if err != nil {
					t.Fatal(err)
				}
				if p, err = subsample.PoissonProfile(l, 0.3*rng.Float64()); err != nil {
					t.Fatal(err)
				}
			default:
				if p, err = subsample.PoissonProfile(g, math.Exp(-5*rng.Float64()-0.5)); err != nil {
					t.Fatal(err)
				}
				if rng.IntN(2) == 0 {
					p = profiles.Reverse(p)
				}
			}
			steps = append(steps, p, 1+rng.IntN(2000))
		}
		target := math.Exp(-1 - 40*rng.Float64())
		a := epsilon(t, integral(t, Options{}, steps...), target)
		b := epsilon(t, sum(t, Options{Laws: true}, steps...), target)
		if !(a.Lower <= b.Upper && b.Lower <= a.Upper) {
			t.Errorf("plan %d, δ=%g: contour [%v, %v], lattice [%v, %v]", i, target, a.Lower, a.Upper, b.Lower, b.Upper)
		}
		if a.Upper-a.Lower > 1e-8*a.Upper {
			continue
		}
		served++
		x := (a.Lower + a.Upper) / 2
		d := delta(t, integral(t, Options{}, steps...), x)
		e := delta(t, sum(t, Options{Laws: true}, steps...), x)
		if !(d.Lower <= e.Upper && e.Lower <= d.Upper) || !(d.Lower <= target*(1+1e-5) && d.Upper >= target*(1-1e-5)) {
			t.Errorf("plan %d: δ(%v) by contour [%v, %v], by lattice [%v, %v], want about %v", i, x, d.Lower, d.Upper, e.Lower, e.Upper, target)
		}
	}
	if served < 8 {
		t.Errorf("the contour engine served %d of 12 plans", served)
	}
}

// A sum names the engine of its answer, and a step that is added keeps the tables.
func TestEngineOfAnswer(t *testing.T) {
	g, err := profiles.NewGaussian(2)
	if err != nil {
		t.Fatal(err)
	}
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: -1, LogP: math.Log(0.25), LogQ: math.Log(0.25) + 1}, {Loss: math.Log(0.75 / (1 - 0.25*math.E)), LogP: math.Log(0.75), LogQ: math.Log(1 - 0.25*math.E)}}, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	flip, err := profiles.NewDiscrete([]profiles.Atom{{Loss: -math.Ln2, LogP: math.Log(1. / 3), LogQ: math.Log(2. / 3)}, {Loss: math.Ln2, LogP: math.Log(2. / 3), LogQ: math.Log(1. / 3)}}, math.Inf(-1), math.Inf(-1), 1e-15, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		add  []any
		want Engine
	}{
		{[]any{g, 1000}, ClosedForm},
		{[]any{sampled(t, 1, 0.01), 1}, ClosedForm},
		{[]any{sampled(t, 1, 0.01), 1000}, Contour},
		{[]any{sampled(t, 1, 0.01), 1000, d, 3}, Contour},
		{[]any{d, 20000, profiles.Reverse(d), 10000}, Lattice}, // exactly on one
		{[]any{d, 300, flip, 300}, Lattice},                    // off every lattice, but few: an FFT each; many are TestManyFiniteLaws
	} {
		s := New(Options{})
		for i := 0; i < len(c.add); i += 2 {
			if err := s.Add(c.add[i].(profiles.Profile), int64(c.add[i+1].(int))); err != nil {
				t.Fatal(err)
			}
		}
		if r := epsilon(t, s, 1e-6); r.Engine != c.want {
			t.Errorf("%v: engine %q, want %q", c.add, r.Engine, c.want)
		}
	}
}

// Above the largest loss nothing is left to prove, whatever the size of the saddle.
func TestProvesAboveTheLargestLoss(t *testing.T) {
	s := integral(t, Options{}, profiles.Reverse(sampled(t, 0.05, 0.01)), 100)
	if top := -100 * math.Log1p(-0.01); !s.Proves(t.Context(), top*1.001, 1e-300) || s.Proves(t.Context(), top*0.9, 1e-300) {
		t.Errorf("at ε next to %v: %v above, %v below", top, s.Proves(t.Context(), top*1.001, 1e-300), s.Proves(t.Context(), top*0.9, 1e-300))
	}
}

// What is no question is not proved: δ of 0 or less, an ε that is not a number, an empty sum.
func TestProvesNothingOfNoQuestion(t *testing.T) {
	if New(Options{}).Proves(t.Context(), 1, 0.5) {
		t.Error("an empty sum proves something")
	}
	s := sum(t, Options{}, profiles.Reverse(sampled(t, 0.05, 0.01)), 10)
	for _, c := range [][2]float64{{1e6, 0}, {1e6, -1}, {1e6, math.NaN()}, {math.NaN(), 0.5}, {math.Inf(1), 0.5}, {math.Inf(-1), 0.5}} {
		if s.Proves(t.Context(), c[0], c[1]) {
			t.Errorf("δ(%v) ≤ %v is proved", c[0], c[1])
		}
	}
}

// One run of a profile whose losses are known to 0.01 only: ε is bounded 0.01 further out, at both ends.
func TestOneRunOfDisplacedLosses(t *testing.T) {
	ends := func(lossErr float64) Result {
		half := math.Log(0.5)
		atoms := []profiles.Atom{{Loss: 1, LogP: half, LogQ: half - 1}, {Loss: -0.5, LogP: half, LogQ: half + 0.4}}
		rest := math.Log(1 - math.Exp(half-1) - math.Exp(half+0.4))
		d, err := profiles.NewDiscrete(atoms, math.Inf(-1), rest, 0, lossErr)
		if err != nil {
			t.Fatal(err)
		}
		return epsilon(t, sum(t, Options{}, d, 1), 0.1)
	}
	exact, moved := ends(0), ends(0.01)
	if exact.Upper-exact.Lower > 1e-9 || moved.Lower > exact.Lower-0.01+1e-9 || moved.Upper < exact.Upper+0.01-1e-9 {
		t.Errorf("ε in [%v, %v] of exact losses, [%v, %v] of losses within 0.01", exact.Lower, exact.Upper, moved.Lower, moved.Upper)
	}
}
