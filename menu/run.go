package menu

import (
	"context"
	"fmt"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// A Run admits the steps of one interaction within the budget of a menu. A step must be asked for with Spend before it runs,
// and may run only if Spend returns nil. It is safe for use by several goroutines.
type Run struct {
	mu    sync.Mutex
	menu  *Menu
	spent int
}

// Run returns a run that has spent nothing.
func (m *Menu) Run() *Run { return &Run{menu: m} }

// Fits returns the error that Spend would return now, and charges nothing.
func (r *Run) Fits(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.with(name)
	return err
}

// Spend charges one use of the type with the name, or returns an error, which wraps rdp.ErrBudget if the budget does not
// allow it, and charges nothing; a cheaper type may then still fit.
func (r *Run) Spend(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, err := r.with(name)
	if err == nil {
		r.spent = next
	}
	return err
}

func (r *Run) with(name string) (int, error) {
	i, err := r.menu.index(name)
	if err != nil {
		return 0, err
	}
	cost := r.menu.types[i].Cost
	if left := r.menu.opts.Units - r.spent; cost > left {
		return 0, fmt.Errorf("%w: type %q costs %d units, and %d of %d are left", rdp.ErrBudget, name, cost, left, r.menu.opts.Units)
	}
	return r.spent + cost, nil
}

// index returns the place of the type with the name.
func (m *Menu) index(name string) (int, error) {
	var names []string
	for i, t := range m.types {
		if t.Name == name {
			return i, nil
		}
		names = append(names, t.Name)
	}
	return 0, fault.New("type", "%q is not one of %q", name, names)
}

// Spent returns the units that were charged. It depends on the outputs: the guarantee is the budget.
func (r *Run) Spent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.spent
}

// Clone returns a run that has spent the same: for taking back a step that did not run.
func (r *Run) Clone() *Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Run{menu: r.menu, spent: r.spent}
}

// A Level is a budget with the ε that is shown when somebody stops at it.
type Level = Row

// Levels returns budgets at equal distances, the last the whole, with ε at a δ of delta/count each. They are to be fixed before the first
// output. Then "level j was current when the interaction stopped, with ε_j" is (ε_j, δ)-private after the fact: for all
// events S_j on which level j is current, Σ_j (P(S_j) − e^{ε_j}·Q(S_j)) ≤ δ (docs/theory/adaptive.md, "Levels"). Level j is current
// while what is spent, with the next request, is within its units and not those of level j−1.
func (m *Menu) Levels(ctx context.Context, count int, delta float64) ([]Level, error) {
	if count < 1 || count > min(m.opts.Units, 1000) {
		return nil, fault.New("levels", "%d is not a whole number in [1, %d]", count, min(m.opts.Units, 1000))
	}
	if !(delta > 0 && delta < 1) {
		return nil, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	o := m.opts
	o.Delta = delta / float64(count) * (1 - 4*xmath.U)
	o.Epsilon = 0
	o.Units = m.opts.Units
	finer, err := New(ctx, m.types, o)
	if err != nil {
		return nil, err
	}
	rows, err := finer.Odometer(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Level, count)
	for j := range out {
		want := (m.opts.Units*(j+1) + count - 1) / count
		for _, r := range rows {
			if r.Units >= want || r.Units == rows[len(rows)-1].Units {
				out[j] = r
				break
			}
		}
	}
	out[count-1].Units = m.opts.Units
	return out, nil
}
