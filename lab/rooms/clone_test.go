package rooms

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
