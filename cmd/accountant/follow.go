package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

// This file prints ε after each line of a log of steps, while a training program writes it. It
// assumes that a log only grows, and finds out where it did not. The total is a
// service.Follower; here are the lines and what is printed of them.

// followFlags are the flags of epsilon that follow a log.
type followFlags struct {
	log  string
	time time.Duration
}

func (f *followFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.log, "follow", "", "print ε after each line of this `log` of steps, while it grows; - reads standard input")
	fs.DurationVar(&f.time, "follow-for", 0, "with --follow: end after this `time`, such as 90s or 12h")
	_ = cmd.MarkFlagFilename("follow", "jsonl", "json", "log")
}

// check returns what is wrong with the flags next to each other.
func (f *followFlags) check(cmd *cobra.Command, o output, q service.EpsilonRequest, args []string) error {
	given := cmd.Flags().Changed
	if !given("follow") {
		return keep(rule{given("follow-for"), "--follow-for needs --follow"})
	}
	err := keep([]rule{
		{given("certificate"), "--certificate and --follow exclude each other"},
		{f.log == "", "--follow is empty; it is the name of a log, or - for standard input"},
		{o.latex, "--follow prints text, Markdown, JSON lines or CSV, not LaTeX: a table has no end there"},
		{q.Accountant == service.RDPAccountant || q.Transform != "", "--follow is answered by the fourier accountant, without --transform"},
		{q.GroupBlackBox, "--follow is not answered by --group-black-box"},
		{f.log == "-" && len(args) == 1 && args[0] == "-", "the plan and the log are both standard input"},
	}...)
	if err == nil && (f.time < 0 || given("follow-for") && f.time == 0) {
		err = fmt.Errorf("--follow-for: %v is not above 0", f.time)
	}
	return err
}

// run follows the log. It ends without an error when the command is interrupted, when the time is
// over, and at the end of a pipe.
func (f *followFlags) run(ctx context.Context, a *asking, q service.FollowRequest) error {
	if f.time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, f.time)
		defer stop()
	}
	total, err := service.Follow(ctx, q)
	if err != nil {
		return err
	}
	a.name = "" // what follows is about the log
	log, err := openLog(a.cmd, f.log)
	if err != nil {
		return err
	}
	defer log.r.Close()
	out := &followed{w: a.cmd.OutOrStdout(), err: a.cmd.ErrOrStderr(), form: a.output, warned: map[string]bool{}}
	err = log.lines(ctx, func(line []byte) error {
		x, ok, err := total.Line(ctx, line)
		var wrong *service.LogLineError
		switch {
		case errors.As(err, &wrong):
			return fmt.Errorf("%s:%d: %w", log.name, wrong.Line, err)
		case err != nil || !ok:
			return err
		}
		return out.print(x)
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		if log.torn.Load() {
			fmt.Fprintf(out.err, "%s%s: the last line has no end yet and is not counted\n", warning(out.err), log.name)
		}
		return nil // this is how following ends
	}
	return err
}

// A followed prints what is found after each line, at once.
type followed struct {
	w, err  io.Writer
	form    output
	started bool
	title   string // above the lines that were printed last
	warned  map[string]bool
}

func (p *followed) print(a service.FollowedAt) (err error) {
	found := answers(a.Results)
	for _, r := range found {
		if text := fmt.Sprint(r.at, r.Warnings); len(r.Warnings) > 0 && !p.warned[text] {
			p.warned[text] = true
			warn(p.err, []answer{r})
		}
	}
	var b bytes.Buffer
	switch {
	case p.form.json:
		var data []byte
		data, err = service.Marshal(a)
		b.Write(append(data, '\n'))
	case p.form.csv:
		if err = print.CSV(&b, a); p.started {
			b.ReadBytes('\n') // the names of the columns
		}
	default:
		p.table(&b, a, found)
	}
	if p.started = true; err == nil {
		_, err = b.WriteTo(p.w)
	}
	return err
}

// table prints the rows of a line, and above them what they are where that was not said before.
func (p *followed) table(w io.Writer, a service.FollowedAt, found []answer) {
	row := "  %-7v %-11v %-7s %s\n"
	if p.form.markdown {
		row = "| %v | %v | %s | %s |\n"
	}
	if !p.started {
		fmt.Fprintf(w, "neighbors: %s\n", a.Neighbors)
	}
	if title := titleOfAll(found); title != p.title {
		p.title = title
		fmt.Fprintln(w)
		fmt.Fprintf(w, row, "line", "runs", "δ", title)
		if p.form.markdown {
			fmt.Fprintf(w, row, "---", "---", "---", "---")
		}
	}
	for _, r := range found {
		fmt.Fprintf(w, row, a.Line, a.Runs, short(r.at), ends(r.Lower, r.Upper, 0, " ≤ ε ≤ "))
	}
}

// A growing is a log that another program writes. What is read of it is never read again.
type growing struct {
	name string
	path string // of a regular file; empty for a pipe
	r    io.ReadCloser
	file *os.File    // nil for standard input that is no file of this system
	at   int64       // in a regular file
	tail []byte      // what is before at, the last bytes only
	torn atomic.Bool // a line has begun and has no end
}

const (
	// followEach is how long a log is left alone when nothing new is there.
	followEach = 100 * time.Millisecond
	// tailBytes are kept to see that what was read is still there.
	tailBytes = 256
)

// openLog opens a log to follow it.
func openLog(cmd *cobra.Command, path string) (*growing, error) {
	in, name, err := open(cmd, path)
	if err != nil {
		return nil, err
	}
	g := &growing{name: name, r: in}
	if f, ok := in.(*input); ok {
		if f.forever, g.file = true, f.File; f.regular {
			g.path = path
		}
	}
	return g, nil
}

// lines calls f with each line, when it has its end; with the last line of a pipe also
// where that has none. It returns when the context ends, at the end of a pipe, or with the
// first error.
func (g *growing) lines(ctx context.Context, f func(line []byte) error) error {
	type found struct {
		line []byte
		err  error
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all := make(chan found)
	go func() { // which may wait in Read when the context ends
		in := bufio.NewReaderSize(g, service.MaxRequest+1)
		for {
			line, err := in.ReadSlice('\n')
			select {
			case all <- found{bytes.Clone(line), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		var next found
		select {
		case next = <-all:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case next.err == bufio.ErrBufferFull:
			return fmt.Errorf("%s: a line is longer than %d bytes", g.name, service.MaxRequest)
		case next.err != nil && next.err != io.EOF:
			return next.err
		}
		// What was cut short is no JSON, and an error.
		if err := f(bytes.TrimSuffix(next.line, []byte("\n"))); err != nil || next.err == io.EOF {
			return err
		}
	}
}

// Read implements io.Reader. Of a regular file it waits for more.
func (g *growing) Read(p []byte) (n int, err error) {
	if g.path != "" {
		n, err = g.grow(p)
	} else if n, err = g.r.Read(p); err != nil && err != io.EOF {
		err = pathProblem(g.name, err)
	}
	rest := p[bytes.LastIndexByte(p[:n], '\n')+1 : n]
	g.torn.Store(len(bytes.TrimSpace(rest)) > 0 || len(rest) == n && g.torn.Load())
	return n, err
}

// grow waits for more of a regular file, and reads it.
func (g *growing) grow(p []byte) (int, error) {
	for {
		if err := g.kept(); err != nil {
			return 0, err
		}
		n, err := g.file.ReadAt(p, g.at)
		if err != nil && err != io.EOF {
			return 0, pathProblem(g.name, err)
		}
		if n > 0 {
			g.at += int64(n)
			g.tail = append(g.tail, p[:n]...)
			g.tail = bytes.Clone(g.tail[max(0, len(g.tail)-tailBytes):])
			return n, nil
		}
		if err := g.same(); err != nil {
			return 0, err
		}
		time.Sleep(followEach)
	}
}

// kept returns an error if what was read is no longer there.
func (g *growing) kept() error {
	info, err := g.file.Stat()
	if err != nil {
		return pathProblem(g.name, err)
	}
	if info.Size() < g.at {
		return fmt.Errorf("%s: was truncated: it has %d bytes, %d were read before; what it said then is counted, what it says now is not", g.name, info.Size(), g.at)
	}
	b := make([]byte, len(g.tail))
	if _, err := g.file.ReadAt(b, g.at-int64(len(b))); err != nil && err != io.EOF {
		return pathProblem(g.name, err)
	}
	if !bytes.Equal(b, g.tail) {
		return fmt.Errorf("%s: was written anew: what was read of it is no longer there; it is counted, and what it says now is not", g.name)
	}
	return nil
}

// same returns an error if the name is no longer that of the file, all of which was read.
func (g *growing) same() error {
	now, err := os.Stat(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: was removed or renamed while it was followed; all that it said is counted", g.name)
	}
	if err != nil {
		return pathProblem(g.name, err)
	}
	mine, err := g.file.Stat()
	if err != nil {
		return pathProblem(g.name, err)
	}
	if !os.SameFile(now, mine) {
		return fmt.Errorf("%s: is another file than before (rotated?); all that the old one said is counted, what the new one says is not", g.name)
	}
	return nil
}
