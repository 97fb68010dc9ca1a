package accountant

// What an answer says, and the sums that it is read from. A total holds runs as four sums, one
// for each direction of the relation above and below; it joins the answers of the directions,
// and those of a proved pair and an attack, to one interval. It assumes that the profiles of a
// run bound it in their direction; whatever else its sums keep from earlier questions makes the
// next one faster and no different.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// A Budget splits the width of an interval by its causes, each in units of the
// quantity asked for.
type Budget struct {
	fourier.Budget
	TheoryGap float64 `json:"theory-gap"`
}

// A Range is a certified interval without its story.
type Range = fourier.Range

// An Interval is a certified answer: the true value lies in [Lower, Upper].
type Interval struct {
	// The estimate is the best guess; no guarantee comes with it. With a theory gap
	// it is that of the proved pair.
	Range
	// Loose says that a limit, or rounding, left the interval so wide, by more than
	// a tenth of its upper end, that Estimate is only its middle and says nothing.
	Loose bool
	// Direction is the direction of the relation that Upper comes from, LowerDirection the one
	// that attains Lower: another one only where both are about as bad.
	Direction, LowerDirection string
	Budget                    Budget
	// Gap is set when theory leaves a gap: Lower is an attack's, Upper a
	// theorem's, and each has its own numerical interval. With Options.Recursion, Lower
	// may be what an adaptive adversary reaches, above Gap.Attack, which is a pair
	// of data sets with a fixed mechanism.
	Gap      *Gap
	Warnings []string // why the interval is wider than asked, if it is
	// Engine is how Upper was computed. fourier.Contour may have taken laws of steps
	// without a transform, which Budget.Discretization then tells.
	Engine fourier.Engine
	// Points is the length of the transforms of a lattice, Frequencies the number of
	// terms of an integral; 0 if there was none.
	Points, Frequencies int
	// Theta and Period are the line of that integral and its period in ε (docs/theory/contour.md).
	Theta, Period float64
}

// A Gap holds the two pairs between which the truth lies.
type Gap struct {
	Proved, Attack Range
	// Unattacked are mechanisms whose runs count as nothing in the attack, as none on them is known here.
	// Apart are those of which better attacks may be known where they run last, and not another one of these.
	Unattacked, Apart []string
}

// ofAttack begins the warnings about what the attack of a gap reaches.
const ofAttack = "attack: "

// computed returns how wide an interval is but for what theory leaves open.
func (iv *Interval) computed() float64 {
	if iv.Gap == nil {
		return iv.Upper - iv.Lower
	}
	return max(iv.Gap.Proved.Upper-iv.Gap.Proved.Lower, iv.Gap.Attack.Upper-iv.Gap.Attack.Lower)
}

func rangeOf(r fourier.Result) Range {
	return Range{Lower: r.Lower, Estimate: r.Estimate, Upper: r.Upper}
}

// finish returns an error if the interval is empty, and puts the estimate into it.
func (iv *Interval) finish() error {
	if !(iv.Lower <= iv.Upper) {
		return fmt.Errorf("internal error: the interval [%v, %v] is empty; please report the plan", iv.Lower, iv.Upper)
	}
	iv.Estimate = min(max(iv.Estimate, iv.Lower), iv.Upper)
	return nil
}

// A run is a mechanism that ran count times.
type run struct {
	m     *profiles.Bounds
	count int64
	// list: of a subsample.Sequence, whose attacks hold as a whole only.
	list  bool
	of    *profiles.Bounds // whose laws they stand for, nil if there are none
	place int              // in the plan, where ways through it are compared
}

// A total is the composition of runs with known profiles. upper and lower hold the same runs,
// but for those whose attacks are apart; they are the same sums while every run is known
// exactly (gap is false).
type total struct {
	relation profiles.Relation
	opts     settings
	runs     []run // each mechanism once
	at       map[*profiles.Bounds]int
	// Per direction: the sum of upper profiles, and that of lower ones.
	upper, lower [2]*fourier.Sum
	symmetric    bool
	gap          bool    // lower sums are apart
	theory       bool    // there is a gap in theory, not only between two laws
	cut          bool    // the work limit left no time for some of the laws
	of           int64   // runs of the accountant that these stand for
	about        float64 // a δ that is near those asked for
	recursed     float64 // work of recursions
	mixture      *mixture
	apart        []string // Gap.Apart
}

func newTotal(r profiles.Relation, o settings) *total {
	t := &total{relation: r, opts: o, at: map[*profiles.Bounds]int{}, symmetric: true}
	for d := range t.upper {
		t.upper[d] = t.sum(o.Options)
		t.lower[d] = t.upper[d]
	}
	return t
}

// copiesAccuracy is the accuracy of an attack by copies where none is asked for: the answer is to be as wide as theory
// leaves it.
const copiesAccuracy = 2e-5

// sum returns an empty sum.
func (t *total) sum(o fourier.Options) *fourier.Sum {
	s := fourier.New(o)
	if t.opts.many {
		s.ExpectMany()
	}
	return s
}

// expectMany prepares the sums for many questions.
func (t *total) expectMany() {
	t.opts.many = true // for the sums of attacks to come
	for d := range t.upper {
		t.upper[d].ExpectMany()
		t.lower[d].ExpectMany()
	}
}

// spent returns the work of all questions so far.
func (t *total) spent() float64 {
	work := t.recursed
	for d := range t.upper {
		work += t.upper[d].Spent()
		if t.gap {
			work += t.lower[d].Spent()
		}
	}
	return work
}

// lacks returns what a total that holds part of the runs lacks; false if it holds others.
func (t *total) lacks(runs []run) (more []run, ok bool) {
	if len(t.runs) > len(runs) {
		return nil, false
	}
	for i, r := range runs {
		if i < len(t.runs) {
			held := t.runs[i]
			if held.count > r.count || !sameBounds(held.m, r.m) {
				return nil, false
			}
			r.m, r.count = held.m, r.count-held.count
		}
		if r.count > 0 {
			more = append(more, r)
		}
	}
	return more, true
}

// sameBounds reports whether two mechanisms have the same profiles.
func sameBounds(a, b *profiles.Bounds) bool {
	if a == b {
		return true
	}
	for d, x := range a.Directions {
		y := b.Directions[d]
		if !sameProfile(x.Upper, y.Upper) || !sameProfile(x.Lower, y.Lower) ||
			x.Copies.Count != y.Copies.Count || !sameProfile(x.Copies.Profile, y.Copies.Profile) {
			return false
		}
	}
	return a.Numerical == b.Numerical
}

// counted returns runs with r added; at is where each mechanism is among them.
func counted(runs []run, at map[*profiles.Bounds]int, r run) []run {
	if i, ok := at[r.m]; ok {
		runs[i].count += r.count
		return runs
	}
	at[r.m] = len(runs)
	return append(runs, r)
}

// include adds runs to the sums.
func (t *total) include(r run) error {
	t.theory = t.theory || r.m.TheoryGap() && !r.m.Numerical
	if r.m.TheoryGap() && !t.gap {
		// From here on attacks are composed apart.
		t.gap = true
		for d := range t.lower {
			o := t.opts.Options
			if r.m.Directions[d].Copies.Count > 0 && o.Relative == fourier.DefaultOptions().Relative {
				o.Relative = copiesAccuracy
			}
			t.lower[d] = t.sum(o)
			for _, old := range t.runs {
				if err := t.lower[d].Add(old.m.Directions[d].Upper, old.count); err != nil {
					return err
				}
			}
		}
	}
	for d, dir := range r.m.Directions {
		if dir.Upper != nil { // what only attacks hold has none
			if err := t.upper[d].Add(dir.Upper, r.count); err != nil {
				return err
			}
		}
		if !t.gap || dir.Lower == nil {
			continue
		}
		low, count := attackOf(dir, r.count)
		if err := t.lower[d].Add(low, count); err != nil {
			return err
		}
	}
	t.runs = counted(t.runs, t.at, r)
	f, b := r.m.Directions[0], r.m.Directions[1]
	t.symmetric = t.symmetric && sameProfile(f.Upper, b.Upper) && sameProfile(f.Lower, b.Lower)
	return nil
}

// attackOf returns the attack on count runs of a mechanism, and how often it is composed.
func attackOf(dir profiles.Direction, count int64) (profiles.Profile, int64) {
	if c := dir.Copies; c.Count > 0 && count <= maxRuns/c.Count {
		return c.Profile, count * c.Count
	}
	return dir.Lower, count
}

// onePair returns the sums of attacks on one pair of data sets, seen from either side; false where there is none. It is
// the pair of the first direction, which is not that of the second one where a step is a search.
func (t *total) onePair() (low [2]*fourier.Sum, ok bool) {
	low = t.lower
	mirrored := true
	back := t.sum(t.opts.Options)
	for _, r := range t.runs {
		if r.list {
			return low, false
		}
		one, other := r.m.Directions[0].Lower, r.m.Directions[1].Lower
		if one == nil {
			mirrored = false
			continue
		}
		mirrored = mirrored && other != nil && profiles.Equal(profiles.Reverse(one), other)
		p, count := attackOf(r.m.Directions[0], r.count)
		if back.Add(profiles.Reverse(p), count) != nil {
			return low, false
		}
		ok = true
	}
	if !mirrored {
		low[1] = back
	}
	return low, ok
}

// sameProfile reports whether p and q are the same, or both missing.
func sameProfile(p, q profiles.Profile) bool {
	return p == nil && q == nil || p != nil && q != nil && profiles.Equal(p, q)
}

// recursionShare is the part of a work limit that is kept for the recursion where there is one. It is kept, and not
// what the sums happen to leave, so that a larger limit never means less for either.
const recursionShare = 0.5

// limitSums sets what each sum of a question may take: its part of what the context has left, where that is less.
func (t *total) limitSums(ctx context.Context) {
	_, left := parallel.Work(ctx)
	work := min(t.opts.work(), max(left, 1)) / t.asked()
	if t.opts.limited && t.theory && t.opts.recursion > 0 && slices.ContainsFunc(t.runs, t.narrows) {
		work *= 1 - recursionShare
	}
	for d := range t.upper {
		t.upper[d].LimitWork(work)
		t.lower[d].LimitWork(work)
	}
}

// asked is the number of sums that a question asks.
func (t *total) asked() float64 {
	sums := 1.0
	if !t.symmetric {
		sums *= 2
	}
	if t.gap {
		sums *= 2
	}
	return sums
}

// A composition answers queries: a *fourier.Sum or a *menu.Menu.
type composition interface {
	Epsilon(ctx context.Context, delta float64) (fourier.Result, error)
	Delta(ctx context.Context, eps float64) (fourier.Result, error)
}

// A query is a question about a composition: ε at a δ, or δ at an ε.
type query interface {
	ask(ctx context.Context, of composition) (fourier.Result, error)
	// below reports whether a quick bound already shows that a sum's answer is at most x.
	below(ctx context.Context, s *fourier.Sum, x float64) bool
	// point returns ε and δ where the answer is x.
	point(x float64) (eps, delta float64)
	// reached reads an attack's answer.
	reached(at profiles.Reached) float64
}

type epsilonAt struct{ delta float64 }

func (q epsilonAt) ask(ctx context.Context, of composition) (fourier.Result, error) {
	return of.Epsilon(ctx, q.delta)
}
func (q epsilonAt) below(ctx context.Context, s *fourier.Sum, eps float64) bool {
	return s.Proves(ctx, eps, q.delta)
}
func (q epsilonAt) point(eps float64) (float64, float64) { return eps, q.delta }
func (q epsilonAt) reached(at profiles.Reached) float64  { return at.Epsilon(q.delta) }

type deltaAt struct{ eps float64 }

func (q deltaAt) ask(ctx context.Context, of composition) (fourier.Result, error) {
	return of.Delta(ctx, q.eps)
}
func (q deltaAt) below(ctx context.Context, s *fourier.Sum, delta float64) bool {
	return s.Proves(ctx, q.eps, delta)
}
func (q deltaAt) point(delta float64) (float64, float64) { return q.eps, delta }
func (q deltaAt) reached(at profiles.Reached) float64    { return at.Delta(q.eps) }

// answer returns the answer to a query, the worst over the two directions.
func (t *total) answer(ctx context.Context, q query) (Interval, error) {
	iv, err := t.worst(ctx, q)
	if err == nil && t.theory && t.opts.recursion > 0 {
		err = t.narrow(ctx, &iv, q)
	}
	return iv, err
}

// worst asks both directions and joins the answers.
func (t *total) worst(ctx context.Context, q query) (Interval, error) {
	var attacks [2]*fourier.Sum // nil: not asked
	t.limitSums(ctx)
	if t.gap {
		attacks = t.lower
	}
	proved, attack, err := both(ctx, q, t.upper[0], attacks[0])
	if err != nil {
		return Interval{}, err
	}
	direction, lowerDirection := 0, 0
	if !t.symmetric {
		u, l := t.upper[1], attacks[1]
		if q.below(ctx, u, proved.Lower) {
			u = nil
		}
		if l != nil && q.below(ctx, l, attack.Lower) {
			l = nil
		}
		p, below, err := both(ctx, q, u, l)
		if err != nil {
			return Interval{}, err
		}
		if u != nil {
			if larger(p, proved) {
				direction = 1
			}
			if !t.gap && p.Lower > proved.Lower {
				lowerDirection = 1
			}
			proved = join(proved, p)
		}
		if l != nil {
			if below.Lower > attack.Lower {
				lowerDirection = 1
			}
			attack = join(attack, below)
		}
	}
	names := t.relation.DirectionNames()
	out := Interval{Range: rangeOf(proved), Loose: proved.Loose,
		Direction: names[direction], LowerDirection: names[lowerDirection], Engine: proved.Engine, Points: proved.Points, Frequencies: proved.Frequencies, Theta: proved.Theta, Period: proved.Period, Warnings: proved.Warnings,
		Budget: Budget{Budget: proved.Budget}}
	if t.gap && !t.theory {
		out.Lower = attack.Lower
		if d := proved.Lower - attack.Upper; d > 0 { // between two laws of one pair
			out.Budget.Discretization += d
		}
		// The law above is about twice as far off as the one below.
		if out.Estimate = out.Lower + (out.Upper-out.Lower)/3; math.IsInf(out.Upper, 1) {
			out.Estimate = out.Upper
		}
		if out.Loose = out.Upper-out.Lower > 0.1*math.Abs(out.Upper); out.Loose {
			out.Estimate = out.Lower + (out.Upper-out.Lower)/2
		}
		for _, w := range attack.Warnings {
			if !slices.Contains(out.Warnings, w) {
				out.Warnings = append(out.Warnings, w)
			}
		}
	}
	if t.theory {
		out.Lower = attack.Lower
		if proved.Lower > attack.Upper { // both may be infinite
			out.Budget.TheoryGap = proved.Lower - attack.Upper
		}
		out.Gap = &Gap{Proved: rangeOf(proved), Attack: rangeOf(attack), Unattacked: t.unattacked(), Apart: t.apart}
		for _, w := range attack.Warnings {
			out.Warnings = append(out.Warnings, ofAttack+w)
		}
	}
	if err := out.finish(); err != nil {
		return Interval{}, err
	}
	return out, nil
}

// unattacked are the names of mechanisms of which only upper profiles are composed.
func (t *total) unattacked() (names []string) {
	attacked := func(name string) bool {
		return slices.ContainsFunc(t.runs, func(r run) bool {
			return r.m.Name == name && r.m.Directions[0].Lower != nil && r.m.Directions[1].Lower != nil
		})
	}
	for _, r := range t.runs {
		if !attacked(r.m.Name) && !slices.Contains(names, r.m.Name) {
			names = append(names, r.m.Name)
		}
	}
	return names
}

// larger reports whether a is above b, or as high and more likely so.
func larger(a, b fourier.Result) bool {
	return a.Upper > b.Upper || a.Upper == b.Upper && a.Estimate > b.Estimate
}

// join returns the maximum of two answers; what else it says is about the larger one.
func join(a, b fourier.Result) fourier.Result {
	if larger(b, a) {
		a, b = b, a
	}
	a.Lower = max(a.Lower, b.Lower)
	a.Estimate = min(max(a.Estimate, b.Estimate, a.Lower), a.Upper)
	if a.Loose = a.Loose && a.Upper-a.Lower > 0.1*math.Abs(a.Upper); a.Loose {
		a.Estimate = a.Lower + (a.Upper-a.Lower)/2
	}
	return a.Narrowed()
}

// both asks two sums at the same time; nil is not asked. What the one takes is not seen by the other: which of them finds a limit spent would
// be a matter of luck.
func both(ctx context.Context, q query, a, b *fourier.Sum) (of, other fourier.Result, err error) {
	var errB error
	_, left := parallel.Work(ctx)
	parallel.Both(func() {
		if a != nil {
			of, err = q.ask(parallel.WithWork(ctx, left), a)
		}
	}, func() {
		if b != nil {
			other, errB = q.ask(parallel.WithWork(ctx, left), b)
		}
	})
	return of, other, cmp.Or(err, errB)
}
