// Where the lines of a ledger are kept if not in a file: the interface to it. What a line is, and whether a spend is
// admitted, is the same as for files.

package ledger

import (
	"context"
	"errors"
)

// A Store keeps the lines of one ledger, in order, and only adds to them: a database does, where one file
// is not enough. It knows nothing of budgets, and need not be trusted with the order or the content of the lines: each has a
// checksum of all before it, which the ledger verifies. Package sqlledger, a module of its own, has one for SQL.
type Store interface {
	// Lines calls each with every line after the first n, in order, until that returns an error, which it returns.
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
)

// A known error is another one as well, for those who tell them apart.
type known struct {
	error
	as error
}

func (k known) Is(target error) bool { return target == k.as }

func (k known) Unwrap() error { return k.error }
