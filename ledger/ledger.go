// Opening and spending. Every call has the ledger's turn to itself; nothing is spent unless it is
// in the file.

package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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
	return l.opened(), nil
}

// CreateStore makes a ledger in a store that is empty; the error of one that is not is fs.ErrExist.
func CreateStore(ctx context.Context, s Store, c Config) (*Ledger, error) {
	line, err := firstLine(&c)
	if err != nil {
		return nil, err
	}
	err = s.Append(ctx, func(lines func(int64, func(Line) error) error) ([]Line, error) {
		err := lines(0, func(Line) error { return known{fmt.Errorf("%s: exists already", s), fs.ErrExist} })
		return []Line{line}, err
	})
	if err != nil {
		return nil, err
	}
	return OpenStore(ctx, s)
}

// OpenStore opens the ledger in a store, and reads and verifies all of it. The error of a store that has none is fs.ErrNotExist.
func OpenStore(ctx context.Context, s Store) (*Ledger, error) {
	l := open("")
	l.store = s
	if _, err := l.load(ctx); err != nil {
		return nil, err
	}
	return l.opened(), nil
}

// Config returns what the ledger promises.
func (l *Ledger) Config() Config { return l.config.clone() }

func (c Config) clone() Config {
	c.Orders = slices.Clone(c.Orders)
	return c
}

// Spend charges a step to the budget. It accepts what it can write down: the
// Gaussian and the Laplace mechanism on the whole data set or a Poisson sample,
// and groups of them; SpendPlan takes everything that a plan file can say.
//
// When ctx ends, or another process holds the file's lock for more than ten
// seconds, it returns an error, and nothing was spent. Spends that wait for one another reach the
// disk together.
func (l *Ledger) Spend(ctx context.Context, s accountant.Step) error {
	text, err := planText(s, l.config)
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
	return l.enter(ctx, entry{Note: note, Plan: storedPlan(plan)})
}

// SpendOnce is SpendPlan for callers who may not learn how it ended, and ask again with the same
// key: of all spends with a key, of any process and at any time, one is charged, and those after it
// return again. It is an error if the plan is not the one that was granted under the key. A spend
// that was refused leaves no key behind. A key is up to 200 bytes of printable text.
func (l *Ledger) SpendOnce(ctx context.Context, key string, plan []byte, note string) (again bool, err error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	err = l.enter(ctx, entry{Note: note, Key: key, Plan: storedPlan(plan)})
	if errors.Is(err, errGranted) {
		return true, nil
	}
	return false, err
}

// enter charges an entry, to which it gives the time.
func (l *Ledger) enter(ctx context.Context, e entry) error {
	if len(e.Note) > maxNote || !utf8.ValidString(e.Note) {
		return fault.New("note", "is not UTF-8 text of at most %d bytes", maxNote)
	}
	e.Time = now()
	return l.spend(ctx, e)
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
