package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
)

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
