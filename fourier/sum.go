package fourier

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// Options say how accurate an answer is wanted and what it may use.
type Options struct {
	// Relative and Absolute bound the width of the interval of ε: the larger of
	// Relative·ε and Absolute. For δ, Relative bounds the width over δ.
	Relative, Absolute float64
	// MaxPoints bounds the length of transforms and the vertices of laws: the memory,
	// in units of BytesPerPoint.
	MaxPoints int
	// Work bounds what a question takes, in terms of a direct sum, about 40 ns each:
	// 0 stands for what the accuracy asked for is worth (docs/accuracy.md §10). The best
	// interval proved by then is the answer, with a warning.
	Work float64
	// Transform defaults to Gonum.
	Transform Transform
	// Engine, if it is Contour or Lattice, is the only one used where there is no
	// closed form; the sum chooses otherwise.
	Engine Engine
	// Progress is for callers that ask sums many times; a Sum does not call it.
	Progress func(done, total int)
}

// BytesPerPoint is what a question takes at the most for each point of its
// transforms: the upper law's kept frequencies (32) and, at that time, the lower
// law's, with what they grow out of (56), its transform (16) and its plan (24).
const BytesPerPoint = 128

// DefaultOptions: an ε to 1e-3 relative or 1e-6 absolute, in at most 1 GiB.
func DefaultOptions() Options {
	return Options{Relative: 1e-3, Absolute: 1e-6, MaxPoints: 1 << 30 / BytesPerPoint, Transform: Gonum}
}

// A Sum is the composition of profiles of one direction, each a number of times.
// It keeps what it computed: adding a step and asking again is cheap. It is not
// safe for concurrent use.
type Sum struct {
	opts    Options
	entries []*entry
	copies  float64            // copies on the lattice: all Gaussians together are one
	runs    float64            // runs added
	proved  []fact             // of ε, since the last step was added
	list    *profiles.Discrete // the whole sum, if it could be listed
	tried   bool
	parts   parts
	of      map[int]*entry // of a part; all Gaussians have one together
	spent   float64        // work of all questions
}

type entry struct {
	profile  profiles.Profile
	sup      profiles.Support
	count    int64
	coarse   *pld.Law
	coarseTo float64
	marked   *pld.Law // the coarse law that atoms were found with
	atoms    []mark
	light    []int     // points of the coarse law at atoms not looked at yet
	inAtom   []float64 // how much of each point of the coarse law is an atom
	laws     []lattice
}

// A lattice is the pair of laws of an entry at one step.
type lattice struct {
	step, offset, tilt, above float64
	shaped                    bool // its points are placed for a sum near eps
	eps                       float64
	upper, lower              *pld.Law
}

// New returns an empty composition. Zero fields of the options take their
// defaults.
func New(o Options) *Sum {
	d := DefaultOptions()
	if o.Relative == 0 {
		o.Relative = d.Relative
	}
	if o.Absolute == 0 {
		o.Absolute = d.Absolute
	}
	if o.MaxPoints == 0 {
		o.MaxPoints = d.MaxPoints
	}
	if o.Work == 0 {
		o.Work = DefaultWork(o.Relative)
	}
	if o.Transform == nil {
		o.Transform = d.Transform
	}
	return &Sum{opts: o, of: map[int]*entry{}, parts: parts{terms: lawTerms{excess: 1, lossErr: 1}}}
}

// maxCount is the largest number of copies: counts must be exact in float64.
const maxCount = xmath.MaxCount

// Add adds count runs of p.
func (s *Sum) Add(p profiles.Profile, count int64) error {
	if count < 0 || count > maxCount || float64(count) > maxCount-s.runs {
		return fault.New("count", "%d is not in [0, 2^53 − runs so far]", count)
	}
	if count == 0 {
		return nil
	}
	s.runs += float64(count)
	s.list, s.tried, s.proved = nil, false, nil
	part := s.parts.add(p, count)
	// Gaussians compose in closed form.
	if g, ok := p.(profiles.Gaussian); ok {
		for _, e := range s.entries {
			if total, ok := e.profile.(profiles.Gaussian); ok {
				*e = entry{profile: g.Repeat(count, total), sup: e.sup, count: 1}
				return nil
			}
		}
		p, count = g.Repeat(count, profiles.Gaussian{}), 1
	}
	s.copies += float64(count)
	if e := s.of[part]; e != nil {
		e.count += count
		return nil
	}
	e := &entry{profile: p, sup: p.Support(), count: count}
	s.entries = append(s.entries, e)
	if _, ok := p.(profiles.Gaussian); !ok {
		s.of[part] = e
	}
	return nil
}

// A Budget splits the width of an interval by cause, in units of the answer.
// Discretization is that of lattices, Quadrature that of transforms; each engine has
// the other two in its own way.
type Budget struct {
	Discretization float64 `json:"discretization"`
	Quadrature     float64 `json:"quadrature"`
	Truncation     float64 `json:"truncation"`
	Aliasing       float64 `json:"aliasing"`
	RoundOff       float64 `json:"round-off"`
}

// A Result is a certified interval for the composition of the given profiles.
type Result struct {
	Lower, Estimate, Upper float64
	// Loose says that the interval is so wide, by more than a tenth of its upper end,
	// that Estimate is only its middle and says nothing of where the truth is.
	Loose       bool
	Budget      Budget
	Engine      Engine
	Frequencies int     // at which the contour engine summed
	Points      int     // length of the transforms of lattices
	Step        float64 // lattice step
	Warnings    []string
}

// ends returns bounds that hold without any transform: the log-probability of
// an infinite loss with its error, and the largest finite total loss (+Inf if
// unbounded), rounded up.
func (s *Sum) ends() (logInf, infErr, top float64) {
	keep, rel := 0.0, 0.0
	var sum xmath.Sum
	for _, e := range s.entries {
		n := float64(e.count)
		if !math.IsInf(e.sup.LogPInf, -1) {
			keep += n * math.Log1p(-math.Exp(e.sup.LogPInf))
			rel = max(rel, 8*xmath.U*(2-e.sup.LogPInf))
		}
		if math.IsInf(e.sup.Max, 1) {
			top = math.Inf(1)
		} else if !math.IsInf(e.sup.Max, -1) {
			sum.AddProduct(n, e.sup.Max+e.sup.LossErr)
		}
	}
	if !math.IsInf(top, 1) {
		top = xmath.Up(sum.Value(), 2)
		if x, ok := s.exactTop(); ok {
			top = x
		}
	}
	if keep == 0 {
		return math.Inf(-1), 0, top
	}
	logInf = xmath.Log1mExp(keep)
	return logInf, rel + 4*xmath.U*(1+math.Abs(logInf)), top
}

// exactTop is the largest total loss where no rounding is in it: of declared
// losses of one kind, whose sum is a float64.
func (s *Sum) exactTop() (top float64, ok bool) {
	if len(s.entries) != 1 {
		return 0, false
	}
	e := s.entries[0]
	d, ok := e.profile.(*profiles.Discrete)
	if !ok || len(d.Atoms()) == 0 || e.sup.LossErr != 0 {
		return 0, false
	}
	n := float64(e.count)
	top = n * e.sup.Max
	return top, math.FMA(n, e.sup.Max, -top) == 0
}

// lossErr is the total displacement of losses that rounding can cause.
func (s *Sum) lossErr() float64 {
	x := 0.0
	for _, e := range s.entries {
		x += float64(e.count) * e.sup.LossErr
	}
	return x * (1 + 1e-12)
}

// still reports whether every loss is 0, or there is no step at all.
func (s *Sum) still() bool {
	for _, e := range s.entries {
		if e.sup.Max != 0 || e.sup.Min != 0 || !math.IsInf(e.sup.LogPInf, -1) || !math.IsInf(e.sup.LogQInf, -1) {
			return false
		}
	}
	return true
}

// Epsilon returns inf{ε : δ(ε) ≤ delta}, which may be negative. delta is in
// [0, 1]. A cancelled context is returned as an error, soon.
func (s *Sum) Epsilon(ctx context.Context, delta float64) (Result, error) {
	if err := cancelled(ctx); err != nil {
		return Result{}, err
	}
	if !(delta >= 0 && delta <= 1) {
		return Result{}, fault.New("delta", "%v is not in [0, 1]", delta)
	}
	logDelta := math.Log(delta)
	if delta == 1 {
		return exactly(math.Inf(-1)), nil
	}
	logInf, infErr, top := s.ends()
	switch {
	case s.still():
		// δ(ε) = 1 − e^ε below 0, and 0 from 0 on.
		return exactly(math.Log1p(-delta)), nil
	case logDelta < logInf-infErr:
		return exactly(math.Inf(1)), nil
	case math.IsInf(logDelta, -1):
		return s.supremum(top), nil
	}
	if more := math.Exp(logInf + max(4*infErr, 1e-9)); logDelta <= logInf+infErr && more < 1 {
		// Rounding hides whether δ is reached at any finite ε. A larger δ is reached
		// no later.
		r, err := s.Epsilon(ctx, more)
		r.Upper, r.Estimate = math.Inf(1), math.Inf(1)
		return r, err
	}
	floor := xmath.Down(math.Log1p(-delta), 2) // δ(ε) ≥ 1 − e^ε
	var r Result
	if p := s.listed(); p != nil {
		r = single(p, logDelta, floor, top)
		move := p.Support().LossErr
		r.Budget.RoundOff += 2 * move
		r.Upper, r.Lower = r.Upper+move, r.Lower-move
	} else {
		var err error
		if r, err = s.composeEpsilon(ctx, logDelta, logInf, floor, top); err != nil {
			return Result{}, err
		}
	}
	r.Upper = min(top, xmath.Up(r.Upper, 2))
	r.Lower = max(floor, xmath.Down(r.Lower, 2))
	if logDelta <= logInf+infErr {
		r.Upper = math.Inf(1)
	}
	return s.checked(r)
}

// A fact is an interval that was proved for ε(δ).
type fact struct{ logDelta, lower, upper float64 }

// fromOthers narrows an interval of ε(δ), which does not increase with δ, by what is
// proved at others: a lower end at a larger δ, an upper end at a smaller one. One
// that is far too wide is worth asking for the former.
func (s *Sum) fromOthers(m *meter, r Result, logDelta, logInf, floor, top float64) (Result, error) {
	tight := func(r Result) bool {
		return r.Upper-r.Lower <= 20*max(s.opts.Relative*math.Abs(r.Upper), s.opts.Absolute)
	}
	if !tight(r) && s.opts.Engine != Contour {
		for _, part := range []float64{0.9, 0.75, 0.5, 0.25} {
			larger := part * logDelta
			if !(larger > logInf+1) || larger > -2 {
				continue
			}
			q, err := s.latticeEpsilon(m, larger, logInf, floor, top)
			if err != nil {
				return Result{}, err
			}
			s.proved = append(s.proved, fact{larger, q.Lower, q.Upper})
			if tight(q) || m.work <= 0 {
				break
			}
		}
	}
	for _, f := range s.proved {
		if f.logDelta >= logDelta {
			r.Lower = max(r.Lower, f.lower)
		}
		if f.logDelta <= logDelta {
			r.Upper = min(r.Upper, f.upper)
		}
	}
	if r.Upper-r.Lower <= max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), s.opts.Absolute) {
		r.Warnings = nil
	}
	r = r.Narrowed()
	const kept = 64
	if len(s.proved) >= kept {
		s.proved = slices.Delete(s.proved, 0, kept/2)
	}
	s.proved = append(s.proved, fact{logDelta, r.Lower, r.Upper})
	return r, nil
}

// Delta returns δ(eps), for any real eps. A cancelled context is returned as an
// error, soon.
func (s *Sum) Delta(ctx context.Context, eps float64) (Result, error) {
	if err := cancelled(ctx); err != nil {
		return Result{}, err
	}
	if math.IsNaN(eps) || math.IsInf(eps, 0) {
		return Result{}, fault.New("epsilon", "%v is not a finite number", eps)
	}
	logInf, infErr, top := s.ends()
	if s.still() {
		return exactly(max(0, -math.Expm1(eps))), nil
	}
	if logInf == 0 {
		return exactly(1), nil // an infinite loss is certain
	}
	move := s.lossErr()
	if eps-move >= top {
		return Result{Lower: expDown(logInf - infErr), Estimate: math.Exp(logInf), Upper: expUp(logInf + infErr)}, nil
	}
	var r Result
	if p := s.listed(); p != nil {
		move = max(move, p.Support().LossErr)
		v, e := profiles.LogDelta(p, eps)
		lo, el := profiles.LogDelta(p, eps+move)
		hi, eh := profiles.LogDelta(p, eps-move)
		if math.IsInf(el, 1) {
			lo, el = math.Inf(-1), 0
		}
		t := p.Tails(eps-move, 0)
		if math.IsInf(eh, 1) || math.IsInf(e, 1) {
			hi, eh = t.P, t.Err
		}
		// P − e^εQ takes the ratio of the masses, which is within move of the loss: an
		// atom within that of ε may count for up to 2·move of its mass too little.
		if move > 0 {
			hi = xmath.LogAdd(hi, math.Log(2*move)+t.P+t.Err)
		}
		r = Result{Lower: expDown(lo - el), Estimate: math.Exp(v), Upper: expUp(hi + eh)}
		r.Budget.RoundOff = r.Upper - r.Lower
	} else {
		var err error
		if r, err = s.composeDelta(ctx, eps, logInf); err != nil {
			return Result{}, err
		}
	}
	r.Lower = max(r.Lower, 0, xmath.Down(-math.Expm1(eps), 2))
	r.Upper = min(r.Upper, 1)
	if eps < top && !math.IsInf(top, 1) {
		// No finite loss is above top: δ(ε) ≤ p∞ + 1 − e^{ε−top}.
		x := math.Log(-math.Expm1(xmath.Down(eps-top, 1)))
		r.Upper = min(r.Upper, expUp(xmath.LogAdd(logInf+infErr, x)+4*xmath.U))
	}
	return s.checked(r)
}

// checked places the estimate within the interval, which must be one.
func (s *Sum) checked(r Result) (Result, error) {
	if !(r.Lower <= r.Upper) {
		return Result{}, fmt.Errorf("internal error: lower bound %v is above upper bound %v; please report the steps", r.Lower, r.Upper)
	}
	if math.IsNaN(r.Estimate) {
		r.Estimate = r.Upper
	}
	if r.Engine == "" {
		r.Engine = ClosedForm
	}
	r.Estimate = min(max(r.Estimate, r.Lower), r.Upper)
	if r.loose() {
		// What an end says of the truth, or a law that is far from the other, is no
		// estimate.
		r.Loose, r.Estimate = true, r.Lower+(r.Upper-r.Lower)/2
	}
	return r, nil
}

// loose reports whether an interval is short of what was asked, and by far.
func (r Result) loose() bool {
	w := r.Upper - r.Lower
	return len(r.Warnings) > 0 && w > looseWidth*math.Abs(r.Upper) && !math.IsInf(w, 1)
}

const looseWidth = 0.1

// supremum is ε(0), the largest total loss: top bounds it from above; from below
// the losses are taken as much too small as rounding may have made them too
// large (Support.Max is rounded up by a few ulps).
func (s *Sum) supremum(top float64) Result {
	if math.IsInf(top, 0) {
		return exactly(top)
	}
	if _, ok := s.exactTop(); ok {
		return exactly(top)
	}
	var low xmath.Sum
	for _, e := range s.entries {
		if !math.IsInf(e.sup.Max, -1) {
			low.AddProduct(float64(e.count), e.sup.Max-e.sup.LossErr-16*xmath.U*math.Abs(e.sup.Max))
		}
	}
	lo := xmath.Down(low.Value(), 2)
	return Result{Lower: lo, Estimate: lo + (top-lo)/2, Upper: top, Budget: Budget{RoundOff: top - lo}}
}

func exactly(x float64) Result {
	return Result{Lower: x, Estimate: x, Upper: x, Engine: ClosedForm}
}

// expUp and expDown are e^x rounded outwards; the smallest positive number
// stands above what underflows.
func expUp(x float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return math.Nextafter(math.Exp(x)*(1+4*xmath.U*(1+math.Abs(x))), math.Inf(1))
}

func expDown(x float64) float64 {
	return max(0, math.Exp(x)*(1-4*xmath.U*(1+math.Abs(xmath.Finite(x))))-math.SmallestNonzeroFloat64)
}

// listed returns a profile of the whole sum when it is known in closed form: one
// run, or few enough losses to list.
func (s *Sum) listed() profiles.Profile {
	if s.copies == 1 {
		return s.entries[0].profile
	}
	if !s.tried {
		s.tried = true
		if d := s.enumerate(); d != nil {
			s.list = d
		}
	}
	if s.list == nil {
		return nil
	}
	return s.list
}

// single answers for a profile, from its tails.
func single(p profiles.Profile, logDelta, floor, top float64) Result {
	f := func(sign float64) func(float64) (float64, float64) {
		return func(eps float64) (float64, float64) {
			v, e := profiles.LogDelta(p, eps)
			if math.IsInf(e, 1) {
				// No correct digit: δ ≤ P(L > ε) above and 0 below.
				if sign > 0 {
					t := p.Tails(eps, 0)
					return t.P + t.Err - logDelta, 0
				}
				return math.Inf(-1), 0
			}
			return v + sign*e - logDelta, 0
		}
	}
	hi := solve(f(+1), floor, top, floor, 0, 0, true)
	lo := solve(f(-1), floor, top, floor, 0, 0, false)
	return Result{Lower: lo, Estimate: lo + (hi-lo)/2, Upper: hi, Budget: Budget{RoundOff: hi - lo}}
}
