package menu

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Levels returns budgets at equal distances, the last the whole, with ε at a δ of delta/count each. They are to be fixed before the first
// output. Then "level j was current when the interaction stopped, with ε_j" is (ε_j, δ)-private after the fact: for all
// events S_j on which level j is current, Σ_j (P(S_j) − e^{ε_j}·Q(S_j)) ≤ δ (docs/theory/adaptive.md, "Levels"). Level j is current
// while what is spent, with the next request, is within its units and not those of level j−1.
func (m *Menu) Levels(ctx context.Context, count int, delta float64) ([]Row, error) {
	if count < 1 || count > min(m.Options.Units, 1000) {
		return nil, fault.New("levels", "%d is not a whole number in [1, %d]", count, min(m.Options.Units, 1000))
	}
	if !(delta > 0 && delta < 1) {
		return nil, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	o := m.Options
	o.Delta = delta / float64(count) * (1 - 4*xmath.U)
	o.Epsilon = 0
	finer, err := New(ctx, m.Types, o)
	if err != nil {
		return nil, err
	}
	rows, err := finer.Odometer(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Row, count)
	for j := range out {
		want := (m.Options.Units*(j+1) + count - 1) / count
		for _, r := range rows {
			if r.Units >= want || r.Units == rows[len(rows)-1].Units {
				out[j] = r
				break
			}
		}
	}
	out[count-1].Units = m.Options.Units
	return out, nil
}
