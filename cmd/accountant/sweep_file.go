package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// This file has the output of a sweep, which is its own checkpoint: a head that no other sweep
// has, and rows in order. Whenever the program ends, the file is a part of the whole, from its
// beginning: complete lines and perhaps a torn one. It is a file that grows, not one
// that is written whole or not at all, because that is what going on needs.

// A sweepFile is an output that is open behind its complete rows.
type sweepFile struct {
	w            io.Writer
	f            *os.File // nil for standard output
	lock         *flock.Flock
	name         string
	rows, failed int64
}

// Write implements io.Writer.
func (s *sweepFile) Write(p []byte) (int, error) { return s.w.Write(p) }

// openSweep opens an output: a new one, or that of the same sweep, behind its complete rows.
func openSweep(cmd *cobra.Command, path string, form service.SweepForm) (*sweepFile, error) {
	s := &sweepFile{name: inputName(path)}
	head, err := form.Head()
	if err != nil {
		return nil, err
	}
	if path == "-" {
		s.name, s.w = "standard output", cmd.OutOrStdout()
		_, err := s.w.Write(head)
		return s, err
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		// A device or a pipe: nothing to go on with.
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, pathProblem(path, err)
		}
		s.f, s.w = f, f
		if _, err := f.Write(head); err != nil {
			f.Close()
			return nil, pathProblem(path, err)
		}
		return s, nil
	}
	if s.lock, err = lockSweep(path); err != nil {
		return nil, err
	}
	if s.f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		s.unlock()
		return nil, pathProblem(path, err)
	}
	s.w = s.f
	if err := s.resume(form, head); err != nil {
		s.f.Close()
		s.unlock()
		return nil, pathProblem(path, err)
	}
	return s, nil
}

// lockSweep keeps other processes from writing an output, by a file beside it that is removed
// when it is closed. One that a killed process leaves behind locks nothing.
func lockSweep(path string) (*flock.Flock, error) {
	name := path + ".lock"
	l := flock.New(name, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	held, err := l.TryLock()
	if err != nil {
		return nil, pathProblem(path, err)
	}
	if held {
		// Whoever held it before may have removed it in between; then it locks nothing.
		mine, err := l.Stat()
		if now, err2 := os.Stat(name); err == nil && err2 == nil && os.SameFile(mine, now) {
			return l, nil
		}
		_ = l.Unlock()
	}
	return nil, fmt.Errorf("%s: another process writes this file", printable(path))
}

// unlock lets others write.
func (s *sweepFile) unlock() {
	_ = os.Remove(s.lock.Path())
	_ = s.lock.Unlock()
}

var (
	errOther = errors.New("is of another sweep (other plans, another question or another version of the program); choose another file or remove this one")
	errNone  = errors.New("is there already and is not the result of a sweep; choose another file")
)

// resume reads what is there, cuts what is torn and stops behind it.
func (s *sweepFile) resume(form service.SweepForm, head []byte) error {
	in := bufio.NewReaderSize(s.f, 1<<16)
	there := make([]byte, len(head))
	n, err := io.ReadFull(in, there)
	torn := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !torn {
		return err
	}
	if !bytes.HasPrefix(head, there[:n]) {
		if bytes.HasPrefix(there, []byte("index,")) {
			return errOther
		}
		return errNone
	}
	end := int64(0)
	if !torn {
		end = int64(n)
		if err := s.skipRows(in, form, &end); err != nil {
			return err
		}
	}
	if err := s.f.Truncate(end); err != nil {
		return err
	}
	if _, err := s.f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	if torn {
		_, err = s.f.Write(head)
	}
	return err
}

// maxRow is longer than any row.
const maxRow = 1 << 22

// skipRows reads the complete rows and moves end behind them.
func (s *sweepFile) skipRows(in *bufio.Reader, form service.SweepForm, end *int64) error {
	for {
		line, tooLong, err := readLine(in, maxRow)
		switch {
		case tooLong:
			return fmt.Errorf("row %d is longer than any row of a sweep", s.rows)
		case err == io.EOF:
			if first := []byte(`{"index":0,`); s.rows == 0 && !form.CSV && !bytes.HasPrefix(line, first) && !bytes.HasPrefix(first, line) {
				return errNone
			}
			return nil // what has no line feed is torn
		case err != nil:
			return err
		}
		failed, mine, ok := form.IsLine(line[:len(line)-1], s.rows)
		switch {
		case !mine && s.rows == 0 && bytes.Contains(line, []byte("accountant-sweep-")):
			return errOther
		case !mine && s.rows == 0:
			return errNone
		case !ok:
			return fmt.Errorf("row %d is not that of this sweep; the file was changed by something else", s.rows)
		}
		if failed {
			s.failed++
		}
		s.rows++
		*end += int64(len(line))
	}
}

// close makes what was written last.
func (s *sweepFile) close() error {
	var err error
	switch {
	case s.lock != nil:
		err = errors.Join(s.f.Sync(), s.f.Close())
		s.unlock()
	case s.f != nil:
		err = s.f.Close()
	}
	if err != nil {
		return pathProblem(s.name, err)
	}
	return nil
}
