package ledger

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// filtered is the judge of adaptive ledgers of both kinds: costs of plans add up in a filter that admits them or not.
type filtered struct {
	filter filter
	costs  map[string][]float64 // of plans, by text
}

// A filter is rdp.Filter or rdp.GaussianFilter. A cost has one number for each budget.
type filter interface {
	cost(p *accountant.Plan) ([]float64, error)
	fits(cost []float64) error // its error says by how much it does not
	spend(cost []float64) error
	total() (spent, budget []float64)
	clone() filter
	report() Spent
	// read returns the totals in a checkpoint, and write puts them there.
	read(s sums) ([]float64, error)
	write(total []float64) sums
}

// maxCosts is how many costs are remembered.
const maxCosts = 1000

func newFiltered(f filter, err error) (judge, error) {
	return &filtered{f, map[string][]float64{}}, err
}

func (j *filtered) cost(text string, p *accountant.Plan) ([]float64, error) {
	if c, ok := j.costs[text]; ok {
		return c, nil
	}
	c, err := j.filter.cost(p)
	if err != nil {
		return nil, err
	}
	if len(j.costs) >= maxCosts {
		clear(j.costs)
	}
	j.costs[text] = c
	return c, nil
}

func (j *filtered) prepare(ctx context.Context, text string, p *accountant.Plan) error {
	return j.fits(ctx, text, p, 1)
}

// fits multiplies the cost of a plan, with room for the rounding of a filter that adds the runs one by one.
func (j *filtered) fits(ctx context.Context, text string, p *accountant.Plan, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.cost(text, p)
	if err != nil {
		return err
	}
	_, budget := j.filter.total()
	times := make([]float64, len(c))
	for i, x := range c {
		times[i] = repeated(x, budget[i], n)
	}
	return j.filter.fits(times)
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

func (j *filtered) admits(text string) bool {
	c, ok := j.costs[text]
	return ok && j.filter.fits(c) == nil
}

// foresee has nothing to gain: a filter admits at once.
func (j *filtered) foresee(context.Context, []admission) {}

func (j *filtered) mark() (undo func()) {
	old := j.filter.clone()
	return func() { j.filter = old }
}

func (j *filtered) take(text string) {
	if err := j.filter.spend(j.costs[text]); err != nil {
		panic("ledger: took what was not admitted: " + err.Error())
	}
}

func (j *filtered) restore(text string, p *accountant.Plan, quick bool) error {
	if _, ok := j.costs[text]; !ok && quick {
		return errUnknown
	}
	c, err := j.cost(text, p)
	if err != nil {
		return err
	}
	return j.filter.spend(c)
}

func (j *filtered) sums(context.Context) (sums, error) {
	spent, _ := j.filter.total()
	return j.filter.write(spent), nil
}

// read returns the totals of a checkpoint.
func (j *filtered) read(s sums) ([]float64, error) {
	total, err := j.filter.read(s)
	for _, x := range total {
		if !(x >= 0) {
			err = errSums
		}
	}
	return total, err
}

func (j *filtered) resume(s sums) error {
	total, err := j.read(s)
	if err != nil {
		return err
	}
	for i, x := range total { // a filter that had nothing rounds the sum up by one number
		total[i] = max(0, math.Nextafter(x, math.Inf(-1)))
	}
	return j.filter.spend(total)
}

func (j *filtered) covers(_ context.Context, s sums) error {
	total, err := j.read(s)
	if err != nil {
		return err
	}
	spent, _ := j.filter.total()
	for i, x := range spent {
		if !(x <= total[i]) {
			return fault.New("sums", "%v is less than what the entries cost, %v", total[i], x)
		}
	}
	return nil
}

// recheck has nothing to add: restore has judged every entry.
func (j *filtered) recheck(context.Context) error { return nil }

func (j *filtered) spent(context.Context) (Spent, error) { return j.filter.report(), nil }

// renyi adds up divergences at some orders.
type renyi struct {
	filter *rdp.Filter
	orders []float64
}

// maxOrders bounds the orders of an adaptive ledger; a handful is best.
const maxOrders = 1000

// newRenyi completes the orders of c.
func newRenyi(c *Config) (filter, error) {
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
	return renyi{f, f.Budget().Orders}, nil
}

func (f renyi) cost(p *accountant.Plan) ([]float64, error) {
	curve, err := p.RDP()
	if err != nil {
		return nil, err
	}
	c := rdp.OnOrders(curve, f.orders)
	return c.Values, c.Check()
}

func (f renyi) curve(cost []float64) rdp.Grid { return rdp.Grid{Orders: f.orders, Values: cost} }

func (f renyi) fits(cost []float64) error  { return f.refusal(cost, f.filter.Fits(f.curve(cost))) }
func (f renyi) spend(cost []float64) error { return f.refusal(cost, f.filter.Spend(f.curve(cost))) }

// refusal names the order at which the least is missing.
func (f renyi) refusal(cost []float64, err error) error {
	if !errors.Is(err, rdp.ErrBudget) {
		return err
	}
	spent, budget := f.total()
	best, over := 0, math.Inf(1)
	for i, x := range cost {
		if o := (spent[i] + x) / budget[i]; o < over {
			best, over = i, o
		}
	}
	s, b := spent[best], budget[best]
	return fmt.Errorf("%w: at Rényi order %s it would bring the divergence to %s, where the budget is %s, of which %s is spent and %s is left; no other order allows it either",
		ErrBudget, num(f.orders[best], -1), num(s+cost[best], b), num(b, -1), num(s, -1), num(max(0, b-s), -1))
}

func (f renyi) total() (spent, budget []float64) {
	return f.filter.Spent().Values, f.filter.Budget().Values
}
func (f renyi) clone() filter { return renyi{f.filter.Clone(), f.orders} }

func (f renyi) report() Spent {
	spent, budget := f.total()
	best, share := 0, math.Inf(-1)
	for i, b := range budget {
		if x := (b - spent[i]) / max(b, math.SmallestNonzeroFloat64); x > share {
			best, share = i, x
		}
	}
	return Spent{Order: f.orders[best], Renyi: spent[best], RenyiBudget: budget[best]}
}

func (f renyi) read(s sums) ([]float64, error) {
	if len(s.Renyi) != len(f.orders) {
		return nil, errSums
	}
	total := make([]float64, len(s.Renyi))
	for i, x := range s.Renyi {
		if total[i] = math.Inf(1); x != nil {
			total[i] = *x
		}
	}
	return total, nil
}

func (f renyi) write(total []float64) (s sums) {
	for _, x := range total {
		if math.IsInf(x, 1) {
			s.Renyi = append(s.Renyi, nil)
		} else {
			s.Renyi = append(s.Renyi, &x)
		}
	}
	return s
}

// gaussian adds up μ² of Gaussian noise on the whole data set, and refuses all else. The budget in (ε, δ) is turned into
// the largest μ within it when the ledger is made, and that never changes.
type gaussian struct{ filter *rdp.GaussianFilter }

func newGaussian(c Config) (filter, error) {
	mu, err := rdp.MuWithin(c.Epsilon, c.Delta)
	if err != nil {
		return nil, err
	}
	f, err := rdp.NewGaussianFilter(mu)
	return gaussian{f}, err
}

func (f gaussian) cost(p *accountant.Plan) ([]float64, error) {
	x, err := p.SquaredMu()
	return []float64{x}, err
}

func (f gaussian) fits(cost []float64) error  { return f.filter.Fits(cost[0]) }
func (f gaussian) spend(cost []float64) error { return f.filter.Spend(cost[0]) }
func (f gaussian) clone() filter              { return gaussian{f.filter.Clone()} }

func (f gaussian) total() (spent, budget []float64) {
	return []float64{f.filter.Spent()}, []float64{f.filter.Budget()}
}

func (f gaussian) report() Spent {
	return Spent{Mu: rdp.MuOfSquare(f.filter.Spent()), MuBudget: math.Sqrt(f.filter.Budget())}
}

func (f gaussian) read(s sums) ([]float64, error) {
	if s.SquaredMu == nil {
		return nil, errSums
	}
	return []float64{*s.SquaredMu}, nil
}

func (f gaussian) write(total []float64) sums { return sums{SquaredMu: &total[0]} }
