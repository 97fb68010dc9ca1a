package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// writeSlowly is a program that writes half of a file, reports that, and goes on
// when its input ends. With the argument named the half has a name.
func writeSlowly() {
	path, named := os.Args[1], len(os.Args) > 2
	half := func(w io.Writer) {
		_, _ = w.Write([]byte("half"))
		_, _ = os.Stdout.WriteString("half\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	if !named {
		err := writeDraft(path, false, func(w io.Writer) error {
			half(w)
			return nil
		})
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
		}
		return
	}
	d, err := namedDraft(path, 0o666)
	if err != nil {
		panic(err)
	}
	defer d.discard()
	half(d.f)
	if err := d.publish(false, false); err != nil {
		_, _ = os.Stderr.WriteString(pathProblem(path, err).Error())
	}
}

// letters are two contents that writeForever writes in turn.
var letters = [2][]byte{bytes.Repeat([]byte("a"), 300_000), bytes.Repeat([]byte("b"), 200_000)}

// writeForever is a program that writes the file of its first argument again and again, by
// drafts that have names if there is a second argument.
func writeForever() {
	path := os.Args[1]
	for i := 0; ; i++ {
		text := letters[i%2]
		if len(os.Args) == 2 {
			if err := writeFileAtomic(path, text); err != nil {
				panic(err)
			}
		} else {
			d, err := namedDraft(path, 0o666)
			if err != nil {
				panic(err)
			}
			_, err = d.f.Write(text)
			if err := errors.Join(err, d.publish(true, false)); err != nil {
				panic(err)
			}
			d.discard()
		}
		if i == 0 {
			fmt.Println("written")
		}
	}
}

// TestInterruptedWrite: a program that is ended while it writes a file leaves
// nothing of it.
func TestInterruptedWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	// A shell has its background jobs ignore signals, and their children would inherit that, which would end nothing:
	// what is caught, a child gets as it is by default.
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			caught := make(chan os.Signal, 1)
			signal.Notify(caught, s)
			defer signal.Stop(caught)
		}
	}
	program := linkedAs(t, "accountant-write-slowly")
	for _, c := range []struct {
		signal os.Signal
		args   []string
	}{
		{os.Interrupt, nil},
		{syscall.SIGTERM, nil},
		{syscall.SIGHUP, nil},
		{os.Interrupt, []string{"named"}},
		{syscall.SIGTERM, []string{"named"}},
		{syscall.SIGHUP, []string{"named"}},
		{os.Kill, nil}, // cannot be caught
		{nil, nil},     // it goes on, and the file is there
		{nil, []string{"named"}},
	} {
		dir := t.TempDir()
		if c.signal == os.Kill {
			f, err := openUnnamed(dir, 0o666)
			if err != nil {
				t.Logf("no unnamed files here: %v", err)
				continue
			}
			f.Close()
		}
		cmd, in, out := started(t, os.Stderr, program, append([]string{filepath.Join(dir, "out.csv")}, c.args...)...)
		if line, err := out.ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		want := 0
		if c.signal != nil {
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
		} else {
			in.Close()
			want = 1
		}
		err := cmd.Wait()
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || c.signal != nil && (!status.Signaled() || status.Signal() != c.signal) || c.signal == nil && err != nil {
			t.Errorf("%v %v: ended with %v", c.signal, c.args, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != want {
			t.Errorf("%v %v: left %v, %v; want %d files", c.signal, c.args, left, err, want)
		}
	}
}

// TestNamedDraft: where there are no unnamed files a file is replaced as well, and
// nothing else is left.
func TestNamedDraft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, text := range []string{"first", "second"} {
		d, err := namedDraft(path, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.f.WriteString(text)
		if err := errors.Join(err, d.publish(text == "second", false)); err != nil {
			t.Fatal(err)
		}
		d.discard()
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	d, err := namedDraft(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	d.discard()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestControlCharacters: a file name does not get to the terminal as it is.
func TestControlCharacters(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const name = "a\x1b[31m\n.yaml"
	const csvName = "b\x1b[2J.csv"
	for path, text := range map[string]string{name: "neighbors: [", csvName: "label,weight\nx,1\n", "ok.yaml": okPlan, "data.csv": "label\n0\n1\n", "prior.csv": labelPriorA} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Skip(err)
		}
	}
	for _, args := range [][]string{
		{"epsilon", "--delta", "1e-5", name},
		{"epsilon", "--delta", "1e-5", "missing" + name},
		{"curve", "--out", name + ".svg", "--points", "2", "ok.yaml"},
		{"curve", "--out", "no\x1b/such/x.svg", "ok.yaml"},
		{"curve", "--csv", "--points", "2", "ok.yaml", "missing" + name},
		{"label", "--epsilon", "1", "--prior", csvName},
		{"label", "apply", "--epsilon", "1", "--prior", "prior.csv", "--in", csvName, "--out", "x"},
		{"label", "apply", "--epsilon", "1", "--prior", "prior.csv", "--in", "data.csv", "--out", csvName + "x"},
		{"label", "apply", "--epsilon", "1", "--prior", "prior.csv", "--in", "data.csv", "--column", "x\x1b", "--out", "x"},
		{"ledger", "status", name},
		{"ledger", "init", "--epsilon", "1", "--delta", "0", name},
		{"pate", "analyze", "--votes", csvName, "--mechanism", "gnmax", "--sigma2", "40", "--delta", "1e-5"},
		{"epsilon", "--delta", "1e-5\x1b", "ok.yaml"},
		{"no\x1bcommand"},
	} {
		code, stdout, stderr := command("", args...)
		if all := stdout + stderr; strings.ContainsAny(all, "\x1b") || all == "" {
			t.Errorf("%q: %d, %q", args, code, all)
		}
	}
}

// TestPDFBytes: the same picture is the same file.
func TestPDFBytes(t *testing.T) {
	var files [2][]byte
	for i := range files {
		path := filepath.Join(t.TempDir(), "x.pdf")
		if code, _, stderr := command(okPlan, "curve", "--points", "3", "--out", path, "-"); code != 0 {
			t.Fatal(stderr)
		}
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if string(files[0]) != string(files[1]) || !strings.Contains(string(files[0]), "(D:20000101000000") {
		t.Error("a PDF is not reproducible, or has another date")
	}
}
