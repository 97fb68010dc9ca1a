package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
)

// The ledgers of one folder, named by their paths within it with slashes. os.Root follows symbolic links
// only where they stay inside, so that no name leads out; names of hidden files and of anything but
// *.ledger are refused before the file system is asked.

// A folder keeps ledgers as files.
type folder struct{ root *os.Root }

// openFolder opens a folder by the path that it has without links, which is how errors name what is in it.
func openFolder(dir string) (*folder, error) {
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
	return &folder{root}, nil
}

// Ping implements Ledgers.
func (f *folder) Ping(context.Context) error {
	_, err := f.root.Stat(".")
	return err
}

// checkName returns an error unless a file of the folder can have the name.
func (f *folder) checkName(key, name string) error {
	if !validName(name) || !filepath.IsLocal(filepath.FromSlash(name)) || !strings.HasSuffix(name, ".ledger") {
		return fault.New(key, "%.200q is not a path such as team/budget.ledger within the folder of ledgers, of printable characters without <, >, &, : and quotes", name)
	}
	return nil
}

// hides reports whether an error is about a file of the folder, whose path is nobody's business outside.
func (f *folder) hides(err error) bool {
	return strings.Contains(err.Error(), strings.TrimSuffix(f.root.Name(), string(filepath.Separator))+string(filepath.Separator))
}

func (f *folder) path(name string) string {
	return filepath.Join(f.root.Name(), filepath.FromSlash(name))
}

// existing returns an error unless the ledger is a file that is there, inside.
func (f *folder) existing(name string) error {
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() {
		return fs.ErrNotExist
	}
	return nil
}

// Create implements Ledgers. The folders above the ledger are made.
func (f *folder) Create(ctx context.Context, name string, c ledger.Config) (*ledger.Ledger, error) {
	local := filepath.FromSlash(name)
	if err := f.root.MkdirAll(filepath.Dir(local), 0o777); err != nil {
		return nil, fs.ErrNotExist
	}
	// A link would be followed by who opens the file by its path.
	switch info, err := f.root.Lstat(local); {
	case err == nil && info.Mode().IsRegular() && info.Size() > 0:
		return nil, fs.ErrExist
	case err == nil && !info.Mode().IsRegular(), err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	}
	return ledger.Create(ctx, ledger.File(f.path(name)), c)
}

// Open implements Ledgers.
func (f *folder) Open(ctx context.Context, name string) (*ledger.Ledger, error) {
	return ledger.Open(ctx, ledger.File(f.path(name)))
}

// Verify implements Ledgers.
func (f *folder) Verify(ctx context.Context, name, head string) (ledger.Status, error) {
	return ledger.Verify(ctx, ledger.File(f.path(name)), head)
}

// Log implements Ledgers.
func (f *folder) Log(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	return ledger.Log(ctx, ledger.File(f.path(name)), each)
}

// Ledgers are kept by someone else, as in a database, or in a folder. A name without a ledger is fs.ErrNotExist, one that has one
// already fs.ErrExist.
type Ledgers interface {
	Create(ctx context.Context, name string, c ledger.Config) (*ledger.Ledger, error)
	Open(ctx context.Context, name string) (*ledger.Ledger, error)
	Verify(ctx context.Context, name, head string) (ledger.Status, error)
	Log(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error)
	// Ping returns an error if they cannot be reached now.
	Ping(ctx context.Context) error
}

// files implements service.Files with ledgers of any place. Its methods see who asks in the context: clients are held to their
// names. What goes wrong in the place is in the log, and clients learn that it did.
type files struct {
	Ledgers
	log *slog.Logger
	handles
}

func (f *files) ready(ctx context.Context) bool { return f.Ping(ctx) == nil }

// may returns an error unless the client may name a ledger, which in a folder is there or made: a handle that is kept uses whatever
// has its path by now.
func (f *files) may(ctx context.Context, key, name string, made bool) error {
	in, ok := f.Ledgers.(*folder)
	check := CheckName
	if ok {
		check = in.checkName
	}
	if err := check(key, name); err != nil {
		return err
	}
	if err := reach(ctx, key, name); err != nil || !ok || made {
		return err
	}
	return in.existing(name)
}

// reached does what a client asks of a ledger that it may name, and has errors name the ledger as clients do.
func reached[T any](ctx context.Context, f *files, key, name string, made bool, do func() (T, error)) (v T, err error) {
	if err = f.may(ctx, key, name, made); err == nil {
		v, err = do()
	}
	return v, f.outside(err, key, name)
}

// CreateLedger implements service.Files.
func (f *files) CreateLedger(ctx context.Context, name string, c ledger.Config) (service.Ledger, error) {
	return reached(ctx, f, "path", name, true, func() (service.Ledger, error) { return f.Create(ctx, name, c) })
}

// OpenLedger implements service.Files.
func (f *files) OpenLedger(ctx context.Context, name string) (service.Ledger, error) {
	return reached(ctx, f, "ledger", name, false, func() (service.Ledger, error) {
		l, err := f.get(ctx, name, func() (*ledger.Ledger, error) { return f.Open(ctx, name) })
		return shown{Ledger: l, files: f, name: name}, err
	})
}

// VerifyLedger implements service.Files.
func (f *files) VerifyLedger(ctx context.Context, name, head string) (ledger.Status, error) {
	return reached(ctx, f, "path", name, false, func() (ledger.Status, error) { return f.Verify(ctx, name, head) })
}

// LogLedger implements service.Files, for ledgers of up to maxLogged entries.
func (f *files) LogLedger(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	return reached(ctx, f, "path", name, false, func() (ledger.Config, error) { return logged(ctx, name, each, f.Log) })
}

// outside returns an error of the place of the ledgers as one about the ledger; one about the request, a refused spend
// and the end of a request stay what they are.
func (f *files) outside(err error, key, name string) error {
	in, ok := f.Ledgers.(*folder)
	switch {
	case err == nil, errors.As(err, new(*fault.Error)):
		return err
	case errors.Is(err, fs.ErrExist):
		return fault.New(key, "%q exists already", name)
	case err == fs.ErrNotExist || !ok && errors.Is(err, fs.ErrNotExist):
		return fault.New(key, "%.200q is not the name of a ledger here", name) // nobody learns what is outside of a folder
	case ok && !in.hides(err):
		return err
	case !ok && (errors.Is(err, ledger.ErrBudget) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ledger.ErrBusy)):
		return err
	}
	f.log.Error("ledger", "ledger", name, "message", err.Error())
	return fileError{err, name}
}
