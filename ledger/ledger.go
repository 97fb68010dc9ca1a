package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

// A Config fixes what a ledger promises. It cannot be changed later.
type Config struct {
	Neighbors profiles.Relation `json:"-"`
	// RecordsPerPerson is how many records a person has at most, where the budget is for
	// each person; 0 and 1 for each record.
	RecordsPerPerson int64   `json:"records-per-person,omitempty"`
	Epsilon          float64 `json:"epsilon"`
	Delta            float64 `json:"delta"`
	Mode             Mode    `json:"mode"`
	// Orders are the Rényi orders of an adaptive ledger; nil picks a handful that
	// suit the budget. A planned ledger has none.
	Orders []float64 `json:"orders,omitempty"`
	// Menu is that of an adaptive-menu ledger, of which making one needs no more than the text: relation, unit and budget are
	// those of the menu.
	Menu *MenuConfig `json:"menu,omitempty"`
}

// ErrBudget is wrapped by the error of a spend that would pass the budget. It is the
// filter's, so that one errors.Is serves whoever uses both.
var ErrBudget = rdp.ErrBudget

// A Ledger is an open ledger: a handle. It holds no lock between calls: several
// processes may have the same file open, and each call sees what the others have
// spent. It remembers the last line that it has read, and when the file does not
// have it any more every call is an error from then on.
// It is safe for use by several goroutines.
type Ledger struct {
	turn   chan struct{} // holds something during a call
	store  Store
	state  *state
	config Config // that of state, for who asks during a call
	trust  bool   // takes what this program's last checkpoint says for what the entries before it cost
	lost   error  // why this handle is of no use any more
	seen   resting
	queue  chan *request
}

// String names the ledger in messages.
func (l *Ledger) String() string { return l.store.String() }

// A resting handle has forgotten all but the last line that it has read, which must be there when it reads again.
// Verify looks for the line of a head so, too, with a negative number of entries.
type resting struct {
	head    string // "" once it was found
	entries int
}

// Rest frees what the handle remembers of the entries, but for the last line: the next call reads them anew, and is an
// error if they do not have that line any more, as if it had not rested. It reports false, and does nothing, during another call and
// for a ledger in memory.
func (l *Ledger) Rest() bool {
	if _, ok := l.store.(*memory); ok {
		return false
	}
	select {
	case l.turn <- struct{}{}:
		defer l.end()
	default:
		return false
	}
	if s := l.state; l.seen.head == "" {
		l.seen = resting{s.head, s.entries}
	}
	l.state = &state{}
	return true
}

// begin waits until no other call is under way; end must follow.
func (l *Ledger) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Ledger) end() { <-l.turn }

// New returns a ledger in memory, which ends with the process.
func New(c Config) (*Ledger, error) { return Create(context.Background(), &memory{}, c) }

// Create makes a ledger in a store that is empty; the error of one that is not is fs.ErrExist. A file may be there
// if it is empty or nothing but the beginning of a header, which a Create that was killed has left behind.
func Create(ctx context.Context, s Store, c Config) (*Ledger, error) {
	if f, ok := s.(*file); ok {
		s = &file{path: f.path, fresh: true}
	}
	if c.Mode == AdaptiveMenu {
		if err := c.price(ctx); err != nil {
			return nil, err
		}
	}
	line, err := firstLine(&c)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, lockWait, ErrBusy)
	defer cancel()
	err = s.Append(limited, func(lines func(int64, func(Line) error) error) ([]Line, error) {
		err := lines(0, func(Line) error { return errExists(s) })
		return []Line{line}, err
	})
	if err != nil {
		return nil, err
	}
	return Open(ctx, s)
}

func errExists(s Store) error { return known{fmt.Errorf("%v: exists already", s), fs.ErrExist} }

// Open opens the ledger in a store, and reads and verifies all of it. The error of a store that has none is fs.ErrNotExist.
func Open(ctx context.Context, s Store) (*Ledger, error) {
	l := open(s)
	_, l.trust = s.(*file)
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	l.config = l.state.config
	return l, nil
}

// open returns a handle that has not read anything yet. Where a file was read up to is known to each handle for itself.
func open(s Store) *Ledger {
	if f, ok := s.(*file); ok {
		s = &file{path: f.path}
	}
	return &Ledger{store: s, turn: make(chan struct{}, 1), queue: make(chan *request, maxBatch), state: &state{}}
}

// load reads what is new, without a lock.
func (l *Ledger) load(ctx context.Context) error {
	if l.lost != nil {
		return l.lost
	}
	if l.trust && !l.state.header {
		l.state.until = l.trusted(ctx)
	}
	err := l.follow(func(n int64, each func(Line) error) error { return l.store.Lines(ctx, n, each) }, false)
	switch {
	case err != nil:
	case !l.state.header:
		err = known{fmt.Errorf("%v: has no ledger, as it has no complete first line; nothing was spent in it", l), fs.ErrNotExist}
	case l.state.summed < l.state.until: // the checkpoint was taken back in between
		err = l.whole(ctx)
	}
	return err
}

// whole has every entry counted for itself, also those that a checkpoint stands for.
func (l *Ledger) whole(ctx context.Context) error {
	if l.state.until == 0 {
		return nil
	}
	all := open(l.store)
	all.seen = resting{l.state.head, l.state.entries}
	err := all.load(ctx)
	if l.lost = all.lost; err == nil {
		l.state = all.state
	}
	return err
}

// follow takes over what lines gives. The last line that was read comes again, and must be there unchanged.
// With held, which is under the lock, it ends in ErrConflict at an entry whose price is to be computed. What it has taken over stays,
// also when a later line is wrong.
func (l *Ledger) follow(lines func(int64, func(Line) error) error, held bool) error {
	s := l.state
	s.held = held
	again := s.header
	if again && l.seen.head == "" {
		l.seen = resting{s.head, s.entries}
	}
	err := lines(max(0, s.lines-1), func(line Line) error {
		switch {
		case again && (line.Sum != s.head || !line.follows(s.before)):
			return errChain
		case again:
			again = false
		case !line.follows(s.head):
			return atLine(l.store, s.lines+1, errChain)
		default:
			if err := s.replay(line); err != nil {
				return atLine(l.store, s.lines+1, err)
			}
		}
		if line.Sum == l.seen.head {
			l.seen = resting{}
		}
		return nil
	})
	s.held = false
	switch {
	case l.seen.head == "", err != nil && !errors.Is(err, errChain), err != nil && l.seen.entries < 0:
		return err
	case l.seen.entries < 0:
		l.lost = fmt.Errorf("%v: no line has the checksum %s: entries were taken away or rewritten", l, l.seen.head)
	default:
		l.lost = fmt.Errorf("%v: has lost entries: the last line of the %d entries that were read here is not where it was, so they were cut, replaced or changed; nothing more is spent from this handle", l, l.seen.entries)
	}
	return l.lost
}

// atLine is an error about the line with a number.
func atLine(s Store, number int64, err error) error { return fmt.Errorf("%v:%d: %w", s, number, err) }

// change adds the lines that make returns on top of all that is there, or nothing. done is false if it is to be tried again, as
// somebody was first.
func (l *Ledger) change(ctx context.Context, make func(ctx context.Context) ([]Line, error)) (done bool, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, lockWait, ErrBusy)
	defer cancel()
	held := limited
	var added []Line
	err = l.store.Append(limited, func(lines func(int64, func(Line) error) error) ([]Line, error) {
		testHeld()
		if err := l.follow(lines, true); err != nil {
			return nil, err
		}
		var cancel context.CancelFunc
		held, cancel = context.WithTimeout(ctx, lockWait/2) // others wait for lockWait
		defer cancel()
		added, err = make(held)
		return added, err
	})
	switch {
	case err == nil:
		for _, line := range added {
			if l.state.replay(line) != nil {
				break // the next call reads the line, and returns why
			}
		}
		return true, nil
	case errors.Is(err, ErrConflict):
		return false, nil
	case errors.Is(err, ErrInDoubt) || errors.Is(err, ErrBusy) || ctx.Err() != nil:
		return false, err
	case limited.Err() != nil && errors.Is(err, limited.Err()):
		err = known{fmt.Errorf("%v: waited %v for others, and nothing was spent: %w", l, lockWait, err), ErrBusy}
	case errors.Is(held.Err(), context.DeadlineExceeded):
		err = l.overtaken()
	}
	return false, err
}

// Config returns what the ledger promises.
func (l *Ledger) Config() Config {
	c := l.config
	c.Orders = slices.Clone(c.Orders)
	return c
}

// maxNote is the largest note in bytes.
const maxNote = 1000

// SpendPlan charges all steps of a plan file to the budget, or none of them. The plan must have
// the ledger's relation and unit. The note is free text for the readers of the file.
//
// When ctx ends, or another process holds the file's lock for more than ten
// seconds, it returns an error, and nothing was spent. Spends that wait for one another reach the
// disk together.
func (l *Ledger) SpendPlan(ctx context.Context, plan []byte, note string) error {
	return l.spend(ctx, entry{Note: note, Plan: storedPlan(plan)})
}

// SpendOnce is SpendPlan for callers who may not learn how it ended, and ask again with the same
// key: of all spends with a key, of any process and at any time, one is charged, and those after it
// return again. It is an error if the plan is not the one that was granted under the key. A spend
// that was refused leaves no key behind. A key is up to 200 bytes of printable text.
func (l *Ledger) SpendOnce(ctx context.Context, key string, plan []byte, note string) (again bool, err error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	err = l.spend(ctx, entry{Note: note, Key: key, Plan: storedPlan(plan)})
	if errors.Is(err, errGranted) {
		return true, nil
	}
	return false, err
}

// storedPlan is the plan as the file has it: JSON as JSON, YAML as a string.
func storedPlan(plan []byte) json.RawMessage {
	var b bytes.Buffer
	if t := bytes.TrimSpace(plan); bytes.HasPrefix(t, []byte("{")) && utf8.Valid(t) && json.Compact(&b, t) == nil {
		return b.Bytes()
	}
	text, _ := json.Marshal(string(plan)) // bytes that are not UTF-8 turn into U+FFFD
	return text
}
