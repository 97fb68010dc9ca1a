package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/plan"
)

// A MenuConfig is what a ledger of a menu promises: steps of declared types, chosen by the results so far. All but Text is
// computed when the ledger is made, and kept in its first line.
type MenuConfig struct {
	Text  string `json:"text"` // of the menu (plan.ParseMenu)
	Units int    `json:"units"`
	Costs []int  `json:"costs"`
	// Odometer has budgets, ascending, with ε at the ledger's δ from above: the last is the promise.
	Odometer []UnitsAt `json:"odometer"`
}

// UnitsAt is ε for a budget.
type UnitsAt struct {
	Units   int     `json:"units"`
	Epsilon float64 `json:"epsilon"`
}

// maxMenu is the longest text of a menu, in bytes, and mostOdometer bounds the rows: with a header of at most maxHeader.
const (
	maxMenu      = 1 << 14
	mostOdometer = 400
)

// menued is the policy of ledgers of a menu: the units of what is entered add up to at most the budget.
type menued struct {
	config MenuConfig
	menu   *accountant.Menu
	epsilon,
	delta float64
	used int
}

// newMenued checks the menu of c.
func newMenued(c *Config) (*menued, error) {
	if c.Menu == nil {
		return nil, fault.New("menu", "is missing, which ledgers of the mode %s need", AdaptiveMenu)
	}
	if len(c.Menu.Text) > maxMenu {
		return nil, fault.New("menu", "has %d bytes, more than %d", len(c.Menu.Text), maxMenu)
	}
	m, err := plan.ParseMenu(context.Background(), []byte(c.Menu.Text))
	if err != nil {
		return nil, err
	}
	if c.Neighbors != m.Neighbors || c.RecordsPerPerson != max(m.RecordsPerPerson, 1) {
		return nil, fault.New("neighbors", "%v is not the menu's relation and unit", c.Neighbors)
	}
	if !(c.Delta > 0 && c.Delta < 1) {
		return nil, fault.New("delta", "%v is not in (0, 1), which ledgers of a menu need", c.Delta)
	}
	if len(c.Menu.Costs) != len(m.Types) || c.Menu.Units < 1 {
		return nil, fault.New("menu", "has %d costs for %d types within %d units", len(c.Menu.Costs), len(m.Types), c.Menu.Units)
	}
	for i, cost := range c.Menu.Costs {
		if m.Types[i].Cost = cost; cost < 1 {
			return nil, fault.New("menu", "has a cost of %d", cost)
		}
	}
	return &menued{config: *c.Menu, menu: m, epsilon: c.Epsilon, delta: c.Delta}, nil
}

// price fills in what a ledger of a menu promises, from the menu's text.
func (c *Config) price(ctx context.Context) error {
	if c.Menu == nil {
		return fault.New("menu", "is missing, which ledgers of the mode %s need", AdaptiveMenu)
	}
	m, err := plan.ParseMenu(ctx, []byte(c.Menu.Text))
	if err != nil {
		return err
	}
	if m.Delta == 0 {
		return fault.New("menu", "has no delta in its budget, which ledgers need")
	}
	priced, err := m.Price(ctx)
	if err != nil {
		return err
	}
	c.Neighbors, c.RecordsPerPerson, c.Delta, c.Epsilon = m.Neighbors, max(m.RecordsPerPerson, 1), m.Delta, m.Epsilon
	done := MenuConfig{Text: c.Menu.Text, Units: priced.Units()}
	for _, t := range priced.Types() {
		done.Costs = append(done.Costs, t.Cost)
	}
	rows, err := priced.Odometer(ctx)
	if err != nil {
		return err
	}
	every := (len(rows) + mostOdometer - 1) / mostOdometer
	for i, r := range rows {
		if r.Units > 0 && (len(rows)-1-i)%every == 0 && !math.IsInf(r.Epsilon.Upper, 1) {
			done.Odometer = append(done.Odometer, UnitsAt{r.Units, r.Epsilon.Upper})
		}
	}
	if c.Epsilon == 0 { // a menu with units
		if n := len(done.Odometer); n > 0 {
			c.Epsilon = done.Odometer[n-1].Epsilon
		} else {
			return fault.New("budget", "%d units have no finite ε at δ = %v", done.Units, c.Delta)
		}
	}
	c.Menu = &done
	return nil
}

// typed is a spend that names its type.
type typed struct {
	Type string `json:"type"`
}

// typeOf returns the type that a text names, "" if it is none of that form.
func typeOf(text string) string {
	var t typed
	if !bytes.HasPrefix([]byte(text), []byte(`{"type"`)) || strictjson.Decode([]byte(text), &t) != nil {
		return ""
	}
	return t.Type
}

// TypeText returns what SpendPlan takes in place of a plan, in a ledger of a menu, to spend a use of a type.
func TypeText(name string) []byte {
	text, _ := json.Marshal(typed{name})
	return text
}

// admit gives an admission its plan and its type: the one that is named, or the cheapest that dominates the plan.
func (j *menued) admit(a *admission, parse func() (*accountant.Plan, error)) (err error) {
	name := typeOf(a.text)
	if name == "" {
		if a.plan, err = parse(); err != nil {
			return err
		}
		if name, err = j.menu.ChargedAs(a.plan); err != nil {
			return err
		}
	}
	var names []string
	for i, t := range j.menu.Types {
		if names = append(names, t.Name); t.Name != name {
			continue
		}
		a.cost = []float64{float64(j.config.Costs[i])}
		if a.plan == nil {
			a.plan = &accountant.Plan{Neighbors: j.menu.Neighbors, RecordsPerPerson: max(j.menu.RecordsPerPerson, 1), Steps: t.Steps}
		}
		return nil
	}
	return fault.New("type", "%q is not one of %q", name, names)
}

func (j *menued) cost(a *admission) int { return int(a.cost[0]) }

func (j *menued) prepare(ctx context.Context, a *admission) error { return j.fits(ctx, a, 1) }

func (j *menued) admits(a *admission) bool { return j.cost(a) <= j.config.Units-j.used }

func (j *menued) fits(ctx context.Context, a *admission, n int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cost, left := j.cost(a), j.config.Units-j.used
	if n > int64(left/cost) {
		return fmt.Errorf("%w: it costs %d units, of which %d of %d are left", ErrBudget, int64(cost)*n, left, j.config.Units)
	}
	return nil
}

// foresee has nothing to gain: a cost is known at once.
func (j *menued) foresee(context.Context, []*admission) {}

func (j *menued) mark() (undo func()) {
	old := j.used
	return func() { j.used = old }
}

func (j *menued) count(a *admission, _ bool) error {
	if err := j.fits(context.Background(), a, 1); err != nil {
		return err
	}
	j.used += j.cost(a)
	return nil
}

func (j *menued) spent(context.Context) (Spent, error) {
	return Spent{Units: j.used, UnitsBudget: j.config.Units}, nil
}

func (j *menued) sums(context.Context) (sums, error) { return sums{Units: &j.used}, nil }

func (j *menued) resume(s sums) error {
	if s.Units == nil || *s.Units < 0 || *s.Units > j.config.Units-j.used {
		return errSums
	}
	j.used += *s.Units
	return nil
}

func (j *menued) covers(_ context.Context, s sums) error {
	switch {
	case s.Units == nil:
		return errSums
	case j.used > *s.Units:
		return fault.New("sums", "%d is less than what the entries cost, %d", *s.Units, j.used)
	}
	return nil
}

// verify prices the menu anew: the units of the first line must be within its budget.
func (j *menued) verify(ctx context.Context) error {
	m := *j.menu
	m.Units, m.Epsilon, m.Delta = j.config.Units, 0, j.delta
	priced, err := m.Price(ctx)
	if err != nil {
		return err
	}
	r, err := priced.Epsilon(ctx, j.delta)
	if err != nil {
		return err
	}
	if d, err := priced.Delta(ctx, j.epsilon); err != nil || d.Lower > j.delta {
		return fmt.Errorf("%d units cost ε of at least %s at δ = %s, above the budget %s", j.config.Units, num(r.Lower, j.epsilon), num(j.delta, -1), num(j.epsilon, -1))
	}
	return nil
}
