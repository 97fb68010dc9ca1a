package ledger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
)

// A Status tells what a ledger promises and what is spent.
type Status struct {
	Config  Config
	Entries int
	Runs    int64 // of mechanisms, in all entries
	Spent   Spent
	// Left is what is left of ε (planned), or of the Rényi divergence at the order
	// Spent.Order (adaptive), or the μ that one more step may have (adaptive-gaussian), or units (adaptive-menu).
	Left float64
	Last string // time of the last entry, "" if there is none
	Head string // checksum of the last line, "" in memory
	// Checkpoints is how many the file has, and Summed how many entries were counted by the last one here, and not read.
	Checkpoints, Summed int
	Torn                int64  // bytes at the end of the file of a spend that never was
	Guarantee           string // what is guaranteed, and on what condition, in words
}

// Status computes what is spent so far. It takes no lock.
func (l *Ledger) Status(ctx context.Context) (Status, error) {
	if err := l.begin(ctx); err != nil {
		return Status{}, err
	}
	defer l.end()
	return l.status(ctx)
}

func (l *Ledger) status(ctx context.Context) (st Status, err error) {
	if err := l.load(ctx); err != nil {
		return st, err
	}
	s := l.state
	st = Status{Config: s.config, Entries: s.entries, Runs: s.runs, Last: s.last, Head: s.head, Checkpoints: s.checkpoints, Summed: s.summed, Guarantee: guarantee(s.config)}
	switch store := l.store.(type) {
	case *file:
		st.Torn = store.torn
	case *memory:
		st.Head = ""
	}
	st.Spent, st.Left, err = s.policy.spent(ctx)
	return st, err
}

func guarantee(c Config) string {
	what := fmt.Sprintf("(ε = %s, δ = %s)-differentially private under %v", digits(c.Epsilon, -1), digits(c.Delta, -1), c.Neighbors)
	if c.RecordsPerPerson > 1 {
		what += fmt.Sprintf(" of a person with at most %d records", c.RecordsPerPerson)
	}
	switch c.Mode {
	case AdaptiveGaussian:
		return "All that is entered, now and later, is together " + what + ", by the filter of Gaussian differential privacy, as each step, on the whole data set, has a proved μ; each may be chosen in the light of all earlier outputs."
	case AdaptiveMenu:
		return fmt.Sprintf("All that is entered, now and later, is together %s, as %d units of the menu's types; each step may be chosen in the light of all earlier outputs.", what, c.Menu.Units)
	case Planned:
		return "All that is entered is, together, " + what + ", by the Fourier accountant, provided that no step's parameters, and not whether it ran, depended on outputs of earlier steps."
	}
	return "All that is entered, now and later, is together " + what + ", by a Rényi filter; each step may be chosen in the light of all earlier outputs."
}

// Verify reads a ledger from its beginning, verifies every checksum,
// recomputes the total and compares it with the budget, and with what the checkpoints of this program say. An error names the first
// line that is wrong. A torn end is none: see Status.Torn.
//
// It looks for a checksum that Status.Head had earlier, if head is not "": it is an error if
// the ledger does not have it any more, which means that entries were taken away or rewritten.
func Verify(ctx context.Context, s Store, head string) (Status, error) {
	if head != "" && (len(head) != 2*sha256.Size || strings.Trim(head, hexDigits) != "") {
		return Status{}, fault.New("head", "%.80q is not a checksum of 64 hexadecimal digits", head)
	}
	l := open(s)
	l.state.check = func(s sums) error { return l.state.policy.covers(ctx, s) }
	l.seen = resting{head, -1}
	st, err := l.status(ctx)
	if err != nil {
		return st, err
	}
	if st.Config.Mode == AdaptiveMenu {
		if err := st.Config.verifyMenu(ctx); err != nil {
			return st, fmt.Errorf("%v: %w", l, err)
		}
	}
	if err := st.Config.within(st.Spent); err != nil {
		if _, left := parallel.Work(ctx); left < 0 {
			err = parallel.ErrWork
		}
		return st, fmt.Errorf("%v: %w", l, err)
	}
	return st, nil
}

// within returns an error if the entries of a planned ledger are above the budget. Those of others were judged one by one.
func (c Config) within(s Spent) error {
	if !(s.Epsilon.Upper > c.Epsilon) {
		return nil
	}
	return fmt.Errorf("the entries cost ε = %s at δ = %s, above the budget %s", num(s.Epsilon.Upper, c.Epsilon), num(c.Delta, -1), num(c.Epsilon, -1))
}

// An Entry is a spend of the file.
type Entry struct {
	Time, Note string
	Key        string // that of SpendOnce, or ""
	Plan       string // as it was given; JSON without its blanks
	Runs       int64  // of mechanisms
	Steps      []accountant.Step
	Sum        string // checksum of its line
}

// Log reads a ledger from its beginning, verifies every checksum, and calls each with
// every entry in turn. It takes no lock and computes no total; Verify does.
func Log(ctx context.Context, s Store, each func(Entry)) (Config, error) {
	l := open(s)
	l.state.visit = func(e entry, sum string) {
		a := l.state.stored[string(e.Plan)] // was read just now
		each(Entry{Time: e.Time, Note: e.Note, Key: e.Key, Plan: a.text, Runs: a.runs, Steps: a.plan.Steps, Sum: sum})
	}
	err := l.load(ctx)
	return l.state.config, err
}

// Fits returns how many times in a row a plan could be spent now, at most limit times. It
// spends nothing and reserves nothing: what others spend in between is not there any more.
// A count below limit comes with the refusal of one more, which wraps ErrBudget.
//
// The count rests on the same intervals as a spend, and so may be too small where one
// is wide. It never is too large.
func (l *Ledger) Fits(ctx context.Context, plan []byte, limit int64) (count int64, refusal, err error) {
	if limit < 1 {
		return 0, nil, fault.New("limit", "%d is not in [1, 2^53]", limit)
	}
	if err := l.begin(ctx); err != nil {
		return 0, nil, err
	}
	defer l.end()
	if err := l.load(ctx); err != nil {
		return 0, nil, err
	}
	if err := l.whole(ctx); err != nil { // a checkpoint may be enough to admit, and not to count
		return 0, nil, err
	}
	a, err := l.state.admission(entry{Plan: storedPlan(plan)})
	if err != nil {
		return 0, nil, err
	}
	if a.runs > 0 {
		limit = min(limit, (maxRuns-l.state.runs)/a.runs)
	}
	above := limit + 1
	for n := int64(1); above-count > 1; {
		switch err := l.state.policy.fits(ctx, n, a); {
		case err == nil:
			count = n
		case errors.Is(err, ErrBudget):
			above, refusal = n, err
		default:
			return 0, nil, err
		}
		if n = count + (above-count)/2; above > limit {
			n = min(limit, 2*max(count, 1))
		}
	}
	return count, refusal, nil
}
