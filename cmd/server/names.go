package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"unicode"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
)

// What ledgers have in common wherever they are kept: which names they can have and who may name them, handles that stay
// open, and errors that name a ledger as clients do.

// maxOpen is how many ledgers are kept in memory with their entries. Of all others that were asked for the handle keeps the last
// line, which takes about a kilobyte for each ledger there is.
const maxOpen = 1000

// maxLogged is how many entries ledger-log returns, and maxLoggedBytes how many bytes of their plans, notes and keys: an
// answer is made in memory.
const maxLogged, maxLoggedBytes = 100_000, 32 << 20

// validName reports whether a ledger can have a name: words with slashes between them, of which none begins with a dot, none
// begins or ends with a space, and none has what may change how a line or a page shows it: control and format
// characters, other spaces, and the signs of markup.
func validName(name string) bool {
	strange := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune("\\:<>&\"`", r) }
	if !fs.ValidPath(name) || len(name) > 200 || strings.ContainsFunc(name, strange) {
		return false
	}
	for word := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(word, ".") || strings.TrimSpace(word) != word {
			return false
		}
	}
	return true
}

// CheckName returns an error unless a ledger that is in no folder can have a name.
func CheckName(key, name string) error {
	if !validName(name) {
		return fault.New(key, "%.200q is not a name such as team/budget, of printable characters without <, >, &, : and quotes", name)
	}
	return nil
}

// reach returns an error unless the client may name a ledger.
func reach(ctx context.Context, key, name string) error {
	v := visitOf(ctx)
	if v != nil && v.who.reaches(name) {
		return nil
	}
	if v != nil {
		v.denied = true
	}
	return fault.New(key, "%.200q is not a ledger of this client", name)
}

// handles has one for each ledger that was ever asked for, as what a handle has seen must outlive what it keeps in
// memory: a database or a file that was taken back to an older state is noticed by nobody else.
type handles struct {
	limit int // of ledgers in memory with their entries
	mu    sync.Mutex
	known map[string]*opened
	awake map[*opened]bool // those with their entries in memory
}

// An opened ledger is shared by all requests: its handle notices entries that are lost.
type opened struct {
	turn   chan struct{} // holds something while the ledger is opened
	ledger *ledger.Ledger
	users  int // requests that open it
}

// get returns the handle of a ledger, which it opens if it is not. A name that no ledger has leaves nothing behind.
func (h *handles) get(ctx context.Context, name string, open func() (*ledger.Ledger, error)) (l *ledger.Ledger, err error) {
	o := h.enter(name)
	defer func() { h.leave(name, o, l) }()
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if o.ledger == nil {
		if o.ledger, err = open(); err != nil {
			o.ledger = nil
		}
	}
	return o.ledger, err
}

// enter returns where the handle of a ledger is or will be.
func (h *handles) enter(name string) *opened {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil {
		h.known, h.awake = map[string]*opened{}, map[*opened]bool{}
	}
	o := h.known[name]
	if o == nil {
		o = &opened{turn: make(chan struct{}, 1)}
		h.known[name] = o
	}
	o.users++
	return o
}

// leave ends what enter began, with the handle or nil, and has others rest if too many are in memory. Those that are at work
// do not: there are no more of them than requests.
func (h *handles) leave(name string, o *opened, l *ledger.Ledger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.users--; l == nil {
		if o.users == 0 && o.ledger == nil {
			delete(h.known, name)
		}
		return
	}
	h.awake[o] = true
	for other := range h.awake {
		if len(h.awake) <= cmp.Or(h.limit, maxOpen) {
			break
		}
		if other != o && other.users == 0 && other.ledger.Rest() {
			delete(h.awake, other)
		}
	}
}

// logged lists a ledger of up to maxLogged entries and maxLoggedBytes.
func logged(ctx context.Context, name string, each func(ledger.Entry), log func(context.Context, string, func(ledger.Entry)) (ledger.Config, error)) (ledger.Config, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n, size := 0, 0
	c, err := log(ctx, name, func(e ledger.Entry) {
		n++
		if size += len(e.Plan) + len(e.Note) + len(e.Key); n > maxLogged || size > maxLoggedBytes {
			stop()
			return
		}
		each(e)
	})
	if n > maxLogged || size > maxLoggedBytes {
		return c, fault.New("path", "%q has more than %d entries, or %d bytes of plans; the command lists them where the ledger is", name, maxLogged, maxLoggedBytes)
	}
	return c, err
}

// A shown ledger has errors that name it as clients do.
type shown struct {
	*ledger.Ledger
	files *files
	name  string
}

func (s shown) outside(err error) error { return s.files.outside(err, "ledger", s.name) }

func (s shown) SpendPlan(ctx context.Context, text []byte, note string) error {
	return s.outside(s.Ledger.SpendPlan(ctx, text, note))
}

func (s shown) SpendOnce(ctx context.Context, key string, text []byte, note string) (bool, error) {
	again, err := s.Ledger.SpendOnce(ctx, key, text, note)
	return again, s.outside(err)
}

func (s shown) Status(ctx context.Context) (ledger.Status, error) {
	st, err := s.Ledger.Status(ctx)
	return st, s.outside(err)
}

func (s shown) Fits(ctx context.Context, text []byte, limit int64) (int64, error, error) {
	n, refusal, err := s.Ledger.Fits(ctx, text, limit)
	return n, refusal, s.outside(err)
}

// A fileError is service.ErrStorage, and whatever the error beneath is.
type fileError struct {
	err  error
	name string
}

func (e fileError) Error() string {
	if errors.Is(e.err, ledger.ErrBusy) {
		return fmt.Sprintf("%q is busy; nothing was spent, try again", e.name)
	}
	return fmt.Sprintf("%q cannot be used now; the log of the server has more", e.name)
}

func (e fileError) Unwrap() error { return e.err }

func (e fileError) Is(target error) bool { return target == service.ErrStorage }
