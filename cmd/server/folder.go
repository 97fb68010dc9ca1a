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

// A folder implements service.Files. Its methods see who asks in the context.
type folder struct {
	root *os.Root
	log  *slog.Logger
	handles
}

// openFolder opens a folder by the path that it has without links, which is how errors name what is in it.
func openFolder(dir string, limit int, log *slog.Logger) (*folder, error) {
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
	return &folder{root: root, log: log, handles: handles{limit: limit}}, nil
}

func (f *folder) ready(context.Context) bool {
	_, err := f.root.Stat(".")
	return err == nil
}

// path returns the path of a ledger that the client may name.
func (f *folder) path(ctx context.Context, key, name string) (string, error) {
	if !validName(name) || !filepath.IsLocal(filepath.FromSlash(name)) || !strings.HasSuffix(name, ".ledger") {
		return "", fault.New(key, "%.200q is not a path such as team/budget.ledger within the folder of ledgers, of printable characters without <, >, &, : and quotes", name)
	}
	if err := reach(ctx, key, name); err != nil {
		return "", err
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
	l, err := f.get(ctx, name, func() (*ledger.Ledger, error) { return ledger.Open(ctx, full) })
	if err != nil {
		return nil, f.outside(err, name)
	}
	return shown{l, f.outside, name}, nil
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
	c, err := logged(ctx, name, each, func(ctx context.Context, each func(ledger.Entry)) (ledger.Config, error) {
		return ledger.Log(ctx, full, each)
	})
	return c, f.outside(err, name)
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

// Ledgers that are in no folder of this machine, as in a database. Their names are looked at and clients are held to theirs as in a
// folder. What goes wrong there is in the log, and clients learn that it did.

// Ledgers are kept by someone else. A name without a ledger is fs.ErrNotExist, one that has one already fs.ErrExist.
type Ledgers interface {
	Create(ctx context.Context, name string, c ledger.Config) (*ledger.Ledger, error)
	Open(ctx context.Context, name string) (*ledger.Ledger, error)
	Verify(ctx context.Context, name, head string) (ledger.Status, error)
	Log(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error)
	// Ping returns an error if they cannot be reached now.
	Ping(ctx context.Context) error
}

// elsewhere implements service.Files with ledgers that are not in a folder.
type elsewhere struct {
	Ledgers
	log *slog.Logger
	handles
}

func (f *elsewhere) ready(ctx context.Context) bool { return f.Ping(ctx) == nil }

// may returns an error unless the client may name a ledger.
func (f *elsewhere) may(ctx context.Context, key, name string) error {
	if err := CheckName(key, name); err != nil {
		return err
	}
	return reach(ctx, key, name)
}

// CreateLedger implements service.Files.
func (f *elsewhere) CreateLedger(ctx context.Context, name string, c ledger.Config) (service.Ledger, error) {
	if err := f.may(ctx, "path", name); err != nil {
		return nil, err
	}
	l, err := f.Create(ctx, name, c)
	if errors.Is(err, fs.ErrExist) {
		return nil, fault.New("path", "%q exists already", name)
	}
	if err != nil {
		return nil, f.outside(err, name)
	}
	return l, nil
}

// OpenLedger implements service.Files.
func (f *elsewhere) OpenLedger(ctx context.Context, name string) (service.Ledger, error) {
	if err := f.may(ctx, "ledger", name); err != nil {
		return nil, err
	}
	l, err := f.get(ctx, name, func() (*ledger.Ledger, error) { return f.Open(ctx, name) })
	if err != nil {
		return nil, f.missing(err, "ledger", name)
	}
	return shown{l, f.outside, name}, nil
}

// VerifyLedger implements service.Files.
func (f *elsewhere) VerifyLedger(ctx context.Context, name, head string) (ledger.Status, error) {
	if err := f.may(ctx, "path", name); err != nil {
		return ledger.Status{}, err
	}
	st, err := f.Verify(ctx, name, head)
	return st, f.missing(err, "path", name)
}

// LogLedger implements service.Files, for ledgers of up to maxLogged entries.
func (f *elsewhere) LogLedger(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	if err := f.may(ctx, "path", name); err != nil {
		return ledger.Config{}, err
	}
	c, err := logged(ctx, name, each, func(ctx context.Context, each func(ledger.Entry)) (ledger.Config, error) {
		return f.Log(ctx, name, each)
	})
	return c, f.missing(err, "path", name)
}

func (f *elsewhere) missing(err error, key, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errNotHere(key, name)
	}
	return f.outside(err, name)
}

// outside returns an error of the place of the ledgers as one about the ledger; one about the request, a refused spend
// and the end of a request stay what they are.
func (f *elsewhere) outside(err error, name string) error {
	if err == nil || errors.As(err, new(*fault.Error)) || errors.Is(err, ledger.ErrBudget) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ledger.ErrBusy) {
		return err
	}
	f.log.Error("ledger", "ledger", name, "message", err.Error())
	return fileError{err, name}
}
