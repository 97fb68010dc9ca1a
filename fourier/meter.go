package fourier

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrTimeLimit is the cause (context.WithTimeoutCause) of a context that ends a
// question without making it fail: the best interval proved by then is the answer,
// with a warning.
var ErrTimeLimit = errors.New("the time limit was reached")

// errOverwork says that what a pass would take is more than the work that is left.
var errOverwork = errors.New("the work limit was reached")

var (
	errRounding = errors.New("rounding does not allow the accuracy asked for")
	errRounds   = errors.New("the accuracy asked for was not reached")
	errDear     = errors.New("the transform is long, or shows no mass where it is asked for")
)

// Work is counted in terms of a direct sum, about 40 ns each on the machine of
// docs/benchmarks.md, and not in time, so that the answer is the same everywhere.
const (
	workVertex = 100 // a vertex of a lattice law: tails at it and next to it
	workPoint  = 8   // a point of the transform of one term, and its power
	workRead   = 2   // a kept frequency, each time that δ is read off

	mostWork = 2.5e8 // of a question: 10 s

	// Of few runs: a short transform comes first, then laws multiplied one by one.
	fewTransforms = 4e6
	easyWork      = 2e7
)

// DefaultWork is the work limit of an accuracy: 2.5e8 at 1e-3 and below, less at
// coarser ones, with the fourth root. Ordinary questions take a hundredth of it.
func DefaultWork(relative float64) float64 {
	return mostWork * min(1, math.Pow(1e-3/relative, 0.25))
}

// LimitWork changes the work limit of the questions that follow (Options.Work).
func (s *Sum) LimitWork(work float64) { s.opts.Work = work }

// Spent returns the work of all questions so far, in the unit of Options.Work. Who
// asks many can limit what they take together.
func (s *Sum) Spent() float64 { return s.spent }

// A meter watches what one question may still take: work, memory, and whether it
// was cancelled. A nil meter allows everything.
type meter struct {
	ctx    context.Context
	work   float64 // that is left
	points int     // of transforms, or vertices of laws, that fit into memory
	sum    *Sum
	// hasty: give up on transforms that are long, or of which the tilt fails, as laws may be
	// multiplied one by one instead.
	// dear: one was given up so.
	hasty, dear bool
}

func (s *Sum) newMeter(ctx context.Context) *meter {
	return &meter{ctx: ctx, work: s.opts.Work, points: s.opts.MaxPoints, sum: s}
}

// stopped returns why the question must end now: the error of a cancelled
// context, or ErrTimeLimit, with which it is answered.
func (m *meter) stopped() error {
	if m == nil || m.ctx.Err() == nil {
		return nil
	}
	return context.Cause(m.ctx)
}

// cancelled returns the error of a context that makes the question fail.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && context.Cause(ctx) != ErrTimeLimit {
		return err
	}
	return nil
}

// within calls f with no more than so much of the work that is left.
func (m *meter) within(work float64, f func() (Result, error)) (Result, error) {
	rest := max(0, m.work-work)
	m.work -= rest
	r, err := f()
	m.work += rest
	return r, err
}

// spend takes work off what is left.
func (m *meter) spend(work float64) {
	if m != nil {
		m.work -= work
		m.sum.spent += work
	}
}

// await runs f, which cannot be interrupted, and reports whether it has ended: not
// when the context was cancelled before. f then ends by itself, unheard.
func (m *meter) await(f func()) bool {
	if m == nil || m.ctx.Done() == nil {
		f()
		return true
	}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case caught := <-done:
		if caught != nil {
			panic(caught)
		}
		return true
	case <-m.ctx.Done():
		return false
	}
}

const wider = "the interval is wider than asked"

func reached(width float64) string {
	if width > 0 && !math.IsInf(width, 1) {
		return fmt.Sprintf(" (%.2g)", width)
	}
	return ""
}

// Narrowed returns the result with warnings of the width that it has now: of an
// interval that was narrowed by what is known from elsewhere.
func (r Result) Narrowed() Result {
	r.Warnings = slices.Clone(r.Warnings)
	for i, w := range r.Warnings {
		if before, _, ok := strings.Cut(w, wider+" ("); ok {
			r.Warnings[i] = before + wider + reached(r.Upper-r.Lower)
		}
	}
	return r
}

// reason puts a limit into the words of a warning about an interval of ε or δ, of
// which width is the width reached.
func (s *Sum) reason(err error, width float64) string {
	wide := wider + reached(width)
	if err == errTooLong {
		return "the memory limit was reached: " + wide
	}
	return fmt.Sprintf("%v: %s", err, wide)
}
