package ledger

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

// A Mode says how spends are accounted for, and so what may be spent.
type Mode string

const (
	// Planned: no step's parameters, nor whether it runs, depend on outputs of
	// earlier steps. Accounted for by the Fourier accountant.
	Planned Mode = "planned"
	// Adaptive: steps may depend on all earlier outputs. Kept by an rdp.Filter.
	Adaptive Mode = "adaptive"
	// AdaptiveGaussian: as Adaptive, for Gaussian noise on the whole data set alone, of
	// which the total is then exact. Kept by a filter of Σμ², as rdp.GaussianFilter is one.
	AdaptiveGaussian Mode = "adaptive-gaussian"
)

// Spent is what the entries of a ledger have cost.
type Spent struct {
	// Epsilon is ε at the ledger's δ of everything entered so far: a planned
	// ledger's answer.
	Epsilon accountant.Interval
	// Order, Renyi and RenyiBudget tell how much of the budget is used at the
	// order that has the largest share of it left: an adaptive ledger's answer.
	// They are for steering; the guarantee is the budget.
	Order, Renyi, RenyiBudget float64
	// Mu is √Σμ² of everything entered so far, rounded up, and MuBudget the μ that was
	// fixed: an adaptive-gaussian ledger's answer. Mu is for steering as well.
	Mu, MuBudget float64
}

// An admission is an entry's plan, with the text that stands for it, and how many runs it has.
type admission struct {
	text string
	plan *accountant.Plan
	runs int64
	cost []float64 // what a filter takes, once that is computed
}

// A policy decides about spends.
type policy interface {
	// prepare does what a spend takes to be admitted, or returns why it cannot be.
	prepare(ctx context.Context, a *admission) error
	// admits reports whether a spend fits, as far as that needs no computation.
	admits(a *admission) bool
	// fits returns why n more spends of a plan would not be admitted, and changes nothing.
	fits(ctx context.Context, a *admission, n int64) error
	// foresee prepares spends that are to be admitted together, if it is cheaper so than one by one.
	foresee(ctx context.Context, all []*admission)
	// count takes over an entry; quick makes it return errUnknown rather than compute.
	count(a *admission, quick bool) error
	// mark returns a function that takes back what was counted since.
	mark() (undo func())
	// sums returns upper bounds of what everything counted costs, resume counts entries that cost that instead of any others,
	// and covers recomputes whether what is counted costs no more.
	sums(ctx context.Context) (sums, error)
	resume(s sums) error
	covers(ctx context.Context, s sums) error
	spent(ctx context.Context) (Spent, error)
}

// errUnknown is of what takes a computation where there is no time for one.
var errUnknown = errors.New("is not known yet")

// errWhole is of a question for whose answer the entries before a checkpoint have to be read one by one.
var errWhole = errors.New("rests on a checkpoint, and needs the entries themselves")

// errSums is of a checkpoint that no program writes for a ledger of this kind.
var errSums = fault.New("sums", "are not those of a checkpoint of this ledger")

// num writes x with seven digits, or with all if it would read like other.
func num(x, other float64) string {
	s := strconv.FormatFloat(x, 'g', 7, 64)
	if x != other && s == strconv.FormatFloat(other, 'g', 7, 64) {
		s = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Replace(s, "e-0", "e-", 1)
}
