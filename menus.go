package accountant

// Menus as data: the types of steps from which an interaction picks each next one by the results so far. What it costs is for
// package menu; here steps become types, and steps that differ from all types are charged as one that dominates them.

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/menu"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A Menu is what an interaction may run, in any order and chosen by the outputs so far. Either Units is its budget, or the
// largest number of units within Epsilon and Delta.
type Menu struct {
	Neighbors        profiles.Relation
	RecordsPerPerson int64 // as of a Plan
	Types            []MenuType
	Units            int
	Epsilon, Delta   float64
	Levels           int // at which ε is told when the interaction stops; 0 for none
}

// A MenuType is what one use of a type runs, and its cost in whole units: 0 for one that is chosen (menu.Type).
type MenuType struct {
	Name  string
	Cost  int
	Steps []Step
}

// Price returns the menu with its price. Of the options, the accuracy, the limits of work, memory and time count.
//
// A type's steps may run one by one with others in between, if what they hide is not kept secret between them: docs/theory/adaptive.md,
// "Interleaving".
func (m *Menu) Price(ctx context.Context, opts ...Option) (*menu.Menu, error) {
	o := defaults()
	for _, f := range opts {
		f(&o)
	}
	var stop context.CancelFunc
	ctx, stop = o.within(o.budgeted(ctx))
	defer stop()
	types := make([]menu.Type, len(m.Types))
	for i, t := range m.Types {
		types[i] = menu.Type{Name: t.Name, Cost: t.Cost}
		if len(t.Steps) == 0 {
			continue // which menu.New refuses
		}
		runs, err := (&Plan{Neighbors: m.Neighbors, RecordsPerPerson: m.RecordsPerPerson, Steps: t.Steps}).composition(ctx, o, m.Delta)
		if err != nil {
			return nil, fault.In(fmt.Sprintf("menu[%d]", i), err)
		}
		types[i].Runs = runs
	}
	return menu.New(ctx, types, menu.Options{Units: m.Units, Epsilon: m.Epsilon, Delta: m.Delta, Relative: max(o.Relative, 1e-6)})
}

// composition returns what is known of one run of the plan, for each direction.
func (p *Plan) composition(ctx context.Context, o settings, delta float64) (c profiles.Composition, err error) {
	a := New(p.Neighbors, func(s *settings) { *s = o }, WithRecordsPerPerson(p.Records()))
	if err := a.AddPlan(ctx, p); err != nil {
		return c, err
	}
	for _, r := range a.added {
		x := profiles.Repeat(*r.m, r.count)
		if r.m.Laws != nil {
			q := profiles.Question{Runs: r.count, Total: r.count, Delta: delta, Width: o.Relative}
			if q.Delta == 0 {
				q.Delta = 1e-6
			}
			if x, err = r.m.Laws.For(ctx, q); err != nil {
				return c, err
			}
		}
		for d := range x.Upper {
			c.Upper[d] = append(c.Upper[d], x.Upper[d]...)
			c.Lower[d] = append(c.Lower[d], x.Lower[d]...)
		}
	}
	return c, nil
}

// ChargedAs returns the cheapest type, with costs as of the priced menu, that a plan may be charged as: one with the same steps, or, where both have one step of
// Gaussian or of Laplace noise, on Poisson samples or on the whole data set, one with at most the noise, at least the rate and at least the count. More noise is less noise with
// more added, and a smaller sample is a larger one from which records are left out, so that such a type dominates at every α. Nothing is
// tested numerically.
func (m *Menu) ChargedAs(p *Plan, priced *menu.Menu) (string, error) {
	if p.Neighbors != m.Neighbors || p.Records() != max(m.RecordsPerPerson, 1) {
		return "", fault.New("neighbors", "%v is not the menu's relation and unit", p.Neighbors)
	}
	best, cost := "", 0
	for i, t := range priced.Types() {
		if x := m.Types[i]; (best == "" || t.Cost < cost) && covers(x.Steps, p.Steps) {
			best, cost = t.Name, t.Cost
		}
	}
	if best == "" {
		return "", fault.New("steps", "are dominated by no type of the menu by its parameters: give the type, or have one with the same mechanism, at most its noise, at least its rate and its count")
	}
	return best, nil
}

// covers reports whether steps of a type dominate others.
func covers(a, b []Step) bool {
	if slices.EqualFunc(a, b, sameStep) {
		return true
	}
	if len(a) != 1 || len(b) != 1 {
		return false
	}
	x, y := a[0], b[0]
	plain := func(s Step) bool { return s.Mechanism != nil && s.Steps == nil && s.Selection == nil }
	if !plain(x) || !plain(y) || x.Mechanism.Name() != y.Mechanism.Name() || max(x.Count, 1) < max(y.Count, 1) {
		return false
	}
	if name := x.Mechanism.Name(); name != "gaussian" && name != "laplace" {
		return false
	}
	u, ok := x.Mechanism.(profiles.NoiseScaler)
	v, ok2 := y.Mechanism.(profiles.NoiseScaler)
	if !ok || !ok2 || !(u.NoiseMultiplier() <= v.NoiseMultiplier()) {
		return false
	}
	switch q := y.Sampling.(type) {
	case nil:
		return x.Sampling == nil
	case subsample.Poisson:
		r, ok := x.Sampling.(subsample.Poisson)
		return ok && q.Rate() <= r.Rate()
	}
	return false
}

// sameStep reports whether two steps run the same, whatever they are called.
func sameStep(a, b Step) bool {
	return same(a.Mechanism, b.Mechanism) && same(a.Sampling, b.Sampling) && max(a.Count, 1) == max(b.Count, 1) && a.Selection == nil && b.Selection == nil &&
		slices.EqualFunc(a.Steps, b.Steps, sameStep)
}

// same reports whether two values are equal, as far as they can be compared.
func same(a, b any) bool {
	return a == nil && b == nil || a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
