// The judge of adaptive ledgers: a Rényi filter. It admits a step or says by how much it
// does not fit.

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
	"github.com/dpaccountant/accountant/rdp"
)

// adaptive judges by a Rényi filter.
type adaptive struct {
	filter *rdp.Filter
	curves map[string]rdp.Curve // on the filter's orders
	orders []float64
}

// maxOrders bounds the orders of an adaptive ledger; a handful is best.
const maxOrders = 1000

// newAdaptive completes the orders of c.
func newAdaptive(c *Config) (*adaptive, error) {
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
	return &adaptive{f, map[string]rdp.Curve{}, f.Budget().Orders}, nil
}

// maxCurves is how many curves are remembered.
const maxCurves = 1000

// curve returns the curve of a plan on the filter's orders.
func (j *adaptive) curve(text string, p *accountant.Plan) (rdp.Curve, error) {
	if c, ok := j.curves[text]; ok {
		return c, nil
	}
	curve, err := p.RDP()
	if err != nil {
		return nil, err
	}
	c := rdp.OnOrders(curve, j.orders)
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(j.curves) >= maxCurves {
		clear(j.curves)
	}
	j.curves[text] = c
	return c, nil
}

func (j *adaptive) prepare(ctx context.Context, text string, p *accountant.Plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := j.curve(text, p)
	if err != nil {
		return err
	}
	return j.refusal(c, j.filter.Fits(c))
}

// refusal names the order at which the least is missing.
func (j *adaptive) refusal(c rdp.Curve, err error) error {
	if !errors.Is(err, rdp.ErrBudget) {
		return err
	}
	spent, budget := j.filter.Spent(), j.filter.Budget()
	best, over := 0, math.Inf(1)
	for i, a := range j.orders {
		if o := (spent.Values[i] + c.RDP(a)) / budget.Values[i]; o < over {
			best, over = i, o
		}
	}
	b := budget.Values[best]
	return fmt.Errorf("%w: at Rényi order %s it would bring the divergence to %s, where the budget is %s, of which %s is spent and %s is left; no other order allows it either",
		ErrBudget, num(j.orders[best], -1), num(spent.Values[best]+c.RDP(j.orders[best]), b), num(b, -1),
		num(spent.Values[best], -1), num(max(0, b-spent.Values[best]), -1))
}

func (j *adaptive) admits(text string) bool {
	c, ok := j.curves[text]
	return ok && j.filter.Fits(c) == nil
}

// foresee has nothing to gain: a filter admits at once.
func (j *adaptive) foresee(context.Context, []admission) {}

func (j *adaptive) mark() (undo func()) {
	old := j.filter.Clone()
	return func() { j.filter = old }
}

func (j *adaptive) take(text string) {
	if err := j.filter.Spend(j.curves[text]); err != nil {
		panic("ledger: took what was not admitted: " + err.Error())
	}
}

func (j *adaptive) restore(text string, p *accountant.Plan, quick bool) error {
	if _, ok := j.curves[text]; !ok && quick {
		return errUnknown
	}
	c, err := j.curve(text, p)
	if err != nil {
		return err
	}
	return j.refusal(c, j.filter.Spend(c))
}

func (j *adaptive) sums(context.Context) (s sums, err error) {
	for _, x := range j.filter.Spent().Values {
		if math.IsInf(x, 1) {
			s.Renyi = append(s.Renyi, nil)
		} else {
			s.Renyi = append(s.Renyi, &x)
		}
	}
	return s, nil
}

// values returns the divergences of a checkpoint.
func (j *adaptive) values(s sums) ([]float64, error) {
	if len(s.Renyi) != len(j.orders) {
		return nil, errSums
	}
	values := make([]float64, len(s.Renyi))
	for i, x := range s.Renyi {
		if values[i] = math.Inf(1); x != nil {
			values[i] = *x
		}
		if !(values[i] >= 0) {
			return nil, errSums
		}
	}
	return values, nil
}

func (j *adaptive) resume(s sums) error {
	values, err := j.values(s)
	if err != nil {
		return err
	}
	return j.filter.Spend(rdp.Func(func(alpha float64) float64 { return unrounded(values[slices.Index(j.orders, alpha)]) }))
}

// unrounded is what makes x the sum of a filter that had nothing: it rounds up by one number.
func unrounded(x float64) float64 { return max(0, math.Nextafter(x, math.Inf(-1))) }

func (j *adaptive) covers(_ context.Context, s sums) error {
	values, err := j.values(s)
	if err != nil {
		return err
	}
	for i, x := range j.filter.Spent().Values {
		if !(x <= values[i]) {
			return fault.New("renyi", "%v at order %v is less than what the entries cost, %v", values[i], j.orders[i], x)
		}
	}
	return nil
}

// recheck has nothing to add: restore has judged every entry.
func (j *adaptive) recheck(context.Context) error { return nil }

func (j *adaptive) spent(context.Context) (Spent, error) {
	s, b := j.filter.Spent(), j.filter.Budget()
	best, share := 0, math.Inf(-1)
	for i := range j.orders {
		if x := (b.Values[i] - s.Values[i]) / max(b.Values[i], math.SmallestNonzeroFloat64); x > share {
			best, share = i, x
		}
	}
	return Spent{Order: j.orders[best], Renyi: s.Values[best], RenyiBudget: b.Values[best]}, nil
}
