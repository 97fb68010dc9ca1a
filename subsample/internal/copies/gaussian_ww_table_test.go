package copies

import (
	"math"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// plain hides that the table knows δ better than its tails do.
type plain struct{ t *GaussianWWTable }

func (p plain) Tails(eps, tol float64) profiles.Tails { return p.t.Tails(eps, tol) }

func (p plain) Support() profiles.Support { return p.t.Support() }

// The table is a profile, never below the exact shares and as close to them as nodeTol
// and farTol say.
func TestTabled(t *testing.T) {
	for _, c := range []struct {
		n, b, m int64
		theta   float64
	}{{10000, 118, 200, 0.25}, {1000, 100, 50, 0.2}, {10, 10, 5, 1}, {3, 2, 3, 2}, {1000, 200, 100, 4}, {2, 1, 2, 0.5}} {
		exact := wwOf(c.n, c.b, c.m, c.theta)
		p := plain{NewGaussianWWTable(exact)}
		profiletest.Run(t, p, nil, profiletest.Grid(p, 3))
		used := false
		for x := p.t.start + 0.01; x < 40; x += 0.93 {
			eps := p.t.at(x)
			_, _, ok := p.t.find(eps)
			used = used || ok
			got, e1 := profiles.LogDelta(p, eps)
			want, e2 := profiles.LogDelta(exact, eps)
			// What was in the middle of twice the distance; the rest is the stated errors.
			off := nodeTol
			if want < nodeFar {
				off = farTol / 2
			}
			if !(got >= want-e1-e2 && got <= want+off+e1+e2) {
				t.Errorf("%+v at %v: log δ %v ± %v, exact %v ± %v", c, eps, got, e1, want, e2)
			}
		}
		if !used {
			t.Errorf("%+v: no table", c)
		}
	}
}

// What the table answers does not depend on what it was asked before.
func TestTabledOrder(t *testing.T) {
	exact := wwOf(1000, 100, 50, 0.2)
	a, b := NewGaussianWWTable(exact), NewGaussianWWTable(exact)
	var asked []float64
	for e := 1e-5; e < 30; e *= 1.7 {
		asked = append(asked, e)
	}
	want := make([]profiles.Tails, len(asked))
	for i, e := range asked {
		want[i] = a.Tails(e, 0)
	}
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range asked {
				i = (len(asked) - 1 - i + k) % len(asked)
				if got := b.Tails(asked[i], 0); got != want[i] {
					t.Errorf("at %v: %v, before %v", asked[i], got, want[i])
				}
			}
		}()
	}
	wg.Wait()
	if math.IsNaN(want[0].P) {
		t.Error("no tails")
	}
}
