package main

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/selection"
)

// The base of the tuning experiment and its price, against the values of another
// accountant (selection.md §5.8, tolerance 1e-3 there).
func TestTrainingRun(t *testing.T) {
	slow.Test(t)
	// log δ falls by about 5 for each unit of ε at 1: a chord that costs 1e-4 of ε costs 5e-4 of δ.
	c := trainingRun(t.Context(), 1e-3, 1e-4)
	near := func(what string, got, want, tol float64) {
		if !(math.Abs(got-want) <= tol*want) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("ε of one run", try.Must(c.bound.Epsilon(context.Background(), delta)), 1.828243645616618, 1e-3)
	near("δ(0)", math.Exp(c.bound(0)), 0.1610184208061767, 1e-3)
	near("δ(1)", math.Exp(c.bound(1)), 0.002612496806309415, 1e-3)
	for _, w := range []struct{ shape, mean, here, krw, peers float64 }{
		{0, 10, 2.70451, 3.02753, 3.5226334451373686}, {0, 100, 3.40953, 3.75551, 4.30116943987793},
		{0.5, 10, 2.79679, 3.23999, 3.8305964055789374}, {0.5, 100, 3.64384, 4.1576, 4.790857565864865},
		{1, 10, 2.87097, 3.40917, 4.10327065640215}, {1, 100, 3.87175, 4.54758, 5.2700216080110405},
	} {
		l := lawOf(selection.Config{Law: "negative-binomial", Shape: w.shape, Mean: w.mean})
		near("price", c.simple(l), w.here, 1e-3)
		if lo, hi := c.interval(l); !(lo <= hi && hi < lo+1e-3 && hi < w.here) {
			t.Errorf("both ends: [%v, %v], the simple price %v", lo, hi, w.here)
		}
		near("Koskela, Redberg, Wang", c.profileForm(l), w.krw, 1e-3)
		// The peers' value is over a list of orders.
		if ps := c.literature(l); !(ps <= w.peers*(1+1e-6) && ps >= w.peers*0.995) {
			t.Errorf("Papernot, Steinke = %v, want about %v", ps, w.peers)
		}
	}
}

func TestPureTable(t *testing.T) {
	page := plots.Values{}
	pureTable(page)
	table := page["pure"].(string)
	// selection.md §5.3: ε₁ = 1, γ = 0.01.
	if !strings.Contains(table, "| 1 | 100 | 1.9769 / 2 |") || !strings.Contains(table, "| 2.9537 / 3 |") {
		t.Errorf("the table has changed:\n%s", table)
	}
}
