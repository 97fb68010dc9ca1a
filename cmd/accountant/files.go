package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
)

// writeFileAtomic writes a file whole or not at all: a reader sees the old
// contents or the new ones, also after a crash.
func writeFileAtomic(path string, data []byte) error {
	return produceFileAtomic(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// produceFileAtomic is writeFileAtomic for contents too large to hold.
func produceFileAtomic(path string, produce func(io.Writer) error) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: is not a regular file", path)
		}
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return pathProblem(path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = produce(f); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The rename itself lasts once the directory is on disk; not every file
	// system can be asked for that.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// readPlan reads the plan file at path, standard input if path is "-". An error
// reads "plan.yaml:4: field: problem".
func readPlan(cmd *cobra.Command, path string) (*accountant.Plan, error) {
	data, name, err := readInput(cmd, path)
	if err != nil {
		return nil, err
	}
	plan, err := accountant.ParsePlan(data)
	if err != nil {
		var pe *accountant.PlanError
		if errors.As(err, &pe) && pe.Line > 0 {
			return nil, fmt.Errorf("%s:%d: %s", name, pe.Line, pe.Message())
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return plan, nil
}

// readInput reads a file, or standard input if path is "-", and returns what
// to call it in messages. It reads a little more than a plan may have.
func readInput(cmd *cobra.Command, path string) (data []byte, name string, err error) {
	var r io.Reader = cmd.InOrStdin()
	name = "standard input"
	if path != "-" {
		name = path
		f, err := os.Open(path)
		if err != nil {
			return nil, name, pathProblem(path, err)
		}
		defer f.Close()
		r = f
	}
	data, err = io.ReadAll(io.LimitReader(r, accountant.MaxPlanSize+1))
	if err != nil {
		return nil, name, pathProblem(name, err)
	}
	return data, name, nil
}

// pathProblem words an error of the file system as "name: problem".
func pathProblem(name string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// isTerminal reports whether w is a terminal, on which progress can be shown.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device as well
	return err != nil || !os.SameFile(info, null)
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
