package adaptive

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// TestPrice: the price is known for next to nothing, is not above what Upper takes, and grows with the steps.
func TestPrice(t *testing.T) {
	g, err := profiles.NewGaussian(5)
	if err != nil {
		t.Fatal(err)
	}
	last := 0.0
	for _, k := range []int64{80, 120} {
		bound := NewBound(0.4, Single(0.05), g, nil)
		ctx := parallel.WithWork(t.Context(), math.Inf(1))
		price, err := bound.Price(ctx, k, 1, math.Log(1e-5), 1<<18)
		if spent, _ := parallel.Work(ctx); err != nil || spent != 0 {
			t.Fatalf("%d steps: it took %g, %v", k, spent, err)
		}
		if _, err := bound.Upper(ctx, k, 1, math.Log(1e-5), 1<<18); err != nil {
			t.Fatal(err)
		}
		spent, _ := parallel.Work(ctx)
		t.Logf("%d steps: price %.3g, spent %.3g", k, price, spent)
		if !(price > spent/20 && price <= 1.1*spent && price > last) {
			t.Errorf("%d steps: a price of %g, and %g was taken", k, price, spent)
		}
		last = price
	}
	if _, err := NewBound(30, Single(0.05), g, nil).Price(t.Context(), 1<<40, 1, -1, 1); err == nil {
		t.Error("a price where Upper refuses")
	}
}
