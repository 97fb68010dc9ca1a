package ledger

import (
	"fmt"
	"strconv"
	"strings"
)

// A Status tells what a ledger promises and what is spent.
type Status struct {
	Config  Config
	Entries int
	Runs    int64 // of mechanisms, in all entries
	Spent   Spent
	// Left is what is left of ε (planned), or of the Rényi divergence at the order
	// Spent.Order (adaptive).
	Left      float64
	Last      string // time of the last entry, "" if there is none
	Head      string // checksum of the last line, "" in memory
	Torn      int64  // bytes at the end of the file of a spend that never was
	Guarantee string // what is guaranteed, and on what condition, in words
}

// Status computes what is spent so far.
func (l *Ledger) Status() (Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status(nil)
}

func (l *Ledger) status(seen func(string)) (st Status, err error) {
	t, err := l.load(seen)
	if err != nil {
		return st, err
	}
	s := l.state
	st = Status{Config: s.config, Entries: s.entries, Runs: s.runs, Last: s.last, Head: s.head, Torn: t.torn, Guarantee: guarantee(s.config)}
	if st.Spent, err = s.judge.spent(); err != nil {
		return st, err
	}
	if s.config.Mode == Planned {
		st.Left = max(0, s.config.Epsilon-max(0, st.Spent.Epsilon.Upper))
	} else {
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
	if c.Mode == Planned {
		return "All that is entered is, together, " + what + ", by the Fourier accountant, provided that no step's parameters, and not whether it ran, depended on outputs of earlier steps."
	}
	return "All that is entered, now and later, is together " + what + ", by a Rényi filter; each step may be chosen in the light of all earlier outputs."
}

// Check reads a ledger file from its beginning, verifies every checksum,
// recomputes the total and compares it with the budget. An error names the first
// line that is wrong.
func Check(path string) (Status, error) { return Verify(path, "") }

// Verify is Check, and looks for a checksum that Status.Head had earlier: it is
// an error if the file does not have it any more, which means that entries were
// taken away or rewritten.
func Verify(path, head string) (Status, error) {
	if head != "" && !isHead(head) {
		return Status{}, fmt.Errorf("head: %q is not a checksum of 64 hexadecimal digits", head)
	}
	l := &Ledger{path: path}
	found := head == ""
	st, err := l.status(func(sum string) { found = found || sum == head })
	if err != nil {
		return st, err
	}
	if !found {
		return st, fmt.Errorf("%s: no line has the checksum %s: entries were taken away or rewritten", path, head)
	}
	if err := l.state.judge.recheck(); err != nil {
		return st, fmt.Errorf("%s: %w", path, err)
	}
	return st, nil
}
