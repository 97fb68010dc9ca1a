package fourier

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// Where the shape of the coarse laws is wrong, a lattice whose points are placed by it leaves a
// width that no step improves on: without giving it up, the interval is 5 % wide at an accuracy of 0.1 %.
func TestWrongShapeIsGivenUp(t *testing.T) {
	p, err := subsample.PoissonProfile(declared(t)(profiles.NewApproximate(0.8948989200263251, 1.4914845790506182e-09)), 0.006340752115595468)
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range []int{0, 1 << 15} {
		r := epsilon(t, sum(t, Options{MaxPoints: points}, profiles.Reverse(p), 213), 1.8976945488091003e-22)
		if w := r.Upper - r.Lower; w > 1e-3*r.Upper || len(r.Warnings) > 0 {
			t.Errorf("%d points: [%v, %v], %v", points, r.Lower, r.Upper, r.Warnings)
		}
	}
}
