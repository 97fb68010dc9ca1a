// Opening and spending. Every call has the ledger's turn to itself; nothing is spent unless it is
// in the file.

package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
)

// New returns a ledger in memory, which ends with the process.
func New(c Config) (*Ledger, error) {
	l := open("")
	if err := l.state.begin(&c); err != nil {
		return nil, err
	}
	return l, nil
}

// Config returns what the ledger promises.
func (l *Ledger) Config() Config {
	c := l.state.config
	c.Orders = slices.Clone(c.Orders)
	return c
}

// Spend charges a step to the budget. It accepts what it can write down: the
// Gaussian and the Laplace mechanism on the whole data set or a Poisson sample,
// and groups of them; SpendPlan takes everything that a plan file can say.
//
// When ctx ends, or another process holds the file's lock for more than ten
// seconds, it returns an error, and nothing was spent.
func (l *Ledger) Spend(ctx context.Context, s accountant.Step) error {
	text, err := planText(s, l.state.config)
	if err != nil {
		return err
	}
	return l.SpendPlan(ctx, text, s.Name)
}

// maxNote is the largest note in bytes.
const maxNote = 1000

// SpendPlan charges all steps of a plan file, or none of them, as Spend does. The
// plan must have the ledger's relation and unit. The note is free text for the readers of
// the file.
func (l *Ledger) SpendPlan(ctx context.Context, plan []byte, note string) error {
	if len(note) > maxNote || !utf8.ValidString(note) {
		return fault.New("note", "is not UTF-8 text of at most %d bytes", maxNote)
	}
	e := entry{Time: time.Now().UTC().Format(time.RFC3339), Note: note, Plan: storedPlan(plan)}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	if l.path != "" {
		return l.append(ctx, e)
	}
	a, err := l.state.judged(ctx, e)
	if err != nil {
		return err
	}
	l.state.count(e, a)
	return nil
}

// storedPlan is the plan as the file has it: JSON as JSON, YAML as a string.
func storedPlan(plan []byte) json.RawMessage {
	if t := strings.TrimSpace(string(plan)); strings.HasPrefix(t, "{") && utf8.ValidString(t) && json.Valid([]byte(t)) {
		var b bytes.Buffer
		if json.Compact(&b, []byte(t)) == nil {
			return b.Bytes()
		}
	}
	text, _ := json.Marshal(string(plan)) // bytes that are not UTF-8 turn into U+FFFD
	return text
}
