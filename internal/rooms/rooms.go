// Packages, their imports, and what their files use of each other.

package rooms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Package is what go list says of one.
type Package struct {
	ImportPath, Dir string
	GoFiles         []string // of this machine, without tests
	Imports         []string
	Export          string // file with its types, as the compiler wrote them
	Standard        bool
}

// List returns the packages of the patterns, seen from a directory of the module, with
// all that they depend on: of each the imports, which are the arrows of a drawing.
func List(dir string, patterns ...string) (map[string]*Package, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Imports,Export,Standard"}, patterns...)
	cmd := exec.Command("go", args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	all := map[string]*Package{}
	for d := json.NewDecoder(&stdout); ; {
		p := &Package{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
	}
}

// Arrows returns the imports among the packages of a module, by import path, sorted.
func Arrows(all map[string]*Package, module string) map[string][]string {
	within := func(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }
	arrows := map[string][]string{}
	for path, p := range all {
		if !within(path) {
			continue
		}
		to := slices.DeleteFunc(slices.Clone(p.Imports), func(path string) bool { return !within(path) })
		slices.Sort(to)
		arrows[path] = to
	}
	return arrows
}

// A Use is a place in the file From that names something declared in the file To.
type Use struct {
	From, To string // without folders
	Name     string
	Position token.Position
}

func (u Use) String() string {
	return fmt.Sprintf("%v: uses %s of %s, which is above %s in the list", u.Position, u.Name, u.To, u.From)
}

// A Source is a package of the module with the types of its identifiers.
type Source struct {
	fset  *token.FileSet
	pkg   *types.Package
	info  *types.Info
	files map[string]*ast.File // by name, without folders
}

// Load reads a package; all has what it imports.
func Load(p *Package, all map[string]*Package) (*Source, error) {
	s := &Source{fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}}, files: map[string]*ast.File{}}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files[name], files = f, append(files, f)
	}
	compiled := func(path string) (io.ReadCloser, error) {
		dep := all[path]
		if dep == nil || dep.Export == "" {
			return nil, fmt.Errorf("%s: go list has no types of it", path)
		}
		return os.Open(dep.Export)
	}
	config := types.Config{Importer: importer.ForCompiler(s.fset, "gc", compiled)}
	var err error
	s.pkg, err = config.Check(p.ImportPath, s.fset, files, s.info)
	return s, err
}

var fileLine = regexp.MustCompile(`^\s+([a-z0-9_]+\.go)(\s|$)`)

// Listed returns the files that the package comment lists, in its order; nil if there is
// no list.
func (s *Source) Listed() []string {
	var comment string
	for _, f := range s.files {
		if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), "Package "+s.pkg.Name()+" ") {
			comment = f.Doc.Text()
		}
	}
	var names []string
	within := false
	for line := range strings.Lines(comment) {
		m := fileLine.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "Files"):
			within = true
		case within && m != nil:
			names = append(names, m[1])
		case within && names != nil && strings.TrimSpace(line) != "":
			return names // text again
		}
	}
	return names
}

// Uses returns what the files of the package use of each other, by position.
func (s *Source) Uses() []Use {
	var uses []Use
	for id, object := range s.info.Uses {
		if object.Pkg() != s.pkg || !object.Pos().IsValid() {
			continue
		}
		at, declared := s.fset.Position(id.Pos()), s.fset.Position(object.Pos())
		if at.Filename != declared.Filename {
			uses = append(uses, Use{filepath.Base(at.Filename), filepath.Base(declared.Filename), id.Name, at})
		}
	}
	slices.SortFunc(uses, func(a, b Use) int {
		if c := strings.Compare(a.Position.Filename, b.Position.Filename); c != 0 {
			return c
		}
		return a.Position.Offset - b.Position.Offset
	})
	return uses
}

// Upward returns the uses against the order of the files.
func (s *Source) Upward(order []string) []Use {
	return slices.DeleteFunc(s.Uses(), func(u Use) bool {
		return slices.Index(order, u.From) < slices.Index(order, u.To)
	})
}

// Exported returns the names that the package shows: types, functions, constants and
// variables, sorted; methods and fields are not counted.
func (s *Source) Exported() []string {
	return slices.DeleteFunc(s.pkg.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
}
