package fault

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// field is the beginning of a message about a field; sentinel what else has a colon.
var (
	field    = regexp.MustCompile(`^[a-z][a-z0-9-]*(\[%d\])?: `)
	sentinel = regexp.MustCompile(`^(internal error|infeasible|selection|solver): `)
)

// constructors are the folders whose errors about input are Errors; "" is the root.
var constructors = []string{"", "profiles", "selection", "darrm", "pate", "labeldp", "rdp", "ledger", "plan"}

// cutters are the functions that take text apart.
var cutters = []string{"Cut", "CutPrefix", "TrimPrefix", "ReplaceAll", "SplitN", "Split"}

// TestNobodyCutsErrors: the library makes no message about a field as mere text, and
// nobody takes the text of an error apart, unless it is somebody else's ("json: …").
func TestNobodyCutsErrors(t *testing.T) {
	const root = "../.."
	made, read := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "beam"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		read++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		isConstructor := slices.Contains(constructors, strings.TrimPrefix(filepath.ToSlash(dir), "."))
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			pkg, name := called(call)
			switch {
			case pkg == "fault" && name == "New":
				made++
			case isConstructor && (pkg == "fmt" && name == "Errorf" || pkg == "errors" && name == "New"):
				if text := literal(call.Args[0]); field.MatchString(text) && !sentinel.MatchString(text) {
					t.Errorf("%v: %q is no fault.Error", fset.Position(call.Pos()), text)
				}
			case pkg == "strings" && slices.Contains(cutters, name) && isErrorText(call.Args[0]):
				if len(call.Args) < 2 || !strings.HasPrefix(literal(call.Args[1]), "json: ") {
					t.Errorf("%v: strings.%s of the text of an error; use fault.Rename", fset.Position(call.Pos()), name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 200 || made < 200 {
		t.Errorf("read %d files with %d calls of fault.New; the test looks in the wrong place", read, made)
	}
}

// called returns the names in a call of the form pkg.name(…).
func called(call *ast.CallExpr) (pkg, name string) {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name, f.Sel.Name
		}
	}
	return "", ""
}

// isErrorText reports whether an expression is err.Error() of some err.
func isErrorText(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 0 {
		return false
	}
	_, name := called(call)
	return name == "Error"
}

// literal returns the value of a string literal, "" of anything else.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return text
}
