package plan

// The text of a menu: types of steps, each with the keys of a plan's steps, and a budget.

import (
	"context"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
)

var (
	menuKeys = []string{"neighbors", "records-per-person", "budget", "menu", "levels"}
	typeKeys = []string{"name", "cost", "steps"}
)

// ParseMenu reads a menu from YAML, as strictly as Parse reads a plan:
//
//	neighbors: add-remove
//	budget: {epsilon: 2, delta: 1e-5} # or {units: 400}, with a delta or without
//	menu:
//	  - name: loud
//	    cost: auto # or a whole number
//	    steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 29}]
//	levels: 16 # none if left out
func ParseMenu(ctx context.Context, data []byte) (*accountant.Menu, error) {
	root, err := parseYAML(ctx, data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, &Error{Line: 1, Problem: "is empty; a menu has the keys " + strings.Join(menuKeys, ", ")}
	}
	v, err := root.parameters("a menu", menuKeys)
	if err != nil {
		return nil, err
	}
	relation, records := v.unit()
	m := ask(v, "budget", "{epsilon: …, delta: …} or {units: …}", parseMenuBudget)
	m.Neighbors, m.RecordsPerPerson = relation, records
	optional(v, "levels", &m.Levels, func(n *node) (int, error) { return n.wholeUpTo(1000) })
	m.Types = v.types(ctx)
	if v.err != nil {
		return nil, v.err
	}
	return &m, nil
}

// wholeUpTo returns a whole number from 1 on.
func (n *node) wholeUpTo(most int) (int, error) {
	x, err := n.whole()
	if err == nil && (x < 1 || x > most) {
		err = n.errorf("%d is not a whole number in [1, %d]", x, most)
	}
	return x, err
}

// units returns the units of a menu, or of a type.
func (n *node) units() (int, error) { return n.wholeUpTo(menu.MaxUnits) }

// tableDelta returns the δ of a menu.
func (n *node) tableDelta() (float64, error) {
	x, err := n.number()
	if err == nil && !(x >= 1e-200 && x < 1) {
		err = n.errorf("%v is not in [1e-200, 1)", n)
	}
	return x, err
}

var adaptiveKeys = []string{"units", "delta", "menu"}

// parseAdaptive reads an adaptive part of a plan.
func parseAdaptive(ctx context.Context, n *node) (profiles.Mechanism, error) {
	v, err := n.parameters("an adaptive part", adaptiveKeys)
	if err != nil {
		return nil, err
	}
	m := accountant.Menu{Units: ask(v, "units", "a whole number", (*node).units)}
	optional(v, "delta", &m.Delta, (*node).tableDelta)
	if m.Types = v.types(ctx); v.err != nil {
		return nil, v.err
	}
	return accountant.NewAdaptive(m)
}

// types reads the types of a menu.
func (v *values) types(ctx context.Context) []accountant.MenuType {
	return ask(v, "menu", "a list of types", func(n *node) (types []accountant.MenuType, err error) {
		if n.kind != listNode || len(n.items) == 0 {
			return nil, n.errorf("%v is not a list of at least one type", n)
		}
		names := map[string]bool{}
		for _, item := range n.items {
			t, err := parseMenuType(ctx, item)
			if err != nil {
				return nil, err
			}
			if names[t.Name] {
				return nil, item.get("name").errorf("%q is the name of two types, must be unique", t.Name)
			}
			names[t.Name] = true
			types = append(types, t)
		}
		return types, nil
	})
}

// parseMenuBudget returns a menu with a budget.
func parseMenuBudget(n *node) (m accountant.Menu, err error) {
	v, err := n.parameters("a budget", []string{"epsilon", "delta", "units"})
	if err != nil {
		return m, err
	}
	optional(v, "epsilon", &m.Epsilon, (*node).number)
	if at := n.get("epsilon"); at != nil && v.err == nil && !(m.Epsilon > 0 && m.Epsilon <= 1e4) {
		return m, at.errorf("%v is not in (0, 10000]", at)
	}
	optional(v, "delta", &m.Delta, (*node).tableDelta)
	if at := n.get("units"); at != nil && v.err == nil && m.Epsilon > 0 {
		return m, at.errorf("is set beside epsilon; a budget has one of the two")
	}
	optional(v, "units", &m.Units, (*node).units)
	if v.err == nil && m.Units == 0 && (m.Epsilon == 0 || m.Delta == 0) {
		return m, n.errorf("has neither units nor both epsilon and delta")
	}
	return m, v.err
}

func parseMenuType(ctx context.Context, n *node) (t accountant.MenuType, err error) {
	v, err := n.parameters("a type", typeKeys)
	if err != nil {
		return t, err
	}
	if t.Name = ask(v, "name", "a text", (*node).word); v.err == nil && t.Name == "" {
		return t, n.get("name").errorf("is empty; must be a text")
	}
	if cost := n.get("cost"); cost != nil && !cost.isWord("auto") {
		optional(v, "cost", &t.Cost, (*node).units)
	}
	t.Steps = v.stepsOnce(ctx)
	return t, v.err
}
