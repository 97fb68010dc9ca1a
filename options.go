package accountant

// What an accountant may be told: accuracy, limits, engines; and the error that names a field.

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// Options say how an accountant answers; a field that is zero is the default. Where several are given, what a later one
// sets counts.
type Options struct {
	// Accuracy asks for intervals of at most this width relative to ε (default
	// 1e-3), or to δ when δ is asked. It must be in (0, 1).
	Accuracy float64
	// Memory limits the memory that questions take to this many bytes (default 1
	// GiB), of which up to 24 MiB are left for the program itself. An answer that needs
	// more is wider than asked and carries a warning. The garbage collector may let the
	// process have more for a while; debug.SetMemoryLimit with the same number prevents
	// that.
	Memory int64
	// WorkLimit limits the work of a question: one ε or δ, or all points of a curve.
	// It is counted in terms of a sum, about 40 ns each on a machine of today, and not
	// in time, so that the answer is the same everywhere. The default is 2.5e8 at an
	// accuracy of 1e-3 or finer, about 10 s, where ordinary questions take milliseconds,
	// and less at coarser ones, with the fourth root. An answer that needs more is wider
	// than asked and carries a warning with the width reached. A Recursion has
	// half of the limit where it can narrow an answer, and is left out where that is too little; the default
	// does not limit it, its number of runs does. Laws that are made for a question, those of random allocation,
	// have as much on top of it, and so have the selections of a plan while it is added. They are wider where that is
	// too little, for which there are three quarters of it once more; where that does not do, a bound that needs no law takes their place.
	// Where an answer is wide, simpler releases of the same steps, whose upper ends hold too, have as much
	// again. Laws that leave an answer wide are made for it once or a few times more.
	WorkLimit float64
	// TimeLimit limits the time of a call, such as Epsilon or a whole DeltaCurve.
	// What is proved by then is the answer, with a warning. Unlike WorkLimit, it
	// makes answers depend on the machine and what else runs on it.
	TimeLimit time.Duration
	// ManyQuestions says that the accountant will be asked again and again, while its
	// total grows or at many δ: what is computed for one question then reaches a little
	// further, to serve the next. The answers are the same to their certified digits.
	ManyQuestions bool
	// Transform has laws alone answer where there is no closed form: lattice laws of every step, composed by this
	// Fourier transform (fourier.Gonum, or that of package fourier/godsp). It shares Theorems 1 to 3 of
	// docs/theory/contour.md with the integral of transforms that is asked first without it, and no transform: a second
	// way from the profiles to the sum; it is slower and wider.
	Transform fourier.Transform
	// Recursion lets Epsilon and Delta, and so Calibrate and Compare, narrow the
	// theory gap of sampling without or with replacement, MUST.OW and MUST.WO under
	// substitution, for Gaussian noise: by the recursion over data configurations
	// when a mechanism runs between 2 and so many times, which takes seconds for
	// 1000 runs and grows with the power 3/2; and but for MUST.OW, from 100 runs on and for any number of them, in
	// blocks of runs, which take some seconds for each noise and rate, and a second or two after that. Where there
	// are blocks, the recursion narrows them further up to a tenth of the runs only. The default is neither.
	Recursion int64
	// RecordsPerPerson makes all answers about persons: neighbours differ by everything that
	// one person has, up to so many records, from 1 to 2^20 (docs/guide/concepts.md). Add
	// refuses another number. AddBounds takes mechanisms that are about persons already.
	RecordsPerPerson int64
	// Progress is told how many of the computations are done of an answer that
	// takes several: of curves and Risk, from 0 to total; of Calibrate, which does not
	// know their number beforehand, at which one it is, and total is 0. It must not ask
	// the accountant.
	Progress func(done, total int)
}

type settings struct {
	fourier.Options
	recursion int64         // runs of one mechanism that the recursion takes on
	time      time.Duration // 0: no limit
	many      bool          // many questions are expected
	records   int64         // of a person; 0 for 1
	quiet     bool          // hints are not wanted
	limited   bool          // the work was limited by the caller, that of recursions too
	laws      float64       // work of the laws of a question; 0 for as much as it has
	report    func(done, total int)
}

// sums returns the options of the sums of a question that asks n of them, which
// share its work.
func (o settings) sums(n float64) fourier.Options {
	o.Work = o.work() / n
	return o.Options
}

func (o settings) work() float64 {
	if o.Work > 0 {
		return o.Work
	}
	return fourier.DefaultWork(o.Relative)
}

// lawWork is what the laws of a question may take, on top of its sums, of what the context leaves.
func (o settings) lawWork(ctx context.Context) float64 {
	_, left := parallel.Work(ctx)
	return min(cmp.Or(o.laws, o.work()), max(left, 0))
}

// budgeted returns a context with the work of a question, which all selections of a plan share, also those inside one
// another; the same context if it has such work already.
func (o settings) budgeted(ctx context.Context) context.Context {
	if _, left := parallel.Work(ctx); !math.IsInf(left, 1) {
		return ctx
	}
	return parallel.WithWork(ctx, o.work())
}

// within returns a context that ends with the time limit, if there is one.
func (o settings) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.time <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, o.time, fourier.ErrTimeLimit)
}

const defaultMemory = 1 << 30

// progress tells how far an answer is.
func progress(o settings, done, total int) {
	if o.report != nil {
		o.report(done, total)
	}
}

// defaults returns what is asked for where options say nothing else.
func defaults(opts ...Options) settings {
	o := settings{Options: fourier.DefaultOptions()}
	o.MaxPoints = fourier.PointsIn(defaultMemory)
	return o.with(opts)
}

// with returns o with what options say.
func (o settings) with(opts []Options) settings {
	for _, p := range opts {
		if p.Accuracy != 0 {
			o.Relative = p.Accuracy
			o.Absolute = min(o.Absolute, 1e-3*p.Accuracy)
		}
		if p.Memory != 0 {
			o.MaxPoints = fourier.PointsIn(p.Memory)
		}
		if p.WorkLimit != 0 {
			o.Work, o.limited = max(p.WorkLimit, 1), true
		}
		if p.Transform != nil {
			o.Transform, o.Laws = p.Transform, true
		}
		if p.Progress != nil {
			o.report = p.Progress
		}
		o.time = cmp.Or(p.TimeLimit, o.time)
		o.many = o.many || p.ManyQuestions
		o.recursion = cmp.Or(p.Recursion, o.recursion)
		o.records = cmp.Or(p.RecordsPerPerson, o.records)
	}
	return o
}

// A FieldError is what every constructor and every question of this module returns for
// a bad value, directly or wrapped (errors.As finds it): its text is "field: problem",
// such as "noise-multiplier: -1 is not in [1e-06, 1e+15]".
//
//   - Path leads to the field, from the outermost name: {"gaussian", "noise-multiplier"};
//     Field() is its last name, and an element of a list is called "p[2]".
//   - Problem is the rest of the text: the value and what is allowed.
//   - Err is what the problem wraps, or nil; Unwrap returns it.
//
// A program that takes values from its own users looks Path up in its own names and
// shows Problem. A plan.Error has the line of a plan besides.
type FieldError = fault.Error
