package layers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// offline is the environment of a user without a network, who has set nothing for Go.
func offline(more ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SLOW=") && !strings.HasPrefix(v, "GOFLAGS=") {
			env = append(env, v)
		}
	}
	return append(env, append([]string{"GOPROXY=off", "GOTOOLCHAIN=local"}, more...)...)
}

// in runs a command in a folder, and returns all that it prints.
func in(t *testing.T, folder string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = folder, env
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// needModules skips a test loudly where the module cache lacks what a command of the go tool needs.
func needModules(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, "GOPROXY=off") {
		note := "NOTE: THE MODULE CACHE LACKS MODULES, AND THE TEST ASKS NO PROXY: go mod download GETS THEM"
		fmt.Fprintln(os.Stderr, note)
		t.Skip(note + "\n" + text)
	}
}

// TestCleanClone: the two commands of README.md work in a clean clone without a network, and leave
// it clean. To build everything again takes minutes.
func TestCleanClone(t *testing.T) {
	slow.Long(t)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("NOTE: THIS IS NO REPOSITORY OF GIT, SO THAT THERE IS NOTHING TO CLONE")
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Two commands\n")
	section, _, _ = strings.Cut(section, "\n## ")
	commands := regexp.MustCompile(`(?m)^(?:\$ )?go (.+)$`).FindAllStringSubmatch(section, -1)
	if len(commands) != 2 {
		t.Fatalf("README.md has the commands %q under \"Two commands\"", commands)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if text, err := in(t, root, os.Environ(), "git", "clone", "-q", ".", clone); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	env := offline()
	text, err := in(t, clone, env, "go", "list", "-deps", "-test", "work")
	if err != nil {
		needModules(t, text)
	}
	for _, c := range commands {
		text, err := in(t, clone, env, "go", strings.Fields(c[1])...)
		if err != nil {
			t.Errorf("go %s: %v\n%s", c[1], err, text)
		}
		if strings.HasPrefix(c[0], "$") && !strings.Contains(section, c[0]+"\n"+text) {
			t.Errorf("README.md does not show what go %s prints:\n%s", c[1], text)
		}
	}
	if text, err := in(t, clone, env, "git", "status", "--porcelain"); err != nil || text != "" {
		t.Errorf("the clone is not clean any more: %v\n%s", err, text)
	}
}

// TestWheel: one command in a clean clone makes a wheel of at most 12 MB, whatever a user has set for Go; it
// installs without an index and answers.
func TestWheel(t *testing.T) {
	slow.Long(t)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("NOTE: THE WHEEL IS NOT TESTED: THERE IS NO python3")
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if text, err := in(t, root, os.Environ(), "git", "clone", "-q", ".", clone); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := in(t, clone, offline("GOWORK=off", "GOFLAGS=-mod=mod"), "python3", "python/wheel.py")
	if err != nil {
		needModules(t, text)
		t.Fatalf("%v\n%s", err, text)
	}
	wheels, err := filepath.Glob(filepath.Join(clone, "dist", "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v, %v\n%s", wheels, err, text)
	}
	if info, err := os.Stat(wheels[0]); err != nil || info.Size() > 12_000_000 {
		t.Errorf("the wheel is larger than 12 MB: %s, %v", text, err)
	}
	if text, err := in(t, clone, os.Environ(), "git", "status", "--porcelain"); err != nil || text != "" {
		t.Errorf("the clone is not clean any more: %v\n%s", err, text)
	}
	if text, err := in(t, clone, os.Environ(), "python3", "-m", "venv", "../venv"); err != nil {
		t.Skipf("NOTE: THE WHEEL IS NOT INSTALLED: NO VIRTUAL ENVIRONMENT: %s", text)
	}
	if text, err := in(t, clone, os.Environ(), "../venv/bin/pip", "install", "--no-index", wheels[0]); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err = in(t, filepath.Dir(clone), os.Environ(), "venv/bin/python", "-c",
		"from dpaccountant import Accountant\nwith Accountant() as a: print(a.dpsgd(examples=60000, batch_size=256, epochs=60, noise_multiplier=1.1, delta=1e-5).epsilons[0].upper)")
	if err != nil || !strings.HasPrefix(text, "2.38168972") {
		t.Errorf("the wheel answers %s, %v", text, err)
	}
}

// TestOutsideWorkspace: cmd and lab build by their own go.mod, which names all that they need. The
// modules of this repository are in no cache, so that a copy of go.mod replaces them.
func TestOutsideWorkspace(t *testing.T) {
	slow.Test(t)
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"cmd", "lab"} {
		copies := t.TempDir()
		for _, name := range []string{"go.mod", "go.sum"} {
			data, err := os.ReadFile(filepath.Join(top, folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == "go.mod" {
				if strings.Contains(string(data), "replace") {
					t.Errorf("%s/go.mod replaces something: go install would refuse it", folder)
				}
				data = fmt.Appendf(data, "\nreplace (\n\t%s => %s\n\t%s/cmd => %s/cmd\n)\n", module, top, module, top)
			}
			if err := os.WriteFile(filepath.Join(copies, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, err := in(t, filepath.Join(top, folder), offline("GOWORK=off"), "go", "build", "-modfile="+filepath.Join(copies, "go.mod"), "./...")
		if err != nil {
			needModules(t, text)
			t.Errorf("%s: %v\n%s", folder, err, text)
		}
	}
}
