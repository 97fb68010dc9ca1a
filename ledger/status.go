package ledger

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Status tells what a ledger promises and what is spent.
type Status struct {
	Config  Config
	Entries int
	Runs    int64 // of mechanisms, in all entries
	Spent   Spent
	// Left is what is left of ε (planned), or of the Rényi divergence at the order
	// Spent.Order (adaptive), or the μ that one more step may have (adaptive-gaussian).
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
	st = Status{Config: s.config.clone(), Entries: s.entries, Runs: s.runs, Last: s.last, Head: s.head, Checkpoints: s.marked.number, Summed: s.summed, Guarantee: guarantee(s.config)}
	switch store := l.store.(type) {
	case *file:
		st.Torn = store.torn
	case *memory:
		st.Head = ""
	}
	if st.Spent, err = s.policy.spent(ctx); err != nil {
		return st, err
	}
	switch s.config.Mode {
	case Planned:
		st.Left = max(0, s.config.Epsilon-max(0, st.Spent.Epsilon.Upper))
	case AdaptiveGaussian:
		st.Left = math.Sqrt(max(0, st.Spent.MuBudget*st.Spent.MuBudget-st.Spent.Mu*st.Spent.Mu))
	default:
		st.Left = max(0, st.Spent.RenyiBudget-st.Spent.Renyi)
	}
	return st, nil
}

// exact is the shortest decimal that reads back as x.
func exact(x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'g', -1, 64), "e-0", "e-", 1)
}

func guarantee(c Config) string {
	what := fmt.Sprintf("(ε = %s, δ = %s)-differentially private under %v", exact(c.Epsilon), exact(c.Delta), c.Neighbors)
	if c.RecordsPerPerson > 1 {
		what += fmt.Sprintf(" of a person with at most %d records", c.RecordsPerPerson)
	}
	switch c.Mode {
	case AdaptiveGaussian:
		return "All that is entered, now and later, is together " + what + ", by the filter of Gaussian differential privacy, as each step is Gaussian noise on the whole data set; each may be chosen in the light of all earlier outputs."
	case Planned:
		return "All that is entered is, together, " + what + ", by the Fourier accountant, provided that no step's parameters, and not whether it ran, depended on outputs of earlier steps."
	}
	return "All that is entered, now and later, is together " + what + ", by a Rényi filter; each step may be chosen in the light of all earlier outputs."
}

// Check reads a ledger file from its beginning, verifies every checksum,
// recomputes the total and compares it with the budget, and with what the checkpoints of this program say. An error names the first
// line that is wrong. A torn end is none: see Status.Torn.
func Check(ctx context.Context, path string) (Status, error) { return Verify(ctx, path, "") }

// Verify is Check, and looks for a checksum that Status.Head had earlier: it is
// an error if the file does not have it any more, which means that entries were
// taken away or rewritten.
func Verify(ctx context.Context, path, head string) (Status, error) {
	return VerifyStore(ctx, &file{path: path}, head)
}

// VerifyStore is Verify for a ledger in a store.
func VerifyStore(ctx context.Context, s Store, head string) (Status, error) {
	if head != "" && !isHead(head) {
		return Status{}, fault.New("head", "%.80q is not a checksum of 64 hexadecimal digits", head)
	}
	l := open(s)
	l.state.check = func(s sums) error { return l.state.policy.covers(ctx, s) }
	l.seen = resting{head, -1}
	st, err := l.status(ctx)
	if err != nil {
		return st, err
	}
	if err := st.Config.within(st.Spent); err != nil {
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
