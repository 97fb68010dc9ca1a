package positive_test

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/positive"
)

// Of very many programs that are alike, all but the first take less than half of the work of one alone, and their laws have
// less than a third of its points, and are above and below as any are.
func TestMany(t *testing.T) {
	target := positive.Target{Delta: 1e-6, Relative: 1e-3}
	const copies = 100
	run := func(many bool, s float64) (upper, lower *positive.Law, work float64) {
		ctx := parallel.WithWork(t.Context(), 1e12)
		if many {
			ctx = positive.Many(ctx)
		}
		for _, s := range []float64{1, s} {
			before, _ := parallel.Work(ctx)
			p := &positive.Program{}
			p.Affine(p.Sum(p.Source(positive.LogNormal{S: s}), 30), 1./30, 0, 0x1p-53)
			var err error
			if upper, lower, err = p.RunFor(ctx, target, copies); err != nil {
				t.Fatal(err)
			}
			after, _ := parallel.Work(ctx)
			work = after - before
		}
		return upper, lower, work
	}
	for _, s := range []float64{1, 0.99, 1.01} {
		up, low, alone := run(false, s)
		above, below, many := run(true, s)
		if !(many < alone/2) {
			t.Errorf("s = %v: %.3g of work, and %.3g alone", s, many, alone)
		}
		if n, alone := len(above.X), len(up.X); 3*n > alone {
			t.Errorf("s = %v: %d points, and %d alone", s, n, alone)
		}
		for _, k := range []float64{0.5, 0.9, 1, 1.1, 2, 4} {
			if !(above.Above(k) >= low.Above(k) && below.Above(k) <= up.Above(k)) {
				t.Errorf("s = %v: E(X − %v)₊ in [%v, %v], and [%v, %v] alone", s, k, below.Above(k), above.Above(k), low.Above(k), up.Above(k))
			}
		}
	}
}
