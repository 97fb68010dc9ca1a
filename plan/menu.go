package plan

// The text of a menu: types of steps, each with the keys of a plan's steps, and a budget.

import (
	"context"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
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
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, &Error{Line: 1, Problem: "is empty; a menu has the keys " + strings.Join(menuKeys, ", ")}
	case root.kind != mapNode:
		return nil, root.errorf("%v is not a menu (a mapping with the keys %s)", root, strings.Join(menuKeys, ", "))
	}
	return parseMenu(ctx, root)
}

func parseMenu(ctx context.Context, root *node) (*accountant.Menu, error) {
	if err := root.checkKeys(menuKeys); err != nil {
		return nil, err
	}
	m := &accountant.Menu{}
	n, err := root.need("neighbors", "add-remove, substitute or zero-out")
	if err != nil {
		return nil, err
	}
	if m.Neighbors, err = parseNeighbors(n); err != nil {
		return nil, err
	}
	if n := root.get("records-per-person"); n != nil {
		if m.RecordsPerPerson, err = n.count(); err != nil {
			return nil, err
		}
		if err := subsample.CheckRecords(m.RecordsPerPerson); err != nil {
			return nil, n.locate("records-per-person", err)
		}
	}
	if n, err = root.need("budget", "{epsilon: …, delta: …} or {units: …}"); err != nil {
		return nil, err
	}
	if err := parseMenuBudget(n, m); err != nil {
		return nil, err
	}
	if n := root.get("levels"); n != nil {
		if m.Levels, err = n.wholeIn(1, 1000); err != nil {
			return nil, err
		}
	}
	if n, err = root.need("menu", "a list of types"); err != nil {
		return nil, err
	}
	m.Types, err = parseTypes(ctx, n)
	return m, err
}

// wholeIn returns a whole number of a range.
func (n *node) wholeIn(least, most int) (int, error) {
	x, err := n.whole()
	if err == nil && (x < least || x > most) {
		err = n.errorf("%d is not a whole number in [%d, %d]", x, least, most)
	}
	return x, err
}

var adaptiveKeys = []string{"units", "delta", "menu"}

// parseAdaptive reads an adaptive part of a plan.
func parseAdaptive(ctx context.Context, n *node) (profiles.Mechanism, error) {
	if n.kind != mapNode {
		return nil, n.errorf("%v is not an adaptive part (a mapping with the keys %s)", n, strings.Join(adaptiveKeys, ", "))
	}
	if err := n.checkKeys(adaptiveKeys); err != nil {
		return nil, err
	}
	var m accountant.Menu
	v, err := n.need("units", "a whole number")
	if err != nil {
		return nil, err
	}
	if m.Units, err = v.wholeIn(1, menu.MaxUnits); err != nil {
		return nil, err
	}
	if v := n.get("delta"); v != nil {
		if m.Delta, err = v.number(); err != nil {
			return nil, err
		}
		if !(m.Delta >= 1e-200 && m.Delta < 1) {
			return nil, v.errorf("%v is not in [1e-200, 1)", v)
		}
	}
	if v, err = n.need("menu", "a list of types"); err != nil {
		return nil, err
	}
	if m.Types, err = parseTypes(ctx, v); err != nil {
		return nil, err
	}
	return accountant.NewAdaptive(m)
}

// parseTypes reads the types of a menu.
func parseTypes(ctx context.Context, n *node) (types []accountant.MenuType, err error) {
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
}

func parseMenuBudget(n *node, m *accountant.Menu) (err error) {
	if n.kind != mapNode {
		return n.errorf("%v is not a budget (a mapping with the keys epsilon and delta, or units)", n)
	}
	if err := n.checkKeys([]string{"epsilon", "delta", "units"}); err != nil {
		return err
	}
	if v := n.get("epsilon"); v != nil {
		if m.Epsilon, err = v.number(); err != nil {
			return err
		}
		if !(m.Epsilon > 0 && m.Epsilon <= 1e4) {
			return v.errorf("%v is not in (0, 10000]", v)
		}
	}
	if v := n.get("delta"); v != nil {
		if m.Delta, err = v.number(); err != nil {
			return err
		}
		if !(m.Delta >= 1e-200 && m.Delta < 1) {
			return v.errorf("%v is not in [1e-200, 1)", v)
		}
	}
	if v := n.get("units"); v != nil {
		if m.Epsilon > 0 {
			return v.errorf("is set beside epsilon; a budget has one of the two")
		}
		m.Units, err = v.wholeIn(1, menu.MaxUnits)
		return err
	}
	if m.Epsilon == 0 || m.Delta == 0 {
		return n.errorf("has neither units nor both epsilon and delta")
	}
	return nil
}

func parseMenuType(ctx context.Context, n *node) (t accountant.MenuType, err error) {
	if n.kind != mapNode {
		return t, n.errorf("%v is not a type (a mapping with the keys %s)", n, strings.Join(typeKeys, ", "))
	}
	if err := n.checkKeys(typeKeys); err != nil {
		return t, err
	}
	v, err := n.need("name", "a text")
	if err != nil {
		return t, err
	}
	if t.Name, err = v.word(); err != nil {
		return t, err
	}
	if t.Name == "" {
		return t, v.errorf("is empty; must be a text")
	}
	if v := n.get("cost"); v != nil && !v.isWord("auto") {
		if t.Cost, err = v.wholeIn(1, menu.MaxUnits); err != nil {
			return t, err
		}
	}
	if v, err = n.need("steps", "a list of steps"); err != nil {
		return t, err
	}
	t.Steps, err = parseSteps(v, 1, &reading{ctx: ctx})
	return t, err
}
