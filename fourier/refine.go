package fourier

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// A pass is the pair of compositions of one lattice step and one tilt.
type pass struct {
	upper, lower *composition
	step         float64
	n            int
	exact        bool     // every law is exactly on the lattice
	laws         cumulant // of the upper laws: finer than the coarse ones
	density      float64  // of the loss over δ near the answer; 0 until asked

	// By how much rounding may have displaced the total loss.
	upMoved, loMoved float64
}

// plan is what the coarse laws say about where to compute.
type plan struct {
	c        cumulant
	eps, log float64 // ε and log δ of the finite part, approximately
	theta    float64 // saddle
	g        float64 // density over δ
	scale    float64 // tilted standard deviation of one average step
	wantLog  float64 // width wanted, in log δ
	margin   float64 // how far below δ tails are followed
	far      float64 // and usually
	near     *local
}

func (s *Sum) newPlan(c cumulant, eps, logDelta, theta, wantLog float64, near *local) plan {
	_, g, v := c.logDelta(eps, theta)
	if near != nil {
		g = near.density
	}
	return plan{c: c, eps: eps, log: logDelta, theta: theta, g: max(g, 1e-300), scale: math.Sqrt(v / s.copies), wantLog: wantLog, margin: s.farMargin(), far: s.farMargin(), near: near}
}

// room is by how much further than asked lattices reach, to serve more questions.
func (p plan) room() float64 {
	if p.margin < p.far {
		return 0.5
	}
	return 4
}

// step returns the lattice step at which the error law predicts the width
// wanted: width of log δ = T·Δ²·g/8 for losses spread evenly (docs/accuracy.md
// §4). scale is by how much that fell short of the truth so far.
func (s *Sum) step(p plan, scale float64) float64 {
	// One tilt must serve both laws: they may differ by half a standard deviation
	// of the total loss at most.
	want := min(p.wantLog, 0.5*p.theta*p.scale*math.Sqrt(s.copies)) / scale
	// Beyond these the law does not hold: the tilted law must be resolved, and
	// e^l be about linear in a cell.
	d := 0.7 / (1 + p.theta)
	// A tilted law of a single atom has no scale to resolve.
	if p.scale > 1e-3*d {
		d = min(d, p.scale/2)
	}
	for range 100 {
		w := s.width(p, d)
		if !(w > 0.7*want*(1+1e-12)) {
			break
		}
		d *= max(0.01, math.Sqrt(0.7*want/w))
	}
	return d
}

// firstScale is about by how much the error law falls short before anything is
// measured: losses with an atom come in rare jumps, for which the saddle-point
// density is too low (2 to 6 times at the settings of docs/benchmarks.md).
func (s *Sum) firstScale(p plan) float64 {
	if p.near != nil {
		return 1
	}
	for _, e := range s.entries {
		if len(e.sup.Atoms) > 0 {
			return 3
		}
	}
	return 1
}

// misled reports whether a pass as wide as width, in log δ, is not what the local
// foretold: it does not describe the sum there, and vertices placed by it leave a
// width that no step improves on.
func (s *Sum) misled(p plan, step, width float64) bool {
	return p.near != nil && !(width <= 3*s.width(p, step))
}

// finest is less than the first step ever needs to be when the coarse laws place ε
// well: for many runs of one profile a width of r·ε takes about 0.15·√(r/1e-3)
// of its standard deviation. Where they do not, a lattice that fine is a waste.
func (s *Sum) finest() float64 {
	least := math.Inf(1)
	for _, e := range s.entries {
		if _, _, v := e.coarse.Tilted(0); v > 0 {
			least = min(least, math.Sqrt(v))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return 0.005 * math.Sqrt(min(1, s.opts.Relative/1e-3)) * least
}

// width predicts the width of log δ at a step.
func (s *Sum) width(p plan, step float64) float64 {
	sum := 0.0
	for i, e := range s.entries {
		sum += float64(e.count) * e.cost(step, p.theta, p.near.of(i))
	}
	return 0.75 * p.g * sum
}

// finer returns the step at which the width wanted is expected, when a step gave
// the width measured, in log δ.
func (s *Sum) finer(p plan, step, measured float64) float64 {
	scale := 1.0
	if w := s.width(p, step); w > 0 {
		scale = measured / w
	}
	return min(0.8*step, max(0.05*step, s.step(p, scale)))
}

// ladder rounds a step down to 1, 1.25, 1.5 or 1.75 times a power of two, so
// that neighbouring questions share lattices.
func ladder(d float64) float64 {
	m, e := math.Frexp(d) // m in [½, 1)
	return math.Ldexp(math.Floor(m*8)/8, e)
}

// fitStep adapts a wanted step to the atoms of the entries: the first entry, by
// count, whose atoms fit a lattice decides. exact says that all entries lie on
// the lattice exactly.
func (s *Sum) fitStep(d float64, p plan) (step float64, exact bool) {
	var lead *entry
	term := 0
	leadSpan := 0.0
	discrete := true
	for i, e := range s.entries {
		span, regular := 0.0, false
		if t, ok := e.profile.(*profiles.Discrete); ok {
			if _, sp, ok := pld.Spacing(t, 1<<22); ok && (sp == 0 || sp >= d/16) {
				span, regular = sp, true
				if sp == 0 {
					continue // one atom lies on every lattice
				}
			} else {
				discrete = false
				if n := len(t.Atoms()); n > 1 && n <= 4096 {
					span = t.Atoms()[n-1].Loss - t.Atoms()[0].Loss
				}
			}
		} else {
			discrete = false
			if marks := e.marks(p.theta); len(marks) > 1 {
				span = math.Abs(marks[1].loss - marks[0].loss)
			}
		}
		// A loss far below the step is not resolved anyway.
		if (regular || span > d/2) && span > 0 && (lead == nil || e.count > lead.count) {
			lead, leadSpan, term = e, span, i
		}
	}
	if lead == nil {
		if discrete {
			return 1, true
		}
		return ladder(d), false
	}
	if discrete {
		// One spacing serves all only if every other one is a multiple of it.
		fits := true
		small := math.Inf(1)
		for _, e := range s.entries {
			if _, sp, _ := pld.Spacing(e.profile.(*profiles.Discrete), 1<<22); sp > 0 {
				small = min(small, sp)
			}
		}
		for _, e := range s.entries {
			d := e.profile.(*profiles.Discrete)
			if len(d.Atoms()) > 0 {
				if _, _, ok := pld.OnLattice(d, d.Atoms()[0].Loss, small); !ok {
					fits = false
				}
			}
		}
		if fits {
			return small, true
		}
	}
	if _, ok := lead.profile.(*profiles.Discrete); !ok {
		return lead.divide(d, p.theta, p.near.of(term)), false
	}
	k := max(1, math.Ceil(leadSpan/d*(1-1e-12)))
	return bestDivision(lead, leadSpan, k), false
}

// bestDivision returns span/k', k ≤ k' < 1.2k + 2, for which the other atoms of
// e come closest to the lattice.
func bestDivision(e *entry, span, k float64) float64 {
	atoms := e.sup.Atoms
	if d, ok := e.profile.(*profiles.Discrete); ok {
		for _, a := range d.Atoms() {
			atoms = append(atoms, a.Loss)
		}
	}
	if len(atoms) <= 2 || len(atoms) > 64 {
		return span / k
	}
	best, off := span/k, math.Inf(1)
	for m := k; m < 1.2*k+2 && m < k+4096; m++ {
		d, worst := span/m, 0.0
		for _, a := range atoms {
			x := (a - atoms[0]) / d
			worst = max(worst, math.Abs(x-math.Round(x)))
		}
		if worst*d < off*(1-1e-9) {
			best, off = d, worst*d
		}
	}
	return best
}

// lattice returns the laws of e at a step, from the cache if a similar question
// was asked before.
// k is about K(θ) of one run; ratio: see local.
func (s *Sum) lattice(m *meter, e *entry, step float64, p plan, top, k float64, ratio []float64) (lattice, error) {
	for _, l := range e.laws {
		if l.step == step && l.above <= top && l.above > top-5*p.room() && l.tilt >= p.theta/1.25 && l.tilt <= p.theta*1.25 &&
			l.shaped == (ratio != nil) && (ratio == nil || math.Abs(l.eps-p.eps)*p.theta < 0.5) {
			return l, nil
		}
	}
	l := lattice{step: step, tilt: p.theta, above: top - p.room(), shaped: ratio != nil, eps: p.eps}
	if d, ok := e.profile.(*profiles.Discrete); ok {
		l.offset = 0
		if as := d.Atoms(); len(as) > 0 {
			l.offset = as[0].Loss
		}
		if up, lo, ok := pld.OnLattice(d, l.offset, step); ok {
			l.upper, l.lower = up, lo
			s.remember(e, l)
			return l, nil
		}
	} else if marks := e.marks(p.theta); len(marks) > 0 {
		l.offset = marks[0].at(e, step)
	} else if e.spiked() {
		l.offset = pld.SpikeOffset(e.profile, step)
	}
	lo, hi := pld.Range(e.profile, l.above, -50)
	first, last := (lo-l.offset)/step, (hi-l.offset)/step
	if !(math.Abs(first) < 1e15 && math.Abs(last) < 1e15) {
		return l, fmt.Errorf("the loss of a step spans [%g, %g]: too wide for a lattice step of %g", lo, hi, step)
	}
	tilt := min(p.theta, maxTiltStep/step)
	room := s.room(e)
	if !((hi-lo)*min(1+tilt, 1/step) < float64(room)) {
		return l, errTooLong
	}
	// An end that is a lattice point up to rounding is that point.
	near := 8 * xmath.U * (math.Abs(l.offset) + max(math.Abs(lo), math.Abs(hi))) / step
	g := pld.Grid{Offset: l.offset, Step: step, Lo: int64(math.Floor(first + near)), Hi: int64(math.Ceil(last - near)),
		Tilt: tilt, LogNorm: k + math.Log(e.rest(p.theta, l.offset)), Share: 5e-5}
	if ratio != nil {
		g.Share = 2e-3 // the tilt alone is wrong by large factors about where the mass that counts is
		loss := e.coarse.Loss
		g.Ratio = func(from, to float64) float64 {
			i, _ := slices.BinarySearch(loss, from)
			j, _ := slices.BinarySearch(loss, to)
			return slices.Max(ratio[max(i-1, 0):min(j+1, len(ratio))])
		}
	}
	if !math.IsInf(e.sup.LogQInf, -1) {
		g.Lo-- // room for the slope that mass at −∞ leaves
	}
	g.Hi = max(g.Hi, g.Lo+2)
	err := errTooLong
	g.Most = room
	if m != nil {
		if most := m.work / workVertex; most < float64(room) {
			g.Most, err = max(1, int(most)), errOverwork
		}
		g.Stop = func() bool { return m.stopped() != nil }
	}
	if l.upper, l.lower = pld.Discretize(e.profile, g); l.upper == nil {
		if err == errOverwork {
			m.spend(m.work)
		} else {
			m.spend(float64(room) * workVertex)
		}
		if stopped := m.stopped(); stopped != nil {
			err = stopped
		}
		return l, err
	}
	m.spend(float64(len(l.upper.Loss)) * workVertex)
	if err := complete(l.upper); err != nil {
		return l, err
	}
	if l.upper.MaxLoss()+2*step < e.sup.Max {
		l.lower = withoutEnd(l.lower, xmath.LogSub(l.upper.LogPInf, e.sup.LogPInf))
	}
	s.remember(e, l)
	return l, nil
}

// endRatio is the log of how many times the mass above the grid the end of a lower
// law may have to be left out.
const endRatio = 2.5

// withoutEnd leaves the last loss of a lower law out if it stands for little more
// than the mass above the grid, which the upper law has at +∞. It is a small part of
// δ too, but where tails are heavy it would have all the mass under the tilts that
// bound aliasing. A law with less P-mass is lower still.
func withoutEnd(l *pld.Law, above float64) *pld.Law {
	n := len(l.Loss) - 1
	if n < 1 || l.LogMass[n] > above+endRatio {
		return l
	}
	short := *l
	short.Loss, short.LogMass, short.Index = l.Loss[:n], l.LogMass[:n], l.Index[:n]
	return &short
}

// lawShare is the part of the memory that lattice laws may take, those of earlier
// questions among them: a vertex of both laws and of their tilted copies takes
// about as much as a point of a transform.
const lawShare = 4

// room is by how many vertices the laws of an entry may have at the most, next to
// those of the other entries that are in use.
func (s *Sum) room(e *entry) int {
	used := 0
	for _, o := range s.entries {
		if n := len(o.laws); o != e && n > 0 {
			used += len(o.laws[n-1].upper.Loss)
		}
	}
	return s.opts.MaxPoints/lawShare - used
}

// remember keeps the most recent lattices, of all entries as many as there is
// room for.
func (s *Sum) remember(e *entry, l lattice) {
	const keep = 6
	if len(e.laws) >= keep {
		e.laws = append(e.laws[:0], e.laws[1:]...)
	}
	e.laws = append(e.laws, l)
	used := 0
	for _, o := range s.entries {
		for _, l := range o.laws {
			used += len(l.upper.Loss)
		}
	}
	for _, o := range s.entries {
		for len(o.laws) > 1 && used > s.opts.MaxPoints/lawShare {
			used -= len(o.laws[0].upper.Loss)
			o.laws = slices.Delete(o.laws, 0, 1)
		}
	}
}

// run composes all entries at a step under the best window.
func (s *Sum) run(m *meter, p plan, step float64, exact bool, tol float64) (*pass, error) {
	top := p.log - p.margin - math.Log(s.copies)
	ps := &pass{step: step, exact: exact, laws: make(cumulant, len(s.entries))}
	up, lo := make([]term, len(s.entries)), make([]term, len(s.entries))
	for i, e := range s.entries {
		if err := m.stopped(); err != nil {
			return nil, err
		}
		k, _, _ := p.c[i].law.Tilted(p.theta)
		l, err := s.lattice(m, e, step, p, top, k, p.near.of(i))
		if err != nil {
			return nil, err
		}
		up[i], lo[i] = term{l.upper, float64(e.count)}, term{l.lower, float64(e.count)}
		ps.laws[i] = up[i]
		ps.upMoved += float64(e.count) * l.upper.LossErr * (1 + 1e-12)
		ps.loMoved += float64(e.count) * l.lower.LossErr * (1 + 1e-12)
	}
	w := p.c.window(p.eps, p.log, p.theta, maxTiltStep/step, tol)
	if !ps.laws.like(p.c, w.theta) || !ps.laws.like(p.c, w.theta+w.s) {
		// The tilt lives on losses that the coarse laws have and the lattice has not, or
		// the other way round.
		w = ps.laws.window(p.eps, p.log, ps.laws.saddle(p.eps, p.theta), maxTiltStep/step, tol)
	}
	points := w.width/step + 64
	if !(points < 1<<45) {
		return nil, errTooLong
	}
	limit := m.points
	direct, work := points > directPoints || s.copies >= directRuns, 1.5*points
	if points > float64(limit) || s.copies >= directRuns {
		work = directWork
	}
	ps.n = int(points)
	if points < math.MaxInt32 {
		ps.n = s.opts.Transform.Length(ps.n)
	}
	// Each of the two sides may take half of what is left, with 30 readings of the
	// frequencies that are kept: up to 9.6 over the standard deviation if it were a
	// normal law, taken twice for the others.
	kept := min(1, 2*9.6/math.Pi*step/(p.scale*math.Sqrt(s.copies)))
	perPoint := workPoint*float64(len(up)) + 15*workRead*kept
	var whole error // why a whole transform is out of the question
	switch {
	case ps.n > limit:
		whole = errTooLong
	case float64(ps.n)*perPoint > m.work/2:
		whole = errOverwork
	}
	if whole != nil && !direct {
		return nil, whole
	}
	excess := []float64{w.s * 0.5, w.s, w.s * 1.6}
	work = min(work, m.work/directShare)
	side := func(terms []term) (c *composition, spent float64) {
		if direct {
			if c, spent = composeDirect(m, terms, w.theta, int64(ps.n), excess, work); c != nil {
				return c, spent
			}
		}
		if whole != nil || float64(ps.n)*perPoint > m.work/2-spent {
			return nil, spent
		}
		// Two sums with two laws each may be at work.
		if ps.n > min(longTransform, s.opts.MaxPoints/4) {
			select {
			case long <- struct{}{}:
				defer func() { <-long }()
			case <-m.ctx.Done():
				return nil, spent
			}
		}
		return compose(m, terms, w.theta, ps.n, s.opts.Transform, excess), spent + workPoint*float64(ps.n)*float64(len(terms))
	}
	var upSpent, loSpent float64
	parallel.Both(func() { ps.upper, upSpent = side(up) }, func() { ps.lower, loSpent = side(lo) })
	m.spend(upSpent + loSpent)
	if err := m.stopped(); err != nil {
		return nil, err
	}
	if ps.upper == nil || ps.lower == nil {
		if whole == nil {
			whole = errOverwork
		}
		return nil, whole
	}
	return ps, nil
}

// Of transforms with more points than longTransform (64 MB), or than a quarter of
// what the memory limit allows, one works at a time, so that sums asked together
// take no more memory than one.
const longTransform = 1 << 20

var long = make(chan struct{}, 1)

var errTooLong = errors.New("the transform would be longer than the memory limit allows")

// maxTiltStep bounds θΔ: neighbouring lattice points then differ by e^40 under the
// tilt, more than any float64 sum can tell.
const maxTiltStep = 40

// maxRounds bounds the refinement; each round shrinks the step by at least a
// fifth, normally one or two suffice.
const maxRounds = 14

// refineEpsilon narrows best, which holds ε(δ) of two or more runs.
func (s *Sum) refineEpsilon(m *meter, best Result, logDelta, logInf, floor, top float64) (Result, error) {
	return s.byRungs(best, s.opts.Absolute, func(best Result) (Result, error) {
		return s.epsilonPasses(m, best, logDelta, logInf, floor, top)
	})
}

// rung is the ratio of the accuracies that are asked for one after the other: a
// pass costs about the inverse root of its accuracy, so that those before the last
// one cost little.
const rung = 1e-3

// byRungs asks for an accuracy of 1e-3, then 1e-6 and so on down to the one of the
// options, each with the interval that is proved before, which it narrows. So the
// answer at a limit of work is no wider than the one of a coarser rung.
// A width of absolute is always enough.
func (s *Sum) byRungs(best Result, absolute float64, ask func(best Result) (Result, error)) (Result, error) {
	wanted := s.opts.Relative
	defer func() { s.opts.Relative = wanted }()
	for relative := rung; ; relative *= rung {
		s.opts.Relative = wanted
		if relative > wanted*(1+1e-9) {
			s.opts.Relative = relative
		}
		best.Warnings = nil
		if s.opts.Relative > wanted && best.Upper-best.Lower <= max(s.opts.Relative*min(math.Abs(best.Lower), math.Abs(best.Upper)), absolute) {
			continue
		}
		r, err := ask(best)
		if err != nil || s.opts.Relative == wanted {
			return r, err
		}
		best = r
		if best.Upper-best.Lower <= max(wanted*min(math.Abs(best.Lower), math.Abs(best.Upper)), absolute) {
			best.Warnings = nil
			return best, nil
		}
	}
}

// epsilonPasses narrows best, which holds ε(δ).
func (s *Sum) epsilonPasses(m *meter, best Result, logDelta, logInf, floor, top float64) (Result, error) {
	finiteLog := xmath.LogSub(logDelta, logInf)
	if math.IsInf(finiteLog, -1) {
		return Result{Lower: floor, Upper: math.Inf(1), Estimate: math.Inf(1)}, nil
	}
	c := s.coarse(finiteLog)
	// Bounds that need no transform, in case it would be too long.
	if e, _ := c.chernoff(finiteLog); !math.IsNaN(e) {
		for _, slack := range []float64{1e-9, 1e-6, 1e-3, 1e-1, 1} {
			if x := e + slack*math.Abs(e); c.proves(x-s.lossErr(), logDelta) {
				best.Upper = min(best.Upper, x)
				break
			}
		}
	}
	best.Upper = min(best.Upper, s.variation(logDelta))
	if best.Upper-best.Lower <= s.opts.Absolute {
		best.Estimate = best.Upper
		return best, nil
	}
	if logDelta > -math.Ln2 {
		// With η above the least possible ε the bound holds if the reversed profile
		// is at most 1 − e^−η there: δ(ε) = 1 − e^ε(1 − δ_rev(−ε)).
		eta := 0.9 * max(s.opts.Relative*math.Abs(floor), s.opts.Absolute)
		if s.reversed().Proves(-floor-eta, -math.Expm1(-eta)) {
			best.Upper = min(best.Upper, xmath.Up(floor+eta, 4))
			best.Estimate = best.Lower
			return best, nil
		}
	}
	eps, theta := c.epsilon(finiteLog)
	eps, theta, near := c.sharpen(finiteLog, eps, theta)
	var step, finer float64 // finer: the width to be improved on by the step, in ε
	fixed, missed := false, false
	drifts := 0 // passes of which the tilt failed although tails were cut near
	var seen progress
	margin := s.farMargin()
	for range maxRounds {
		want := max(s.opts.Relative*math.Abs(eps), s.opts.Absolute)
		if eps > top-want/2 {
			// The largest loss is the answer from above; show that δ is reached just
			// below it.
			eps = top - want/2
			theta = c.saddle(eps, theta)
		}
		p := s.newPlan(c, eps, finiteLog, theta, want*theta, near)
		p.margin = margin
		if !fixed {
			step = max(s.step(p, s.firstScale(p)), s.finest())
		} else if finer > 0 {
			step = s.finer(p, step, finer*theta)
		}
		var exact bool
		step, exact = s.fitStep(step, p)
		tol := min(1e-5, 1e-4*p.wantLog)
		ps, err := s.run(m, p, step, exact, max(tol, 1e-14))
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if m.hasty && (s.few() || drifts > 0) && (err == errOverwork || err == errTooLong) {
			return s.dear(m, best), nil
		}
		if err != nil {
			if next := seen.shorter(s, p, step, exact, err); next > 0 {
				fixed, finer, step = true, 0, next
				continue
			}
			return s.widest(best, err), nil
		}
		r := ps.epsilon(m, logDelta, floor, top, eps, want)
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		r.Points, r.Step = ps.n, step
		width := r.Upper - r.Lower
		best = intersect(best, r)
		// The accuracy asked for is relative to the answer, not to the first guess.
		want = max(s.opts.Relative*min(math.Abs(best.Lower), math.Abs(best.Upper)), s.opts.Absolute)
		if best.Upper-best.Lower <= want {
			return best, nil
		}
		if seen.stalled(best.Upper - best.Lower) {
			return s.widest(best, errRounding), nil
		}
		if exact {
			// Only round-off and aliasing are left; a better centre may help once.
			if fixed {
				return s.widest(best, errRounds), nil
			}
		}
		cut := 0.0
		if r.Upper < top { // next to the largest loss δ has no slope to count with
			cut = deeper(r.Budget.Truncation, want)
		}
		margin += cut
		if ps.adrift(r.Estimate) {
			if margin == s.farMargin() {
				margin, fixed = s.nearMargin(), true
				continue
			}
			if drifts++; m.hasty && drifts > 1 && width > driftingWidth*want {
				return s.dear(m, best), nil
			}
		}
		if s.misled(p, step, width*theta) {
			// The guess is better than the estimate from a law that says little.
			near, fixed, c = nil, false, ps.laws
			eps = min(max(eps, r.Lower), r.Upper)
			theta = c.saddle(eps, theta)
			continue
		}
		next, stop := 0.0, false
		if cut == 0 && r.Lower > floor && r.Upper < top {
			next, stop = seen.add(s, p, step, width*theta, ps.noise(r.Estimate), want*theta)
		}
		if stop {
			return s.widest(best, errRounding), nil
		}
		// Recentre where the answer is, and refine by the measured ratio. The coarse
		// laws may be off by many standard deviations of the total: the lattice's are
		// not.
		c = ps.laws
		if r.Lower > floor && r.Upper < top {
			eps = r.Estimate
			theta = c.saddle(eps, theta)
		} else {
			eps, theta = c.epsilon(finiteLog)
			if !missed {
				// The window may just have missed the answer.
				missed = true
				if r.Upper < top && !exact {
					// Or the step does not resolve the loss for the lower law.
					fixed, finer, step = true, 0, step/4
				}
				continue
			}
		}
		fixed = true
		// When the step was fine enough, only the centre was not.
		finer = 0
		if next > 0 {
			step = next
		} else if !exact && cut == 0 && (r.Upper >= top || !(r.Budget.Discretization > 0 && r.Budget.Discretization < 0.8*want && width > want*1.5)) {
			// Next to the largest loss the budget says nothing of the lower law.
			finer = width
		}
	}
	return s.widest(best, errRounds), nil
}

// variation bounds ε(δ) by total variation: with τ = ΣT_j·TV_j the reversed
// profile is at most τ, so δ(ε) ≤ 1 − e^ε(1−τ) for ε ≤ 0. It is +Inf unless
// τ ≤ δ.
func (s *Sum) variation(logDelta float64) float64 {
	tau := 0.0
	for _, e := range s.entries {
		v, err := profiles.LogDelta(e.profile, 0)
		tau += float64(e.count) * math.Exp(v+err)
	}
	tau *= 1 + 1e-12
	if delta := math.Exp(logDelta); tau <= delta*(1-1e-12) {
		// The difference of two numbers below 2δ, each good to (2 + |log δ|)u.
		return math.Log1p(-delta) - math.Log1p(-tau) + 8*xmath.U*(2+math.Abs(logDelta))*-math.Log1p(-delta)
	}
	return math.Inf(1)
}

// widest returns what is known although a pass failed.
func (s *Sum) widest(r Result, err error) Result {
	if math.IsNaN(r.Estimate) {
		r.Estimate = r.Upper
	}
	r.Warnings = append(r.Warnings, s.reason(err, r.Upper-r.Lower))
	return r
}

// dear returns what is known where transforms are given up because their tilt fails, or
// because they are long and it has failed or the runs are few.
func (s *Sum) dear(m *meter, r Result) Result {
	m.dear = true
	return s.widest(r, errDear)
}

// deeper returns by how much further, in logarithm, tails must be followed when
// the mass above the lattice took a share of the width that was not meant for it:
// δ was less than foreseen.
func deeper(truncation, want float64) float64 {
	if !(truncation > 0.3*want) {
		return 0
	}
	return min(math.Log(truncation/(0.2*want)), 40)
}

// progress watches whether refining still helps.
type progress struct {
	step, width float64 // of the pass before
	coarsest    float64
	worse       int
	back        bool // the best step for the rounding was tried
	tries       int  // of steps that were too fine
	narrowest   float64
	stale       int // passes since the proved interval became narrower
}

// stalled takes in the width of the proved interval after a pass and reports
// whether passes no longer help.
func (g *progress) stalled(width float64) bool {
	if g.narrowest == 0 || width < 0.98*g.narrowest {
		g.narrowest, g.stale = width, 0
		return false
	}
	g.stale++
	return g.stale >= 4
}

// shorter returns a longer step to try when a pass failed, 0 if there is none.
func (g *progress) shorter(s *Sum, p plan, step float64, exact bool, err error) float64 {
	switch {
	case err != errTooLong && err != errOverwork || exact:
		return 0
	case g.width == 0 && g.tries < 8:
		g.tries++
		return 16 * step
	case g.width == 0 || g.back:
		return 0
	}
	g.back = true
	if best := g.best(s, p); best > 1.3*g.coarsest {
		return best
	}
	return 0
}

// best is the step at which a width of about aΔ² + b/Δ is least, b from the last
// pass: Δ³ = b/2a.
func (g *progress) best(s *Sum, p plan) float64 {
	return math.Cbrt(g.width * g.step / (2 * s.width(p, g.step) / (g.step * g.step)))
}

// add takes in a pass that was wider than wanted, noise of it by round-off, all in
// log δ. Errors of tails count the more the finer the step, about as 1/Δ, and
// round-off of the transform about as its length: when they decide, stop says so;
// but first the step at which both shares of the width are least is next.
func (g *progress) add(s *Sum, p plan, step, width, noise, want float64) (next float64, stop bool) {
	if g.width > 0 && step < 0.9*g.step && width > 0.9*g.width {
		g.worse++
	}
	g.step, g.width, g.coarsest = step, width, max(g.coarsest, step)
	if !(g.worse >= 2 || noise > 0.7*want && (noise > 0.5*width || g.worse == 1)) {
		return 0, false
	}
	if g.back {
		return 0, true
	}
	g.back = true
	if next = g.best(s, p); next > 1.3*g.coarsest {
		return next, false
	}
	return 0, true
}

// driftingWidth is by how many times an interval may be too wide for passes whose tilt
// fails to go on where laws may be multiplied one by one instead. It proves nothing.
const driftingWidth = 10

// adrift reports whether hardly any tilted mass lies where it matters for δ(ε).
func (ps *pass) adrift(eps float64) bool {
	u := ps.upper.read(eps)
	th := ps.upper.theta
	return u.s < 1e-6*math.Exp(th*math.Log(th)-(1+th)*math.Log1p(th))
}

// width is the distance of the two bounds of log δ(ε), noise what round-off and
// rounding of the transforms have of it.
func (ps *pass) width(eps float64) float64 {
	return ps.upper.read(eps).upper() - ps.lower.read(eps).lower()
}

func (ps *pass) noise(eps float64) float64 {
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	if !(u.s > 0 && l.s > 0) {
		return 0
	}
	return u.roundOff/u.s + l.roundOff/l.s + u.relative + l.relative
}

// intersect keeps what both intervals prove, and the estimate and budget of the
// narrower one: a pass that ran out of work says less than those before it.
func intersect(old, r Result) Result {
	if !math.IsNaN(old.Estimate) && old.Upper-old.Lower < r.Upper-r.Lower {
		old, r = r, old
	}
	r.Lower, r.Upper = max(old.Lower, r.Lower), min(old.Upper, r.Upper)
	return r
}

// epsilon solves for ε on both laws.
func (ps *pass) epsilon(m *meter, logDelta, floor, top, guess, want float64) Result {
	tol := 1e-6 * want
	var reads [3]float64 // of the upper law, the lower law, both
	upper := func(e float64) (float64, float64) {
		if m.stopped() != nil {
			return math.NaN(), 0
		}
		reads[0]++
		x := ps.upper.read(e)
		return x.upper() - logDelta, x.totalSlope()
	}
	lower := func(e float64) (float64, float64) {
		if m.stopped() != nil {
			return math.NaN(), 0
		}
		reads[1]++
		x := ps.lower.read(e)
		return x.lower() - logDelta, x.totalSlope()
	}
	r := Result{}
	reach := max(1/ps.upper.theta, ps.step)
	parallel.Both(
		func() { r.Upper = solve(upper, floor, top, guess, reach, tol, true) },
		func() { r.Lower = solve(lower, floor, top, guess, reach, tol, false) })
	estimate := func(e float64) (float64, float64) {
		if m.stopped() != nil {
			return math.NaN(), 0
		}
		reads[2]++
		v, slope := ps.estimate(e)
		return v - logDelta, slope
	}
	start := r.Lower + (r.Upper-r.Lower)/3
	if math.IsInf(r.Upper, 0) {
		start = r.Lower
	}
	// In a bracket: where single atoms decide, Newton's method alone ends anywhere, and
	// the budget at a loss without mass is not the answer's.
	r.Estimate = solve(estimate, r.Lower, r.Upper, start, 0, 1e-4*min(r.Upper-r.Lower, want), true)
	r.Budget = ps.budget(r.Estimate, 0)
	m.spend(workRead * ((reads[0]+reads[2])*float64(len(ps.upper.freqs)) + (reads[1]+reads[2])*float64(len(ps.lower.freqs))))
	r.Upper = min(top, xmath.Up(r.Upper+ps.upMoved, 2))
	r.Lower = max(floor, xmath.Down(r.Lower-ps.loMoved, 2))
	r.Budget.RoundOff += ps.upMoved + ps.loMoved
	return r
}

// estimate returns log δ without its leading error: the upper law's is twice the
// lower's and of opposite sign, and reading between lattice points adds the same
// to both (docs/accuracy.md §4).
func (ps *pass) estimate(eps float64) (logDelta, slope float64) {
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	if math.IsInf(l.logValue, -1) || math.IsInf(u.logValue, -1) {
		return xmath.LogAdd(u.logInf, u.logValue), u.totalSlope()
	}
	v := u.logValue
	if !ps.exact {
		x := u.frac
		b2 := x*x - x + 1.0/6
		if ps.density == 0 {
			ps.density = ps.upper.density(u)
		}
		v = (u.logValue+2*l.logValue)/3 + ps.step*ps.step*ps.density*b2/2
		// The laws shift the loss by a and −a/2, and log δ bends over that stretch: the
		// mean is short by −(log δ)″a²/4, from the slopes at both.
		if u.slope > 0 && l.slope > u.slope {
			v += (l.slope - u.slope) * (u.logValue - l.logValue) / (9 * u.slope)
		}
	}
	return xmath.LogAdd(u.logInf, v), u.totalSlope()
}

// budget splits the width at ε by cause: that of δ, or that of ε if delta is 0.
func (ps *pass) budget(eps, delta float64) Budget {
	u, l := ps.upper.read(eps), ps.lower.read(eps)
	per := delta
	if delta == 0 {
		per = 1 / max(u.totalSlope(), 1e-300)
	}
	if !(u.s > 0 && l.s > 0) {
		return Budget{}
	}
	return Budget{
		Discretization: max(0, u.logValue-l.logValue) * per,
		Truncation:     max(0, math.Exp(u.logInf-u.logValue)-math.Exp(l.logInf-u.logValue)) * per,
		Aliasing:       (u.foldRight/u.s + (l.aliasLeft+l.aliasRight)/l.s) * per,
		RoundOff:       (u.roundOff/u.s + l.roundOff/l.s + u.relative + l.relative) * per,
	}
}

// totalSlope is −d log δ/dε with the mass at +∞ counted.
func (r reading) totalSlope() float64 {
	if math.IsInf(r.logInf, -1) {
		return r.slope
	}
	return r.slope * math.Exp(r.logValue-xmath.LogAdd(r.logValue, r.logInf))
}

// reversed returns the sum of the reversed profiles.
func (s *Sum) reversed() *Sum {
	r := New(s.opts)
	for _, e := range s.entries {
		p := profiles.Reverse(e.profile)
		r.entries = append(r.entries, &entry{profile: p, sup: p.Support(), count: e.count})
	}
	r.copies, r.runs = s.copies, s.runs
	return r
}

// refineDelta narrows best, which holds δ(ε) of two or more runs.
func (s *Sum) refineDelta(m *meter, best Result, eps, logInf float64) (Result, error) {
	return s.byRungs(best, 0, func(best Result) (Result, error) {
		return s.deltaPasses(m, best, eps, logInf)
	})
}

// deltaPasses narrows best, which holds δ(ε).
func (s *Sum) deltaPasses(m *meter, best Result, eps, logInf float64) (Result, error) {
	if least := -math.Expm1(eps); least > 0.5 {
		// δ(ε) = 1 − e^ε + e^ε·δ_rev(−ε), the last term of which may not matter.
		if room := 0.5 * s.opts.Relative * least; room >= math.Exp(eps) {
			return intersect(best, Result{Lower: xmath.Down(least, 4), Estimate: least, Upper: 1}), nil
		} else if s.reversed().Proves(-eps, room*math.Exp(-eps)) {
			return intersect(best, Result{Lower: xmath.Down(least, 4), Estimate: least, Upper: xmath.Up(least+room, 4)}), nil
		}
	}
	// The coarse laws reach as far as δ needs; δ is what they say.
	logDelta := -10.0
	var c cumulant
	var theta float64
	for range 12 {
		c = s.coarse(logDelta)
		if c.maxLoss() <= eps {
			if logDelta < -1e4 {
				break
			}
			logDelta *= 2
			continue
		}
		theta = c.saddle(eps, max(theta, 1))
		v, _, _ := c.logDelta(eps, theta)
		if math.IsNaN(v) {
			err := fmt.Errorf("the saddle point at epsilon %v is not a number", eps)
			for _, t := range c {
				if e := complete(t.law); e != nil {
					err = e
				}
			}
			return s.widest(best, err), nil
		}
		if v > logDelta-3 {
			logDelta = v
			break
		}
		logDelta = max(v, 2*logDelta) - 1
	}
	known := best
	bestLo, bestHi := math.Inf(-1), 0.0
	if c.maxLoss() <= eps {
		// Below every float64: the mass beyond the coarse laws is all there is.
		best.Upper, best.Estimate = min(best.Upper, expUp(xmath.LogAdd(logInf, logDelta))), math.Exp(logInf)
		return best, nil
	}
	logDelta, near := c.sharpenDelta(logDelta, eps, theta)
	// A bound that needs no transform, in case it would be too long.
	bestHi = c.bound(xmath.Down(eps-s.lossErr(), 2))
	best.Upper = min(best.Upper, expUp(bestHi))
	var step, finer float64
	var seen progress
	margin := s.farMargin()
	fixed, drifts := false, 0
	for range maxRounds {
		want := s.opts.Relative
		p := s.newPlan(c, eps, logDelta, theta, want, near)
		p.margin = margin
		if !fixed {
			step = s.step(p, 1)
		} else if finer > 0 {
			step = s.finer(p, step, finer)
		}
		var exact bool
		step, exact = s.fitStep(step, p)
		ps, err := s.run(m, p, step, exact, max(min(1e-5, 1e-4*want), 1e-14))
		if err := cancelled(m.ctx); err != nil {
			return Result{}, err
		}
		if m.hasty && (s.few() || drifts > 0) && (err == errOverwork || err == errTooLong) {
			return s.dear(m, best), nil
		}
		if err != nil {
			if next := seen.shorter(s, p, step, exact, err); next > 0 {
				fixed, finer, step = true, 0, next
				continue
			}
			return s.widest(best, err), nil
		}
		bestHi = min(bestHi, ps.upper.read(xmath.Down(eps-ps.upMoved, 2)).upper())
		bestLo = max(bestLo, ps.lower.read(xmath.Up(eps+ps.loMoved, 2)).lower())
		v, _ := ps.estimate(eps)
		if !(v >= bestLo && v <= bestHi) {
			v = bestHi // a reading that is all round-off
		}
		best = intersect(known, Result{Lower: expDown(bestLo), Estimate: math.Exp(v), Upper: expUp(bestHi), Points: ps.n, Step: step})
		best.Budget = ps.budget(eps, math.Exp(v))
		width := bestHi - bestLo
		if width <= want || best.Upper < 1e-320 {
			return best, nil
		}
		if !math.IsInf(width, 1) && seen.stalled(width) {
			return s.widest(best, errRounding), nil
		}
		if exact && fixed {
			return s.widest(best, errRounds), nil
		}
		if hi := xmath.LogSub(bestHi, logInf); hi < logDelta-1 && math.IsInf(bestLo, -1) {
			// The coarse laws foresaw too large a δ: tails and window fell short.
			logDelta = hi
			continue
		}
		cut := deeper(best.Budget.Truncation/math.Exp(v), want)
		margin += cut
		if ps.adrift(eps) {
			if margin == s.farMargin() {
				margin, fixed = s.nearMargin(), true
				if !math.IsInf(bestLo, -1) {
					logDelta = min(v, logDelta)
				}
				continue
			}
			if drifts++; m.hasty && drifts > 1 && width > driftingWidth*want {
				return s.dear(m, best), nil
			}
		}
		if s.misled(p, step, width) {
			near, fixed, c = nil, false, ps.laws
			if !math.IsInf(bestLo, -1) {
				logDelta = v
			}
			theta = c.saddle(eps, theta)
			continue
		}
		next, stop := 0.0, false
		if cut == 0 {
			next, stop = seen.add(s, p, step, ps.width(eps), ps.noise(eps), want)
		}
		if stop {
			return s.widest(best, errRounding), nil
		}
		if !math.IsInf(bestLo, -1) {
			logDelta = v
			if !math.IsInf(logInf, -1) {
				logDelta = xmath.LogSub(v, logInf)
			}
		}
		fixed = true
		c = ps.laws
		theta = c.saddle(eps, theta)
		finer = 0
		if next > 0 {
			step = next
		} else if gap := ps.width(eps); !exact && (cut == 0 || best.Budget.Discretization > want*math.Exp(v)) {
			finer = gap
		}
	}
	return s.widest(best, errRounds), nil
}
