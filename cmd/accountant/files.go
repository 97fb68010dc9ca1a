package main

import (
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
)

// inputName is what to call a file in messages.
func inputName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return printable(path)
}

// readInput reads the file of a plan, or standard input if path is "-", and returns what
// to call it in messages. It reads a little more than a plan may have. Files that the
// plan names are read from its folder and are part of what is returned.
func readInput(cmd *cobra.Command, path string) (data []byte, name string, err error) {
	var r io.Reader = cmd.InOrStdin()
	name = inputName(path)
	if path != "-" {
		f, err := openInput(path)
		if err != nil {
			return nil, name, err
		}
		defer f.Close()
		r = f
	}
	data, err = io.ReadAll(io.LimitReader(r, service.MaxPlan+1))
	if err != nil {
		return nil, name, pathProblem(name, err)
	}
	folder := "."
	if path != "-" {
		folder = filepath.Dir(path)
	}
	data, err = service.InlineFiles(data, func(file string) (io.ReadCloser, error) {
		if !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		return openInput(file)
	})
	return data, name, planProblem(name, path, err)
}

// readSmall reads a file of at most limit bytes.
func readSmall(path string, limit int) ([]byte, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, pathProblem(path, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: is larger than %d bytes", printable(path), limit)
	}
	return data, nil
}

// patience is how long a pipe may take for its next bytes.
var patience = time.Minute

// An input is an open file that is read once, from the beginning. Reading it ends:
// with an error if it is a pipe that stays silent, or a file that grows meanwhile.
type input struct {
	*os.File
	size int64 // when it was opened; 0 if that says nothing
	read int64
	pipe bool
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
	in := &input{File: f, pipe: info.Mode()&fs.ModeNamedPipe != 0}
	if info.Mode().IsRegular() {
		in.size = info.Size()
	}
	return in, nil
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (n int, err error) {
	until := time.Now().Add(patience)
	_ = in.SetReadDeadline(until) // files have none
	for {
		n, err = in.File.Read(p)
		in.read += int64(n)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return n, fmt.Errorf("nothing was written to this pipe for %v", patience)
		case in.size > 0 && in.read > in.size:
			return n, errors.New("grew while it was read")
		case in.pipe && err == io.EOF && in.read == 0 && time.Now().Before(until):
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

// planArg is the cobra.PositionalArgs of a command that takes one plan file.
func planArg(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("missing the plan file (- reads standard input)")
	case len(args) > 1:
		return fmt.Errorf("%q is one argument too many; one plan file is read", args[1])
	}
	return nil
}

// noArgs is the cobra.PositionalArgs of a command without arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is an argument, but the command takes flags only", args[0])
	}
	return nil
}
