package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogarithmsOfSubnormals: nobody but xmath takes math.Log, which is wrong for subnormal numbers on amd64 (xmath.Log).
func TestLogarithmsOfSubnormals(t *testing.T) {
	all, err := list("work")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, p := range all {
		if !strings.HasPrefix(path, module) || strings.Contains(path, "internal/xmath") {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "math" && s.Sel.Name == "Log" {
					t.Errorf("%s/%s takes math.Log in place of xmath.Log", path, name)
				} else if ok && x.Name == "xmath" && s.Sel.Name == "Log" {
					seen++
				}
				return true
			})
		}
	}
	if seen < 100 {
		t.Errorf("only %d logarithms were seen", seen)
	}
}
