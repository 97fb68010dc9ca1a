package rooms

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/dpaccountant/accountant"

// whole lists the module once for all tests.
var whole = sync.OnceValues(func() (map[string]*Package, error) { return List("../..", "./...") })

// TestFilesInOrder: where a package lists its files, the list is whole and no file uses
// one above it.
func TestFilesInOrder(t *testing.T) {
	all, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	var checked []string
	for path := range Arrows(all, module) {
		p := all[path]
		s, err := Load(p, all)
		if err != nil {
			t.Fatal(err)
		}
		order := s.Listed()
		if order == nil {
			continue
		}
		checked = append(checked, path)
		for _, f := range p.GoFiles {
			if f != "doc.go" && !slices.Contains(order, f) {
				t.Errorf("%s: its list of files lacks %s", path, f)
			}
		}
		for _, f := range order {
			if _, err := os.Stat(filepath.Join(p.Dir, f)); err != nil {
				t.Errorf("%s: lists %s: %v", path, f, err)
			}
		}
		for _, u := range s.Upward(order) {
			t.Errorf("%s: %v", path, u)
		}
	}
	if slices.Sort(checked); !slices.Contains(checked, module+"/plan") {
		t.Errorf("the packages that list their files are %v, without plan", checked)
	}
	t.Log("in order:", checked)
}

// TestRootNeedsLittle: a program that brings its own steps compiles neither the reader of
// plans nor the second transform.
func TestRootNeedsLittle(t *testing.T) {
	all, err := List("../..", ".")
	if err != nil {
		t.Fatal(err)
	}
	for path := range all {
		if strings.HasPrefix(path, "github.com/goccy/go-yaml") || strings.Contains(path, "go-dsp") || path == module+"/plan" {
			t.Errorf("the root package depends on %s", path)
		}
	}
}

// TestUpward finds calls, methods, fields and types against an order, in a package of its
// own.
func TestUpward(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module stairs\n\ngo 1.25\n",
		"doc.go":    "// Package stairs has two upward calls.\n//\n// Files, in order:\n//\n//\ttop.go    the top\n//\tmiddle.go the middle\n//\tlow.go    the rest\n//\n// More text.\npackage stairs\n",
		"top.go":    "package stairs\n\nimport \"strings\"\n\nfunc Top() string { return strings.ToUpper(middle().name()) }\n\nconst height = 3\n",
		"middle.go": "package stairs\n\ntype step struct{ text string }\n\nfunc middle() step { return low() }\n",
		"low.go":    "package stairs\n\nfunc low() step { return step{text: \"x\"} }\n\nfunc (s step) name() string { return s.text[:height] }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := List(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(all["stairs"], all)
	if err != nil {
		t.Fatal(err)
	}
	order := s.Listed()
	if want := []string{"top.go", "middle.go", "low.go"}; !cmp.Equal(order, want) {
		t.Fatalf("the list is %v, want %v", order, want)
	}
	var got []string
	for _, u := range s.Upward(order) {
		got = append(got, u.From+" "+u.Name)
	}
	want := []string{"low.go step", "low.go step", "low.go text", "low.go step", "low.go text", "low.go height"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("upward uses (-want +got):\n%s", diff)
	}
	if up := s.Upward([]string{"top.go", "low.go", "middle.go"}); len(up) != 2 {
		t.Errorf("with low.go above middle.go: %v", up) // middle calls low, low reads height
	}
	if diff := cmp.Diff(map[string][]string{"stairs": {}}, Arrows(all, "stairs")); diff != "" {
		t.Error(diff)
	}
}
