package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	testName  = regexp.MustCompile(`\b(?:Test|Example)[A-Z][\p{L}\d]*`)
)

// TestPagesNames: what pages name as package.Name or package.Type.Method is
// exported by that package, and tests and examples that they cite exist.
func TestPagesNames(t *testing.T) {
	exported := map[string]map[string]bool{}
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := exported[f.Name.Name]
		if names == nil {
			names = map[string]bool{}
			exported[f.Name.Name] = names
		}
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if strings.HasSuffix(path, "_test.go") {
					tests[decl.Name.Name] = true
				} else if decl.Recv == nil {
					names[decl.Name.Name] = true
				} else {
					names[receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					declare(names, spec)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range pages(t) {
		fenced := false
		for i, line := range page(t, path) {
			code := []string{line}
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if !fenced {
				code = codeSpan.FindAllString(line, -1)
			}
			for _, c := range code {
				for _, m := range qualified.FindAllStringSubmatch(c, -1) {
					names := exported[m[1]]
					if names == nil { // a variable, or a package of others
						continue
					}
					checked++
					if !names[m[2]] || m[3] != "" && !names[m[2]+"."+m[3]] {
						t.Errorf("%s:%d: there is no %s", path, i+1, m[0])
					}
				}
				for _, name := range testName.FindAllString(c, -1) {
					checked++
					if !tests[name] {
						t.Errorf("%s:%d: there is no %s", path, i+1, name)
					}
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("the pages name %d things, want at least 30", checked)
	}
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// declare notes types with their fields and methods, constants and variables.
func declare(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		var members *ast.FieldList
		switch t := spec.Type.(type) {
		case *ast.StructType:
			members = t.Fields
		case *ast.InterfaceType:
			members = t.Methods
		default:
			return
		}
		for _, f := range members.List {
			for _, n := range f.Names {
				names[spec.Name.Name+"."+n.Name] = true
			}
		}
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n.Name] = true
		}
	}
}
