package ledger

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

// A Store keeps the lines of one ledger, in order, and only adds to them: a file does, or a database, where one file
// is not enough. It knows nothing of budgets, and need not be trusted with the order or the content of the lines: each has a
// checksum of all before it, which the ledger verifies. Package sqlledger, a module of its own, has one for SQL.
type Store interface {
	// Lines calls each with every line after the first n, in order, until that returns an error, which it returns. The content of
	// a line is good until each returns.
	Lines(ctx context.Context, n int64, each func(Line) error) error
	// Append runs change in a serialisable transaction, in which nobody else can add a line, and adds the lines
	// that it returns. It may run change at most once; lines is Lines within the transaction. When Append
	// returns nil, the lines will last. An error that wraps ErrConflict means that nothing was added and that it
	// may be tried again, one that wraps ErrInDoubt that it is not known.
	Append(ctx context.Context, change func(lines func(n int64, each func(Line) error) error) ([]Line, error)) error
	// String names the store in messages.
	String() string
}

var (
	// ErrConflict is wrapped by the error of a transaction that another one has got ahead of.
	ErrConflict = errors.New("another transaction was first; nothing was added")
	// ErrInDoubt is wrapped by the error of a spend that may have been entered although nobody said so, as when the
	// connection is lost during a commit. It must not run; if it is in the ledger it counts.
	ErrInDoubt = errors.New("it is not known whether this was entered; it must not run, and counts if it was")
	// ErrBusy is what the error of a spend is that others kept from being made: nothing was spent,
	// and it may be tried again.
	ErrBusy = errors.New("the ledger is busy")
)

// A known error wraps another and also matches as, so that errors.Is matches either.
type known struct {
	error
	as error
}

func (k known) Is(target error) bool { return target == k.as }

func (k known) Unwrap() error { return k.error }

// memory is the store of a ledger that ends with the process: nobody else reads it, and of its lines the last one will do.
type memory struct {
	lines int64
	last  Line
}

func (m *memory) String() string { return "a ledger in memory" }

// Lines returns the last line; see Store.
func (m *memory) Lines(_ context.Context, n int64, each func(Line) error) error {
	if n >= m.lines {
		return nil
	}
	return each(m.last)
}

// Append counts lines; see Store.
func (m *memory) Append(ctx context.Context, change func(lines func(n int64, each func(Line) error) error) ([]Line, error)) error {
	added, err := change(func(n int64, each func(Line) error) error { return m.Lines(ctx, n, each) })
	if n := len(added); err == nil && n > 0 {
		m.lines, m.last = m.lines+int64(n), added[n-1]
	}
	return err
}

// A Mode says how spends are accounted for, and so what may be spent.
type Mode string

const (
	// Planned: no step's parameters, nor whether it runs, depend on outputs of
	// earlier steps. Accounted for by the Fourier accountant.
	Planned Mode = "planned"
	// Adaptive: steps may depend on all earlier outputs. Kept by an rdp.Filter.
	Adaptive Mode = "adaptive"
	// AdaptiveGaussian: as Adaptive, for steps on the whole data set that have a proved μ (profiles.Mu): Gaussian
	// noise, of which the total is then exact, Laplace and whole-number noise. Kept by a filter of Σμ², as
	// rdp.GaussianFilter is one.
	AdaptiveGaussian Mode = "adaptive-gaussian"
	// AdaptiveMenu: as Adaptive, for steps of types that a menu declares (Config.Menu), at the exact price of choosing
	// among them. Kept in units.
	AdaptiveMenu Mode = "adaptive-menu"
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
	// Units is what an adaptive-menu ledger's entries cost of UnitsBudget. It depends on outputs; the guarantee is the budget.
	Units, UnitsBudget int
}

// An admission is an entry's plan, with the text that stands for it, and how many runs it has.
type admission struct {
	text     string
	plan     *accountant.Plan
	runs     int64
	cost     []float64 // in a filter, once that is computed
	leaks    bool      // a tail of some step may give everything away
	branched bool      // some step has branches on disjoint parts of the records
}

// A policy decides about spends.
type policy interface {
	// price computes the cost of a spend, where that does not depend on others, or returns why it can never be admitted.
	price(a *admission) error
	// admits reports whether spends fit, all together, as far as that needs no computation.
	admits(all ...*admission) bool
	// fits returns why n more of each spend, all together, would not be admitted, and counts nothing.
	fits(ctx context.Context, n int64, all ...*admission) error
	// count takes over an entry.
	count(a *admission) error
	// sums returns upper bounds of what everything counted costs, resume counts entries that cost that instead of any others,
	// and covers recomputes whether what is counted costs no more.
	sums(ctx context.Context) (sums, error)
	resume(s sums) error
	covers(ctx context.Context, s sums) error
	// spent returns what everything counted costs, and Status.Left.
	spent(ctx context.Context) (s Spent, left float64, err error)
}

// errSums is of a checkpoint that no program writes for a ledger of this kind.
var errSums = fault.New("sums", "are not those of a checkpoint of this ledger")

// num writes x with seven digits, or with all if it would read like other.
func num(x, other float64) string {
	if s := digits(x, 7); x == other || s != digits(other, 7) {
		return s
	}
	return digits(x, -1)
}

// digits writes x with so many digits, or for -1 with the fewest that read back as x.
func digits(x float64, n int) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', n, 64), "e-0", "e-", 1)
}
