package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

// filtered is the policy of adaptive ledgers of both kinds: Rényi divergences of plans add up in a filter, which admits them or not. In an
// adaptive-gaussian ledger the order is 2, at which the divergence of Gaussian noise is μ²; the budget in (ε, δ) is turned into
// the largest μ within it when the ledger is made, and that never changes.
type filtered struct {
	filter   *rdp.Filter
	budget   rdp.Grid
	gaussian bool
	tiny     bool // δ is so small that no step may give anything away
}

// leastGivenDelta is the least δ beside which the 1e-188 that all steps of a Gaussian filter may give away (profiles.Mu) are
// less than the rounding of rdp.MuWithin.
const leastGivenDelta = 1e-150

// givesAway reports whether a tail of some step may give everything away.
func givesAway(steps []accountant.Step) bool {
	return slices.ContainsFunc(steps, func(s accountant.Step) bool {
		if b, ok := s.Mechanism.(profiles.GaussianBounded); ok {
			_, leak := b.Above()
			return leak > 0
		}
		return givesAway(s.Steps)
	})
}

// maxOrders bounds the orders of an adaptive ledger; a handful is best.
const maxOrders = 1000

// newFiltered completes the orders of c.
func newFiltered(c *Config) (*filtered, error) {
	if len(c.Orders) > maxOrders {
		return nil, fault.New("orders", "%d are more than %d", len(c.Orders), maxOrders)
	}
	if len(c.Orders) == 0 {
		if !(c.Delta > 0 && c.Delta < 1) {
			return nil, fault.New("delta", "%v is not in (0, 1), which adaptive ledgers need", c.Delta)
		}
		if c.Epsilon < 1e-9 {
			return nil, fault.New("epsilon", "%v is not in [1e-09, +Inf), which adaptive ledgers need", c.Epsilon)
		}
		// Around the order that is best for Gaussian noise; each order costs
		// log(5)/(α−1) of ε against knowing the best one.
		t := -2 * xmath.Log(c.Delta) / c.Epsilon
		for _, x := range []float64{0.5, 0.75, 1, 1.5, 2.5} {
			a, _ := strconv.ParseFloat(strconv.FormatFloat(1+x*t, 'g', 4, 64), 64)
			if a > 1 {
				c.Orders = append(c.Orders, a)
			}
		}
	}
	f, err := rdp.NewFilterFor(c.Epsilon, c.Delta, c.Orders...)
	if err != nil {
		return nil, err
	}
	return &filtered{filter: f, budget: f.Budget()}, nil
}

func newGaussian(c Config) (*filtered, error) {
	mu, err := rdp.MuWithin(c.Epsilon, c.Delta)
	if err != nil {
		return nil, err
	}
	g, err := rdp.NewGaussianFilter(mu)
	if err != nil {
		return nil, err
	}
	f, err := rdp.NewFilter(2, g.Budget())
	if err != nil {
		return nil, err
	}
	return &filtered{filter: f, budget: f.Budget(), gaussian: true, tiny: c.Delta < leastGivenDelta}, nil
}

// cost returns a divergence for each order.
func (j *filtered) cost(a *admission) (c []float64, err error) {
	switch {
	case a.cost != nil:
	case j.gaussian:
		c = make([]float64, 1)
		if c[0], err = a.plan.SquaredMu(); err == nil && j.tiny && givesAway(a.plan.Steps) {
			err = fault.New("delta", "of the ledger is below %g, where the tails of discrete noise count", leastGivenDelta)
		}
	default:
		var curve rdp.Curve
		if curve, err = a.plan.RDP(); err == nil {
			c = rdp.OnOrders(curve, j.budget.Orders).Values
			err = j.curve(c).Check()
		}
	}
	if a.cost == nil && err == nil {
		a.cost = c
	}
	return a.cost, err
}

func (j *filtered) curve(cost []float64) rdp.Grid {
	return rdp.Grid{Orders: j.budget.Orders, Values: cost}
}

func (j *filtered) prepare(ctx context.Context, a *admission) error { return j.fits(ctx, a, 1) }

// fits multiplies the cost of a plan, with room for the rounding of a filter that adds the runs one by one.
func (j *filtered) fits(ctx context.Context, a *admission, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.cost(a)
	if err != nil {
		return err
	}
	times := make([]float64, len(c))
	for i, x := range c {
		times[i] = repeated(x, j.budget.Values[i], n)
	}
	return j.refusal(times, j.filter.Fits(j.curve(times)))
}

// repeated is n·x, and as much more as the rounding of n additions can come to. Each of them
// rounds a total within the budget to the nearest float64 and then up by one more: by less
// than 2^-51 of the budget together.
func repeated(x, budget float64, n int64) float64 {
	if n == 1 || x == 0 {
		return x
	}
	return float64(n)*x*(1+0x1p-50) + float64(n)*0x1p-51*budget
}

func (j *filtered) admits(a *admission) bool {
	return a.cost != nil && j.filter.Fits(j.curve(a.cost)) == nil
}

// foresee has nothing to gain: a filter admits at once.
func (j *filtered) foresee(context.Context, []*admission) {}

func (j *filtered) mark() (undo func()) {
	old := j.filter.Clone()
	return func() { j.filter = old }
}

func (j *filtered) count(a *admission, quick bool) error {
	if a.cost == nil && quick {
		return errUnknown
	}
	c, err := j.cost(a)
	if err != nil {
		return err
	}
	return j.refusal(c, j.filter.Spend(j.curve(c)))
}

// refusal names the order at which the least is missing.
func (j *filtered) refusal(cost []float64, err error) error {
	if !errors.Is(err, rdp.ErrBudget) {
		return err
	}
	spent, budget := j.filter.Spent().Values, j.budget.Values
	best, over := 0, math.Inf(1)
	for i, x := range cost {
		if o := (spent[i] + x) / budget[i]; o < over {
			best, over = i, o
		}
	}
	s, b := spent[best], budget[best]
	if j.gaussian {
		return fmt.Errorf("%w: it would bring Σμ² to %.7g, where the budget is %.7g, of which %.7g is spent", ErrBudget, s+cost[best], b, s)
	}
	return fmt.Errorf("%w: at Rényi order %s it would bring the divergence to %s, where the budget is %s, of which %s is spent and %s is left; no other order allows it either",
		ErrBudget, num(j.budget.Orders[best], -1), num(s+cost[best], b), num(b, -1), num(s, -1), num(max(0, b-s), -1))
}

func (j *filtered) spent(context.Context) (Spent, error) {
	spent, budget := j.filter.Spent().Values, j.budget.Values
	if j.gaussian {
		return Spent{Mu: rdp.MuOfSquare(spent[0]), MuBudget: math.Sqrt(budget[0])}, nil
	}
	best, share := 0, math.Inf(-1)
	for i, b := range budget {
		if x := (b - spent[i]) / max(b, math.SmallestNonzeroFloat64); x > share {
			best, share = i, x
		}
	}
	return Spent{Order: j.budget.Orders[best], Renyi: spent[best], RenyiBudget: budget[best]}, nil
}

func (j *filtered) sums(context.Context) (s sums, err error) {
	total := j.filter.Spent().Values
	if j.gaussian {
		return sums{SquaredMu: &total[0]}, nil
	}
	for i, x := range total {
		s.Renyi = append(s.Renyi, nil)
		if !math.IsInf(x, 1) {
			s.Renyi[i] = &x
		}
	}
	return s, nil
}

// total returns the divergences in a checkpoint.
func (j *filtered) total(s sums) ([]float64, error) {
	values := s.Renyi
	if j.gaussian {
		values = []*float64{s.SquaredMu}
	}
	total := make([]float64, len(values))
	for i, x := range values {
		if total[i] = math.Inf(1); x != nil {
			total[i] = *x
		} else if j.gaussian {
			return nil, errSums
		}
	}
	if j.curve(total).Check() != nil {
		return nil, errSums
	}
	return total, nil
}

func (j *filtered) resume(s sums) error {
	total, err := j.total(s)
	if err != nil {
		return err
	}
	for i, x := range total { // a filter that had nothing rounds the sum up by one number
		total[i] = max(0, math.Nextafter(x, math.Inf(-1)))
	}
	return j.filter.Spend(j.curve(total))
}

func (j *filtered) covers(_ context.Context, s sums) error {
	total, err := j.total(s)
	if err != nil {
		return err
	}
	for i, x := range j.filter.Spent().Values {
		if !(x <= total[i]) {
			return fault.New("sums", "%v is less than what the entries cost, %v", total[i], x)
		}
	}
	return nil
}
