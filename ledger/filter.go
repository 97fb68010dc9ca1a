package ledger

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// filtered is the policy of the three adaptive modes: what a plan costs is a number that adds up, and a spend is admitted while a
// total is within its budget. That number is
//
//   - the Rényi divergence, at each of some orders of which one has to stay within its budget (adaptive; rdp.Filter has the theorem);
//   - μ², whose budget is the square of the largest μ within that in (ε, δ) (adaptive-gaussian; rdp.GaussianFilter);
//   - the units of a type of the menu (adaptive-menu).
//
// The budget is fixed when the ledger is made.
type filtered struct {
	config                Config
	orders, budget, total []float64 // orders in an adaptive ledger only
}

// leastGivenDelta is the least δ beside which the 1e-188 that all steps of a Gaussian filter may give away (profiles.Mu) are
// less than the rounding of rdp.MuWithin.
const leastGivenDelta = 1e-150

// maxOrders bounds the orders of an adaptive ledger; a handful is best.
const maxOrders = 1000

// newFiltered completes the orders of c.
func newFiltered(c *Config) (*filtered, error) {
	j := &filtered{}
	switch c.Mode {
	case AdaptiveMenu:
		if err := c.checkMenu(); err != nil {
			return nil, err
		}
		j.budget = []float64{float64(c.Menu.Units)}
	case AdaptiveGaussian:
		mu, err := rdp.MuWithin(c.Epsilon, c.Delta)
		if err != nil {
			return nil, err
		}
		g, err := rdp.NewGaussianFilter(mu)
		if err != nil {
			return nil, err
		}
		_, square := g.Spent()
		j.budget = []float64{square}
	default:
		if err := c.completeOrders(); err != nil {
			return nil, err
		}
		f, err := rdp.NewFilterFor(c.Epsilon, c.Delta, c.Orders...)
		if err != nil {
			return nil, err
		}
		_, budget := f.Spent()
		j.orders, j.budget = budget.Orders, budget.Values
	}
	j.config, j.total = *c, make([]float64, len(j.budget))
	return j, nil
}

// completeOrders picks the orders of an adaptive ledger where none are given.
func (c *Config) completeOrders() error {
	switch {
	case len(c.Orders) > maxOrders:
		return fault.New("orders", "%d are more than %d", len(c.Orders), maxOrders)
	case len(c.Orders) > 0:
		return nil
	case !(c.Delta > 0 && c.Delta < 1):
		return fault.New("delta", "%v is not in (0, 1), which adaptive ledgers need", c.Delta)
	case c.Epsilon < 1e-9:
		return fault.New("epsilon", "%v is not in [1e-09, +Inf), which adaptive ledgers need", c.Epsilon)
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
	return nil
}

func (j *filtered) price(a *admission) error {
	switch j.config.Mode {
	case AdaptiveMenu:
		name, err := j.config.Menu.menu.ChargedAs(a.plan)
		if err != nil {
			return err
		}
		return j.config.Menu.charge(a, name)
	case AdaptiveGaussian:
		square, err := a.plan.SquaredMu()
		if err != nil {
			return err
		}
		if j.config.Delta < leastGivenDelta && a.leaks {
			return fault.New("delta", "of the ledger is below %g, where the tails of discrete noise count", leastGivenDelta)
		}
		a.cost = []float64{square}
	default:
		curve, err := a.plan.RDP()
		if err != nil {
			return err
		}
		cost := rdp.OnOrders(curve, j.orders)
		if err := cost.Check(); err != nil {
			return err
		}
		a.cost = cost.Values
	}
	return nil
}

// with returns the totals with n more of each spend, or why they are not within the budget.
func (j *filtered) with(n int64, all ...*admission) ([]float64, error) {
	now, next := slices.Clone(j.total), slices.Clone(j.total)
	for _, a := range all {
		fits := false
		for i, x := range a.cost {
			switch {
			case j.config.Mode == AdaptiveMenu:
				next[i] = now[i] + float64(n)*x // whole numbers, of which those within a budget are exact
			case x == 0:
				next[i] = now[i]
			default:
				next[i] = math.Nextafter(now[i]+repeated(x, j.budget[i], n), math.Inf(1))
			}
			fits = fits || next[i] <= j.budget[i]
		}
		if !fits {
			return nil, j.refusal(now, next)
		}
		now, next = next, now
	}
	return now, nil
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

func (j *filtered) fits(_ context.Context, n int64, all ...*admission) error {
	_, err := j.with(n, all...)
	return err
}

func (j *filtered) admits(all ...*admission) bool {
	return j.fits(context.Background(), 1, all...) == nil
}

func (j *filtered) count(a *admission) error {
	next, err := j.with(1, a)
	if err == nil {
		j.total = next
	}
	return err
}

// best is the order that has the smallest share of its budget spent.
func (j *filtered) best(spent []float64) int {
	best, least := 0, math.Inf(1)
	for i, b := range j.budget {
		if share := spent[i] / max(b, math.SmallestNonzeroFloat64); share < least {
			best, least = i, share
		}
	}
	return best
}

// refusal says what is missing, at the order at which that is the least.
func (j *filtered) refusal(now, next []float64) error {
	best := j.best(next)
	s, x, b := now[best], next[best], j.budget[best]
	switch j.config.Mode {
	case AdaptiveMenu:
		return fmt.Errorf("%w: it costs %.0f units, of which %.0f of %.0f are left", ErrBudget, x-s, b-s, b)
	case AdaptiveGaussian:
		return fmt.Errorf("%w: it would bring Σμ² to %.7g, where the budget is %.7g, of which %.7g is spent", ErrBudget, x, b, s)
	}
	return fmt.Errorf("%w: at Rényi order %s it would bring the divergence to %s, where the budget is %s, of which %s is spent and %s is left; no other order allows it either",
		ErrBudget, num(j.orders[best], -1), num(x, b), num(b, -1), num(s, -1), num(max(0, b-s), -1))
}

func (j *filtered) spent(context.Context) (s Spent, left float64, err error) {
	total, budget := j.total[0], j.budget[0]
	switch j.config.Mode {
	case AdaptiveMenu:
		return Spent{Units: int(total), UnitsBudget: int(budget)}, budget - total, nil
	case AdaptiveGaussian:
		s = Spent{Mu: xmath.SqrtUp(total), MuBudget: math.Sqrt(budget)}
		return s, math.Sqrt(max(0, s.MuBudget*s.MuBudget-s.Mu*s.Mu)), nil
	}
	best := j.best(j.total)
	s = Spent{Order: j.orders[best], Renyi: j.total[best], RenyiBudget: j.budget[best]}
	return s, max(0, s.RenyiBudget-s.Renyi), nil
}

func (j *filtered) sums(context.Context) (s sums, err error) {
	s.Renyi = make([]*float64, len(j.total))
	for i, x := range j.total {
		if !math.IsInf(x, 1) {
			s.Renyi[i] = &x
		}
	}
	return s, nil
}

// claimed returns the totals in a checkpoint.
func (j *filtered) claimed(s sums) ([]float64, error) {
	if len(s.Renyi) != len(j.total) {
		return nil, errSums
	}
	total, fits := make([]float64, len(s.Renyi)), false
	for i, x := range s.Renyi {
		if total[i] = math.Inf(1); x != nil {
			total[i] = *x
		}
		fits = fits || total[i] <= j.budget[i]
	}
	if !fits || slices.Min(total) < 0 { // entries that were admitted are within some budget
		return nil, errSums
	}
	return total, nil
}

func (j *filtered) resume(s sums) (err error) {
	j.total, err = j.claimed(s)
	return err
}

func (j *filtered) covers(_ context.Context, s sums) error {
	total, err := j.claimed(s)
	if err != nil {
		return err
	}
	for i, x := range j.total {
		if !(x <= total[i]) {
			return fault.New("sums", "%v is less than what the entries cost, %v", total[i], x)
		}
	}
	return nil
}
