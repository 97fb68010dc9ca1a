package contour

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
)

// A borrowed table answers like one of its own, and not like the lender's.
func TestBorrow(t *testing.T) {
	law := func(high float64) transform.Transform {
		return transform.NewPoints([]float64{-0.1, high}, []float64{math.Log(0.5), math.Log(0.5)}, math.Inf(-1))
	}
	noise := gauss{mu: 0.125}
	lender := newComposition(t, Factor{noise, 100}, Factor{law(0.11), 10})
	own := newComposition(t, Factor{noise, 100}, Factor{law(0.12), 10})
	borrower := newComposition(t, Factor{noise, 100}, Factor{law(0.12), 10})
	ask := func(c *Composition) EpsilonAnswer {
		a, err := c.Epsilon(context.Background(), -20, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if work, err := borrower.Borrow(context.Background(), lender, 1e6); work != 0 || err != nil || len(borrower.tables) != 0 {
		t.Errorf("there is nothing to borrow: %v, %v, %d tables", work, err, len(borrower.tables))
	}
	a := ask(lender)
	if work, err := borrower.Borrow(context.Background(), lender, 1); work != 0 || err != nil || len(borrower.tables) != 0 {
		t.Errorf("more work than allowed: %v, %v", work, err)
	}
	if work, err := borrower.Borrow(context.Background(), lender, 1e6); work == 0 || err != nil || len(borrower.tables) != 1 {
		t.Fatalf("nothing was borrowed: %v, %v", work, err)
	}
	b, c := ask(own), ask(borrower)
	if !(b.Lower <= c.Upper && c.Lower <= b.Upper) || c.Upper-c.Lower > 1e-9*c.Upper {
		t.Errorf("borrowed [%v, %v], own [%v, %v]", c.Lower, c.Upper, b.Lower, b.Upper)
	}
	if c.Lower <= a.Upper {
		t.Errorf("borrowed [%v, %v] is the lender's [%v, %v]", c.Lower, c.Upper, a.Lower, a.Upper)
	}
	if c.Tables > 1 {
		t.Errorf("%d tables were made after all", c.Tables)
	}
}
