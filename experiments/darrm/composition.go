package main

import (
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/profiles"
)

// composition compares the paper's bill for Q queries with that of the exact
// profiles, once composed says what those cost.
func (e *experiment) composition() {
	if _, ok := composed(profiles.Mechanism{}, 1, 1e-5); !ok {
		return
	}
	e.printf("## Composition of the profiles\n\nε of Q queries at the δ of Table 2 (m = 3, MNIST), by general composition and by the accountant.\n\n| Q | δ | general composition | accountant |\n|---|---|---|---|\n")
	p := darrm.Params{Mechanisms: 11, Epsilon: 0.0892, Delta: 1e-4, Allowance: 3}.WithDefaultDelta()
	g, err := e.optimal(p, 0.75)
	if err != nil {
		e.err = err
		return
	}
	mech, err := darrm.NewMechanism(profiles.AddRemove, p.Mechanisms, p.Epsilon, p.Delta, g)
	if err != nil {
		e.err = err
		return
	}
	for _, q := range []int{20, 50, 100} {
		eps, delta, _ := darrm.GeneralComposition(3*0.0892, 3e-4, q, 1e-4)
		upper, _ := composed(mech, q, delta)
		e.printf("| %d | %.5f | %.4f | %.4f |\n", q, delta, eps, upper)
	}
	e.printf("\n")
}

// composed returns an upper bound on ε(δ) of q runs of m by the Fourier
// accountant; ok is false until that is joined here.
func composed(m profiles.Mechanism, q int, delta float64) (eps float64, ok bool) {
	return 0, false
}
