// A composition, and what it keeps between questions.

package fourier

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/lattice"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Sum is the composition of profiles of one direction, each a number of times.
// It keeps what it computed: adding a step and asking again is cheap. It is not
// safe for concurrent use.
//
// Invariants: steps and the steps of lattices are the same; copies is the sum of their counts;
// stepOf has every factor but the Gaussians, which are one step together; list, where
// listed is set, is of the steps as they are now.
type Sum struct {
	opts     Options
	steps    closed.Steps
	stepOf   map[int]int // of a factor
	lattices *lattice.Sum
	factors  factors
	copies   float64
	runs     float64 // added
	list     *profiles.Discrete
	listed   bool                                           // it was tried to list the whole sum
	spent    float64                                        // work of all questions
	by       func(context.Context) (releases, parts []*Sum) // BoundBy; nil: none
	rival    bool
}

// New returns an empty composition. Zero fields of the options take their
// defaults.
func New(o Options) *Sum {
	o = o.withDefaults()
	return &Sum{opts: o, stepOf: map[int]int{}, lattices: lattice.New(o.MaxPoints, o.Transform), factors: newFactors()}
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
	s.list, s.listed = nil, false
	factor := s.factors.add(p, count)
	g, gaussian := p.(profiles.Gaussian)
	if gaussian {
		// Gaussians compose in closed form.
		for i, e := range s.steps {
			if total, ok := e.Profile.(profiles.Gaussian); ok {
				s.set(i, closed.Step{Profile: g.Repeat(count, total), Support: e.Support, Count: 1}, false)
				return nil
			}
		}
		p, count = g.Repeat(count, nil), 1
	}
	s.copies += float64(count)
	if i, ok := s.stepOf[factor]; ok {
		e := s.steps[i]
		e.Count += count
		s.set(i, e, true)
		return nil
	}
	if !gaussian {
		s.stepOf[factor] = len(s.steps)
	}
	s.set(len(s.steps), closed.Step{Profile: p, Support: p.Support(), Count: count}, false)
	return nil
}

// set makes a step the i-th one; counted says that only its count is another one.
func (s *Sum) set(i int, step closed.Step, counted bool) {
	if i == len(s.steps) {
		s.steps = append(s.steps, step)
	}
	s.steps[i] = step
	s.lattices.Set(i, step, counted)
}

// ExpectMany says that many questions follow, such as the points of a curve or those of a
// running total: what is computed for one then reaches further, to serve others too.
func (s *Sum) ExpectMany() { s.factors.many = true }

// LimitWork changes the work limit of the questions that follow (Options.Work).
func (s *Sum) LimitWork(work float64) { s.opts.Work = work }

// Spent returns the work of all questions so far, in the unit of Options.Work. Who
// asks many can limit what they take together.
func (s *Sum) Spent() float64 { return s.spent }

// newMeter returns the meter of a question, which has no more than the context leaves it either.
func (s *Sum) newMeter(ctx context.Context) *meter.Meter {
	_, left := parallel.Work(ctx)
	return meter.New(ctx, min(s.opts.Work, max(left, 0)), min(s.opts.MaxPoints, PointsIn(parallel.Memory(ctx)), gonumfft.MaxLength), &s.spent)
}

// affords reports whether the work of a question is enough for the least that must be looked at of every step's
// tails.
func (s *Sum) affords(ctx context.Context) bool {
	sum := 0.0
	for _, e := range s.steps {
		sum += hook.Cost(e.Profile)
	}
	return s.newMeter(ctx).Afford(sum)
}

// untold is the answer to a question that there is no work for.
func (s *Sum) untold(lower, upper float64) Result {
	r := unknown(lower, upper)
	r.Warnings = []string{meter.Warning(meter.ErrWork, upper-lower)}
	return r
}

// single returns a profile of the whole sum when it is known in closed form: one
// run, or few enough losses to list.
func (s *Sum) single() profiles.Profile {
	if s.copies == 1 {
		return s.steps[0].Profile
	}
	if !s.listed {
		s.listed = true
		s.list = s.steps.List()
	}
	if s.list == nil {
		return nil
	}
	return s.list
}

// wide reports whether an interval of ε is wider than asked.
func (s *Sum) wide(r Result) bool {
	w := r.Upper - r.Lower
	return !(w <= max(s.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), min(s.opts.Absolute, s.opts.Relative)))
}

// wideDelta reports whether an interval of δ is wider than asked.
func (s *Sum) wideDelta(r Result) bool { return !(r.Upper-r.Lower <= s.opts.Relative*r.Upper) }
