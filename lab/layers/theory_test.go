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
	statement = regexp.MustCompile(`(?m)^\*\*((?:Theorem|Lemma|Corollary)(?: [0-9A-Z]+[′″‴]*)?)`)
	attack    = regexp.MustCompile(`(?m)^- ([^:]+): .*\.$`)
	command   = regexp.MustCompile("`([^`]+)`")
	testRun   = regexp.MustCompile(`^go test (\./?[a-z/]*) -run '\^\(([A-Za-z0-9|]+)\)\$'$`)
)

// TestTheoremsAreAttacked: each page of a mechanism or a sampler in docs/theory names, for each of its statements, a command that attacks it, and every test of
// a command is in the package that it is asked of.
func TestTheoremsAreAttacked(t *testing.T) {
	root := filepath.Join("..", "..")
	statements := 0
	for _, name := range []string{"adaptive", "allocation", "integer-noise", "must-composition", "shuffler", "subsampling"} {
		path := filepath.Join(root, "docs/theory", name+".md")
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
				for name := range strings.SplitSeq(run[2], "|") {
					if !hasTest(t, filepath.Join(root, run[1]), name) {
						t.Errorf("%s: %s: %s has no %s", path, m[1], run[1], name)
					}
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

func hasTest(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(f string) bool {
		text, err := os.ReadFile(f)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(t *testing.T) {")
	})
}
