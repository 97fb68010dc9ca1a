package ledger

import (
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
)

// A Config fixes what a ledger promises. It cannot be changed later.
type Config struct {
	Neighbors profiles.Relation
	// RecordsPerPerson is how many records a person has at most, where the budget is for
	// each person; 0 and 1 for each record.
	RecordsPerPerson int64
	Epsilon, Delta   float64
	Mode             Mode
	// Orders are the Rényi orders of an adaptive ledger; nil picks a handful that
	// suit the budget. A planned ledger has none.
	Orders []float64
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
	l.rest()
	return true
}

// rest forgets everything but the last line, and what calls.
func (l *Ledger) rest() {
	if s := l.state; l.seen.head == "" {
		l.seen = resting{s.head, s.entries}
	}
	l.state = &state{visit: l.state.visit, check: l.state.check}
}

// hasLost is the error of a handle that knew entries which are not there any more.
func (l *Ledger) hasLost(entries int) error {
	return fmt.Errorf("%v: has lost entries: the last line of the %d entries that were read here is not where it was, so they were cut, replaced or changed; nothing more is spent from this handle", l, entries)
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

// A state is what the lines read so far amount to.
type state struct {
	config  Config
	header  bool
	lines   int64 // with the header and checkpoints
	entries int
	until   int  // how many of them the checkpoint stands for that is believed, 0 if none is
	summed  int  // until, once that was read
	marked  mark // the last checkpoint
	runs    int64
	before  string // checksum of the line before the last
	head    string // checksum of the last line
	last    string // time of the last entry
	policy  policy
	visit   func(e entry, sum string) // is called with each entry, if set
	check   func(sums) error          // is called with the sums of each checkpoint of this program, if set
	stored  map[string]admission      // plans seen lately, by the bytes that the line has
	parsed  int                       // the bytes of those and of their texts
	keys    map[digest]digest         // of the entries that have one: their plans
	added   []digest                  // the keys of spends since the state was marked
}

// A mark is where a checkpoint stands: behind how many entries, and which program has written it; number counts them.
type mark struct {
	number, entries int
	program         string
}

// mark returns a function that takes the state back to what it is now.
func (s *state) mark() (undo func()) {
	s.added = nil
	old, back := *s, s.policy.mark()
	return func() {
		for _, key := range s.added {
			delete(s.keys, key)
		}
		*s = old
		back()
	}
}

// replay adds a line that was read.
func (s *state) replay(line Line, quick bool) (err error) {
	switch {
	case !s.header:
		err = s.readHeader(line.Content)
	case isCheckpoint(line.Content):
		err = s.pass(line.Content)
	default:
		var e entry
		if e, err = s.entry(line.Content); err == nil {
			err = s.count(e, quick)
		}
		if err == nil && s.visit != nil {
			s.visit(e, line.Sum)
		}
	}
	if err == nil {
		s.moved(line)
	}
	return err
}

// moved makes a line the last one.
func (s *state) moved(line Line) {
	s.lines++
	s.before, s.head = s.head, line.Sum
}

func (s *state) readHeader(content []byte) error {
	var h header
	if len(content) > maxHeader {
		return fault.New("header", "has more than %d bytes", maxHeader)
	}
	if err := strict(content, &h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fault.New("ledger", "%d is not a known version, must be 1", h.Version)
	}
	r, err := profiles.ParseRelation(h.Neighbors)
	if err != nil {
		return err
	}
	if h.RecordsPerPerson < 0 || h.RecordsPerPerson == 1 {
		return fault.New("records-per-person", "%d is not a whole number above 1", h.RecordsPerPerson)
	}
	return s.begin(&Config{r, h.RecordsPerPerson, h.Epsilon, h.Delta, h.Mode, h.Orders})
}
