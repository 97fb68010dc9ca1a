package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// engine is where answers of compositions are computed.
var engine = []string{module + "/fourier", module + "/internal/transform", module + "/internal/besttest"}

// mostSteering is how many constants of the engine may steer: named numbers whose change leaves every proved end valid. It only goes down.
const mostSteering = 123

// TestEngine: no function of the engine takes two functions, an algorithm that nobody can step through; and the constants that steer are
// marked and counted.
func TestEngine(t *testing.T) {
	all, err := list("work")
	if err != nil {
		t.Fatal(err)
	}
	functions, steering := 0, 0
	for path, p := range all {
		if !slices.ContainsFunc(engine, func(e string) bool { return path == e || strings.HasPrefix(path, e+"/") }) {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if x, ok := n.(*ast.FuncType); ok {
					functions++
					taken := 0
					for _, a := range x.Params.List {
						if _, ok := a.Type.(*ast.FuncType); ok {
							taken += max(1, len(a.Names))
						}
					}
					if taken > 1 {
						t.Errorf("%s/%s: a function takes %d functions", path, name, taken)
					}
				}
				return true
			})
			for _, d := range f.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					v := s.(*ast.ValueSpec)
					text := g.Doc.Text() + v.Doc.Text() + v.Comment.Text()
					switch {
					case strings.Contains(text, "steers:"):
						steering += len(v.Names)
					case strings.Contains(text, "steer"), strings.Contains(text, "proves nothing"), strings.Contains(text, "prove nothing"):
						t.Errorf("%s/%s: %v steers and is not marked as \"steers: what it trades\"", path, name, v.Names)
					}
				}
			}
		}
	}
	if t.Logf("%d constants steer", steering); steering > mostSteering {
		t.Errorf("%d constants of the engine steer, at most %d may", steering, mostSteering)
	}
	if functions < 500 || steering < 10 {
		t.Errorf("only %d functions and %d constants that steer were seen", functions, steering)
	}
}
