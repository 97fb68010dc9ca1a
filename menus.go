package accountant

// Menus as data: the types of steps from which an interaction picks each next one by the results so far. What it costs is for
// package menu; here steps become types, and steps that differ from all types are charged as one that dominates them.

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
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
func (m *Menu) Price(ctx context.Context, opts ...Options) (*menu.Menu, error) {
	o := defaults(opts...)
	var stop context.CancelFunc
	ctx, stop = o.within(o.budgeted(ctx))
	defer stop()
	types := make([]menu.Type, len(m.Types))
	for i, t := range m.Types {
		types[i] = menu.Type{Name: t.Name, Cost: t.Cost}
		if len(t.Steps) == 0 {
			continue // which menu.New refuses
		}
		if branches(t.Steps) {
			return nil, fault.In(fmt.Sprintf("menu[%d]", i), fault.New("steps", "have disjoint branches, which a type of a menu must not: make each branch a menu of its own"))
		}
		runs, err := (&Plan{Neighbors: m.Neighbors, RecordsPerPerson: m.RecordsPerPerson, Steps: t.Steps}).composition(ctx, o, m.Delta)
		if err != nil {
			return nil, fault.In(fmt.Sprintf("menu[%d]", i), err)
		}
		types[i].Runs = runs
	}
	return menu.New(ctx, types, menu.Options{Units: m.Units, Epsilon: m.Epsilon, Delta: m.Delta, Relative: max(o.Relative, 1e-6)})
}

// branches reports whether some step has branches on disjoint parts, of which a record is in one.
func branches(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Disjoint != nil || s.Partition != "" || branches(s.Steps) })
}

// composition returns what is known of one run of the plan, for each direction.
func (p *Plan) composition(ctx context.Context, o settings, delta float64) (c profiles.Composition, err error) {
	o.records = p.Records()
	a := newAccountant(p.Neighbors, o)
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

// ChargedAs returns the cheapest type, by its Cost, that a plan may be charged as: one with the same steps, or, where both have one step of
// Gaussian or of Laplace noise, on Poisson samples or on the whole data set, one with at most the noise, at least the rate and at least the count. More noise is less noise with
// more added, and a smaller sample is a larger one from which records are left out, so that such a type dominates at every α. Nothing is
// tested numerically.
func (m *Menu) ChargedAs(p *Plan) (string, error) {
	if p.Neighbors != m.Neighbors || p.Records() != max(m.RecordsPerPerson, 1) {
		return "", fault.New("neighbors", "%v is not the menu's relation and unit", p.Neighbors)
	}
	best, cost := "", 0
	for _, t := range m.Types {
		if (best == "" || t.Cost < cost) && covers(t.Steps, p.Steps, m.Neighbors) {
			best, cost = t.Name, t.Cost
		}
	}
	if best == "" {
		return "", fault.New("steps", "are dominated by no type of the menu by its parameters: give the type, or have one with the same mechanism, at most its noise, at least its rate and its count")
	}
	return best, nil
}

// covers reports whether steps of a type dominate others.
func covers(a, b []Step, r profiles.Relation) bool {
	equal := func(x, y Step) bool { return sameStep(x, y, r) }
	if slices.EqualFunc(a, b, equal) {
		return true
	}
	if len(a) != 1 || len(b) != 1 {
		return false
	}
	x, y := a[0], b[0]
	plain := func(s Step) bool {
		return s.Mechanism != nil && s.Steps == nil && s.Selection == nil && s.Disjoint == nil
	}
	if !plain(x) || !plain(y) || x.Mechanism.Name() != y.Mechanism.Name() || max(x.Count, 1) < max(y.Count, 1) {
		return false
	}
	if !oneParameter(x.Mechanism) || !oneParameter(y.Mechanism) {
		return false
	}
	u, ok := x.Mechanism.(profiles.NoiseScaler)
	v, ok2 := y.Mechanism.(profiles.NoiseScaler)
	if !ok || !ok2 || !(u.NoiseMultiplier() <= v.NoiseMultiplier()) {
		return false
	}
	if y.Sampling == nil {
		return x.Sampling == nil
	}
	p, ok := subsample.AsPoisson(x.Sampling)
	q, ok2 := subsample.AsPoisson(y.Sampling)
	return ok && ok2 && q.Rate() <= p.Rate()
}

// oneParameter reports whether the noise multiplier is all that there is of a mechanism: of Laplace noise with an L2
// sensitivity as well it is not, though that has the same name.
func oneParameter(m profiles.Mechanism) bool {
	g, err := profiles.NewGaussianMechanism(1)
	l, err2 := profiles.NewLaplaceMechanism(1)
	return err == nil && err2 == nil && (reflect.TypeOf(m) == reflect.TypeOf(g) || reflect.TypeOf(m) == reflect.TypeOf(l))
}

// sameStep reports whether two steps run the same, whatever they are called.
func sameStep(a, b Step, r profiles.Relation) bool {
	return sameMechanism(a.Mechanism, b.Mechanism, r) && same(a.Sampling, b.Sampling) && max(a.Count, 1) == max(b.Count, 1) && a.Selection == nil && b.Selection == nil && a.Disjoint == nil && b.Disjoint == nil &&
		slices.EqualFunc(a.Steps, b.Steps, func(x, y Step) bool { return sameStep(x, y, r) })
}

// sameMechanism reports whether two mechanisms are equal, or of one kind with one pair.
func sameMechanism(a, b profiles.Mechanism, r profiles.Relation) bool {
	if same(a, b) || a == nil || b == nil || reflect.TypeOf(a) != reflect.TypeOf(b) || a.Name() != b.Name() {
		return same(a, b)
	}
	if _, ok := a.(profiles.Compound); ok {
		return false
	}
	p, err := a.Pair(r)
	q, err2 := b.Pair(r)
	return err == nil && err2 == nil && profiles.Equal(p, q)
}

// same reports whether two values are equal, as far as they can be compared.
func same(a, b any) bool {
	return a == nil && b == nil || a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// NewAdaptive returns the mechanism of one adaptive part of a plan: whatever an analyst picks from the menu within its Units. It stands in a plan beside
// fixed steps, which may run before, after or in between (docs/theory/adaptive.md, "Interleaving"). The relation and unit are those of the plan.
//
// The upper end is the price of the menu, composed as a profile. The lower end of the part that runs last is what its best analyst reaches at each ε, who
// knows the loss of what ran before. That is reached at all of them by no pair of data sets: of other parts the type counts that costs most, run as often
// as the units allow.
func NewAdaptive(m Menu) (profiles.Mechanism, error) {
	if m.Units < 1 || m.Units > menu.MaxUnits {
		return nil, fault.New("units", "%d is not a whole number in [1, %d]", m.Units, menu.MaxUnits)
	}
	if len(m.Types) == 0 {
		return nil, fault.New("menu", "is empty, must list at least one type")
	}
	return &adaptive{menu: m}, nil
}

// adaptive is a profiles.Compound.
type adaptive struct{ menu Menu }

// Name implements profiles.Mechanism.
func (*adaptive) Name() string { return "adaptive" }

// Pair is an error: no pair is known that an analyst attains.
func (*adaptive) Pair(profiles.Relation) (profiles.Profile, error) {
	return nil, fault.New("adaptive", "has no pair of its own, as what is picked depends on the results")
}

// Bounds implements profiles.Compound.
func (a *adaptive) Bounds(ctx context.Context, r profiles.Relation) (profiles.Bounds, error) {
	return a.persons(ctx, r, 1, defaults().Relative)
}

// persons is Bounds of persons with so many records, what each type costs them, for an answer of an accuracy.
func (a *adaptive) persons(ctx context.Context, r profiles.Relation, records int64, accuracy float64) (b profiles.Bounds, err error) {
	m := a.menu
	m.Neighbors, m.RecordsPerPerson = r, records
	priced, err := m.Price(ctx, Options{Accuracy: accuracy / 16}) // chords and other parts lose the rest
	if err != nil {
		return b, fault.In("adaptive", err)
	}
	if !slices.ContainsFunc(priced.Types, func(t menu.Type) bool { return t.Cost <= m.Units }) {
		return profiles.NewBounds(a.Name(), r, profiles.Identical()), nil // the units allow no step
	}
	b = profiles.Bounds{Name: a.Name(), Relation: r}
	laws := &adaptiveLaws{menu: priced}
	most := 0
	for i, t := range priced.Types {
		if float64(m.Units/t.Cost)/priced.Alone[i] > float64(m.Units/priced.Types[most].Cost)/priced.Alone[most] {
			most = i
		}
	}
	worst := priced.Types[most]
	if laws.upper, laws.reached, err = priced.Profiles(ctx); err != nil {
		return b, fault.In("adaptive", err)
	}
	for d := range b.Directions {
		for _, x := range worst.Runs.Lower[d] {
			if x.Count *= int64(m.Units / worst.Cost); x.Profile != nil && x.Count > 0 {
				laws.lower[d] = append(laws.lower[d], x)
			}
		}
	}
	laws.exact = !slices.ContainsFunc(priced.Types, func(t menu.Type) bool { return !attained(t.Runs) })
	if laws.gain, err = gain(ctx, laws.reached, laws.lower, priced.TableDelta()); err != nil {
		return b, fault.In("adaptive", err)
	}
	laws.single = len(priced.Types) == 1
	b.Laws = laws
	return b, nil
}

// gain returns about how much more ε the best analyst reaches than runs on one pair of data sets: the largest at a small δ and two large ones.
func gain(ctx context.Context, reached [2]profiles.Profile, fixed [2][]profiles.Repeated, small float64) (most float64, err error) {
	var best, plain [2]*fourier.Sum
	for d, runs := range fixed {
		best[d], plain[d] = fourier.New(fourier.Options{Relative: 1e-3}), fourier.New(fourier.Options{Relative: 1e-3})
		if err := best[d].Add(reached[d], 1); err != nil {
			return 0, err
		}
		for _, x := range runs {
			if err := plain[d].Add(x.Profile, x.Count); err != nil {
				return 0, err
			}
		}
	}
	// larger returns the larger estimate of both directions.
	larger := func(sums [2]*fourier.Sum, delta float64) (eps float64, err error) {
		for _, sum := range sums {
			r, err := sum.Epsilon(ctx, delta)
			if err != nil {
				return 0, err
			}
			eps = max(eps, r.Estimate)
		}
		return eps, nil
	}
	for _, delta := range []float64{small, 0.1, 0.5} {
		all, err := larger(best, delta)
		if err != nil {
			return 0, err
		}
		one, err := larger(plain, delta)
		if err != nil {
			return 0, err
		}
		if g := all - one; g > leastGain*all { // and not where both are ∞
			most = max(most, g)
		}
	}
	return most, nil
}

// leastGain is a relative gain of ε below which the best analyst is one that does not look at results. It steers.
const leastGain = 3e-3

// attained reports whether what dominates runs is what attacks reach.
func attained(c profiles.Composition) bool {
	for d := range c.Upper {
		if !slices.EqualFunc(c.Upper[d], c.Lower[d], func(x, y profiles.Repeated) bool {
			return x.Count == y.Count && y.Profile != nil && profiles.Equal(x.Profile, y.Profile)
		}) {
			return false
		}
	}
	return true
}

// oneMenu narrows the answer about a single adaptive part, of which chords lose digits, by the recursion itself.
func (a *Accountant) oneMenu(ctx context.Context, iv *Interval, q query) {
	if len(a.added) != 1 || a.runs != 1 || iv.Gap != nil || iv.Upper-iv.Lower <= a.opts.Relative*math.Abs(iv.Upper) {
		return
	}
	l, ok := a.added[0].m.Laws.(*adaptiveLaws)
	if !ok || !l.exact {
		return
	}
	r, err := q.ask(ctx, l.menu)
	if err != nil || !(max(r.Lower, iv.Lower) <= min(r.Upper, iv.Upper)) {
		return
	}
	iv.Lower, iv.Upper = max(r.Lower, iv.Lower), min(r.Upper, iv.Upper)
	iv.Estimate = min(max(r.Estimate, iv.Lower), iv.Upper)
}

// adaptiveLaws are those of an adaptive part.
type adaptiveLaws struct {
	menu           *menu.Menu
	upper, reached [2]profiles.Profile    // of one part
	lower          [2][]profiles.Repeated // on one pair of data sets
	exact, single  bool                   // every type is attained; there is one
	gain           float64
}

// Gain implements hook.Adaptive.
func (l *adaptiveLaws) Gain(int64) float64 { return l.gain }

// For implements profiles.Laws. The last part may be one whose analyst knows the loss of what ran before.
func (l *adaptiveLaws) For(_ context.Context, q profiles.Question) (c profiles.Composition, err error) {
	fixed, adapts := q.Runs, q.Last && l.gain > 0
	if adapts {
		fixed--
	}
	c.Numerical = l.exact && (l.single || adapts && fixed == 0)
	for d, p := range l.upper {
		c.Upper[d] = []profiles.Repeated{{Profile: p, Count: q.Runs}}
		if adapts {
			c.Lower[d] = append(c.Lower[d], profiles.Repeated{Profile: l.reached[d], Count: 1})
		}
		for _, x := range l.lower[d] {
			if x.Count = product(x.Count, fixed); x.Count > 0 {
				c.Lower[d] = append(c.Lower[d], x)
			}
		}
	}
	return c, nil
}

// Least implements profiles.Laws: the profiles serve every δ.
func (*adaptiveLaws) Least() float64 { return 0 }
