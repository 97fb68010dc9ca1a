package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/cmd/sweep"
)

// A sweepJob is one run of sweep.
type sweepJob struct {
	q             service.SweepRequest
	out, progress string
	csv, dry      bool
	plans         service.SweepPlans
	lines         *os.File // has plans on lines; nil for a grid
	input         []byte   // what the plans are read from, or a digest of it
}

func newSweepCmd() *cobra.Command {
	var j sweepJob
	cmd := &cobra.Command{
		Use:  "sweep",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := j.q.Check(); err != nil {
				return flagged(cmd, err)
			}
			if j.out == "" && !j.dry {
				return usageError{errors.New("missing --out (- is standard output)")}
			}
			err := j.read(cmd, args[0])
			if j.lines != nil {
				defer j.lines.Close()
			}
			switch {
			case err != nil:
				return err
			case j.dry:
				return j.check(cmd)
			}
			return j.run(cmd)
		},
	}
	q := &j.q
	for _, f := range []struct {
		to          any
		name, usage string
	}{
		{&q.Delta, "delta", "ask for ε at one or several `δ`, with commas between them"},
		{&q.Epsilon, "epsilon", "ask for δ at one or several `ε`, with commas between them"},
		{&q.Advantage, "target-advantage", "with --solve, in place of --epsilon and --delta: the largest `advantage` of any membership-inference attack; several with commas"},
		{&q.TPR, "target-tpr", "with --solve, in place of --epsilon and --delta: the largest true-positive `rate` of any attack with the false-positive rate --at-fpr; several with commas"},
		{&q.FPR, "at-fpr", "false-positive `rate` of --target-tpr"},
		{&q.Step, "step", "with --solve: `name` of the step or group to turn, or its place such as steps[0]; all steps if left out"},
		{&q.Examples, "examples", "with --solve: `number` of examples, to turn the batch of Poisson sampling"},
		{&j.csv, "csv", "write CSV, also where --out does not end in .csv"},
		{&j.dry, "dry-run", "count the plans, read them (of a grid a million at most), count their errors, and ask nothing"},
	} {
		define(cmd, service.Key{Name: f.name}, f.to, f.usage)
	}
	quantities := service.KeyOf(new(service.CalibrateRequest), "solve").Words
	addChoice(cmd, &q.Solve, "solve", "find the `quantity` that meets each --epsilon at each --delta, as calibrate does: "+service.Listing(quantities, "or"), quantities...)
	cmd.Flags().StringVar(&j.out, "out", "", "`file` to write, or to go on with; - is standard output")
	bind(cmd, &q.Limits)
	bind(cmd, &q.Narrowing)
	limited(cmd, &q.Caps)
	reword(cmd, "work", "all answers together", "all answers about one plan")
	reword(cmd, "work", "what is proved by then is told, with a warning", "a row has what is proved by then, and a warning")
	preset(cmd, "recursion", "0")
	addProgress(cmd, &j.progress)
	_ = cmd.MarkFlagFilename("out", "csv", "jsonl")
	return cmd
}

// noted is the number of plans from which on a grid's size is told before it is worked on.
const noted = 1e6

// read reads the grid, or opens the file of plans on lines and counts them.
func (j *sweepJob) read(cmd *cobra.Command, path string) (err error) {
	if strings.HasSuffix(path, ".jsonl") {
		if j.lines, err = os.Open(path); err != nil {
			return pathProblem(path, err)
		}
		digest, lines := sha256.New(), int64(0)
		in := bufio.NewReaderSize(io.TeeReader(j.lines, digest), 1<<16)
		for err == nil {
			some := false
			if _, some, err = sweep.ReadLine(in, 0); some { // every line is longer than that
				lines++
			}
		}
		if err != io.EOF {
			return pathProblem(path, err)
		}
		j.input, j.plans = digest.Sum(nil), service.LinePlans(j.lines, lines)
		return nil
	}
	data, name, err := readInput(cmd, path)
	if err != nil {
		return err
	}
	j.input = data
	if j.plans, err = service.GridPlans(data); err != nil {
		return planProblem(name, err)
	}
	if j.plans.Len() > noted {
		fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s is a grid of %d plans\n", name, j.plans.Len())
	}
	return nil
}

// failedRows is the error of a sweep that is complete and has rows with errors.
type failedRows struct{ failed, rows int64 }

func (e failedRows) Error() string {
	return fmt.Sprintf("sweep: %d of %d rows have an error, which is in their column error", e.failed, e.rows)
}

// run asks about the plans that are not in the output yet.
func (j *sweepJob) run(cmd *cobra.Command) error {
	j.csv = j.csv || strings.HasSuffix(j.out, ".csv")
	rows := j.plans.Len() * j.q.RowsPerPlan()
	id, err := j.id()
	if err != nil {
		return err
	}
	form := j.q.Form(j.plans, id, j.csv)
	f, err := openSweep(cmd, j.out, form)
	if err != nil {
		return err
	}
	skip := f.rows
	err = j.write(cmd, f, form, rows)
	if err = errors.Join(err, f.close()); err != nil {
		return err
	}
	if j.out != "-" {
		there := ""
		switch {
		case skip == rows:
			there = ", all of which were there"
		case skip > 0:
			there = fmt.Sprintf(", %d of which were there", skip)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "wrote %s: %d rows%s\n", printable(j.out), rows, there)
	}
	if f.failed > 0 {
		return failedRows{f.failed, rows}
	}
	return nil
}

// flushEvery is how long rows wait before they are in the file, and showEvery how long the meter
// stands still.
const flushEvery, showEvery = 50 * time.Millisecond, 250 * time.Millisecond

// write asks and writes the rows behind those of the file.
func (j *sweepJob) write(cmd *cobra.Command, f *sweepFile, form service.SweepForm, rows int64) error {
	m := startMeter(cmd, j.progress, "sweeping")
	defer m.stop()
	out := bufio.NewWriterSize(f.w, 1<<16)
	skip, flushed, shown := f.rows, time.Now(), time.Now()
	told := false // a stack
	err := service.New(nil).Sweep(cmd.Context(), j.q, j.plans, skip, func(r sweep.Row) error {
		line, err := form.Line(r)
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
		f.rows++
		if r.Err != nil {
			f.failed++
		}
		if internal := new(sweep.InternalError); errors.As(r.Err, internal) && !told { // the others are likely the same
			told = true
			fmt.Fprintf(cmd.ErrOrStderr(), "accountant: plan %d: %s\n\n%s\n", r.Index, oneLine(internal.Error()), internal.Stack)
		}
		now := time.Now()
		if now.Sub(shown) > showEvery {
			m.show(service.Progress{Done: int(f.rows - skip), Total: int(rows - skip)})
			shown = now
		}
		if now.Sub(flushed) > flushEvery {
			flushed = now
			return out.Flush()
		}
		return nil
	})
	if flushErr := out.Flush(); flushErr != nil {
		return pathProblem(inputName(j.out), flushErr) // also where it ended the sweep
	}
	if err == nil && f.rows != rows {
		err = fmt.Errorf("there are %d rows, and %d were expected: the plans changed meanwhile", f.rows, rows)
	}
	return err
}

// check reads every plan and prints what a sweep would be.
func (j *sweepJob) check(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	m := startMeter(cmd, j.progress, "reading")
	read, failed, first := int64(0), int64(0), ""
	err := service.New(nil).CheckSweep(cmd.Context(), j.plans, func(i int64, problem string) error {
		if i%4096 == 0 {
			m.show(service.Progress{Done: int(i), Total: int(j.plans.Len())})
		}
		read++
		if problem != "" {
			if failed++; first == "" {
				first = fmt.Sprintf("plan %d: %s", i, problem)
			}
		}
		return nil
	})
	m.stop()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "plans: %d\nrows: %d\ncolumns: %s\n", j.plans.Len(), j.plans.Len()*j.q.RowsPerPlan(), strings.Join(j.q.Form(j.plans, "", false).Columns(), ", "))
	if read < j.plans.Len() {
		fmt.Fprintf(w, "read: %d of them, from the first to the last\n", read)
	}
	if failed > 0 {
		fmt.Fprintf(w, "plans with an error: %d, the first is %s\n", failed, first)
		return failedRows{failed * j.q.RowsPerPlan(), read * j.q.RowsPerPlan()}
	}
	return nil
}

// id returns what all rows have and those of no other sweep: a digest of the plans, the question and the program.
func (j *sweepJob) id() (string, error) {
	version := service.Version()
	question, err := service.Marshal(j.q)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(version.Version), []byte(version.Revision), question, j.input} {
		fmt.Fprintf(h, "%d ", len(part))
		h.Write(part)
	}
	return fmt.Sprintf("accountant-sweep-%x", h.Sum(nil)[:8]), nil
}

// What follows has the output of a sweep, which is its own checkpoint: a head that no other sweep
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
	flags, begin := os.O_CREATE|os.O_RDWR, s.resume
	if err == nil && !info.Mode().IsRegular() { // a device or a pipe: nothing to go on with
		flags, begin = os.O_WRONLY, func(service.SweepForm, []byte) error {
			_, err := s.f.Write(head)
			return err
		}
	} else if s.lock, err = lockSweep(path); err != nil {
		return nil, err
	}
	if s.f, err = os.OpenFile(path, flags, 0o644); err == nil {
		s.w = s.f
		err = begin(form, head)
	}
	if err != nil {
		_ = s.close()
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
		line, tooLong, err := sweep.ReadLine(in, maxRow)
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
		_ = os.Remove(s.lock.Path()) // lets others write
		_ = s.lock.Unlock()
	case s.f != nil:
		err = s.f.Close()
	}
	if err != nil {
		return pathProblem(s.name, err)
	}
	return nil
}
