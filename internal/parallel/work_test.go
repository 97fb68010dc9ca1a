package parallel_test

import (
	"context"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
)

// TestWorkCountsAround: what a limit inside another one spends counts in both, and only the inner one ends it.
func TestWorkCountsAround(t *testing.T) {
	all := parallel.WithWork(t.Context(), math.Inf(1))
	outer := parallel.WithWork(all, 10)
	inner := parallel.WithWork(outer, 20)
	if err := parallel.Spend(inner, 15); err != nil {
		t.Errorf("15 of 20: %v", err)
	}
	if err := parallel.Spend(inner, 6); err != parallel.ErrWork {
		t.Errorf("21 of 20: %v", err)
	}
	if err := parallel.Spend(outer, 1); err != parallel.ErrWork {
		t.Errorf("22 of 10: %v", err)
	}
	if err := parallel.Spend(all, 1); err != nil {
		t.Errorf("a limit that only counts: %v", err)
	}
	for _, c := range []struct {
		name        string
		ctx         context.Context
		spent, left float64
	}{{"inner", inner, 21, -1}, {"outer", outer, 22, -12}, {"all", all, 23, math.Inf(1)}} {
		if spent, left := parallel.Work(c.ctx); spent != c.spent || left != c.left {
			t.Errorf("%s: spent %v, left %v, want %v, %v", c.name, spent, left, c.spent, c.left)
		}
	}
}
