package selection

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// TestCellsOfTheGrid: what dy gains anywhere in a cell is below the mean of what its two edges are said to gain; rests
// of masses are sums of positive terms. One high outcome and 400 low ones: rows have no error, so that the columns' is seen.
func TestCellsOfTheGrid(t *testing.T) {
	for _, c := range []struct {
		runs      int
		p, q, eps float64
		even      bool
	}{{2, 0.2, 0.05, 0.5, false}, {3, 0.2, 0.05, 0.5, false}, {2, 1e-3, 10.6 * 0x1p-53, 54.2, false}, {4, 0.01, 1e-14, 100, false},
		{2, 0.2, 0.05, 0.5, true}, {3, 0.2, 0.05, 0.5, true}, {2, 1e-3, 10.6 * 0x1p-53, 54.2, true}, {4, 0.01, 1e-14, 100, true}} {
		l, n := must(newFixed(c.runs)), 400
		pr := &pair{loss: make([]float64, n+1), p: make([]float64, n+1), q: make([]float64, n+1)}
		sp, sq := 0.0, 0.0
		for i := range n { // losses −2 … 0, about
			pr.p[i], pr.q[i] = 1, math.Exp(2-2*float64(i)/float64(n))
			sp, sq = sp+pr.p[i], sq+pr.q[i]
		}
		for i := range n {
			pr.p[i], pr.q[i] = pr.p[i]*(1-c.p)/sp, pr.q[i]*(1-c.q)/sq
		}
		pr.p[n], pr.q[n] = c.p, c.q
		for i := range pr.p {
			pr.loss[i] = math.Log(pr.p[i] / pr.q[i])
		}
		x := newExact(l, pr, math.Inf(1))
		clock := newClock(l, max(1, c.eps), c.even)
		g := x.newGrid(clock, 60)
		for range g.high {
			x.addRow(g)
		}
		low := pr.strips(clock, 60, false, 1e-12)
		slope := func(rest float64) float64 { return float64(c.runs) * math.Pow(rest, float64(c.runs-1)) }
		for _, r := range g.rows {
			if r.outcome != n {
				break
			}
			e, k := math.Exp(c.eps-r.loss), 0
			for i, cell := range r.tangents {
				a := max(0, r.start[i]-e*cell[0], r.start[i+1]-e*cell[2])
				b := max(0, r.end[i]-e*cell[1], r.end[i+1]-e*cell[3])
				for ; low[i].rest == 0 && k < n && k <= low[i].outcome; k++ {
					u, v := 0.0, 0.0 // of the low outcomes from the (k+1)-th on
					for j := n - 1; j > k; j-- {
						u, v = u+pr.p[j], v+pr.q[j]
					}
					for _, th := range []float64{0, 0.5, 1} {
						share := r.rest + (1-th)*r.strip.p/c.p
						gain := slope(u+share*c.p) - e*slope(v+share*c.q)
						if top := (1-th)*a + th*b; gain > top+1e-12*slope(u+share*c.p) {
							t.Fatalf("%+v, row to %v, column %d, outcome %d, share %v: gains %v, at most %v", c, r.rest, i, k, th, gain, top)
						}
					}
				}
			}
		}
	}
}

// TestPathTakesBothSteps: a row whose first edge gains on the left and whose second one gains on the right.
func TestPathTakesBothSteps(t *testing.T) {
	one := func(a, b [2]float64) float64 {
		r := row{strip: strip{block: block{p: 1}}, start: []float64{1, 1, 1}, end: []float64{1, 1, 1}}
		for i := range 2 {
			r.tangents = append(r.tangents, [4]float64{1 - a[i], 1 - b[i], 1 - a[i], 1 - b[i]})
		}
		x := newExact(must(newFixed(2)), &pair{}, math.Inf(1))
		x.grids = map[gridKey]*grid{{n: 1, octave: 1}: {low: make([]strip, len(r.tangents)), high: []strip{r.strip}, rows: []row{r}}}
		return x.delta(context.Background(), 0, 1)
	}
	near(t, "left, then right", one([2]float64{0.75, 0}, [2]float64{0, 0.75}), 0.75, 1e-12)
	for corner := range 4 {
		r := row{strip: strip{block: block{p: 1}}, start: []float64{1, 1}, end: []float64{1, 1}, tangents: [][4]float64{{1, 1, 1, 1}}}
		r.tangents[0][corner] = 0.25
		x := newExact(must(newFixed(2)), &pair{}, math.Inf(1))
		x.grids = map[gridKey]*grid{{n: 1, octave: 1}: {low: make([]strip, len(r.tangents)), high: []strip{r.strip}, rows: []row{r}}}
		near(t, "one corner", x.delta(context.Background(), 0, 1), 0.375, 1e-12)
	}
	near(t, "right, then left", one([2]float64{0, 0.75}, [2]float64{0.75, 0}), 0.375, 1e-12)
}

// TestErrorsOfTheGrid: masses off by what the pair says, and tangents of a law that is off by what it says.
func TestErrorsOfTheGrid(t *testing.T) {
	const rel = 1e-2
	for _, s := range []float64{-1, 1} { // Fixed(2), the high outcome below all: δ = p² − e^ε q²
		p, q := 0.3*(1-rel), 0.05*(1+s*rel)
		pr := &pair{loss: []float64{math.Log(0.7 / 0.95), math.Log(6)}, p: []float64{0.7 * (1 + s*rel), p}, q: []float64{0.95 * (1 - rel), q}, rel: rel}
		up := newExact(must(newFixed(2)), pr, math.Inf(1)).delta(context.Background(), 2, 1000)
		if want := 0.09 - math.Exp(2)*0.0025; up < want {
			t.Errorf("%v, less than %v", up, want)
		}
	}
	l := must(newFixed(3))
	w := weight{l, rel}
	m := w.tangent(0.4)
	for _, d := range []float64{-0.4, -0.1, 0.1, 0.6} {
		steep := 6 * 0.6 * (1 + math.Copysign(rel, d))
		if top := 3*0.36*(1-rel) - steep*d; m.at(0.4+d) > top {
			t.Errorf("%v beyond: %v, above %v", d, m.at(0.4+d), top)
		}
	}
}

// TestWinnerBelowAlmostNothing: an outcome of mass 1 − 5e-17 below one of 5e-17, which a million runs see.
func TestWinnerBelowAlmostNothing(t *testing.T) {
	const g, s = 1e-6, 5e-17
	at := newAttacker(must(newGeometric(g)), &pair{loss: []float64{math.Log(s / 0.3), -math.Log(0.7)}, p: []float64{s, 1}, q: []float64{0.3, 0.7}, rel: 64 * xmath.U})
	r := at.reachOf([]block{{s, 0.3}, {1, 0.7}})
	if top := g / (g + s); r[1].p > top {
		t.Errorf("%v is reached, less than %v are there", r[1].p, top)
	}
}
