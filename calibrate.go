package accountant

// The value of a quantity at which a plan meets a budget, with both sides of the budget as proof.
// The budget may be on ε and δ, or on what the best attack reaches. The search itself, which knows
// no plans, is package internal/calibrate.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// A Calibration is the answer of Calibrate and CalibrateGDP.
type Calibration struct {
	// Value is the value that meets the budget: of the quantity itself, or, when
	// Factor is set, of the common factor on that of several steps.
	Value  float64
	Factor bool
	// Asked is what Meets and Fails are intervals of: "epsilon", at the budget's δ, or, when the budget's ε is
	// below 0.01, where ε says next to nothing about the noise, "delta" at the budget's ε; of a budget on an attack
	// "true-positive-rate"; of CalibrateGDP "mu".
	Asked string
	// Meets is the proof: its Upper is at most the budget. Fails is a value
	// at most 1e-6 (relative; 1 for whole numbers below 2e6) away on the other side
	// whose Upper exceeds the budget; nil when Unlimited.
	Meets Point
	Fails *Point
	// FailsProved says that Fails is proved to exceed the budget. If not, numerical width or a theory gap may have
	// cost something.
	FailsProved bool
	// Unlimited says that the least private value allowed meets the budget.
	Unlimited bool
	// Early says that a limit ended the search: Value meets the budget, and less private values may as well. Fails, if
	// any was seen, may be farther away.
	Early    bool
	Settings []Setting
	// Plan is the plan at Value.
	Plan        *Plan
	Evaluations int
	// Accuracy is what Meets and Fails were asked with.
	Accuracy float64
}

// Calibrate turns one quantity of a plan until the plan meets a budget: it
// returns the smallest noise multiplier, or the largest count, rate, batch or number of
// records per person,
// whose certified Upper at g.Delta is at most g.Epsilon, and the bracket that
// shows it. What the plan says of the quantity is where the search starts.
//
// With g.TruePositive the budget is on membership inference: no test between neighbours
// of the false-positive rate g.FalsePositive has a larger true-positive rate. That is one
// point of the trade-off function (TradeOff), whose Upper is proved for every test. The
// advantage of an attacker, the largest true-positive rate minus false-positive rate,
// is δ(0): a budget of A on it is Epsilon 0 and Delta A.
//
// Turned on several steps, noise multipliers and rates keep their ratios (Value
// is a common factor), batches get the same size, and a count is that of runs
// of all those steps together.
//
// That Value is extreme rests on ε being monotone in the quantity; that it meets
// the budget does not.
//
// All evaluations share the work of one question (Options.WorkLimit) and the time of one call (Options.TimeLimit), each having a
// quarter of the work at most. What meets the budget when they end is the answer (Calibration.Early), with a warning; where
// nothing does, a few cheap evaluations look for it on the safe side.
//
// The last evaluations run at an accuracy of 5e-7, or what transforms of 2^20
// points and rounding allow (Options.Accuracy and Options.Memory change that): Value is
// noisier than need be by at most what the width of Meets is worth. Where
// neighbouring whole numbers are far apart, less is enough to tell them apart.
func Calibrate(ctx context.Context, p *Plan, g Goal, opts ...Options) (*Calibration, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	g.Solve = cmp.Or(g.Solve, NoiseMultiplier)
	ctx, stop := p.Accountant(opts...).opts.within(ctx)
	defer stop()
	if err := prepare(ctx, p, g); err != nil {
		if outOfTime(ctx, err) {
			err = notFound(fourier.ErrTimeLimit)
		}
		return nil, err
	}
	k, err := newParameter(p, g)
	if err != nil {
		return nil, err
	}
	if err := g.reachable(); err != nil {
		return nil, err
	}
	s := newSearch(k, p, g, opts)
	_, left := parallel.Work(ctx)
	ctx = parallel.WithWork(ctx, min(s.asks.work(), max(left, 0)))
	err = s.Run(ctx)
	if err != nil && context.Cause(ctx) == fourier.ErrTimeLimit {
		s.early = fourier.ErrTimeLimit
	}
	if s.early != nil {
		if err := s.settle(ctx); err != nil {
			return nil, err
		}
	} else if err != nil {
		var none *calibrate.Infeasible
		if errors.As(err, &none) {
			err = s.infeasible(ctx, none)
		}
		return nil, err
	}
	return k.found(s.Search, Calibration{Asked: s.asked, Evaluations: s.evals}, s.budget, s.early)
}

// found completes the answer of a search, which the limit early has ended if it is not nil.
func (k *parameter) found(s *calibrate.Search, c Calibration, budget float64, early error) (_ *Calibration, err error) {
	c.Value, c.Factor, c.Settings, c.Accuracy = s.Meets.Value, k.factor, k.settings(s.Meets.Value), s.Accuracy
	c.Meets, c.Fails = *probe(s.Meets), probe(s.Fails)
	c.FailsProved = c.Fails != nil && c.Fails.Lower > budget
	c.Unlimited, c.Early = c.Fails == nil && early == nil, early != nil
	if c.Early {
		c.Meets.Warnings = []string{fmt.Sprintf("%v: the value meets the budget, and less private ones may as well", early)}
	}
	c.Plan, err = k.build(c.Value)
	return &c, err
}

// A search asks for the cost of a plan with its parameter set.
type search struct {
	*calibrate.Search
	k      *parameter
	p      *Plan
	g      Goal
	opts   []Options
	asks   settings // with opts
	evals  int
	asked  string  // what is compared with the budget (Goal.asked)
	budget float64 // of it
	fixed  bool    // the accuracy was given
	bests  bests   // that all evaluations share
	// maxPoints bounds the transforms.
	maxPoints int
	early     error // the limit that ended the search, nil before
}

const (
	certifyAccuracy   = 5e-7
	powerAccuracy     = 5e-8 // of the true-positive rate, relative to what of it is above guessing
	leastAccuracy     = 1e-12
	lawsAccuracy      = 2e-4 // of laws that each evaluation makes anew (profiles.Laws)
	restAccuracy      = 1e-5 // of steps that are not turned
	calibrationPoints = 1 << 20
	evaluationShare   = 4 // of the work of a question goes to each evaluation
	lastLooks         = 16
	lookShare         = 64  // of the work goes to each of those where none is left
	lastWork          = 1e7 // beyond which they take no more
	perAtom           = 10  // of a table, measured
)

func newSearch(k *parameter, p *Plan, g Goal, opts []Options) *search {
	s := &search{k: k, p: p, g: g, opts: opts}
	s.asked, s.budget = g.asked()
	s.asks = p.Accountant(opts...).opts
	asked := settings{}.with(opts) // zero where the caller does not say
	final := certifyAccuracy
	if s.asked == askedPower {
		// Only what is above guessing says anything of the noise, and the two ends of a
		// power meet quickly: the grid of the best test halves, and with it their square.
		final = max(powerAccuracy*(g.TruePositive-g.FalsePositive)/g.TruePositive, leastAccuracy)
	}
	if asked.Relative != 0 {
		final, s.fixed = asked.Relative, true
	}
	if s.maxPoints = asked.MaxPoints; s.maxPoints == 0 {
		s.maxPoints = calibrationPoints
	}
	if !s.fixed && hasLaws(p.Steps) {
		final = lawsAccuracy
	}
	goal := calibrate.Goal{Budget: s.budget, Probability: s.asked != askedEpsilon, Accuracy: final, Fixed: s.fixed}
	s.Search = calibrate.New(k.Parameter, goal, s.ask)
	return s
}

// probe returns a probe with its interval, nil for nil.
func probe(p *calibrate.Probe) *Point {
	if p == nil {
		return nil
	}
	iv, ok := p.Full.(Interval)
	if !ok {
		iv = Interval{Range: p.Range} // out of reach
	}
	return &Point{p.Value, iv}
}

// ask evaluates at a value of the parameter.
func (s *search) ask(ctx context.Context, x, accuracy float64) (calibrate.Answer, error) {
	if _, left := parallel.Work(ctx); context.Cause(ctx) == fourier.ErrTimeLimit {
		s.early = fourier.ErrTimeLimit
	} else if left <= 0 {
		s.early = parallel.ErrWork
	}
	if s.early != nil {
		return calibrate.Answer{}, s.early
	}
	return s.evaluate(ctx, x, accuracy)
}

// evaluate asks, whatever is left.
func (s *search) evaluate(ctx context.Context, x, accuracy float64) (calibrate.Answer, error) {
	s.evals++
	progress(s.asks, s.evals, 0)
	plan, err := s.k.build(x)
	if err != nil {
		return calibrate.Answer{}, err
	}
	iv, err := s.answer(ctx, plan, accuracy)
	if err != nil {
		if ctx.Err() == nil || context.Cause(ctx) == fourier.ErrTimeLimit {
			err = &calibrate.OutOfReach{Err: err}
		}
		return calibrate.Answer{}, err
	}
	lo, hi := iv.Lower, iv.Upper
	if iv.Gap != nil {
		lo, hi = iv.Gap.Proved.Lower, iv.Gap.Proved.Upper
	}
	scale := math.Abs(hi)
	if s.asked == askedEpsilon {
		scale = max(scale, 1e-3)
	}
	width := (hi - lo) / scale
	if !s.fixed {
		// Nobody asked for the accuracy that a warning would be about.
		iv.Warnings = nil
		if width > 2.5*calibrate.CoarseAccuracy {
			iv.Warnings = []string{fmt.Sprintf("rounding, or the length of the transforms, does not allow an interval narrower than %.2g of its upper end: the value may be more careful than need be", width)}
		}
	}
	return calibrate.Answer{Range: iv.Range, Proved: lo, Width: width, Full: iv}, nil
}

// notFound is the error of a search that a limit has ended with nothing that meets the budget.
func notFound(limit error) error {
	return fmt.Errorf("%w before a value was found that meets the budget", limit)
}

// settle makes what was seen the answer of a search that a limit has ended.
func (s *search) settle(ctx context.Context) error {
	if s.Meets == nil {
		looks := 0
		goal := calibrate.Goal{Budget: s.budget, Probability: s.asked != askedEpsilon, Accuracy: calibrate.CoarseAccuracy, Fixed: true}
		s.Search = calibrate.New(s.k.Parameter, goal, func(ctx context.Context, x, accuracy float64) (calibrate.Answer, error) {
			_, left := parallel.Work(ctx)
			if looks++; looks > lastLooks || left < -max(s.asks.work(), lastWork) || context.Cause(ctx) == fourier.ErrTimeLimit {
				return calibrate.Answer{}, notFound(s.early)
			}
			return s.evaluate(ctx, x, accuracy)
		})
		if err := s.Run(ctx); s.Meets == nil && errors.As(err, new(*calibrate.Infeasible)) {
			return notFound(s.early)
		} else if s.Meets == nil {
			return err
		}
	}
	return nil
}

func (s *search) answer(ctx context.Context, plan *Plan, accuracy float64) (Interval, error) {
	o := defaults(s.opts...)
	o.Relative, o.Absolute, o.MaxPoints = accuracy, 1e-3*accuracy, s.maxPoints
	_, left := parallel.Work(ctx)
	own := min(o.work()/evaluationShare, max(left, o.work()/lookShare))
	o.Work, o.quiet, o.records = own, true, plan.Records()
	a := newAccountant(plan.Neighbors, o)
	all := ctx
	ctx = parallel.WithWork(ctx, own)
	a.bests = &s.bests
	if err := a.AddPlan(ctx, plan); err != nil {
		return Interval{}, err
	}
	for _, r := range a.added {
		if d, ok := r.m.Directions[0].Upper.(*profiles.Discrete); ok { // a table that is made anew for each value
			parallel.Spend(all, perAtom*float64(len(d.Atoms())))
		}
	}
	switch s.asked {
	case askedDelta:
		return a.Delta(ctx, s.g.Epsilon)
	case askedPower:
		return a.power(ctx, s.g.FalsePositive)
	}
	return a.Epsilon(ctx, s.g.Delta)
}

// infeasible says why even the safest value does not do.
func (s *search) infeasible(ctx context.Context, none *calibrate.Infeasible) error {
	p := *probe(&none.Safest)
	name, at := s.g.words()
	cost := func(iv Interval) string {
		return fmt.Sprintf("%s ≥ %s at %s, more than %v", name, digits(iv.Lower), at, s.budget)
	}
	if rest := s.k.rest(); len(rest) > 0 {
		iv, err := s.answer(ctx, s.p.with(rest), restAccuracy)
		if err == nil && iv.Lower > s.budget {
			return fmt.Errorf("%w: the steps that stay as they are cost %s, by themselves", ErrInfeasible, cost(iv))
		}
	}
	if none.Cause != nil {
		return none.Cause // at the safest value, or on the way there
	}
	what := fmt.Sprintf("%v %s", s.g.Solve, digits(p.At))
	if s.k.factor {
		what = fmt.Sprintf("%v times %s", s.g.Solve, digits(p.At))
	}
	switch {
	case s.asked == askedEpsilon && math.IsInf(p.Lower, 1) && s.g.Delta == 0:
		return fmt.Errorf("%w: at δ = 0 no ε is finite, whatever the %v: the privacy loss is unbounded", ErrInfeasible, s.g.Solve)
	case s.asked == askedEpsilon && math.IsInf(p.Lower, 1):
		return fmt.Errorf("%w: even at %s an unlimited loss is likelier than δ = %v: no ε is finite", ErrInfeasible, what, s.g.Delta)
	case p.Lower > s.budget:
		return fmt.Errorf("%w: even %s costs %s", ErrInfeasible, what, cost(p.Interval))
	}
	return fmt.Errorf("%w: even %s is not proved to meet %s ≤ %v at %s: the accountant's interval is [%s, %s]", ErrInfeasible, what,
		name, s.budget, at, digits(p.Lower), digits(p.Upper))
}

func digits(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// Why a plan that Calibrate returns keeps a budget on an attack.
//
// That the value meets the budget is proved as follows. Let the plan at the value compose to the pairs (P, Q) that
// dominate it, one for each direction. An attack with the false-positive rate F is a test on the release, so that by
// domination its true-positive rate is at most that of the best test of P against Q, which is inf over x > 0 of h(x)
// + Fx, with h(x) = δ(log x) (Neyman and Pearson). The certified upper end of that number is the smallest value at
// points of the grid, each with the upper end of its δ: an infimum is at most any of its values. The value is
// returned only if that upper end is at most T, in both directions; so no attack has more than T. An attack that may
// randomize, or has a smaller false-positive rate, has no more, because the bound rises with F. For the advantage,
// the true-positive rate minus the false-positive rate of a test on the set S is P(S) − Q(S), at most the total
// variation distance, which is δ(0): an advantage of at most A is (0, A)-differential privacy, and the budget of
// calibrate --epsilon 0 --delta A. That the neighbouring value fails is proved where its lower end, which a
// concrete attack reaches, is above the budget. A true-positive rate of at most F is infeasible: a coin that ignores
// the release reaches F.
