package accountant

// Steps whose laws are computed for a question: random allocation and shuffled batches
// (subsample.Aimed). The total holds them as they are; each question gets an accountant with
// laws made for its δ, which is kept for the next one. What a law is aimed at proves nothing,
// so that an answer is certified whichever accountant gave it; and it is determined by the
// total and the question alone.

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// An aim is a mechanism on batches whose law is computed for a question.
type aim struct {
	base   profiles.Mechanism
	scheme subsample.Aimed
}

// A lawKey names a law that was computed: of an aim, at δ = 10^exponent, for 2^doublings runs,
// or of so many runs together.
type lawKey struct {
	aim                 *aim
	exponent, doublings int
	together            int64
	public              bool
	finer               float64 // than the accuracy asked of ε
}

// An aimedTotal is an accountant for one δ, and what of the total it holds already.
type aimedTotal struct {
	acct      *Accountant
	added     []int64 // of each of the total's added
	aimed     []int64
	doublings int
	together  int64 // runs of the only step, as one; 0: composed
}

// aim returns the aim of a step, one for equal steps.
func (a *Accountant) aim(s Step, scheme subsample.Aimed) (*aim, error) {
	if reflect.ValueOf(s.Mechanism).Comparable() && reflect.ValueOf(scheme).Comparable() {
		for _, x := range a.aims {
			if x.base == s.Mechanism && x.scheme == scheme {
				return x, nil
			}
		}
	}
	if err := scheme.Check(s.Mechanism, a.relation); err != nil {
		return nil, fault.In("sampling", err)
	}
	x := &aim{s.Mechanism, scheme}
	a.aims = append(a.aims, x)
	return x, nil
}

// A totalKey names an accountant of the total.
type totalKey struct {
	exponent int
	finer    float64
	public   bool
}

// exponentOf is the power of ten that laws for δ are aimed at.
func exponentOf(delta, least float64) int {
	if !(delta > least) {
		return int(math.Ceil(math.Log10(least)))
	}
	return int(math.Round(math.Log10(min(delta, 0.5))))
}

// aimedAt returns an accountant of the total with laws for about this δ, so much finer than the
// accuracy asked of ε.
func (a *Accountant) aimedAt(ctx context.Context, delta, finer float64) (*Accountant, error) {
	least := a.aimed[0].aim.scheme.Least()
	exponent := exponentOf(delta, least)
	public := delta < least
	key := totalKey{exponent, finer, public}
	together, doublings := a.together(), a.doublings()
	t := a.totals[key]
	if t != nil && (t.together != together || t.doublings != doublings) {
		t = nil
	}
	if t == nil {
		o := a.opts
		// Half of the width is that of the laws, half that of their composition.
		o.Relative, o.Absolute = o.Relative/2, o.Absolute/2
		t = &aimedTotal{acct: New(a.relation, func(s *settings) { *s = o }), together: together, doublings: doublings}
		if a.many {
			t.acct.expectMany()
		}
	}
	delete(a.totals, key) // unless all goes well
	t.acct.opts.Work, t.acct.opts.report = a.opts.Work, a.opts.report
	for i, r := range a.added {
		if err := t.add(&t.added, i, r); err != nil {
			return nil, err
		}
	}
	for i, r := range a.aimed {
		m, err := a.law(ctx, lawKey{r.aim, exponent, doublings, together, public, finer})
		if err != nil {
			return nil, err
		}
		if a.Records() > 1 {
			all, err := subsample.Chain(*m, a.Records())
			if err != nil {
				return nil, err
			}
			m = &all
		}
		if together > 0 {
			r.count = 1
		}
		if err := t.add(&t.aimed, i, run{m: m, count: r.count, list: r.list}); err != nil {
			return nil, err
		}
	}
	if a.totals == nil {
		a.totals = map[totalKey]*aimedTotal{}
	}
	a.totals[key] = t
	return t.acct, nil
}

// together is the number of runs whose law is computed as one: of the only step there is,
// unless many totals are to come, which share the laws of one run.
func (a *Accountant) together() int64 {
	if len(a.added) > 0 || len(a.aimed) > 1 || a.opts.many {
		return 0
	}
	if _, ok := a.aimed[0].aim.scheme.Repeated(a.aimed[0].count); !ok {
		return 0
	}
	return a.aimed[0].count
}

// doublings says what laws are made for the composition of: all aimed runs together, rounded up
// to a power of two, so that a total which grows does not need new laws at each step.
func (a *Accountant) doublings() int {
	n := int64(0)
	for _, r := range a.aimed {
		n += r.count
	}
	return bits.Len64(uint64(n - 1))
}

// add adds what the accountant lacks of the i-th runs of a list.
func (t *aimedTotal) add(held *[]int64, i int, r run) error {
	if i == len(*held) {
		*held = append(*held, 0)
	}
	more := r.count - (*held)[i]
	if more == 0 {
		return nil
	}
	(*held)[i] = r.count
	return t.acct.addRuns([]run{{m: r.m, count: more, list: r.list}})
}

// law returns the mechanism of an aim, computed once for a question. Below what laws can be
// aimed at, the bound that hides nothing takes the place of the law above.
func (a *Accountant) law(ctx context.Context, k lawKey) (*profiles.Bounds, error) {
	if m, ok := a.laws[k]; ok {
		return m, nil
	}
	s := k.aim.scheme.Aim(math.Pow10(k.exponent), a.opts.Relative/2/k.finer, 1<<min(k.doublings, 52))
	if k.together > 0 {
		s, _ = k.aim.scheme.Repeated(k.together)
		s = s.Aim(math.Pow10(k.exponent), a.opts.Relative/2/k.finer, 1)
	}
	m, err := s.Bounds(ctx, k.aim.base, a.relation)
	if err != nil {
		return nil, err
	}
	if _, ok := k.aim.base.(profiles.Attacked); ok {
		m.Numerical = false // its base leaves a gap
	}
	if k.public {
		p, err := s.Public(ctx, k.aim.base, a.relation)
		if err != nil {
			return nil, err
		}
		for d := range m.Directions {
			m.Directions[d].Upper = p.Directions[d].Upper
		}
	}
	if a.laws == nil {
		a.laws = map[lawKey]*profiles.Bounds{}
	}
	a.laws[k] = &m
	return &m, nil
}

// aimedEpsilon is Epsilon of a total with aimed steps.
func (a *Accountant) aimedEpsilon(ctx context.Context, delta float64) (Interval, error) {
	b, err := a.aimedAt(ctx, delta, 1)
	if err != nil {
		return Interval{}, err
	}
	iv, err := b.Epsilon(ctx, delta)
	if err != nil {
		return iv, err
	}
	if least := a.aimed[0].aim.scheme.Least(); delta < least && delta > 0 {
		iv.Warnings = append(iv.Warnings, fmt.Sprintf("δ = %v is below %v, which laws of %s are made for: the upper end is that of batches that anybody may know", delta, least, a.aimed[0].aim.scheme.Name()))
	}
	a.tooWide(&iv, a.opts.Absolute)
	return iv, nil
}

// firstAim is the δ that a question about δ begins with, and mostLooks how often it aims anew,
// with laws and a composition that are known to scoutAccuracy only.
const (
	firstAim      = 1e-6
	mostLooks     = 12
	scoutAccuracy = 0.2
	scoutWork     = 2e6
	// δ moves by more than ε, by the slope of log δ times ε: laws for δ are finer.
	fineDelta = 8
)

// aimedDelta is Delta of a total with aimed steps: with laws for the δ that a rough copy of the
// total finds.
func (a *Accountant) aimedDelta(ctx context.Context, eps float64) (Interval, error) {
	least := a.aimed[0].aim.scheme.Least()
	at, err := a.about(ctx, eps, least)
	if err != nil {
		return Interval{}, err
	}
	b, err := a.aimedAt(ctx, at, fineDelta)
	if err != nil {
		return Interval{}, err
	}
	iv, err := b.Delta(ctx, eps)
	if err != nil {
		return iv, err
	}
	if iv.Upper < least && iv.Upper > 0 {
		iv.Warnings = append(iv.Warnings, fmt.Sprintf("δ is below %v, which laws of %s are made for: the interval is wider than asked", least, a.aimed[0].aim.scheme.Name()))
	}
	a.tooWide(&iv, 0)
	return iv, nil
}

// about returns the power of ten next to δ(ε), in [least, 0.5].
func (a *Accountant) about(ctx context.Context, eps, least float64) (float64, error) {
	if a.scout == nil || a.scout.runs != a.runs {
		o := a.opts
		o.Relative, o.Absolute, o.Work, o.report = scoutAccuracy, scoutAccuracy*1e-3, scoutWork, nil
		a.scout = New(a.relation, func(s *settings) { *s = o })
		if err := a.scout.addRuns(append(slices.Clone(a.added), a.aimed...)); err != nil {
			return 0, err
		}
	}
	at, next := math.NaN(), firstAim
	for range mostLooks {
		if at == next {
			break
		}
		at = next
		b, err := a.scout.aimedAt(ctx, at, 1)
		if err != nil {
			return 0, err
		}
		iv, err := b.Delta(ctx, eps)
		if err != nil {
			return 0, err
		}
		next = math.Pow10(exponentOf(iv.Upper, least))
	}
	return at, nil
}

// tooWide warns of an interval that laws leave wider than asked.
func (a *Accountant) tooWide(iv *Interval, absolute float64) {
	lower, upper := iv.Lower, iv.Upper
	if iv.Gap != nil || len(iv.Warnings) > 0 || math.IsInf(upper, 1) {
		return // theory's gap, or there is a reason already
	}
	width := upper - lower
	if width > max(2*a.opts.Relative*math.Abs(upper), absolute) {
		iv.Warnings = append(iv.Warnings, fmt.Sprintf("the laws of %s leave an interval of width %.2g, wider than asked", a.aimed[0].aim.scheme.Name(), width))
	}
}

// spread is a δ below all that tests at false-positive rates and priors look at.
func spread(rates ...[]float64) float64 {
	least := 1.0
	for _, list := range rates {
		for _, x := range list {
			least = min(least, x)
		}
	}
	return least / 10
}

// addAimed adds runs of an aim.
func (a *Accountant) addAimed(r run) {
	for i := range a.aimed {
		if a.aimed[i].aim == r.aim {
			a.aimed[i].count += r.count
			return
		}
	}
	a.aimed = append(a.aimed, r)
}

// hasAimed reports whether some step has laws that are computed for a question.
func hasAimed(steps []Step) bool {
	for _, s := range steps {
		if _, ok := s.Sampling.(subsample.Aimed); ok || hasAimed(s.Steps) {
			return true
		}
	}
	return false
}
