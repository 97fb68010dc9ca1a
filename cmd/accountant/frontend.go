package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
)

// This file is the way from the command line to the service and back: flags become the
// fields of a request, and errors about fields become errors about flags. It assumes that
// a flag is called as the key of the request that it fills.

// planProblem says in which file an error is: as "plan.yaml:4: field: problem" if it is
// about a line of it.
func planProblem(name string, err error) error {
	var usage usageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	if line, message, ok := service.PlanLine(err); ok && line > 0 {
		return fmt.Errorf("%s:%d: %s", name, line, message)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// show is at and note for the progress of a service.
func (m *meter) show(p service.Progress) {
	if p.Note != "" {
		m.note(p.Note)
		return
	}
	m.at(p.Done, p.Total)
}

// flagged puts the names of flags in the place of the keys of a request. Those that
// stand for a file are not: an error about its contents has the file's name. Names
// inside of a field are not those of flags.
func flagged(cmd *cobra.Command, err error) error {
	outermost := true
	flag := func(key string) string {
		if !outermost || strings.TrimSpace(key) == "" {
			return key
		}
		outermost = false
		name := strings.FieldsFunc(key+" ", func(r rune) bool { return r == '[' || r == ' ' })[0]
		if cmd.Flags().Lookup(name) == nil || slices.Contains([]string{"votes", "baseline", "answered"}, name) {
			return key
		}
		if isListFlag(cmd.Flags().Lookup(name)) { // the value is told, not its place
			return "--" + name
		}
		return "--" + key
	}
	var s *service.ShapeError
	if errors.As(err, &s) {
		return usageError{errors.New(s.With(func(key string) string { return "--" + key }))}
	}
	return commaHint(cmd, fault.Rename(err, flag))
}

// commaHint adds to an error about a list of two whole numbers that commas stand between values: 0,1 may have
// been meant as 0.1. It adds it once, as errors of files that are read late come by here twice.
func commaHint(cmd *cobra.Command, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Path) == 0 || e.Error() != err.Error() {
		return err
	}
	f := cmd.Flags().Lookup(strings.TrimPrefix(e.Path[0], "--"))
	if f == nil || !isListFlag(f) || !decimalComma.MatchString(f.Value.String()) || strings.Contains(e.Problem, asDecimal) {
		return err
	}
	hinted := *e
	hinted.Problem += asDecimal + strings.Replace(f.Value.String(), ",", ".", 1) + "?"
	return &hinted
}

const asDecimal = "; commas stand between values; did you mean "

var decimalComma = regexp.MustCompile(`^\d+,\d+$`)

// ledgerFiles are the files of this machine.
type ledgerFiles struct{}

func (ledgerFiles) CreateLedger(_ context.Context, path string, c ledger.Config) (service.Ledger, error) {
	return ledger.Create(path, c)
}

func (ledgerFiles) OpenLedger(ctx context.Context, path string) (service.Ledger, error) {
	return ledger.Open(ctx, path)
}

func (ledgerFiles) VerifyLedger(ctx context.Context, path, head string) (ledger.Status, error) {
	return ledger.Verify(ctx, path, head)
}

func (ledgerFiles) LogLedger(ctx context.Context, path string, each func(ledger.Entry)) (ledger.Config, error) {
	return ledger.Log(ctx, path, each)
}

func (ledgerFiles) OpenTable(path string) (io.ReadCloser, error) { return openInput(path) }

// The numbers of tables.
const (
	down = decimal.Down
	near = decimal.Near
	up   = decimal.Up
)

// short is the shortest decimal that reads back as x.
func short[F ~float64](x F) string { return decimal.Short(float64(x)) }

// rounded writes x with a number of digits, so that a bound stays one.
func rounded[F ~float64](x F, digits int, dir decimal.Direction) string {
	return decimal.Rounded(float64(x), digits, dir)
}

// digitsFor returns how many digits tell the ends of an interval apart.
func digitsFor(b service.Bounds) int { return decimal.Apart(float64(b.Lower), float64(b.Upper)) }

// ends writes an interval with a text between its ends. They have so many digits, or for 0 as many as tell them apart.
func ends[F ~float64](lower, upper F, digits int, between string) string {
	digits = cmp.Or(digits, decimal.Apart(float64(lower), float64(upper)))
	return rounded(lower, digits, down) + between + rounded(upper, digits, up)
}

// show quotes what is no number.
func show(text string) string { return decimal.Show(text) }

// oneLine is text as a message has it.
func oneLine(text string) string { return fault.Line(text) }
