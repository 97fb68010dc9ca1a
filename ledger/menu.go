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
	Odometer []UnitsAt        `json:"odometer"`
	menu     *accountant.Menu // that of the text, with the costs, once it is checked
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

// parseMenu reads the menu of a configuration.
func (c *Config) parseMenu(ctx context.Context) (m *accountant.Menu, err error) {
	if c.Menu == nil {
		return nil, fault.New("menu", "is missing, which ledgers of the mode %s need", AdaptiveMenu)
	}
	if len(c.Menu.Text) > maxMenu {
		return nil, fault.New("menu", "has %d bytes, more than %d", len(c.Menu.Text), maxMenu)
	}
	return plan.ParseMenu(ctx, []byte(c.Menu.Text))
}

// checkMenu reads the menu of a configuration that is complete, and gives its types their costs.
func (c *Config) checkMenu() error {
	m, err := c.parseMenu(context.Background())
	switch {
	case err != nil:
		return err
	case c.Neighbors != m.Neighbors || c.RecordsPerPerson != max(m.RecordsPerPerson, 1):
		return fault.New("neighbors", "%v is not the menu's relation and unit", c.Neighbors)
	case !(c.Delta > 0 && c.Delta < 1):
		return fault.New("delta", "%v is not in (0, 1), which ledgers of a menu need", c.Delta)
	case len(c.Menu.Costs) != len(m.Types) || c.Menu.Units < 1 || c.Menu.Units > maxRuns: // above, totals in float64 are not exact
		return fault.New("menu", "has %d costs for %d types within %d units", len(c.Menu.Costs), len(m.Types), c.Menu.Units)
	}
	for i, cost := range c.Menu.Costs {
		if m.Types[i].Cost = cost; cost < 1 {
			return fault.New("menu", "has a cost of %d", cost)
		}
	}
	c.Menu.menu = m
	return nil
}

// price fills in what a ledger of a menu promises, from the menu's text.
func (c *Config) price(ctx context.Context) error {
	m, err := c.parseMenu(ctx)
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
	done := MenuConfig{Text: c.Menu.Text, Units: priced.Options.Units}
	for _, t := range priced.Types {
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
	if n := len(done.Odometer); c.Epsilon == 0 && n > 0 { // a menu with units
		c.Epsilon = done.Odometer[n-1].Epsilon
	} else if c.Epsilon == 0 {
		return fault.New("budget", "%d units have no finite ε at δ = %v", done.Units, c.Delta)
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

// charge gives a spend the cost of a type, and its steps unless it has some.
func (m *MenuConfig) charge(a *admission, name string) error {
	var names []string
	for _, t := range m.menu.Types {
		if names = append(names, t.Name); t.Name != name {
			continue
		}
		a.cost = []float64{float64(t.Cost)}
		if a.plan == nil {
			a.plan = &accountant.Plan{Neighbors: m.menu.Neighbors, RecordsPerPerson: max(m.menu.RecordsPerPerson, 1), Steps: t.Steps}
		}
		return nil
	}
	return fault.New("type", "%q is not one of %q", name, names)
}

// verifyMenu prices the menu anew: the units of the first line must be within its budget.
func (c *Config) verifyMenu(ctx context.Context) error {
	m := *c.Menu.menu
	m.Units, m.Epsilon, m.Delta = c.Menu.Units, 0, c.Delta
	priced, err := m.Price(ctx)
	if err != nil {
		return err
	}
	d, err := priced.Delta(ctx, c.Epsilon)
	if err == nil && d.Lower > c.Delta {
		err = fmt.Errorf("%d units cost δ of at least %s at ε = %s, above the budget %s", c.Menu.Units, num(d.Lower, c.Delta), num(c.Epsilon, -1), num(c.Delta, -1))
	}
	return err
}
