// Command apidiff lists the incompatible changes of a module's API between two folders, old and new, that hold its
// source: go run -modfile=.ci/tools.mod .ci/apidiff.go OLD NEW. It prints what golang.org/x/exp/cmd/apidiff
// -m -incompatible prints, but reads declarations only, where that has both folders compiled, for a minute of one core.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/exp/apidiff"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: apidiff OLD NEW")
	}
	outside := map[string]*types.Package{} // by folder: what both modules depend on
	old, err := load(os.Args[1], outside)
	if err != nil {
		log.Fatal(err)
	}
	now, err := load(os.Args[2], outside)
	if err != nil {
		log.Fatal(err)
	}
	if err := apidiff.ModuleChanges(old, now).TextIncompatible(os.Stdout, false); err != nil {
		log.Fatal(err)
	}
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // paths in the source that are not import paths
	DepOnly         bool
	Module          *struct{ Path string }
	Error           *struct{ Err string }
}

var hidden = regexp.MustCompile(`(^|/)internal(/|$)`)

// load reads the declarations of a module and of what it depends on. Without cgo all of it is Go.
func load(dir string, outside map[string]*types.Package) (*apidiff.Module, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Module,Error", "./...")
	cmd.Dir, cmd.Stderr, cmd.Env = dir, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	module := &apidiff.Module{}
	all := map[string]*types.Package{"unsafe": types.Unsafe}
	fset := token.NewFileSet()
	for d := json.NewDecoder(strings.NewReader(string(out))); ; { // in an order in which what is imported comes first
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return module, nil
		} else if err != nil {
			return nil, err
		}
		if p.Error != nil {
			return nil, errors.New(p.Error.Err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		pkg := outside[p.Dir]
		if pkg == nil {
			if pkg, err = check(fset, p, all); err != nil {
				return nil, err
			}
		}
		all[p.ImportPath] = pkg
		if p.DepOnly {
			outside[p.Dir] = pkg
			continue
		}
		module.Path = p.Module.Path
		if !hidden.MatchString(p.ImportPath) {
			module.Packages = append(module.Packages, pkg)
		}
	}
}

func check(fset *token.FileSet, p listed, all map[string]*types.Package) (*types.Package, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	config := types.Config{IgnoreFuncBodies: true, Sizes: types.SizesFor("gc", "amd64"), Importer: imports(func(path string) (*types.Package, error) {
		if mapped, ok := p.ImportMap[path]; ok {
			path = mapped
		}
		if pkg := all[path]; pkg != nil {
			return pkg, nil
		}
		return nil, fmt.Errorf("%s imports %s, which go list lacks", p.ImportPath, path)
	})}
	return config.Check(p.ImportPath, fset, files, nil)
}

type imports func(path string) (*types.Package, error)

func (f imports) Import(path string) (*types.Package, error) { return f(path) }
