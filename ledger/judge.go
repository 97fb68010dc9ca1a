// What a judge of a ledger does, and what it reports as spent.

package ledger

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
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

// A judge decides about spends.
type judge interface {
	// prepare does what a spend takes to be admitted, or returns why it cannot be.
	prepare(ctx context.Context, text string, p *accountant.Plan) error
	// admits reports whether a spend fits, as far as that needs no computation.
	admits(text string) bool
	// take counts a spend that it admits.
	take(text string)
	// restore takes over an entry of the file; quick makes it return errUnknown
	// rather than compute.
	restore(text string, p *accountant.Plan, quick bool) error
	// recheck recomputes whether everything restored is within the budget.
	recheck(ctx context.Context) error
	spent(ctx context.Context) (Spent, error)
}

// errUnknown is of what takes a computation where there is no time for one.
var errUnknown = errors.New("is not known yet")

// num writes x with seven digits, or with all if it would read like other.
func num(x, other float64) string {
	s := strconv.FormatFloat(x, 'g', 7, 64)
	if x != other && s == strconv.FormatFloat(other, 'g', 7, 64) {
		s = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Replace(s, "e-0", "e-", 1)
}
