package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestRandomnessNamesEverySampler: docs/reference/randomness.csv has every exported function or method with a parameter of
// type rand.Source, and every method Sample of a law with a *rand.Rand.
func TestRandomnessNamesEverySampler(t *testing.T) {
	text := strings.Join(page(t, randomness), "\n")
	named := map[string]bool{}
	for _, code := range codeSpan.FindAllString(text, -1) {
		named[strings.Trim(code, "`")] = true
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "cmd", "lab", "examples", "testdata", ".git", "steady":
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil || f.Name.Name == "main" {
			return err
		}
		for _, decl := range f.Decls {
			for _, name := range samplers(decl) {
				seen++
				if name = f.Name.Name + "." + name; !named[name] {
					t.Errorf("%s does not name %s", randomness, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 40 {
		t.Errorf("%d functions draw, want at least 40", seen)
	}
}

// samplers returns the exported functions and methods of a declaration that draw. The methods of a type that is not exported are
// those of an interface.
func samplers(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		of := ""
		if decl.Recv != nil {
			if of = receiver(decl.Recv.List[0].Type) + "."; !ast.IsExported(of) {
				return nil
			}
		}
		if decl.Name.IsExported() && draws(decl.Type.Params) {
			names = append(names, of+decl.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			x, ok := spec.(*ast.TypeSpec)
			if !ok || !x.Name.IsExported() {
				continue
			}
			of, ok := x.Type.(*ast.InterfaceType)
			if !ok {
				continue
			}
			for _, m := range of.Methods.List {
				if fn, ok := m.Type.(*ast.FuncType); ok && len(m.Names) > 0 && draws(fn.Params) {
					names = append(names, x.Name.Name+"."+m.Names[0].Name)
				}
			}
		}
	}
	return names
}

func draws(params *ast.FieldList) bool {
	for _, p := range params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Source" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "rand" {
				return true
			}
		}
	}
	return false
}
