package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/service"
)

// What ledgers have in common wherever they are kept: which names they can have and who may name them, handles that stay
// open, and errors that name a ledger as clients do.

// maxOpen is how many ledgers are kept open.
const maxOpen = 1000

// maxLogged is how many entries ledger-log returns: an answer is made in memory.
const maxLogged = 100_000

// validName reports whether a ledger can have a name: words with slashes between them, of which none begins with a dot.
func validName(name string) bool {
	return fs.ValidPath(name) && len(name) <= 200 && !strings.ContainsAny(name, "\\:\x00") && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
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

// errNotHere is of a name that is no ledger's, and of one that leads out of a folder: nobody learns
// what is outside.
func errNotHere(key, name string) error {
	return fault.New(key, "%.200q is not the name of a ledger here", name)
}

// handles are those that are open.
type handles struct {
	mu   sync.Mutex
	open map[string]*opened
}

// An opened ledger is shared by all requests: its handle notices entries that are lost.
type opened struct {
	turn   chan struct{} // holds something while the ledger is opened
	ledger *ledger.Ledger
}

// get returns the handle of a ledger, which it opens if it is not.
func (h *handles) get(ctx context.Context, name string, open func() (*ledger.Ledger, error)) (*ledger.Ledger, error) {
	o := h.slot(name)
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if o.ledger == nil {
		l, err := open()
		if err != nil {
			return nil, err
		}
		o.ledger = l
	}
	return o.ledger, nil
}

// slot returns where a ledger is kept while it is open.
func (h *handles) slot(name string) *opened {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o := h.open[name]; o != nil {
		return o
	}
	if len(h.open) >= maxOpen {
		for other := range h.open {
			delete(h.open, other)
			break
		}
	}
	if h.open == nil {
		h.open = map[string]*opened{}
	}
	o := &opened{turn: make(chan struct{}, 1)}
	h.open[name] = o
	return o
}

// logged lists a ledger of up to maxLogged entries.
func logged(ctx context.Context, name string, each func(ledger.Entry), log func(context.Context, func(ledger.Entry)) (ledger.Config, error)) (ledger.Config, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := 0
	c, err := log(ctx, func(e ledger.Entry) {
		if n++; n > maxLogged {
			stop()
			return
		}
		each(e)
	})
	if n > maxLogged {
		return c, fault.New("path", "%q has more than %d entries; the command lists them where the ledger is", name, maxLogged)
	}
	return c, err
}

// A shown ledger has errors that name it as clients do.
type shown struct {
	*ledger.Ledger
	outside func(err error, name string) error
	name    string
}

func (s shown) SpendPlan(ctx context.Context, text []byte, note string) error {
	return s.outside(s.Ledger.SpendPlan(ctx, text, note), s.name)
}

func (s shown) SpendOnce(ctx context.Context, key string, text []byte, note string) (bool, error) {
	again, err := s.Ledger.SpendOnce(ctx, key, text, note)
	return again, s.outside(err, s.name)
}

func (s shown) Status(ctx context.Context) (ledger.Status, error) {
	st, err := s.Ledger.Status(ctx)
	return st, s.outside(err, s.name)
}

func (s shown) Fits(ctx context.Context, text []byte, limit int64) (int64, error, error) {
	n, refusal, err := s.Ledger.Fits(ctx, text, limit)
	return n, refusal, s.outside(err, s.name)
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
