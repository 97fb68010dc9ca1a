package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestPython runs the tests of python/ against this program. What is left out is
// reported by .ci/run as well, which shows what a test that passes does not.
func TestPython(t *testing.T) {
	slow.Test(t)
	python := pythonFor(t)
	program := linkedProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for _, file := range []string{"test_dpaccountant.py", "test_adapters.py", "test_samplers.py", "test_runs.py", "test_docstrings.py", "test_stubs.py", "test_examples.py", "test_remote.py", "test_wheel.py"} {
		cmd := exec.CommandContext(ctx, python, "-B", "-W", "error", filepath.Join("..", "..", "python", "tests", file), "-v")
		cmd.Env = append(os.Environ(), "ACCOUNTANT="+program, "PYTHONIOENCODING=utf-8")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("\nOK")) {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "... skipped") || strings.HasPrefix(line, "peers: ") {
				t.Logf("%s: %s", file, strings.Replace(line, "... skipped", "LEFT OUT:", 1))
			}
		}
	}
}

// TestPythonTypes checks the types of the Python package, as strictly as mypy can.
func TestPythonTypes(t *testing.T) {
	slow.Test(t)
	mypy, err := exec.LookPath("mypy")
	if err != nil {
		t.Skip("THERE IS NO MYPY: THE TYPES OF python/ ARE NOT CHECKED")
	}
	cmd := exec.CommandContext(t.Context(), mypy, "--config-file", "pyproject.toml", "--cache-dir", t.TempDir())
	cmd.Dir = filepath.Join("..", "..", "python")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// pythonFor returns a python3 of 3.8 or newer: one with numpy and torch, else with numpy, if there is one.
func pythonFor(t *testing.T) string {
	t.Helper()
	for _, modules := range []string{"numpy, torch", "numpy", "sys"} {
		for _, name := range []string{"python3", "/usr/bin/python3"} {
			path, err := exec.LookPath(name)
			if err == nil && exec.Command(path, "-c", "import sys, "+modules+"; sys.exit(sys.version_info < (3, 8))").Run() == nil {
				return path
			}
		}
	}
	t.Skip("THERE IS NO PYTHON 3.8 OR NEWER: THE TESTS OF python/ ARE NOT RUN")
	return ""
}

// started starts a program, and returns it with its standard input and output.
func started(t *testing.T, stderr io.Writer, program string, args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewReader(out)
}

// linkedProgram returns the path of the command.
func linkedProgram(t *testing.T) string { return linkedAs(t, "accountant") }

// linkedAs returns the path of a program that TestMain knows by this name.
func linkedAs(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if err := os.Link(self, program); err != nil {
		if err := os.Symlink(self, program); err != nil {
			t.Skipf("cannot link the program: %v", err)
		}
	}
	return program
}
