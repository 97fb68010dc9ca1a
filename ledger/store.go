package ledger

import (
	"context"
	"errors"
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
