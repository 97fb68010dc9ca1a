package meter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// ErrTimeLimit is the cause of a context that ends a question without making it fail: the best
// interval proved by then is the answer, with a warning.
var ErrTimeLimit = parallel.ErrTimeLimit

// Why an interval may stay wider than asked.
var (
	// ErrWork: the next attempt would take more than the work that is left.
	ErrWork = parallel.ErrWork
	// ErrMemory: it would need more points than the limit of memory allows.
	ErrMemory = errors.New("the memory limit was reached")
	// ErrRounding: what is left of the width is round-off, which no finer step reduces.
	ErrRounding = errors.New("rounding does not allow the accuracy asked for")
	// ErrRounds: all rounds of a refinement were used.
	ErrRounds = errors.New("the accuracy asked for was not reached")
)

// Work is counted in terms of a direct sum, about 40 ns each on the machine of docs/reference/benchmarks.md,
// and not in time, so that the answer is the same everywhere. These are measured prices: they
// decide when a question ends, and prove nothing.
const (
	PerVertex = 100 // steers: a vertex of a lattice law: tails at it and next to it
	PerPoint  = 2   // steers: a point of the transform of one term, and its power
	perAtom   = 4   // steers: of a listed law, with its masses
	PerTerm   = 0.5 // steers: a term of the contour engine
	PerRead   = 2   // steers: a kept frequency, each time that δ is read off
)

// ends is how many tails are looked at to find where a loss matters, before a law gets its first vertex.
const ends = 60 // steers: what work is charged

// PerVertexOf returns what a vertex of a law of p takes.
func PerVertexOf(p profiles.Profile) float64 { return PerVertex + hook.Cost(p) }

// Afford reports whether there is work for the least that is asked of profiles: where their losses end, and some
// vertices between. Those whose tails a closed form has are always affordable.
func (m *Meter) Afford(costs float64) bool { return m == nil || costs == 0 || 2*ends*costs <= m.Work }

// A Meter belongs to one question. A nil Meter allows everything.
//
// Work only falls, except where Within or the caller gives back what it had set aside;
// Points does not change. All that is spent is added to the total that New was given.
type Meter struct {
	Ctx    context.Context
	Work   float64 // that is left; negative once the last attempt took more than there was
	Points int     // of transforms, or vertices of laws, that fit into memory
	total  *float64
	least  float64 // for the vertices of laws, whatever work is left
}

// New returns the meter of a question that may take so much work, counted in total as well.
func New(ctx context.Context, work float64, points int, total *float64) *Meter {
	return &Meter{Ctx: ctx, Work: work, Points: points, total: total, least: leastVertices * PerVertex}
}

// Stopped returns why the question must end now: the error of a cancelled context, or
// ErrTimeLimit, with which it is answered; nil if it may go on.
func (m *Meter) Stopped() error {
	if m == nil || m.Ctx.Err() == nil {
		return nil
	}
	return context.Cause(m.Ctx)
}

// Cancelled returns the error of a context that makes the question fail. A time limit does not.
func Cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && context.Cause(ctx) != ErrTimeLimit {
		return err
	}
	return nil
}

// Within calls f with no more than so much of the work that is left.
func (m *Meter) Within(work float64, f func() error) error {
	rest := max(0, m.Work-work)
	m.Work -= rest
	err := f()
	m.Work += rest
	return err
}

// Spend takes work off what is left, and counts it in the limits of the context.
func (m *Meter) Spend(work float64) {
	if m != nil {
		m.Work -= work
		*m.total += work
		parallel.Spend(m.Ctx, work)
	}
}

// Vertices watches a law that gets vertices one by one: of ctx and of the work, which it does not
// spend. A nil Meter allows everything.
type Vertices struct {
	m     *Meter
	price float64 // of one
	n     int
	Cut   bool // it had to end
}

// leastVertices is how many the laws of a question may have whatever is left, at PerVertex each: without a law little
// is known.
const leastVertices = 1 << 10 // steers: work for width

// Vertices returns a watch over a law of p that pld makes, and spends what it takes to find where its loss ends.
func (m *Meter) Vertices(p profiles.Profile) *Vertices {
	if pld.Listed(p) {
		return &Vertices{m: m, price: perAtom}
	}
	m.Spend(ends * hook.Cost(p))
	return &Vertices{m: m, price: PerVertexOf(p)}
}

// Spend takes the vertices of a law off what is left.
func (v *Vertices) Spend(vertices int) {
	if work := v.price * float64(vertices); v.m != nil {
		v.m.least -= work
		v.m.Spend(work)
	}
}

// Stop counts a vertex, and reports whether there may be no more.
func (v *Vertices) Stop() bool {
	if v.m == nil || v.Cut {
		return v.Cut
	}
	v.n++
	taken := float64(v.n) * v.price
	v.Cut = taken > max(v.m.least, v.m.Work) || v.m.Ctx.Err() != nil
	return v.Cut
}

// Await runs f, which cannot be interrupted, and reports whether it has ended: not
// when the context was cancelled before. f then ends by itself, unheard. A panic of f
// reaches the caller.
func Await(ctx context.Context, f func()) bool {
	if ctx.Done() == nil {
		f()
		return true
	}
	done := make(chan *fault.Panic, 1)
	go func() {
		defer func() { done <- fault.Caught(recover()) }()
		f()
	}()
	select {
	case caught := <-done:
		if caught != nil {
			panic(caught)
		}
		return true
	case <-ctx.Done():
		return false
	}
}

// width returns a width in parentheses, nothing if there is none to speak of.
func width(w float64) string {
	if w > 0 && !math.IsInf(w, 1) {
		return fmt.Sprintf(" (%.2g)", w)
	}
	return ""
}

// Warning puts a limit into the words of a warning about an interval of width w.
func Warning(why error, w float64) string {
	return fmt.Sprintf("%v: %s%s", why, parallel.Wider, width(w))
}

// Reworded returns warnings with the width that the interval has now: of one that was narrowed
// by what is known from elsewhere.
func Reworded(warnings []string, w float64) []string {
	warnings = slices.Clone(warnings)
	for i, text := range warnings {
		if before, _, ok := strings.Cut(text, parallel.Wider+" ("); ok {
			warnings[i] = before + parallel.Wider + width(w)
		}
	}
	return warnings
}
