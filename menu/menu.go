package menu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Type is a kind of mechanism that an analyst may run at any time. A mechanism may be run as a type at a history if, in
// each direction and for every pair of neighbouring data sets, its outputs given that history have a profile of at most the
// type's for every α > 0. Its name, and whether anything runs, must be functions of the outputs so far, public data and
// coins that are independent of the data. A type is charged in full before it starts.
type Type struct {
	Name string
	// Cost is in whole units of the budget; 0 lets New choose it, from how often the type alone meets the target.
	Cost int
	// Runs are what one use of the type is, such as 29 steps of a sampled mechanism. Where a direction has no lower profile,
	// the type counts as nothing below.
	Runs profiles.Composition
}

// Options say what a menu is for.
type Options struct {
	// Units is the budget. 0 stands for the largest one that meets Epsilon and Delta.
	Units int
	// Epsilon and Delta are the target. With Units, they only say where answers are to be sharp: 0 stands for no Epsilon,
	// and for a Delta of 1e-6.
	Epsilon, Delta float64
	// Relative is the width wanted of ε over ε: 1e-3 if 0. It decides the lattice.
	Relative float64
}

// MaxUnits is the largest budget, and the largest cost.
const MaxUnits = 100_000

// autoUnits is about how many units meet the target where costs are chosen by New.
const autoUnits = 400

// A Menu has the price of full adaptivity over types within a budget: bounds of R_b for every b up to it. Its fields must not be changed.
// Ledgers of the mode adaptive-menu admit steps within one, in memory or in a file.
type Menu struct {
	Types []Type    // with their costs
	Alone []float64 // about how often each type alone may run within the target, which proves nothing
	// Options have the budget.
	Options Options
	// Warnings say why intervals are wider than asked, if they are.
	Warnings []string

	dirs     [2]direction
	exact    bool             // their lattice holds all losses
	epsilons []fourier.Result // at each budget, for the δ of the options
	long     *long            // of blocks, in place of dirs; nil if one recursion does
}

// New returns the menu of the types. Costs may be any: they decide how much is admitted, and what is certified is what is
// charged. Errors name the field of Type or Options.
//
// Theorem: docs/theory/adaptive.md, Theorems 1 and 2. Relation: that of the profiles.
func New(ctx context.Context, types []Type, o Options) (*Menu, error) {
	m := &Menu{Types: slices.Clone(types), Options: o}
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Options.Relative == 0 {
		m.Options.Relative = 1e-3
	}
	s, err := m.survey(ctx)
	if err != nil {
		return nil, err
	}
	if s.most > longUnits && s.lattice == 0 {
		return m, m.solveLong(ctx, s, s.most)
	}
	return m, m.solve(ctx, s)
}

// check returns why the types and options are no menu.
func (m *Menu) check() error {
	if len(m.Types) == 0 {
		return fault.New("menu", "is empty, must list at least one type")
	}
	names := map[string]bool{}
	for i, t := range m.Types {
		at := func(field string) string { return fmt.Sprintf("menu[%d].%s", i, field) }
		switch {
		case t.Name == "":
			return fault.New(at("name"), "is missing")
		case names[t.Name]:
			return fault.New(at("name"), "%q is the name of two types, must be unique", t.Name)
		case t.Cost < 0 || t.Cost > MaxUnits:
			return fault.New(at("cost"), "%d is not a whole number in [1, %d]", t.Cost, MaxUnits)
		}
		names[t.Name] = true
		for d, runs := range t.Runs.Upper {
			if len(runs) == 0 {
				return fault.New(at("steps"), "has no mechanism in direction %d, must list at least one", d)
			}
			for _, r := range slices.Concat(runs, t.Runs.Lower[d]) {
				if r.Count < 1 || r.Count > 1e6 {
					return fault.New(at("steps"), "a count of %d is not in [1, 1000000]", r.Count)
				}
			}
		}
	}
	o := m.Options
	switch {
	case o.Units < 0 || o.Units > MaxUnits:
		return fault.New("units", "%d is not a whole number in [1, %d]", o.Units, MaxUnits)
	case !(o.Epsilon >= 0 && o.Epsilon <= 1e4):
		return fault.New("epsilon", "%v is not in [0, 10000]", o.Epsilon)
	case !(o.Delta >= 0 && o.Delta < 1) || o.Delta > 0 && o.Delta < 1e-200:
		return fault.New("delta", "%v is not in [1e-200, 1)", o.Delta)
	case o.Units == 0 && o.Delta == 0:
		return fault.New("budget", "is missing: give units, or an epsilon and a delta that the largest number of units is to meet")
	case !(o.Relative >= 0 && o.Relative <= 1):
		return fault.New("relative", "%v is not in (0, 1]", o.Relative)
	}
	return nil
}

// A survey is what is known before there is a lattice. It decides costs, which may be any, and where the recursion is
// accurate.
type survey struct {
	scouts  [][2]*scout // of each type and direction
	same    bool        // both directions have the same profiles
	delta   float64     // that is aimed at
	epsilon float64     // about the ε there
	theta   float64     // and the slope of −log δ
	reach   float64     // losses further out do not matter
	most    float64     // about the largest budget
	worst   int         // the direction that looks worse
	least   float64     // the smallest deviation of a type's loss under the tilt
	lattice float64     // the step of one that holds all losses; 0 if there is none
}

func (m *Menu) survey(ctx context.Context) (*survey, error) {
	s := &survey{delta: m.TableDelta(), same: true}
	for _, t := range m.Types {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var pair [2]*scout
		for d := range pair {
			pair[d] = newScout(t.Runs.Upper[d])
		}
		s.scouts = append(s.scouts, pair)
		s.same = s.same && sameRuns(t.Runs.Upper[0], t.Runs.Upper[1]) && sameRuns(t.Runs.Lower[0], t.Runs.Lower[1])
		for _, r := range t.Runs.Upper[0] {
			if inf := r.Profile.Support().LogPInf; m.Options.Units == 0 && inf > xmath.Log(m.Options.Delta) {
				return nil, fault.New("menu", "type %q alone has a δ of at least %.3g, above the target's %v, at every ε", t.Name, math.Exp(inf), m.Options.Delta)
			}
		}
	}
	// How often each type alone may run; and from there costs.
	target := m.Options.Epsilon
	if m.Options.Units > 0 && (m.Options.Epsilon == 0 || m.Options.Delta == 0) {
		target = max(m.Options.Epsilon, 1)
	}
	m.Alone = make([]float64, len(m.Types))
	most := float64(m.Options.Units)
	if most == 0 {
		most = MaxUnits
	}
	for i := range m.Types {
		t := &m.Types[i]
		var err error
		if m.Alone[i], err = s.alone(ctx, *t, i, target); err != nil {
			return nil, err
		}
		if t.Cost == 0 {
			if m.Alone[i] < 1 {
				return nil, fault.New(fmt.Sprintf("menu[%d].cost", i), "auto has no value, as one use of type %q alone passes the target; must be a whole number", t.Name)
			}
			t.Cost = int(math.Ceil(autoUnits / m.Alone[i]))
		}
		if m.Options.Units == 0 {
			// The type alone is an analyst: what it cannot have, the menu cannot.
			most = min(most, float64(t.Cost)*(math.Floor(m.Alone[i])+1)+1)
		}
	}
	s.most = most
	s.aim(m, most)
	// Between the points of a lattice that holds all losses, R may have corners: a finer one has them between closer points.
	if s.lattice = m.commonStep(); s.lattice > 0 {
		for s.lattice > 0 && 6*s.reach/s.lattice < latticePoints {
			s.lattice /= 2
		}
	}
	return s, nil
}

// alone returns about how often the type alone may run within the target, a real number: where a saddle point says, corrected by
// what it says of the nearest whole number wrongly.
func (s *survey) alone(ctx context.Context, t Type, i int, epsilon float64) (float64, error) {
	least := math.Inf(1)
	for d, x := range s.scouts[i] {
		if d == 1 && s.same {
			break
		}
		n := x.runs(epsilon, s.delta)
		if n > 2*least {
			continue
		}
		if whole := math.Round(n); whole >= 1 && whole < 1e9 {
			sum, err := sumOf(t.Runs.Upper[d], int64(whole), 1e-2)
			if err != nil {
				return 0, err
			}
			r, err := sum.Delta(ctx, epsilon)
			if err != nil {
				return 0, err
			}
			if off := x.logDelta(whole, epsilon) - xmath.Log(r.Estimate); math.Abs(off) < 3 {
				n = x.runs(epsilon, s.delta*math.Exp(off))
			}
		}
		least = min(least, n)
	}
	return least, nil
}

func sameRuns(a, b []profiles.Repeated) bool {
	return slices.EqualFunc(a, b, func(x, y profiles.Repeated) bool { return x.Count == y.Count && profiles.Equal(x.Profile, y.Profile) })
}

// aim finds the slope of −log δ at the question, by Chernoff's bound of so many units of the worst type.
func (s *survey) aim(m *Menu, units float64) {
	k := func(theta float64) float64 {
		g := 0.0
		for i, pair := range s.scouts {
			if float64(m.Types[i].Cost) > units {
				continue
			}
			for _, x := range pair {
				c, _, _ := x.k(theta)
				g = max(g, c/float64(m.Types[i].Cost))
			}
		}
		return g * units
	}
	// chernoff returns the least (K(θ) + log)/θ, and where it is.
	chernoff := func(log float64) (x, at float64) {
		return least(1e-2, func(theta float64) float64 { return (k(theta) + log) / theta })
	}
	aimed := 0.0
	if m.Options.Epsilon > 0 && m.Options.Delta == 0 {
		noInf := 0.0 // δ is at least the mass at +∞
		for i, pair := range s.scouts {
			for _, x := range pair {
				noInf = min(noInf, x.noInf*math.Floor(units/float64(m.Types[i].Cost)))
			}
		}
		var best float64
		best, aimed = least(1e-2, func(theta float64) float64 { return k(theta) - theta*m.Options.Epsilon })
		s.delta = max(1e-200, min(0.1, math.Exp(best)-math.Expm1(noInf)))
	}
	s.epsilon, s.theta = chernoff(-xmath.Log(s.delta))
	if aimed == 0 {
		// Where a saddle point has that δ, or a point mass where the tilted loss has no width: Chernoff's bound of a few bounded losses is least at their end.
		aimed, _ = xmath.BisectLog(1e4, 1e-2, 40, func(t float64) bool {
			log := math.Inf(-1)
			for i, pair := range s.scouts {
				n := math.Floor(units / float64(m.Types[i].Cost))
				for _, x := range pair {
					k, mean, v := x.k(t)
					log = max(log, n*(k-t*mean)-xmath.Log(t*(1+t))-0.5*xmath.Log(2*math.Pi*n*v+1/(t*t)))
				}
			}
			return log <= xmath.Log(s.delta)
		})
	}
	s.theta = min(s.theta, aimed)
	s.epsilon = max(s.epsilon, m.Options.Epsilon, 1e-3)
	s.reach, _ = chernoff(-xmath.Log(s.delta) + 4)
	s.reach = max(s.reach, 1.2*s.epsilon)
	most := math.Inf(-1)
	for d := range 2 {
		for i, pair := range s.scouts {
			if c, _, _ := pair[d].k(s.theta); c/float64(m.Types[i].Cost) > most {
				most, s.worst = c/float64(m.Types[i].Cost), d
			}
		}
	}
	s.least = math.Inf(1)
	for i, pair := range s.scouts {
		for _, x := range pair {
			_, _, tilted := x.k(s.theta)
			_, _, plain := x.k(0)
			s.reach = max(s.reach, 3*math.Sqrt(plain*units/float64(m.Types[i].Cost)))
			if v := max(tilted, plain); v > 0 {
				s.least = min(s.least, math.Sqrt(v))
			}
		}
	}
}

// commonStep returns the step of a lattice that holds every loss of every type, 0 if there is none with few points.
func (m *Menu) commonStep() float64 {
	step := 0.0
	var losses []float64
	for _, t := range m.Types {
		for d := range t.Runs.Upper {
			for _, r := range slices.Concat(t.Runs.Upper[d], t.Runs.Lower[d]) {
				p, ok := r.Profile.(*profiles.Discrete)
				if !ok || len(p.Atoms()) > 64 {
					return 0
				}
				for _, a := range p.Atoms() {
					if x := math.Abs(a.Loss); x > 1e-12 {
						losses = append(losses, x)
						if step == 0 || x < step {
							step = x
						}
					}
				}
			}
		}
	}
	if step == 0 {
		return 1
	}
	for k := 1.0; k <= 16; k++ {
		on := true
		for _, x := range losses {
			n := x / step * k
			on = on && n < 1e4 && math.Abs(n-math.Round(n)) <= 64*xmath.U*(1+n)
		}
		if on {
			return step / k
		}
	}
	return 0
}

// What a menu may take, and how its lattices are chosen. They steer, and prove nothing.
const (
	keptBytes     = 16 << 20 // of levels, for one direction from one side
	rounds        = 6        // lattices that are tried for a direction
	defaultWork   = 1e8      // of a menu whose context has no limit of its own, about 4 s
	coarserShare  = 16       // of the work goes to each coarser lattice where finer ones took all of it
	leastWork     = 1e5      // of these, for a menu that is asked about when nothing is left
	tiltedRange   = 12       // logarithm of a tilted value at −ε over that at 0
	mostTilt      = 100      // exponent of a weight at the end of the lattice
	latticePoints = 2000     // about how many of a lattice that holds all losses
	lowShare      = 1e-4     // of the width, what losses far below may cost that are taken in
	firstWidth    = 4e-2     // of the first lattice
)

// errMemory and errRounds are why a lattice is not refined.
var (
	errMemory = errors.New("the levels of the recursion would not fit into memory")
	errRounds = errors.New("the lattices of a menu do not resolve this place")
)

// tooMuch reports whether an error is that of a lattice which a coarser one need not have.
func tooMuch(err error) bool {
	return errors.Is(err, parallel.ErrWork) || errors.Is(err, errMemory) || errors.Is(err, errFine)
}

// narrow reports whether an interval of ε is as narrow as asked.
func (m *Menu) narrow(r fourier.Result) bool {
	return math.IsInf(r.Lower, 1) || r.Upper-r.Lower <= m.Options.Relative*max(min(r.Upper, 1e6), 1e-6)
}

// A solution is one direction on one lattice.
type solution struct {
	direction
	step float64
	last fourier.Result   // ε at the budget, at the δ that is aimed at
	rows []fourier.Result // and at each budget, at the δ of the options
	work float64
}

// units is the budget of a solution.
func (s *solution) units() int { return s.above.units }

// solve runs the recursion of each direction on finer and finer lattices until the answer is as narrow as asked, or a limit
// is reached: first of the direction that looks worse, then of the other one as far as it might be.
func (m *Menu) solve(ctx context.Context, s *survey) error {
	if _, left := parallel.Work(ctx); math.IsInf(left, 1) {
		ctx = parallel.WithWork(ctx, defaultWork)
	}
	_, whole := parallel.Work(ctx)
	first := s.lattice
	if first == 0 {
		first = m.fitted(max(min(3*s.least*math.Sqrt(max(m.Options.Relative, firstWidth)), s.epsilon/16), m.narrowest(s)))
	}
	budget, find := cmp.Or(m.Options.Units, MaxUnits), m.Options.Units == 0
	var dirs [2]*solution
	for i, d := range [2]int{s.worst, 1 - s.worst} {
		if i == 1 && s.same {
			dirs[d] = dirs[1-d]
			break
		}
		x, err := m.on(ctx, s, d, first, budget, find)
		for s.lattice == 0 && tooMuch(err) && first < s.reach/16 {
			first = m.fitted(2 * first)
			_, left := parallel.Work(ctx)
			x, err = m.on(parallel.WithWork(ctx, max(left, whole/coarserShare, leastWork)), s, d, first, budget, find)
		}
		if err != nil {
			return err
		}
		for round := 0; ; round++ {
			last := x.last
			if s.lattice > 0 || m.narrow(last) {
				break
			}
			if round == rounds {
				m.warn(errRounds, last.Upper-last.Lower)
				break
			}
			if i == 1 && x.units() == budget && last.Upper <= dirs[1-d].last.Lower {
				break // the other direction is worse
			}
			// The width falls with the square of the step.
			factor := 0.35
			if !math.IsInf(last.Upper, 1) {
				factor = min(0.7, max(0.2, 0.9*math.Sqrt(m.Options.Relative*max(last.Upper, 1e-6)/(last.Upper-last.Lower))))
			}
			if _, left := parallel.Work(ctx); x.work/factor > left {
				m.warn(parallel.ErrWork, last.Upper-last.Lower)
				break
			}
			y, err := m.on(ctx, s, d, m.fitted(x.step*factor), budget, find)
			if err != nil {
				if ctx.Err() != nil && !errors.Is(context.Cause(ctx), parallel.ErrTimeLimit) {
					return ctx.Err()
				}
				m.warn(err, last.Upper-last.Lower)
				break
			}
			x = y
			if next := x.last; !math.IsInf(last.Upper, 1) && !(next.Upper-next.Lower < 0.9*(last.Upper-last.Lower)) { // a gap of theory, or rounding
				m.warn(errRounds, next.Upper-next.Lower)
				break
			}
		}
		dirs[d] = x
		if i == 1 && x.units() < budget {
			// The direction that looked worse has to do with less.
			if dirs[1-d], err = m.on(ctx, s, 1-d, dirs[1-d].step, x.units(), false); err != nil {
				return err
			}
		}
		budget = x.units()
	}
	if budget == 0 {
		return fault.New("budget", "none of the menu may run once within epsilon %v and delta %v", m.Options.Epsilon, m.Options.Delta)
	}
	m.Options.Units, m.exact = budget, s.lattice > 0
	for d, x := range dirs {
		m.dirs[d] = x.direction
	}
	for b := range budget + 1 {
		x, y := dirs[0].rows[b], dirs[1].rows[b]
		m.epsilons = append(m.epsilons, fourier.Result{Lower: max(x.Lower, y.Lower), Upper: max(x.Upper, y.Upper), Engine: fourier.Lattice})
	}
	return nil
}

// narrowest returns the least step for which the levels of a recursion fit into memory.
func (m *Menu) narrowest(s *survey) float64 {
	return 1.5 * s.reach * 16 * float64(m.deepest()) / keptBytes * 1.1
}

func (m *Menu) warn(why error, width float64) {
	m.Warnings = append(m.Warnings, fmt.Sprintf("%v: the interval of ε is wider than asked (%.2g)", why, width))
}

// fitted returns about the step, such that ε of the options is a point of the lattice.
func (m *Menu) fitted(step float64) float64 {
	if m.Options.Epsilon > 0 {
		return m.Options.Epsilon / math.Ceil(m.Options.Epsilon/step)
	}
	return step
}

// on runs the recursion of a direction on the lattice of a step, to the budget or, to find one, as long as the target is
// met.
func (m *Menu) on(ctx context.Context, s *survey, d int, step float64, budget int, find bool) (*solution, error) {
	begin, _ := parallel.Work(ctx)
	reach := s.reach
	if s.lattice > 0 {
		reach *= 4 // exact as far as that
	}
	k := maker{step: step, theta: min(s.theta, 4/step, mostTilt/reach), logFar: xmath.Log(s.delta) + logFar, logWrap: logWrap}
	low := -int(math.Ceil(reach/step)) - 2
	// Far on this side R is nearly 1 − α; of a large δ that is further away.
	high := int(math.Ceil(max(0.4, min(1, 2/s.theta))*reach/step)) + 2
	costs := make([]int, len(m.Types))
	for i, t := range m.Types {
		costs[i] = t.Cost
	}
	if s.lattice == 0 && 16*float64(high-low)*float64(slices.Max(costs)) > keptBytes {
		return nil, errMemory
	}
	above, below, moved, err := m.laws(ctx, k, d, budget, s.lattice > 0, high-low)
	if err != nil {
		return nil, err
	}
	// Errors of transforms are relative to the largest tilted value, that at −ε or so: values at 0, which are 1, must not be lost in them.
	theta := min(k.theta, (tiltedRange-xmath.Log(s.delta))/s.epsilon)
	at := &solution{step: step, direction: direction{moved: moved,
		above: newRecursion(above, costs, true, step, theta, low, high),
		below: newRecursion(below, costs, false, step, theta, low, high)}}
	at.read(s.delta, m.TableDelta())
	if price := 2 * at.above.price() * float64(budget); !find {
		if _, left := parallel.Work(ctx); price > left {
			return nil, parallel.ErrWork
		}
	}
	for at.units() < budget {
		before := slices.Clone(at.above.value)
		if err := at.above.advance(ctx); err != nil {
			return nil, err
		}
		if find && !(at.upper(m.Options.Epsilon) <= m.Options.Delta) {
			at.above.value = before
			at.above.units--
			break
		}
		if err := at.below.advance(ctx); err != nil {
			return nil, err
		}
		at.read(s.delta, m.TableDelta())
	}
	at.above.forget()
	at.below.forget()
	end, _ := parallel.Work(ctx)
	at.work = end - begin
	return at, nil
}

// read adds the intervals of ε at the budget that was reached.
func (s *solution) read(aim, table float64) {
	l, u := s.epsilon(aim)
	s.last = fourier.Result{Lower: l, Upper: u}
	if table != aim {
		l, u = s.epsilon(table)
	}
	s.rows = append(s.rows, fourier.Result{Lower: l, Upper: u})
}

// attained reports whether an attack on the runs is known.
func attained(runs []profiles.Repeated) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r profiles.Repeated) bool { return r.Profile == nil })
}

// laws returns the laws of all types in a direction, above and below, and by how much a unit may displace a loss. Types above
// the budget have none.
func (m *Menu) laws(ctx context.Context, k maker, d, budget int, exact bool, span int) (above, below []*law, moved float64, err error) {
	for _, t := range m.Types {
		for _, up := range []bool{true, false} {
			runs := t.Runs.Upper[d]
			if !up {
				runs = t.Runs.Lower[d]
			}
			l := &law{mass: []float64{0}}
			if t.Cost <= budget && attained(runs) {
				if l, err = k.law(ctx, runs, exact, up); err != nil {
					return nil, nil, 0, fault.In(t.Name, err)
				}
			}
			if !exact {
				l.trim(k.logFar, up)
				l.trimBelow(k.theta, k.step, m.Options.Relative*lowShare, up)
			}
			l.cut(span, up)
			moved = max(moved, l.moved/float64(t.Cost))
			if up {
				above = append(above, l)
			} else {
				below = append(below, l)
			}
		}
	}
	return above, below, moved, nil
}

// forget drops what only further levels need.
func (r *recursion) forget() {
	r.kept, r.freq, r.buf, r.prod, r.next, r.fft, r.laws = nil, nil, nil, nil, nil, nil, nil
}

// Delta returns the interval of δ(ε) of the whole budget: no analyst has more than its upper end.
func (m *Menu) Delta(ctx context.Context, eps float64) (fourier.Result, error) {
	if !(eps >= 0 && eps <= 1e4) {
		return fourier.Result{}, fault.New("epsilon", "%v is not in [0, 10000]", eps)
	}
	return m.ask(ctx, question{ofDelta: true, at: eps})
}

// Epsilon returns the interval of ε(δ) of the whole budget.
func (m *Menu) Epsilon(ctx context.Context, delta float64) (fourier.Result, error) {
	if !(delta > 0 && delta < 1) {
		return fourier.Result{}, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	return m.ask(ctx, question{at: delta})
}

// A question is what is asked of a menu: ε(at), or δ(at).
type question struct {
	ofDelta bool
	at      float64
}

// of asks a sum.
func (q question) of(ctx context.Context, s *fourier.Sum) (fourier.Result, error) {
	if q.ofDelta {
		return s.Delta(ctx, q.at)
	}
	return s.Epsilon(ctx, q.at)
}

// ask answers by what is known, or by that and lattices that aim at the question.
func (m *Menu) ask(ctx context.Context, q question) (fourier.Result, error) {
	if m.long != nil {
		return m.long.ask(ctx, q)
	}
	r := m.known(q)
	if m.narrowAt(q, r) || m.exact {
		return r, nil
	}
	aim := Options{Delta: max(q.at, 1e-200)}
	if q.ofDelta {
		aim = Options{Epsilon: max(q.at, leastAim)}
	}
	o, err := m.aimed(ctx, aim)
	if o != nil {
		x := o.known(q)
		r.Lower, r.Upper = max(r.Lower, x.Lower), min(r.Upper, x.Upper)
		r.Estimate = min(max(x.Estimate, r.Lower), r.Upper)
	}
	if r.Warnings = nil; !m.narrowAt(q, r) {
		r.Warnings = []string{fmt.Sprintf("%v: %s (%.2g)", errRounds, parallel.Wider, r.Upper-r.Lower)}
	}
	return r, err
}

// narrowAt reports whether an answer is as narrow as asked: δ moves by several times what ε does, relative to each.
func (m *Menu) narrowAt(q question, r fourier.Result) bool {
	if q.ofDelta {
		return r.Upper-r.Lower <= 20*m.Options.Relative*r.Upper
	}
	return m.narrow(r)
}

// known is the answer as far as the lattices say it.
func (m *Menu) known(q question) fourier.Result {
	r := fourier.Result{Engine: fourier.Lattice, Warnings: m.Warnings}
	if above := m.dirs[0].above; above != nil {
		r.Step, r.Points = above.step, above.n
	}
	for d := range m.dirs {
		var l, u float64
		if q.ofDelta {
			l, u = m.dirs[d].lower(q.at), m.dirs[d].upper(q.at)
		} else {
			l, u = m.dirs[d].epsilon(q.at)
		}
		r.Lower, r.Upper = max(r.Lower, l), max(r.Upper, u)
	}
	r.Estimate = xmath.Middle(r.Lower, r.Upper)
	return r
}

// aimed returns the menu with lattices that aim at a question; nil if they are too much.
func (m *Menu) aimed(ctx context.Context, aim Options) (*Menu, error) {
	aim.Units, aim.Relative = m.Options.Units, m.Options.Relative
	o, err := New(ctx, m.Types, aim)
	if err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), parallel.ErrTimeLimit) {
		return nil, ctx.Err()
	}
	if err != nil || o.long != nil {
		return nil, nil
	}
	return o, nil
}

// leastAim is the least ε at which lattices aim. It steers.
const leastAim = 0.05

// A Row is ε at the δ of the options for a budget.
type Row struct {
	Units   int
	Epsilon fourier.Result
}

// Odometer returns ε for every budget from 0 to Units, or of every block of a long horizon: what would have been promised had
// that budget been fixed. Only the last is a promise; one that holds whenever somebody stops takes levels (Levels).
func (m *Menu) Odometer(ctx context.Context) ([]Row, error) {
	if m.long != nil {
		return m.long.rows(ctx, m.TableDelta())
	}
	rows := make([]Row, len(m.epsilons))
	for b, r := range m.epsilons {
		rows[b] = Row{Units: b, Epsilon: r}
	}
	return rows, nil
}

// TableDelta returns the δ at which the odometer reads.
func (m *Menu) TableDelta() float64 { return cmp.Or(m.Options.Delta, defaultDelta) }

// defaultDelta is where answers are sharp of a menu without a δ.
const defaultDelta = 1e-6

// Worst returns the direction of the relation, 0 or 1, that has the larger upper end at that δ.
func (m *Menu) Worst() int {
	if m.long != nil {
		return m.long.block.Worst()
	}
	_, a := m.dirs[0].epsilon(m.TableDelta())
	if _, b := m.dirs[1].epsilon(m.TableDelta()); b > a {
		return 1
	}
	return 0
}

// Proof (docs/theory/adaptive.md §1): Theorem 1.
//
// Let all coins be drawn first; H_α is an average over them. There are at most B steps. Let k be the profile of what
// follows a history with s units spent. Claim: k ≤ r_{B−s}, by backward induction. If the analyst stops, k = (1 − α)₊.
// Else the next mechanism has a pair (P′, Q′) with ratio R′, and by induction k(α) ≤ E_{Q′}[φ(R′)] + P′(R′ = ∞), φ(R)
// = R·r(α/R), r = r_{B−s−c_i}. φ is convex with φ(0+) = 0, slope r(∞) at 0 and lim φ(R)/R = 1. So φ(R) = r(∞)R + ∫(R −
// a)₊ν(da) with ν ≥ 0, ν(0, ∞) = 1 − r(∞), and the expression is r(∞) + ∫ h(a) ν(da), h the profile of (P′, Q′). It
// grows with h, so that (P_i, Q_i) in place of (P′, Q′) bounds it: k ≤ r ⋆ (P_i, Q_i) ≤ r_{B−s}. ∎

// Proof (docs/theory/adaptive.md §2): Theorem 4.
//
// Given a history, the others' spends are functions of it and of themselves, alike on both sides. While x takes part,
// the step is one of its type. A record that is out is treated as the neighbour treats it from the start: under
// add-remove as absent, neither summed nor in any pool; under zero-out as an empty place that keeps its place, which
// goes on being drawn and contributes nothing. Then all later outputs have equal laws. So x's types are those of an
// analyst. ∎
