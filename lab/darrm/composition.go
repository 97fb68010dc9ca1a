package main

// Several private majorities composed, which the paper bounds by the sum of their ε.

import (
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/profiles"
)

// composition compares the paper's bill for Q queries with that of the
// profiles.
func (e *experiment) composition() {
	const eps, delta = 0.0892, 1e-4
	for _, m := range []float64{1, 3, 5} {
		p := darrm.Params{Mechanisms: 11, Epsilon: eps, Delta: delta, Allowance: m}.WithDefaultDelta()
		for _, c := range e.families(p, 11, -1+1/math.Pow(1-delta, 11))[:3] {
			mech := try.Must(p.Mechanism(e.ctx, profiles.AddRemove, c.gamma, 1, 1e-5))
			for _, q := range []int{20, 50, 100} {
				general, total := try.Must2(darrm.GeneralComposition(m*eps, m*delta, q, delta))
				acct := accountant.New(mech.Relation)
				try.Check(acct.AddBounds(mech, int64(q)))
				iv := try.Must(acct.Epsilon(e.ctx, total))
				e.page.Add("composition", "| %g | %d | %.5f | %.4f | %s | %.4f | %.4f | %.0f %% |\n", m, q, total, general, c.name, iv.Lower, iv.Upper, 100*iv.Upper/general)
			}
		}
	}
}
