package subsample

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/internal/copies"
)

// made is for constructors that cannot fail here.
func made(b profiles.Mechanism, err error) profiles.Mechanism {
	if err != nil {
		panic(err)
	}
	return b
}

func persons(t testing.TB, b profiles.Mechanism, s Scheme, r profiles.Relation, k int64) profiles.Bounds {
	t.Helper()
	m, err := ofPersons(context.Background(), b, s, r, k)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// upLow returns the upper and lower ends of log δ of a direction, at one ε.
func upLow(d profiles.Direction, eps float64) (up, low float64) {
	u, ue := profiles.LogDelta(d.Upper, eps)
	if math.IsInf(ue, 1) {
		u, ue = d.Upper.Tails(eps, 0).P, 0
	}
	l, le := profiles.LogDelta(d.Lower, eps)
	if math.IsInf(le, 1) {
		l, le = math.Inf(-1), 0
	}
	return u + ue, l - le
}

// A chain of two, three pure mechanisms, against closed forms. The kink of g∘g is at
// x = e^{−1}/(1+e), y = e/(1+e); of three, 1 − Pr[|Z| > 1] of discrete Laplace noise Z.
func TestChainOfPure(t *testing.T) {
	b := made(profiles.NewPure(1))
	for _, c := range []struct {
		k    int64
		eps  float64
		want float64
	}{
		{2, 0, 1 - 1/math.E}, {2, 0.5, (math.E - math.Exp(-0.5)) / (1 + math.E)}, {2, 1, math.Tanh(0.5)},
		{2, 1.9, (math.E - math.Exp(0.9)) / (1 + math.E)}, {3, 0, math.Tanh(0.5) * (1 + 2/math.E)}, {1, 0, math.Tanh(0.5)},
	} {
		m := persons(t, b, nil, profiles.AddRemove, c.k)
		for _, d := range m.Directions {
			up, low := upLow(d, c.eps)
			if u, l := math.Exp(up), math.Exp(low); !(l <= c.want+1e-12 && c.want-1e-12 <= u && u-l < 1e-13) {
				t.Errorf("k %d, ε %v: [%.15f, %.15f], want %.12f", c.k, c.eps, l, u, c.want)
			}
		}
	}
}

// For Gaussian and Laplace noise a chain is a shift; the chain, which does not know, must be
// just above it.
func TestChainOfShifts(t *testing.T) {
	gauss, lap := made(profiles.NewGaussianMechanism(2)), made(profiles.NewLaplaceMechanism(3))
	for _, b := range []profiles.Mechanism{gauss, lap} {
		for _, k := range []int{2, 3, 7} {
			one, err := b.Pair(profiles.AddRemove)
			if err != nil {
				t.Fatal(err)
			}
			up, err := chain([]link{{one, k}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			together, err := copies.Group(b, k, profiles.AddRemove)
			if err != nil {
				t.Fatal(err)
			}
			for _, eps := range []float64{-1, 0, 0.1, 0.5, 1, 1.5, 2, 3} {
				want, _ := profiles.LogDelta(together, eps)
				got, e := profiles.LogDelta(up, eps)
				if got+e < want-1e-12 || want > -30 && got > want+2e-3 {
					t.Errorf("%s, k %d, ε %v: log δ %v, of the shift %v", b.Name(), k, eps, got, want)
				}
			}
		}
	}
}

// Errata C2: under add-remove every record that is removed leaves a smaller population. A
// batch of one of three records, "is it one of these two?": the iterate of the profile at 3
// is 5/9, the truth 2/3.
func TestChainShrinksPopulation(t *testing.T) {
	b := made(profiles.NewFiniteMechanism([]float64{0, 1}, []float64{1, 0}))
	s, err := NewWithoutReplacement(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := persons(t, b, s, profiles.AddRemove, 2)
	up, _ := upLow(m.Directions[0], 0)
	if d := math.Exp(up); !(d >= 2./3 && d < 2./3+1e-12) {
		t.Errorf("δ(0) = %v, want 2/3", d)
	}
	// Noisy answers, which are true with probability r: (n, k, batch, r), and how often the answer
	// is yes with the records, where it is with probability 1 − r without.
	for _, c := range []struct {
		n, k, batch int64
		r, want     float64
	}{{10, 4, 2, 0.9, 0.63333}, {100, 20, 5, 0.95, 0.66262}} {
		b := made(profiles.NewFiniteMechanism([]float64{1 - c.r, c.r}, []float64{c.r, 1 - c.r}))
		s, err := NewWithoutReplacement(c.n, c.batch)
		if err != nil {
			t.Fatal(err)
		}
		m := persons(t, b, s, profiles.AddRemove, c.k)
		at := 1.0
		for eps := -3.0; eps < 3; eps += 1e-3 {
			up, _ := upLow(m.Directions[0], eps)
			at = min(at, math.Exp(up)+math.Exp(eps)*(1-c.r))
		}
		if !(at >= c.want-1e-5 && at < c.want+0.08) {
			t.Errorf("%+v: at most %v", c, at)
		}
	}
	if _, err := ofPersons(context.Background(), b, s, profiles.AddRemove, 4); err == nil || !strings.Contains(err.Error(), "population: 3 is too small") {
		t.Errorf("four of three records: %v", err)
	}
	// With replacement one record fills a batch, here one of more than a thousand times the records that are left.
	large, err := NewMustWW(3, 2, 2500)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ofPersons(context.Background(), made(profiles.NewGaussianMechanism(1e4)), large, profiles.AddRemove, 2); err != nil {
		t.Errorf("two of three records, %s: %v", large.Name(), err)
	}
}

// With rate 1 a person of k records is a shift by k; with one record nothing changes.
func TestPersonsEnds(t *testing.T) {
	gauss := made(profiles.NewGaussianMechanism(4))
	all, _ := NewPoisson(1)
	want, _ := profiles.NewGaussian(2)
	if m := persons(t, gauss, all, profiles.AddRemove, 2); m.Directions[0].Upper != profiles.Profile(want) {
		t.Errorf("rate 1: %#v, want a shift by 2", m.Directions[0].Upper)
	}
	some, _ := NewPoisson(0.1)
	wor, _ := NewWithoutReplacement(100, 10)
	for _, s := range []Scheme{some, wor} {
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			one, err := s.Apply(gauss, r)
			if err != nil {
				t.Fatal(err)
			}
			m := persons(t, gauss, s, r, 1)
			for d := range m.Directions {
				if !profiles.Equal(m.Directions[d].Upper, one.Directions[d].Upper) || !profiles.Equal(m.Directions[d].Lower, one.Directions[d].Lower) {
					t.Errorf("%s, %v: one record is another mechanism", s.Name(), r)
				}
			}
		}
	}
}

// What is certified lies between one record and the chain, grows with the records, and an
// attack never passes what bounds it.
func TestPersonsOrder(t *testing.T) {
	bases := []profiles.Mechanism{
		made(profiles.NewGaussianMechanism(1.3)), made(profiles.NewLaplaceMechanism(2)),
		made(profiles.NewDiscreteLaplaceMechanism(1.5, 2)), made(profiles.NewDiscreteGaussianMechanism(3, 1)), made(profiles.NewDiscreteGaussianNumber(2, 3)),
		made(profiles.NewPure(0.3)), made(profiles.NewApproximate(0.2, 1e-4)), made(profiles.NewRandomizedResponse(0.6, 3)),
		made(profiles.NewFiniteMechanism([]float64{0.7, 0.2, 0.1}, []float64{0.5, 0.2, 0.3})),
	}
	some, _ := NewPoisson(0.2)
	wor, _ := NewWithoutReplacement(30, 5)
	for _, b := range bases {
		for _, s := range []Scheme{nil, some, wor} {
			if s == Scheme(wor) && b.Name() == "laplace" {
				continue // seconds of tails
			}
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
				var last [2]map[float64]float64
				for _, k := range []int64{1, 2, 5} {
					m := persons(t, b, s, r, k)
					for d, dir := range m.Directions {
						now := map[float64]float64{}
						for _, eps := range []float64{-0.5, 0, 0.01, 0.2, 0.7, 2} {
							up, low := upLow(dir, eps)
							now[eps] = up
							if low > up+1e-9 {
								t.Errorf("%s on %v, %v, k %d, direction %d, ε %v: the attack has log δ %v, the bound %v", b.Name(), s, r, k, d, eps, low, up)
							}
							if k > 1 && up < last[d][eps]-1e-9 {
								t.Errorf("%s on %v, %v, k %d, direction %d, ε %v: log δ %v fell from %v", b.Name(), s, r, k, d, eps, up, last[d][eps])
							}
						}
						last[d] = now
					}
				}
			}
		}
	}
}

// The public choice of the number of records, and the chain of sampled links, are two bounds
// of the same mechanism; the exact mixture is below both.
func TestGaussianPersonsBelowChain(t *testing.T) {
	gauss := made(profiles.NewGaussianMechanism(1.5))
	s, _ := NewPoisson(0.1)
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		one, err := s.Apply(gauss, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int64{2, 6} {
			chained, err := Chain(one, k)
			if err != nil {
				t.Fatal(err)
			}
			exact := persons(t, gauss, s, r, k)
			for d := range exact.Directions {
				for _, eps := range []float64{-0.3, 0, 0.1, 0.5, 1, 3} {
					up, _ := upLow(chained.Directions[d], eps)
					if _, low := upLow(exact.Directions[d], eps); low > up+1e-9 {
						t.Errorf("%v, k %d, direction %d, ε %v: exact %v above the chain %v", r, k, d, eps, low, up)
					}
				}
			}
		}
	}
}

// A table without an end: 2^20 records at a rate of 1e-6.
func TestManyRecords(t *testing.T) {
	gauss := made(profiles.NewGaussianMechanism(2))
	s, _ := NewPoisson(1e-6)
	m := persons(t, gauss, s, profiles.AddRemove, 1<<20)
	// About a Poisson law of mean 1.05: between records that always, and never, take part.
	up, low := upLow(m.Directions[0], 1)
	if !(low > math.Log(1e-3) && up < math.Log(0.5) && up-low < 1e-9) {
		t.Errorf("log δ(1) in [%v, %v]", low, up)
	}
	if u := m.Directions[0].Upper.Support(); math.IsInf(u.LogPInf, -1) || u.LogPInf > -790 {
		t.Errorf("what the table leaves out has log mass %v", u.LogPInf)
	}
	for _, k := range []int64{0, -1, 1<<20 + 1} {
		if _, err := ofPersons(context.Background(), gauss, s, profiles.AddRemove, k); err == nil || !strings.HasPrefix(err.Error(), "records-per-person: ") {
			t.Errorf("%d records: %v", k, err)
		}
	}
}

// TestChainOfGaussianLinksEnds: persons with several records in batches of fixed size, and next to no noise: the rates of the chain underflow, and
// its end was infinite at every δ. Places that are known cost no more than the Gaussian pair of them all, and no less than the attack.
func TestChainOfGaussianLinksEnds(t *testing.T) {
	for _, noise := range []float64{0.03, 0.07} {
		b, err := profiles.NewGaussianMechanism(noise)
		if err != nil {
			t.Fatal(err)
		}
		for _, build := range []func() (FixedSize, error){
			func() (FixedSize, error) { return NewWithReplacement(1000, 3) },
			func() (FixedSize, error) { return NewWithoutReplacement(1000, 3) },
			func() (FixedSize, error) { return NewMustOW(100, 30, 3) },
		} {
			s, err := build()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range profiles.Relations() {
				m, err := ofPersons(t.Context(), b, s, r, 3)
				if err != nil {
					t.Fatal(err)
				}
				shift := 3 / noise
				if r != profiles.ZeroOut {
					shift *= 2
				}
				most := shift * (shift/2 + 10) // P(L > ε) is Φ(−10)
				for d, dir := range m.Directions {
					v, e := profiles.LogDelta(dir.Upper, most)
					if !(v+e < -50) {
						t.Errorf("noise %v, %s, %v, direction %d: log δ(%v) ≤ %v", noise, s.Name(), r, d, most, v+e)
					}
					for _, share := range []float64{0.01, 0.1, 0.3} {
						eps := most * share
						low, le := profiles.LogDelta(dir.Lower, eps)
						if up, ue := profiles.LogDelta(dir.Upper, eps); low-le > up+ue {
							t.Errorf("noise %v, %s, %v, direction %d: log δ(%v) in [%v, %v]", noise, s.Name(), r, d, eps, low-le, up+ue)
						}
					}
				}
			}
		}
	}
}

// TestUnhiddenOfManyRecords: a group whose own noise is below what a Gaussian may have is k² runs of one record.
func TestUnhiddenOfManyRecords(t *testing.T) {
	b, err := profiles.NewGaussianMechanism(1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewPoisson(0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range profiles.Relations() {
		one, runs, err := Unhidden(t.Context(), b, s, r, noiserange.MaxRecords)
		if err != nil || runs == 0 {
			t.Errorf("%v: %d runs, %v", r, runs, err)
			continue
		}
		want := float64(noiserange.MaxRecords)
		if r == profiles.Substitute {
			want *= 2
		}
		for d := range one {
			g, ok := one[d].(profiles.Gaussian)
			if mu := math.Sqrt(float64(runs)) / g.NoiseMultiplier(); !ok || math.Abs(mu-want) > 1e-9*want {
				t.Errorf("%v: μ of %d runs is %v, want %v", r, runs, mu, want)
			}
		}
	}
}
