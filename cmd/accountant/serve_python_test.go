package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestPython runs the tests of python/ against this program.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not on the path: the tests of python/ are not run")
	}
	if err := exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 8))").Run(); err != nil {
		t.Skip("python3 is older than 3.8: the tests of python/ are not run")
	}
	program := linkedProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "-B", "-W", "error", filepath.Join("..", "..", "python", "tests", "test_dpaccountant.py"))
	cmd.Env = append(os.Environ(), "ACCOUNTANT="+program, "PYTHONIOENCODING=utf-8")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("\nOK")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// linkedProgram returns the path of the command.
func linkedProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under this name the test binary is the command, see TestMain.
	program := filepath.Join(t.TempDir(), "accountant")
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
