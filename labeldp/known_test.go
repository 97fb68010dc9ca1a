package labeldp

import "testing"

// A report of a grid with a bias needs the optimum twice: for itself and where the
// grid's own program takes too long.
func TestOptimumOnce(t *testing.T) {
	labels := []float64{0, 1, 2, 5}
	p, err := uniform(labels)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Methods(t.Context(), p, 1); err != nil {
		t.Fatal(err)
	}
	first := p.known.found.(optimum)
	if first.duals == nil {
		t.Fatal("nothing is kept")
	}
	again, err := newProblem(p, 1).find(t.Context(), p.known)
	if err != nil || again.duals != first.duals {
		t.Errorf("computed again: %v, %v", again, err)
	}
	other, err := newProblem(p, 2).find(t.Context(), p.known)
	if err != nil || other.primal >= first.primal {
		t.Errorf("a larger ε has the loss %v, with error %v; must be below %v", other.primal, err, first.primal)
	}
	mixed, err := p.mix(0)
	if err != nil {
		t.Fatal(err)
	}
	if o, err := newProblem(mixed, 1).find(t.Context(), mixed.known); err != nil || o.duals == first.duals {
		t.Errorf("another prior's optimum: %v, %v", o, err)
	}
}
