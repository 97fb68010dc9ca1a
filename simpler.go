package accountant

// Simpler releases of the same steps, which cost no less and are known with less work: all runs of a
// selection shown, samples and batches public, a pure private selection by its price. An answer is
// never above theirs (fourier.Sum.BoundBy).

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// An origin is what the profiles of a run were made of, of which simpler releases are known: a sampled
// mechanism, or a selection.
type origin struct {
	step      Step        // sampled; of several records, those of the accountant
	candidate *Accountant // of a selection, with its law; else nil
	law       selection.Law
	short     bool    // its price was cut short by the work limit, and may be alike in both directions where its runs are not
	stretched float64 // as of an Accountant: of the candidate, and of searches in it
}

// A simpler is what simpler releases of a plan cost: the sums of both directions, nil where there are none.
type simpler struct {
	sums      [2]*fourier.Sum
	symmetric bool  // both directions are alike
	gap       bool  // an accountant asks for an attack beside it
	of        int64 // runs that it is about
}

// asked is the number of sums that an accountant of this release asks, which share its work.
func (s *simpler) asked() float64 { return (&total{symmetric: s.symmetric, gap: s.gap}).asked() }

// A release is a list of profiles for each direction, with their counts.
type release struct {
	runs [2][]profiles.Repeated
	gap  bool // some of them are not attained
}

// add adds count runs of what has these profiles, each so many times; false where that is more than can be counted.
func (l *release) add(one [2]profiles.Profile, each, count int64) bool {
	if one[0] == nil || one[1] == nil || each > xmath.MaxCount/count {
		return false
	}
	for d, p := range one {
		l.runs[d] = append(l.runs[d], profiles.Repeated{Profile: p, Count: each * count})
	}
	return true
}

// uppers are the proved profiles of one run, nil where there are none but those of laws.
func uppers(m *profiles.Bounds) [2]profiles.Profile {
	return [2]profiles.Profile{m.Directions[0].Upper, m.Directions[1].Upper}
}

// sums returns the composition of a release, none where it cannot be counted.
func (l release) sums(o fourier.Options, of int64) *simpler {
	s := &simpler{symmetric: true, gap: l.gap, of: of}
	var sums [2]*fourier.Sum
	for d := range sums {
		sums[d] = fourier.New(o)
		for i, x := range l.runs[d] {
			if sums[d].Add(x.Profile, x.Count) != nil {
				return s
			}
			s.symmetric = s.symmetric && profiles.Equal(l.runs[0][i].Profile, l.runs[1][i].Profile)
		}
	}
	s.sums = sums
	return s
}

// openOf returns what was added with nothing hidden but the noise: selections at the price of a pure private candidate, or with all runs shown.
func (a *running) openOf(ctx context.Context) *simpler {
	if a.open != nil && a.open.of == a.runs {
		return a.open
	}
	// It takes a moment, and is what is left when time is over.
	ctx = context.WithoutCancel(ctx)
	a.open = &simpler{of: a.runs}
	var l release
	if a.opened(ctx, &l, 1) {
		a.open = l.sums(a.opts.Options, a.runs)
	}
	return a.open
}

// A mixture is what simpler releases of a total cost, in which part of it is as it was.
type mixture struct {
	shown *simpler // all runs of searches
	// open has those laws of sampled mechanisms open whose infinite losses are above their part of δ: for persons, their chain may have no finite ε.
	open *simpler
	// parts are the runs of each such law, and all others: one after the other they cost no less than together (fourier.Sum.BoundBy).
	parts []*simpler
	of    int64 // runs that it is about
}

// mixtureOf returns the mixture of a total.
func (t *total) mixtureOf(ctx context.Context, a *running) *mixture {
	if t.mixture != nil && t.mixture.of == a.runs {
		return t.mixture
	}
	ctx = context.WithoutCancel(ctx)
	m := &mixture{shown: &simpler{}, open: &simpler{}, of: a.runs}
	t.mixture = m
	var shown release
	if a.searches() && a.showing(ctx, &shown, t.runs, 1) {
		m.shown = shown.sums(t.opts.Options, a.runs)
	}
	laws, _ := joined(a.added, func(m *profiles.Bounds) profiles.Laws { return m.Laws })
	laws = slices.DeleteFunc(laws, func(r run) bool { return a.origins[r.m] == nil })
	all, _ := t.runsOf(func(r run) bool { return a.origins[r.of] == nil })
	parts := []release{all}
	opened := false
	for _, law := range laws {
		runs, lost := t.runsOf(func(r run) bool { return r.of == law.m })
		parts = append(parts, runs)
		var open release
		if lost > xmath.Log(t.about/float64(len(laws)+1)) && a.openedRun(ctx, &open, law, 1) {
			runs, opened = open, true
		}
		for d := range all.runs {
			all.runs[d] = append(all.runs[d], runs.runs[d]...)
		}
	}
	if opened {
		m.open = all.sums(t.opts.Options, a.runs)
	}
	for _, part := range parts {
		if len(part.runs[0]) > 0 {
			m.parts = append(m.parts, part.sums(t.opts.Options, a.runs))
		}
	}
	return m
}

// runsOf returns the runs of a total that a condition holds for, and log of a probability that one of their losses is infinite, at most.
func (t *total) runsOf(is func(run) bool) (l release, lost float64) {
	lost = math.Inf(-1)
	for _, r := range t.runs {
		for d, p := range uppers(r.m) {
			if p != nil && is(r) { // else it is an attack
				l.runs[d] = append(l.runs[d], profiles.Repeated{Profile: p, Count: r.count})
				lost = xmath.LogAdd(lost, p.Support().LogPInf+xmath.Log(float64(r.count)))
			}
		}
	}
	return l, lost
}

// searches reports whether all runs of some selection can be shown.
func (a *running) searches() bool {
	return a.anyOrigin(func(o *origin) bool { return o.candidate != nil && o.most() > 0 })
}

// capped reports whether batches have a cap: what is proved of them may be above the cost of public ones.
func (a *running) capped() bool {
	return a.anyOrigin(func(o *origin) bool { _, ok := o.batches(); return ok })
}

// batches returns the Poisson batches with a cap that an origin is sampled by.
func (o *origin) batches() (s allocation.Truncated, ok bool) {
	if o != nil {
		s, ok = o.step.Sampling.(allocation.Truncated)
	}
	return s, ok
}

func (a *running) anyOrigin(is func(*origin) bool) bool {
	return slices.ContainsFunc(a.added, func(r run) bool {
		o, ok := a.origins[r.m]
		return ok && is(o)
	})
}

// most is the largest number of candidates that a selection runs, 0 if there is none.
func (o *origin) most() int64 {
	n, bounded := o.law.MaxRuns()
	if !bounded {
		return 0
	}
	return int64(n)
}

// showing adds n times these runs, with all runs of selections shown. What is dominated by
// fewer runs is by more: their largest number stands for it.
func (a *running) showing(ctx context.Context, l *release, runs []run, n int64) bool {
	for _, r := range runs {
		if r.count > xmath.MaxCount/n {
			return false
		}
		o := a.origins[r.m]
		var ok bool
		switch {
		case o != nil && o.candidate != nil && o.most() > 0:
			k := o.most()
			ok = n*r.count <= xmath.MaxCount/k && o.candidate.showing(ctx, l, o.candidate.added, n*r.count*k)
		case uppers(r.m) == [2]profiles.Profile{} && r.m.Laws == nil:
			ok = true // an attack
		case r.m.Laws != nil:
			ok = a.openedRun(ctx, l, r, n)
		default:
			l.gap = l.gap || r.m.TheoryGap()
			ok = l.add(uppers(r.m), r.count, n)
		}
		if !ok {
			return false
		}
	}
	return true
}

// opened adds n times what was added, with nothing hidden but the noise.
func (a *running) opened(ctx context.Context, l *release, n int64) bool {
	for _, r := range a.added {
		if r.count > xmath.MaxCount/n || !a.openedRun(ctx, l, r, n) {
			return false
		}
	}
	return true
}

func (a *running) openedRun(ctx context.Context, l *release, r run, n int64) bool {
	o := a.origins[r.m]
	switch {
	case o == nil:
	case o.candidate != nil:
		if pure := o.pure(ctx); pure != nil {
			return l.add([2]profiles.Profile{pure, pure}, r.count, n)
		}
		if k := o.most(); k > 0 && n*r.count <= xmath.MaxCount/k {
			return o.candidate.opened(ctx, l, n*r.count*k)
		}
	default:
		one, runs, err := subsample.Unhidden(ctx, o.step.Mechanism, o.step.Sampling, a.relation, max(a.opts.records, 1))
		if err == nil && runs > 0 && runs <= xmath.MaxCount/r.count {
			return l.add(one, runs*r.count, n)
		}
	}
	if laws, ok := r.m.Laws.(trait.Retreat); ok && uppers(r.m) == [2]profiles.Profile{} {
		c, err := laws.Retreat(profiles.Question{Runs: 1, Total: 1})
		return err == nil && len(c.Upper[0]) == 1 && c.Upper[0][0].Count == 1 && l.add([2]profiles.Profile{c.Upper[0][0].Profile, c.Upper[1][0].Profile}, r.count, n)
	}
	return l.add(uppers(r.m), r.count, n)
}

// pure is the profile of a selection by its price for a pure private candidate, nil if the candidate is none.
func (o *origin) pure(ctx context.Context) profiles.Profile {
	a := o.candidate
	eps := 0.0
	for d := range 2 {
		var sum *fourier.Sum
		if a.plain != nil {
			sum = a.plain.upper[d]
			a.plain.bound(&a.running)
		} else if sum = a.openOf(ctx).sums[d]; sum == nil {
			return nil
		}
		r, err := sum.Epsilon(ctx, 0)
		if err != nil || math.IsInf(r.Upper, 1) {
			return nil
		}
		eps = max(eps, r.Upper)
	}
	price, err := selection.PriceOfBest(o.law).Pure(eps)
	if err != nil {
		return nil
	}
	m, err := profiles.NewPure(price)
	if err != nil {
		return nil
	}
	p, err := m.Pair(a.relation)
	if err != nil {
		return nil
	}
	return p
}

// bound has the proved sums bounded by simpler releases, if some run has one.
func (t *total) bound(a *running) {
	if len(a.origins) == 0 && a.plain != nil {
		return
	}
	for _, r := range a.added {
		if o := a.origins[r.m]; o != nil && o.short {
			t.symmetric = false // both directions have to be asked for a release that is not symmetric
		}
	}
	rival := t.gap && (a.plain == nil || a.searches() || a.capped())
	for d, sum := range t.upper {
		sum.BoundBy(func(ctx context.Context) (by, parts []*fourier.Sum) {
			// Where one direction answers for both, it has to in s.
			bounds := func(s *simpler) bool { return s.sums[d] != nil && (s.symmetric || !t.symmetric) }
			m := t.mixtureOf(ctx, a)
			for _, s := range []*simpler{m.shown, m.open, a.openOf(ctx)} {
				if bounds(s) {
					s.sums[d].LimitWork(t.opts.work() / s.asked())
					by = append(by, s.sums[d])
				}
			}
			for _, s := range m.parts {
				if !bounds(s) {
					return by, nil
				}
				s.sums[d].LimitWork(t.opts.work() / s.asked() / float64(len(m.parts)))
				parts = append(parts, s.sums[d])
			}
			return by, parts
		}, rival)
	}
}
