package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	statement = regexp.MustCompile(`(?m)^(?:\*\*|## )((?:Theorem|Lemma|Corollary)\b(?: [0-9A-Z]+[′″‴]*)?)`)
	attack    = regexp.MustCompile(`(?m)^- ([^:]+): .*\.$`)
	command   = regexp.MustCompile("`([^`]+)`")
	testRun   = regexp.MustCompile(`^(SLOW=1 )?go test ((?:\./?[a-z/]* )+)-run '\^\(([A-Za-z0-9|]+)\)\$'$`)
)

// TestTheoremsAreAttacked: each page of docs/theory names, for each of its statements, a command that attacks it. Every test of
// a command is in a package that it is asked of, and is run by it: SLOW=1 stands before tests that are skipped without, and before no others.
func TestTheoremsAreAttacked(t *testing.T) {
	root := filepath.Join("..", "..")
	statements := 0
	paths, err := filepath.Glob(filepath.Join(root, "docs/theory/*.md"))
	if err != nil || len(paths) < 9 {
		t.Fatalf("%d pages (%v), want 9", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, after, ok := strings.Cut(string(text), "## How each is attacked\n")
		if !ok {
			t.Errorf("%s does not say how its theorems are attacked", path)
			continue
		}
		var attacked []string
		for _, m := range attack.FindAllStringSubmatch(after, -1) {
			attacked = append(attacked, m[1])
			commands := command.FindAllStringSubmatch(m[0], -1)
			if len(commands) == 0 {
				t.Errorf("%s: %s has no command", path, m[1])
			}
			for _, c := range commands {
				if _, err := os.Stat(filepath.Join(root, c[1])); err == nil && strings.HasPrefix(c[1], ".ci/") {
					continue
				}
				run := testRun.FindStringSubmatch(c[1])
				if run == nil {
					t.Errorf("%s: %s: %q is neither a script nor a test command", path, m[1], c[1])
					continue
				}
				anySlow := false
				for name := range strings.SplitSeq(run[3], "|") {
					body := ""
					for dir := range strings.FieldsSeq(run[2]) {
						body += bodyOf(t, filepath.Join(root, dir), name)
					}
					if body == "" {
						t.Errorf("%s: %s: %s has no %s", path, m[1], run[2], name)
					}
					anySlow = anySlow || strings.Contains(body, "slow.Test(t)")
				}
				if anySlow != (run[1] != "") {
					t.Errorf("%s: %s: a test that is skipped without SLOW=1 is %v: %s", path, m[1], anySlow, c[1])
				}
			}
		}
		for _, m := range statement.FindAllStringSubmatch(before, -1) {
			statements++
			label := m[1]
			if label == "Theorem" { // of a paper, whose number stands in brackets
				label = "Theorem 5"
			}
			if !slices.Contains(attacked, label) {
				t.Errorf("%s: nothing attacks %s", path, label)
			}
		}
	}
	if statements < 30 {
		t.Errorf("%d statements were found, want at least 30", statements)
	}
}

// bodyOf returns the text of a test, empty where there is none.
func bodyOf(t *testing.T, dir, name string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(text), "\nfunc "+name+"(t *testing.T) {"); ok {
			body, _, _ := strings.Cut(after, "\n}\n")
			return body
		}
	}
	return ""
}
