package ledger

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/gdp"
	"github.com/dpaccountant/accountant/internal/fault"
)

// gaussian judges adaptive Gaussian steps by the exact filter of package gdp: the budget in
// (ε, δ) is turned into the largest μ within it when the ledger is made, and that μ never
// changes. Whatever is no Gaussian noise on the whole data set is refused.
type gaussian struct {
	filter  *gdp.Filter
	squares map[string]float64 // Σμ² of plans, by text
}

func newGaussian(c Config) (*gaussian, error) {
	mu, err := gdp.Within(c.Epsilon, c.Delta)
	if err != nil {
		return nil, err
	}
	f, err := gdp.NewFilter(mu)
	return &gaussian{f, map[string]float64{}}, err
}

// square returns Σμ² of a plan.
func (j *gaussian) square(text string, p *accountant.Plan) (float64, error) {
	if x, ok := j.squares[text]; ok {
		return x, nil
	}
	x, err := p.SquaredMu()
	if err != nil {
		return math.NaN(), err
	}
	if len(j.squares) >= maxCurves {
		clear(j.squares)
	}
	j.squares[text] = x
	return x, nil
}

func (j *gaussian) prepare(ctx context.Context, text string, p *accountant.Plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x, err := j.square(text, p)
	if err != nil {
		return err
	}
	return j.filter.Fits(x)
}

func (j *gaussian) admits(text string) bool {
	x, ok := j.squares[text]
	return ok && j.filter.Fits(x) == nil
}

// foresee has nothing to gain: a filter admits at once.
func (j *gaussian) foresee(context.Context, []admission) {}

func (j *gaussian) mark() (undo func()) {
	old := j.filter.Clone()
	return func() { j.filter = old }
}

func (j *gaussian) take(text string) {
	if err := j.filter.Spend(j.squares[text]); err != nil {
		panic("ledger: took what was not admitted: " + err.Error())
	}
}

// restore needs no time: a sum of squares is had at once.
func (j *gaussian) restore(text string, p *accountant.Plan, _ bool) error {
	x, err := j.square(text, p)
	if err != nil {
		return err
	}
	return j.filter.Spend(x)
}

func (j *gaussian) sums(context.Context) (sums, error) {
	x := j.filter.Spent()
	return sums{SquaredMu: &x}, nil
}

func (j *gaussian) resume(s sums) error {
	if s.SquaredMu == nil || !(*s.SquaredMu >= 0) {
		return errSums
	}
	return j.filter.Spend(unrounded(*s.SquaredMu))
}

func (j *gaussian) covers(_ context.Context, s sums) error {
	if s.SquaredMu == nil {
		return errSums
	}
	if x := j.filter.Spent(); !(x <= *s.SquaredMu) {
		return fault.New("squared-mu", "%v is less than what the entries cost, %v", *s.SquaredMu, x)
	}
	return nil
}

// recheck has nothing to add: restore has judged every entry.
func (j *gaussian) recheck(context.Context) error { return nil }

func (j *gaussian) spent(context.Context) (Spent, error) {
	return Spent{Mu: gdp.Mu(j.filter.Spent()), MuBudget: math.Sqrt(j.filter.Budget())}, nil
}
