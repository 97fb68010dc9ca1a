package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
)

// inputName is what to call a file in messages.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return printable(path)
}

// open opens the file of an argument, or standard input if path is "-", and returns what to call it in messages.
func open(cmd *cobra.Command, path string) (in io.ReadCloser, name string, err error) {
	name = inputName(path)
	if path == "-" {
		return io.NopCloser(cmd.InOrStdin()), name, nil
	}
	in, err = openInput(path)
	return in, name, err
}

// readFile has the file of an argument read; errors of its contents start with its name.
func readFile[T any](cmd *cobra.Command, path string, read func(io.Reader) (T, error)) (x T, err error) {
	in, name, err := open(cmd, path)
	if err != nil {
		return x, err
	}
	defer in.Close()
	if x, err = read(in); err != nil {
		err = pathProblem(name, err)
	}
	return x, err
}

// readUpTo reads the file of an argument, or its first limit bytes and one more.
func readUpTo(cmd *cobra.Command, path string, limit int) (data []byte, name string, err error) {
	data, err = readFile(cmd, path, func(in io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(in, int64(limit)+1)) })
	return data, inputName(path), err
}

// readInput reads the file of a plan, a little more than a plan may have. Files that the plan names are read from its folder
// and are part of what is returned.
func readInput(cmd *cobra.Command, path string) (data []byte, name string, err error) {
	if data, name, err = readUpTo(cmd, path, service.MaxPlan); err != nil {
		return nil, name, err
	}
	folder := "."
	if path != "-" {
		folder = filepath.Dir(path)
	}
	data, err = plan.Inline(data, func(file string) (io.ReadCloser, error) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		return openInput(file)
	})
	return data, name, planProblem(name, err)
}

// readSmall reads the file of an argument, of at most limit bytes.
func readSmall(cmd *cobra.Command, path string, limit int) (data []byte, name string, err error) {
	data, name, err = readUpTo(cmd, path, limit)
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%s: is larger than %d bytes", name, limit)
	}
	return data, name, err
}

// readRows calls f with the rows of the table in the file of an argument.
func readRows(cmd *cobra.Command, path string, f func(cells []string, first bool) error) error {
	in, name, err := open(cmd, path)
	if err != nil {
		return err
	}
	defer in.Close()
	return eachRow(in, name, f)
}

// eachRow calls f with the cells of each row of a table, which are as many as those of the first. Errors, also of f, have the name and
// the line in front.
func eachRow(in io.Reader, name string, f func(cells []string, first bool) error) error {
	rows := tables.NewReader(in)
	for {
		cells, err := rows.Row()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			first := rows.Columns == 0
			rows.Columns = len(cells)
			err = f(cells, first)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, rows.Line(), err)
		}
	}
}

// patience is how long a pipe may take for its next bytes.
var patience = time.Minute

// An input is an open file that is read once, from the beginning. Reading it ends:
// with an error if it is a pipe that stays silent, or a file that grows meanwhile.
type input struct {
	*os.File
	size          int64 // when it was opened; 0 if that says nothing
	read          int64
	regular, pipe bool
	forever       bool // it may grow, and a pipe stay silent
}

// openInput opens a file to be read.
func openInput(path string) (*input, error) {
	// Without O_NONBLOCK a pipe is not open before somebody writes to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, pathProblem(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, pathProblem(path, err)
	}
	in := &input{File: f, regular: info.Mode().IsRegular(), pipe: info.Mode()&fs.ModeNamedPipe != 0}
	if in.regular {
		in.size = info.Size()
	}
	return in, nil
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (n int, err error) {
	until := time.Now().Add(patience)
	if !in.forever {
		_ = in.SetReadDeadline(until) // files have none
	}
	for {
		n, err = in.File.Read(p)
		in.read += int64(n)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return n, fmt.Errorf("nothing was written to this pipe for %v", patience)
		case in.size > 0 && in.read > in.size:
			return n, errors.New("grew while it was read")
		case in.pipe && err == io.EOF && in.read == 0 && (in.forever || time.Now().Before(until)):
			// Nobody writes yet.
			time.Sleep(10 * time.Millisecond)
			continue
		case in.pipe && err == io.EOF && in.read == 0:
			return 0, fmt.Errorf("nothing was written to this pipe for %v", patience)
		}
		return n, err
	}
}

// WriteTo hides that of os.File, which would go past Read.
func (in *input) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{in})
}

// printable is a name of a file as it can be shown: quoted where it has characters
// that a terminal may act on.
func printable(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// pathProblem words an error of the file system as "name: problem".
func pathProblem(name string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", printable(name), err)
}

// ofPlan is what a plan is called that an argument names.
const ofPlan = "plan file (- reads standard input)"

// planArg is the cobra.PositionalArgs of a command that takes one plan file.
func planArg(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%q is one argument too many; one plan file is read", args[1])
	}
	return exactly(ofPlan)(cmd, args)
}

// noArgs is the cobra.PositionalArgs of a command without arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is an argument, but the command takes flags only", args[0])
	}
	return nil
}

// exactly is the cobra.PositionalArgs of a command with these arguments.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("missing the %s", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

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

// ledgerFiles are the files of this machine.
type ledgerFiles struct{}

func (ledgerFiles) CreateLedger(ctx context.Context, path string, c ledger.Config) (service.Ledger, error) {
	return ledger.Create(ctx, ledger.File(path), c)
}

func (ledgerFiles) OpenLedger(ctx context.Context, path string) (service.Ledger, error) {
	return ledger.Open(ctx, ledger.File(path))
}

func (ledgerFiles) VerifyLedger(ctx context.Context, path, head string) (ledger.Status, error) {
	return ledger.Verify(ctx, ledger.File(path), head)
}

func (ledgerFiles) LogLedger(ctx context.Context, path string, each func(ledger.Entry)) (ledger.Config, error) {
	return ledger.Log(ctx, ledger.File(path), each)
}

func (ledgerFiles) OpenTable(path string) (io.ReadCloser, error) { return openInput(path) }
