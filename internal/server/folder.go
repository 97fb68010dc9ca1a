package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/service"
)

// The ledgers of one folder, named by their paths within it with slashes. os.Root follows symbolic links
// only where they stay inside, so that no name leads out; names of hidden files and of anything but
// *.ledger are refused before the file system is asked.

// maxOpen is how many ledgers are kept open.
const maxOpen = 1000

// maxLogged is how many entries ledger-log returns: an answer is made in memory.
const maxLogged = 100_000

// A folder implements service.Files. Its methods see who asks in the context.
type folder struct {
	root *os.Root
	log  *slog.Logger

	mu   sync.Mutex
	open map[string]*opened
}

// An opened ledger is shared by all requests: its handle notices entries that are lost.
type opened struct {
	turn   chan struct{} // holds something while the file is opened
	ledger *ledger.Ledger
}

// openFolder opens a folder by the path that it has without links, which is how errors name what is in it.
func openFolder(dir string, log *slog.Logger) (*folder, error) {
	full, err := filepath.Abs(dir)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if err != nil {
		return nil, fault.New("ledgers", "%w", err)
	}
	root, err := os.OpenRoot(full)
	if err != nil {
		return nil, fault.New("ledgers", "%w", err)
	}
	return &folder{root: root, log: log, open: map[string]*opened{}}, nil
}

// errNotHere is of a name that is no ledger's, and of one that leads out of the folder: nobody learns
// what is outside.
func errNotHere(key, name string) error {
	return fault.New(key, "%.200q is not the name of a ledger here", name)
}

// path returns the path of a ledger that the client may name.
func (f *folder) path(ctx context.Context, key, name string) (string, error) {
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || len(name) > 200 || strings.ContainsAny(name, "\\:\x00") ||
		!strings.HasSuffix(name, ".ledger") || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return "", fault.New(key, "%.200q is not a path such as team/budget.ledger within the folder of ledgers", name)
	}
	if v := visitOf(ctx); v == nil || !v.who.reaches(name) {
		if v != nil {
			v.denied = true
		}
		return "", fault.New(key, "%.200q is not a ledger of this client", name)
	}
	return filepath.Join(f.root.Name(), filepath.FromSlash(name)), nil
}

// existing is path for a file that must be there, inside.
func (f *folder) existing(ctx context.Context, key, name string) (string, error) {
	full, err := f.path(ctx, key, name)
	if err != nil {
		return "", err
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return "", errNotHere(key, name)
	}
	return full, nil
}

// CreateLedger implements service.Files. The folders above the ledger are made.
func (f *folder) CreateLedger(ctx context.Context, name string, c ledger.Config) (service.Ledger, error) {
	full, err := f.path(ctx, "path", name)
	if err != nil {
		return nil, err
	}
	local := filepath.FromSlash(name)
	if err := f.root.MkdirAll(filepath.Dir(local), 0o777); err != nil {
		return nil, errNotHere("path", name)
	}
	// A link would be followed by who opens the file by its path.
	switch info, err := f.root.Lstat(local); {
	case err == nil && info.Mode().IsRegular() && info.Size() > 0:
		return nil, fault.New("path", "%q exists already", name)
	case err == nil && !info.Mode().IsRegular(), err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, errNotHere("path", name)
	}
	l, err := ledger.Create(full, c)
	if err != nil {
		return nil, f.outside(err, name)
	}
	return l, nil
}

// OpenLedger implements service.Files.
func (f *folder) OpenLedger(ctx context.Context, name string) (service.Ledger, error) {
	full, err := f.existing(ctx, "ledger", name)
	if err != nil {
		return nil, err
	}
	o := f.slot(name)
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if o.ledger == nil {
		if o.ledger, err = ledger.Open(ctx, full); err != nil {
			o.ledger = nil
			return nil, f.outside(err, name)
		}
	}
	return shown{o.ledger, f, name}, nil
}

// slot returns where a ledger is kept while it is open.
func (f *folder) slot(name string) *opened {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.open[name]; o != nil {
		return o
	}
	if len(f.open) >= maxOpen {
		for other := range f.open {
			delete(f.open, other)
			break
		}
	}
	o := &opened{turn: make(chan struct{}, 1)}
	f.open[name] = o
	return o
}

// VerifyLedger implements service.Files.
func (f *folder) VerifyLedger(ctx context.Context, name, head string) (ledger.Status, error) {
	full, err := f.existing(ctx, "path", name)
	if err != nil {
		return ledger.Status{}, err
	}
	st, err := ledger.Verify(ctx, full, head)
	return st, f.outside(err, name)
}

// LogLedger implements service.Files, for ledgers of up to maxLogged entries.
func (f *folder) LogLedger(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	full, err := f.existing(ctx, "path", name)
	if err != nil {
		return ledger.Config{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n := 0
	c, err := ledger.Log(ctx, full, func(e ledger.Entry) {
		if n++; n > maxLogged {
			stop()
			return
		}
		each(e)
	})
	if n > maxLogged {
		return c, fault.New("path", "%q has more than %d entries; accountant ledger log lists them where the file is", name, maxLogged)
	}
	return c, f.outside(err, name)
}

// A shown ledger has errors that name it as clients do.
type shown struct {
	*ledger.Ledger
	folder *folder
	name   string
}

func (s shown) SpendPlan(ctx context.Context, text []byte, note string) error {
	return s.folder.outside(s.Ledger.SpendPlan(ctx, text, note), s.name)
}

func (s shown) SpendOnce(ctx context.Context, key string, text []byte, note string) (bool, error) {
	again, err := s.Ledger.SpendOnce(ctx, key, text, note)
	return again, s.folder.outside(err, s.name)
}

func (s shown) Status(ctx context.Context) (ledger.Status, error) {
	st, err := s.Ledger.Status(ctx)
	return st, s.folder.outside(err, s.name)
}

func (s shown) Fits(ctx context.Context, text []byte, limit int64) (int64, error, error) {
	n, refusal, err := s.Ledger.Fits(ctx, text, limit)
	return n, refusal, s.folder.outside(err, s.name)
}

// outside returns an error that is about a file of the folder, whose path is nobody's business outside, as
// one about the ledger; the log has the error itself.
func (f *folder) outside(err error, name string) error {
	inside := strings.TrimSuffix(f.root.Name(), string(filepath.Separator)) + string(filepath.Separator)
	if err == nil || !strings.Contains(err.Error(), inside) {
		return err
	}
	f.log.Error("ledger", "ledger", name, "message", err.Error())
	return fileError{err, name}
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
