// Long horizons, by Theorem 3 of docs/theory/adaptive.md: with c the largest cost,
//
//	R_{b+b'−c+1} ≤ R_b ⋆ R_{b'} for b ≥ c,
//
// so that R_B with B = n(b − c + 1) + c − 1 is at most n times R_b, composed as any profile is. That is an upper end only:
// R_b is a maximum for each α apart, which no pair of data sets attains. The lower end is that of the best type alone.

package menu

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// longUnits is the budget above which a menu is made of blocks, and longBlock about the units of one. They steer.
const (
	longUnits = 1000
	longBlock = 400
)

// A long menu composes count times that of a block, in each direction.
type long struct {
	block *Menu
	count int
	upper [2]*fourier.Sum
	alone [][2]*fourier.Sum // each type, as often as it may run
}

// deepest is the largest cost.
func (m *Menu) deepest() int {
	return slices.MaxFunc(m.Types, func(a, b Type) int { return cmp.Compare(a.Cost, b.Cost) }).Cost
}

// newLong returns a menu of so many blocks of so many units.
func (m *Menu) newLong(ctx context.Context, s *survey, units, count int) (*long, error) {
	l := &long{count: count}
	o := Options{Units: units, Delta: max(1e-200, s.delta/float64(count)*blockDelta), Relative: m.Options.Relative}
	var err error
	if l.block, err = New(ctx, m.Types, o); err != nil {
		return nil, err
	}
	both, _, err := l.block.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	for d, p := range both {
		if l.upper[d], err = sumOf([]profiles.Repeated{{Profile: p, Count: int64(count)}}, 1, m.Options.Relative); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// blockDelta is how far below its share of δ a block is followed. It steers.
const blockDelta = 1e-2

// sumOf returns the composition of runs, so many times.
func sumOf(runs []profiles.Repeated, times int64, relative float64) (*fourier.Sum, error) {
	sum := fourier.New(fourier.Options{Relative: relative})
	for _, r := range runs {
		if err := sum.Add(r.Profile, r.Count*times); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// budget is what the blocks cover.
func (l *long) budget() int {
	c := l.block.deepest()
	return l.count*(l.block.Options.Units-c+1) + c - 1
}

// solveLong sets the menu to one of blocks: for the budget of the options, or for about the largest that meets the target.
func (m *Menu) solveLong(ctx context.Context, s *survey, most float64) error {
	c := m.deepest()
	find := m.Options.Units == 0
	units := m.Options.Units
	if find {
		units = int(0.97 * most)
	}
	count := max(2, int(math.Round(float64(units-c+1)/float64(max(longBlock, 20*c)))))
	// of returns the units of a block for a budget, rounded up.
	of := func(budget int) int { return (budget-c+1+count-1)/count + c - 1 }
	block := of(units)
	for tries := 0; ; tries++ {
		l, err := m.newLong(ctx, s, block, count)
		if err != nil {
			return err
		}
		if !find {
			m.long = l
			break
		}
		worst := 0.0
		for d := range l.upper {
			r, err := l.upper[d].Epsilon(ctx, m.Options.Delta)
			if err != nil {
				return err
			}
			worst = max(worst, r.Upper)
		}
		if worst <= m.Options.Epsilon {
			m.long, m.Options.Units = l, l.budget()
			break
		}
		// ε grows about as the square root of the budget, or faster.
		block = min(block-1, int(float64(block)*max(0.3, 0.999*math.Pow(m.Options.Epsilon/worst, 1.6))))
		if block < c || tries == 5 {
			return fault.New("budget", "no budget of %d blocks was found within epsilon %v and delta %v", count, m.Options.Epsilon, m.Options.Delta)
		}
	}
	m.Warnings = append(m.Warnings, m.long.block.Warnings...)
	for _, t := range m.Types {
		var pair [2]*fourier.Sum
		times := int64(m.Options.Units / t.Cost)
		for d := range pair {
			if times == 0 || !attained(t.Runs.Lower[d]) {
				continue
			}
			var err error
			if pair[d], err = sumOf(t.Runs.Lower[d], times, m.Options.Relative); err != nil {
				return err
			}
		}
		m.long.alone = append(m.long.alone, pair)
	}
	return nil
}

// ask returns the interval of a question to all sums.
func (l *long) ask(ctx context.Context, q question) (fourier.Result, error) {
	var out fourier.Result
	for d := range l.upper {
		r, err := q.of(ctx, l.upper[d])
		if err != nil {
			return out, err
		}
		if lower := out.Lower; r.Upper >= out.Upper {
			out = r
			out.Lower = lower
		}
		for _, pair := range l.alone {
			if pair[d] == nil {
				continue
			}
			r, err := q.of(ctx, pair[d])
			if err != nil {
				return out, err
			}
			out.Lower = max(out.Lower, r.Lower)
		}
	}
	out.Lower = min(out.Lower, out.Upper)
	out.Estimate = xmath.Middle(out.Lower, out.Upper)
	return out, nil
}

// rows returns ε of the budgets that are whole blocks.
func (l *long) rows(ctx context.Context, delta float64) ([]Row, error) {
	both, _, err := l.block.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Row{{}}
	one := *l
	for one.count = 1; one.count <= l.count; one.count++ {
		worst := fourier.Result{}
		for _, p := range both {
			sum, err := sumOf([]profiles.Repeated{{Profile: p, Count: int64(one.count)}}, 1, l.block.Options.Relative)
			if err != nil {
				return nil, err
			}
			r, err := sum.Epsilon(ctx, delta)
			if err != nil {
				return nil, err
			}
			worst.Upper = max(worst.Upper, r.Upper)
		}
		rows = append(rows, Row{Units: one.budget(), Epsilon: worst})
	}
	return rows, nil
}

// Profiles returns for each direction of the relation, in the order of profiles.Bounds, a profile that dominates every transcript of an
// analyst with the budget, and one that analysts reach: another one at each ε, so that it composes with what ran before, and not with
// itself.
func (m *Menu) Profiles(ctx context.Context) (above, below [2]profiles.Profile, err error) {
	if m.long != nil {
		return above, below, fault.New("units", "%d are above %d, where no single profile is known", m.Options.Units, longUnits)
	}
	// A lattice that aims at a small δ tells little of a large one, where its transforms have rounding; beside other steps all of it counts.
	menus := []*Menu{m}
	for _, delta := range []float64{1e-2, 0.2} {
		if m.exact || m.TableDelta() >= delta {
			continue
		}
		o, err := m.aimed(ctx, Options{Delta: delta})
		if err != nil {
			return above, below, err
		}
		if o != nil {
			menus = append(menus, o)
		}
	}
	for d := range above {
		if above[d], below[d], err = profilesOf(menus, d); err != nil {
			return above, below, err
		}
	}
	return above, below, nil
}

// profilePoints is about the largest number of points of a profile. It steers. Losses above mostLoss, of which e^ε would be no number, count as
// infinite above and as that of the last point below.
const (
	profilePoints = 10_000
	mostLoss      = 600
)

// profilesOf joins what the lattices of one budget prove in a direction, at points as close as theirs: chords above; below each point has the
// value of the next one, of which all before have at least as much.
func profilesOf(menus []*Menu, d int) (above, below profiles.Profile, err error) {
	step, reach := math.Inf(1), 0.0
	for _, m := range menus {
		at := m.dirs[d].above
		step, reach = min(step, at.step), max(reach, at.step*float64(-at.low-1))
	}
	reach = min(reach, mostLoss)
	step = max(min(step, reach), reach/profilePoints)
	var x, up, back, low, lowBack []float64
	// reverse returns 1 − α + αh(1/α) at α = e^ε, which falls, of a value at −ε, rounded to a side. Both halves are of one convex function, as
	// the other direction's values, on another lattice, would not be.
	reverse := func(eps, h, side float64) float64 {
		return max(0, -math.Expm1(eps)+math.Exp(eps)*h+side*16*xmath.U*math.Exp(eps))
	}
	w := 1.0 // the last value of the reverse
	for i := range int(reach / step) {
		eps, next := float64(i)*step, float64(i+1)*step
		v := 1.0
		l, r := 0.0, 0.0
		for _, m := range menus {
			at := &m.dirs[d]
			v, w = min(v, at.upper(eps)), min(w, reverse(eps, at.upper(-eps), 1))
			l, r = max(l, at.lower(next)), max(r, reverse(next, at.lower(-next), -1))
		}
		if i == 0 { // chords on either side of 0 begin with one value
			l = min(l, r)
			r = l
		}
		x, up, back, low, lowBack = append(x, eps), append(up, v), append(back, w), append(low, l), append(lowBack, r)
	}
	if above, err = profiles.NewChords(x, up, back); err != nil {
		return nil, nil, err
	}
	below, err = profiles.NewChordsBelow(x, low, lowBack)
	return above, below, err
}
