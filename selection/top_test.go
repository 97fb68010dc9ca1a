package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairs returns the law of the two best of K runs by enumeration over K: q by ascending
// score; the entries of one run come first.
func pairs(l Law, q []float64) []float64 {
	n := len(q)
	out := make([]float64, n+n*n)
	for k := 1; k < 200; k++ {
		w := l.PMF(k)
		if k == 1 {
			for i, x := range q {
				out[i] += w * x
			}
			continue
		}
		below := 0.0
		for i, x := range q {
			f := below + x
			// Both best are i: at least two runs there, none above.
			out[n+i*n+i] += w * (math.Pow(f, float64(k)) - math.Pow(below, float64(k)) - float64(k)*x*math.Pow(below, float64(k-1)))
			g := 0.0
			for j := range i {
				h := g + q[j]
				out[n+i*n+j] += w * float64(k) * x * (math.Pow(h, float64(k-1)) - math.Pow(g, float64(k-1)))
				g = h
			}
			below = f
		}
	}
	return out
}

// TestPriceByEnumeration: random ε-close candidates with three outcomes; the two best are
// never less private than the price, and some are within 15 % of it.
func TestPriceByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for _, eps := range []float64{0.4, 1} {
		for _, eta := range []float64{0, 1, 2.5} {
			l, err := newNegativeBinomial(eta, 0.2)
			if err != nil {
				t.Fatal(err)
			}
			price, delta, err := PriceOfTop(l, 2, eps, 0)
			if err != nil || delta != 0 || price > (4+eta)*eps {
				t.Fatalf("price %v, %v, %v", price, delta, err)
			}
			most := 0.0
			for range 1000 {
				// Extreme pairs: each ratio is one of e^±ε, masses as they have to be.
				a, s := [3]float64{}, 0.0
				for i := range a {
					a[i] = math.Exp(-6 * rng.Float64())
					s += a[i]
				}
				p, q := make([]float64, 3), make([]float64, 3)
				up := rng.IntN(3)
				// One outcome has ratio e^ε, one e^−ε, and one in between makes both sum to 1.
				e := math.Exp(eps)
				lo := (up + 1 + rng.IntN(2)) % 3
				mid := 3 - up - lo
				p[up], p[lo], p[mid] = a[up]/s, a[lo]/s, a[mid]/s
				q[up], q[lo] = p[up]/e, p[lo]*e
				q[mid] = 1 - q[up] - q[lo]
				if r := p[mid] / q[mid]; !(q[mid] > 0 && r <= e && r >= 1/e) {
					continue
				}
				x, y := pairs(l, p), pairs(l, q)
				for i := range x {
					if x[i] > 1e-12 && y[i] > 1e-12 {
						most = max(most, math.Abs(math.Log(x[i]/y[i])))
					}
				}
			}
			if most > price+1e-9 || most < 0.85*price {
				t.Errorf("ε = %v, shape %v: enumeration reaches %v, the price is %v", eps, eta, most, price)
			}
		}
	}
}

func TestPrice(t *testing.T) {
	l, _ := newGeometric(0.1)
	for m := 1; m <= 4; m++ {
		e, d, err := PriceOfTop(l, m, 1, 1e-6)
		// m·ε + (1+m)·t*, t* = 0.79567203915954553 (selection.md §5.3), γ a little larger.
		want := float64(m) + float64(1+m)*0.79567203915954553
		if err != nil || math.Abs(e-want) > 1e-4 || e > want || math.Abs(d-9.99991000080999e-6) > 1e-15 {
			t.Errorf("m = %d: (%v, %v), %v; want about (%v, 1e-5)", m, e, d, err, want)
		}
	}
	capped, _ := newConditionedLaw(1, 0.1, 5)
	poisson, _ := newPoisson(3)
	for _, c := range []struct {
		l Law
		m int
	}{{l, 0}, {l, 1001}, {capped, 2}, {poisson, 2}, {nil, 2}} {
		if _, _, err := PriceOfTop(c.l, c.m, 1, 0); err == nil {
			t.Errorf("%v, %d has a price", c.l, c.m)
		}
	}
}

// TestBest: the frequencies of the two best of a run are those of enumeration.
func TestBest(t *testing.T) {
	l, _ := newGeometric(0.4)
	q := []float64{0.5, 0.3, 0.2}
	want := pairs(l, q)
	got := make([]float64, len(want))
	const n = 40000
	src := rand.NewPCG(8, 8)
	for range n {
		r, err := Top(t.Context(), l, 2, src, func(_ context.Context, rng *rand.Rand) (int, float64, error) {
			x := rng.Float64()
			i := 0
			for i < 2 && x >= q[i] {
				x -= q[i]
				i++
			}
			return i, float64(i), nil
		})
		if err != nil || len(r) == 0 || len(r) > 2 {
			t.Fatal(r, err)
		}
		if len(r) == 1 {
			got[r[0].Payload]++
		} else {
			got[3+3*r[0].Payload+r[1].Payload]++
		}
	}
	for i := range want {
		// Five standard errors.
		if d := math.Abs(got[i]/n - want[i]); d > 5*math.Sqrt(want[i]*(1-want[i])/n)+1e-9 {
			t.Errorf("outcome %d: %v, want %v", i, got[i]/n, want[i])
		}
	}
	boom := errors.New("boom")
	if _, err := Top(t.Context(), l, 2, src, func(context.Context, *rand.Rand) (int, float64, error) { return 0, 0, boom }); !errors.Is(err, ErrRun) || !errors.Is(err, boom) {
		t.Error(err)
	}
}

func ExamplePriceOfTop() {
	l, _ := newGeometric(0.01)
	for m := 1; m <= 3; m++ {
		eps, _, _ := PriceOfTop(l, m, 0.5, 0)
		fmt.Printf("the %d best: epsilon %.4f\n", m, eps)
	}
	// Output:
	// the 1 best: epsilon 1.4794
	// the 2 best: epsilon 2.4691
	// the 3 best: epsilon 3.4588
}
