package rooms

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mostNames is how many names a package of a paper may export: types, functions, constants
// and variables, without methods and fields.
const mostNames = 35

// TestFaces: the packages that hold the systems of the papers stay small to look at.
func TestFaces(t *testing.T) {
	all, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"selection", "selection/sparse", "pate", "pate/ballots", "darrm", "labeldp"} {
		s, err := Load(all[module+"/"+name], all)
		if err != nil {
			t.Fatal(err)
		}
		if names := s.Exported(); len(names) > mostNames {
			t.Errorf("%s exports %d names, more than %d: %v", name, len(names), mostNames, names)
		} else {
			t.Logf("%s: %d", name, len(names))
		}
	}
}

const (
	mostLines = 500 // of a file
	longest   = 80  // lines of a function whose comment does not say why it is longer
)

// oversized are the files and functions that are larger than they should be. The list only
// ever shrinks: what is on it and no longer too large fails the test as well.
var oversized = map[string]bool{}

// TestSizes: no file has more than 500 lines, and no function more than 80 unless its
// comment has a sentence "It is long because …". Tests are not counted.
func TestSizes(t *testing.T) {
	got := map[string]bool{}
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		name = filepath.ToSlash(name)
		large, err := tooLarge(path)
		for _, what := range large {
			got[strings.TrimSpace(name+" "+what)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oversized, got); diff != "" {
		t.Errorf("too large (-no longer, take it off the list; +new: make it smaller, or say in its comment \"It is long because …\"):\n%s", diff)
	}
}

// tooLarge returns "" for a file that is too large, and the names of its functions that are.
func tooLarge(path string) (what []string, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if fset.File(f.Pos()).LineCount() > mostLines+1 { // the last line ends with a line feed
		what = append(what, "")
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fset.Position(fn.End()).Line-fset.Position(fn.Pos()).Line+1 <= longest {
			continue
		}
		if comment := strings.Join(strings.Fields(fn.Doc.Text()), " "); !strings.Contains(comment, "It is long because") {
			what = append(what, fn.Name.Name)
		}
	}
	return what, nil
}
