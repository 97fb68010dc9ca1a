// Checkpoint: a line that makes a long ledger quick to open.

package ledger

import (
	"context"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Checkpoint adds a line to the file that says what all entries before it cost. No entry is removed. When the program that has
// written it opens the file again, it verifies every checksum as always, but computes the cost of later entries only; Verify, and any
// other version of the program, computes that of all.
//
// A planned ledger adds the cost of later entries to that of the checkpoint by basic composition, which is enough to admit
// most spends; before it refuses one it reads and composes all entries. The checkpoint itself takes as long as
// Verify, without keeping a spend waiting.
func (l *Ledger) Checkpoint(ctx context.Context) error {
	if l.path == "" {
		return fault.New("ledger", "is not a file, and only files have checkpoints")
	}
	if program() == "" {
		return fault.New("checkpoint", "cannot be made by a program that does not know its version")
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	for range 2 * tries {
		if _, err := l.load(ctx); err != nil {
			return err
		}
		if err := l.whole(ctx); err != nil {
			return err
		}
		s := l.state
		if m := s.marked; m.number > 0 && m.entries == s.entries && m.program == program() {
			return nil
		}
		if err := s.judge.recheck(ctx); err != nil {
			return err
		}
		sums, err := s.judge.sums(ctx)
		if err != nil {
			return err
		}
		head := s.head
		done, err := l.underLock(ctx, false, func(context.Context) ([]Line, error) {
			if s.head != head {
				return nil, errUnknown
			}
			line, err := newLine(head, checkpoint{int64(s.entries), now(), program(), s.runs, sums})
			if err != nil {
				return nil, err
			}
			s.moved(line.Sum, int64(len(line.Content)+lineFrame), "")
			s.marked = mark{s.marked.number + 1, s.entries, program()}
			return []Line{line}, nil
		})
		if err != nil || done {
			return err
		}
	}
	return l.overtaken()
}
