package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"

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
	if _, ok := l.store.(*file); !ok {
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
		if err := l.load(ctx); err != nil {
			return err
		}
		if err := l.whole(ctx); err != nil {
			return err
		}
		s := l.state
		if m := s.marked; m.number > 0 && m.entries == s.entries && m.program == program() {
			return nil
		}
		if spent, err := s.policy.spent(ctx); err != nil {
			return err
		} else if err := s.config.within(spent); err != nil {
			return err
		}
		sums, err := s.policy.sums(ctx)
		if err != nil {
			return err
		}
		head := s.head
		done, err := l.change(ctx, func(context.Context) ([]Line, error) {
			if s.head != head {
				return nil, errUnknown
			}
			line, err := newLine(head, checkpoint{int64(s.entries), now(), program(), s.runs, sums})
			if err != nil {
				return nil, err
			}
			s.moved(line)
			s.marked = mark{s.marked.number + 1, s.entries, program()}
			return []Line{line}, nil
		})
		if err != nil || done {
			return err
		}
	}
	return l.overtaken()
}

// trusted returns how many entries the last checkpoint of this program stands for, 0 if there is none: they are read all the same,
// but need not be computed. If the lines cannot be read, who goes on to read them learns why.
func (l *Ledger) trusted(ctx context.Context) (entries int) {
	_ = l.store.Lines(ctx, 0, func(line Line) error {
		var c checkpoint
		if isCheckpoint(line.Content) && strict(line.Content, &c) == nil && c.Program != "" && c.Program == program() {
			entries = int(c.Entries)
		}
		return nil
	})
	return entries
}

// pass takes over a checkpoint. That which is believed stands for the entries before it; any other one is passed by, or checked.
func (s *state) pass(content []byte) error {
	var c checkpoint
	if err := strict(content, &c); err != nil {
		return err
	}
	mine := c.Program != "" && c.Program == program()
	switch {
	case c.Entries != int64(s.entries):
		return fault.New("checkpoint", "%d is not the number of entries before it, %d", c.Entries, s.entries)
	case s.summed < s.until && (s.entries < s.until || !mine): // the one that is believed comes
	case s.summed < s.until:
		if c.Runs < 0 || c.Runs > maxRuns {
			return fault.New("runs", "%d is not in [0, 2^53]", c.Runs)
		}
		if err := s.policy.resume(c.Sums); err != nil {
			return err
		}
		s.runs, s.summed = c.Runs, s.entries
	case c.Runs != s.runs:
		return fault.New("runs", "%d is not the number of runs before it, %d", c.Runs, s.runs)
	case s.check != nil && mine:
		if err := s.check(c.Sums); err != nil {
			return err
		}
	}
	s.marked = mark{s.marked.number + 1, s.entries, c.Program}
	return nil
}

// A checkpoint is the content of a line that says what all entries before it cost, so that a program that opens the file need not
// compute that again. It is in the chain of checksums like every line, and removes nothing. It proves nothing by itself: it is the claim
// of the program that wrote it, which only the same program believes, and which Verify computes again from the entries. Its
// first key tells it from an entry.
type checkpoint struct {
	Entries int64  `json:"checkpoint"` // before it
	Time    string `json:"time"`
	Program string `json:"program"`
	Runs    int64  `json:"runs"` // of mechanisms, in the entries
	Sums    sums   `json:"sums"`
}

// sums are upper bounds of what entries cost: one of them is there, by the ledger's mode.
type sums struct {
	// Epsilon has bounds of ε at some δ, the first at the ledger's own, at which Lower is a lower one: planned.
	Epsilon []point `json:"epsilon,omitempty"`
	Lower   float64 `json:"lower,omitempty"`
	// Renyi has the divergence at each order that the filter has, null for +Inf: adaptive.
	Renyi []*float64 `json:"renyi,omitempty"`
	// SquaredMu is Σμ²: adaptive-gaussian.
	SquaredMu *float64 `json:"squared-mu,omitempty"`
}

// A point says that entries are (Epsilon, Delta)-differentially private.
type point struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

const checkpointBegin = `{"checkpoint":`

// isCheckpoint reports whether a content is that of a checkpoint, and not an entry.
func isCheckpoint(content []byte) bool { return bytes.HasPrefix(content, []byte(checkpointBegin)) }

// program names what computes here. Two programs of one name compute the same bounds: it is a released version of the
// module, a commit of it, or else the checksum of the program's file; "" if nothing is known, which no checkpoint believes.
var program = sync.OnceValue(func() string {
	const module = "github.com/dpaccountant/accountant"
	if info, ok := debug.ReadBuildInfo(); ok {
		m := &info.Main
		for _, d := range info.Deps {
			if d.Path == module && d.Replace == nil {
				m = d
			}
		}
		if m.Path == module && strings.HasPrefix(m.Version, "v") && !strings.HasSuffix(m.Version, "+dirty") {
			return module + "@" + m.Version
		}
	}
	f, err := openSelf()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
})

// openSelf opens the program's file. On Linux that is the file that runs, also where its name has been given to a newer program:
// a checkpoint with that one's checksum would be believed by it, and not be its own.
func openSelf() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}
