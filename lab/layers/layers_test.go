package layers

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
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	root   = "../.."
	module = "github.com/dpaccountant/accountant"
)

// A pkg is what go list says of a package.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles                            []string // of this machine, without tests
	Imports, TestImports, XTestImports []string
	Export                             string // file with its types, as the compiler wrote them
	Module                             *struct{ Path string }
}

// list returns the packages of the patterns, and with -deps among the arguments all that they depend on.
func list(args ...string) (map[string]*pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports,Export,Module"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	all := map[string]*pkg{}
	for d := json.NewDecoder(&stdout); ; {
		p := &pkg{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
	}
}

// library lists the packages of the root module and what they depend on, once for all tests.
var library = sync.OnceValues(func() (map[string]*pkg, error) { return list("-export", "-deps", "./...") })

// ours reports whether a package is of the library, which has no packages below cmd, lab or examples.
func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// name is the import path within the repository; the root package is "accountant".
func name(path string) string {
	if path == module {
		return "accountant"
	}
	return strings.TrimPrefix(path, module+"/")
}

// layers are the boxes of the drawing: packages that a reader meets together. Helpers, under internal/ of the
// root, are in none; what lies below a package belongs to its layer.
var layers = []struct {
	name     string
	packages []string
}{
	{"text", []string{"plan", "ledger"}},
	{"accountant", []string{"accountant"}},
	{"systems", []string{"selection", "choice", "menu", "matrix", "darrm", "pate", "labeldp", "audit"}},
	{"sampling", []string{"subsample", "rdp"}},
	{"fourier", []string{"fourier"}},
	{"pld", []string{"pld"}},
	{"profiles", []string{"profiles"}},
}

func layer(t *testing.T, path string) string {
	first, _, _ := strings.Cut(name(path), "/")
	if first == "internal" {
		return ""
	}
	for _, r := range layers {
		if slices.Contains(r.packages, first) {
			return r.name
		}
	}
	t.Errorf("%s is in no layer", path)
	return ""
}

// arrows returns the imports between the layers of the library; helpers pass on what they import.
func arrows(t *testing.T, all map[string]*pkg) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for path := range all {
		from := ""
		if ours(path) {
			from = layer(t, path)
		}
		if from == "" {
			continue
		}
		if out[from] == nil {
			out[from] = map[string]bool{}
		}
		seen := map[string]bool{}
		var follow func(path string)
		follow = func(path string) {
			for _, imported := range all[path].Imports {
				if !ours(imported) || seen[imported] {
					continue
				}
				seen[imported] = true
				if to := layer(t, imported); to == "" {
					follow(imported)
				} else if to != from {
					out[from][to] = true
				}
			}
		}
		follow(path)
	}
	return out
}

// levels returns the height of every layer: 0 for one that imports none. It fails on a cycle.
func levels(t *testing.T, arrows map[string]map[string]bool) map[string]int {
	height := map[string]int{}
	var climb func(layer string, above []string) int
	climb = func(layer string, above []string) int {
		if slices.Contains(above, layer) {
			t.Fatalf("the layers go round: %v", append(above, layer))
		}
		if h, ok := height[layer]; ok {
			return h
		}
		h := 0
		for to := range arrows[layer] {
			h = max(h, climb(to, append(above, layer))+1)
		}
		height[layer] = h
		return h
	}
	for layer := range arrows {
		climb(layer, nil)
	}
	return height
}

// shortest leaves out the arrows that follow from others.
func shortest(arrows map[string]map[string]bool) map[string][]string {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		for next := range arrows[from] {
			if next == to || reaches(next, to) {
				return true
			}
		}
		return false
	}
	out := map[string][]string{}
	for from, tos := range arrows {
		for to := range tos {
			indirect := false
			for next := range tos {
				indirect = indirect || next != to && reaches(next, to)
			}
			if !indirect {
				out[from] = append(out[from], to)
			}
		}
		slices.Sort(out[from])
	}
	return out
}

const (
	mostArrows = 12
	mostLevels = 7
)

// TestDrawing: the drawing in docs/reference/architecture.md is that of the imports, and is small. UPDATE=1 writes it.
func TestDrawing(t *testing.T) {
	all, err := library()
	if err != nil {
		t.Fatal(err)
	}
	found := arrows(t, all)
	height := levels(t, found)
	if top := slices.Max(slices.Collect(maps.Values(height))) + 1; top > mostLevels {
		t.Errorf("the library has %d levels, more than %d: %v", top, mostLevels, height)
	}
	few, count := shortest(found), 0
	drawn := "```mermaid\nflowchart TD\n"
	for _, r := range layers {
		if len(r.packages) > 1 {
			drawn += fmt.Sprintf("    %s[\"%s\"]\n", r.name, strings.Join(r.packages, " · "))
		}
	}
	for _, from := range slices.Sorted(maps.Keys(few)) {
		for _, to := range few[from] {
			drawn += fmt.Sprintf("    %s --> %s\n", from, to)
			count++
		}
	}
	drawn += "```\n"
	if count > mostArrows {
		t.Errorf("%d arrows, more than %d: %v", count, mostArrows, few)
	}
	page := filepath.Join(root, "docs", "reference", "architecture.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```mermaid\n.*?```\n")
	if got := block.FindString(string(text)); got == drawn {
		return
	} else if os.Getenv("UPDATE") == "" || got == "" {
		t.Fatalf("the drawing in docs/reference/architecture.md is not that of the imports (UPDATE=1 go test ./lab/layers -run TestDrawing writes it):\n%s\nwant\n%s", got, drawn)
	}
	if err := os.WriteFile(page, []byte(block.ReplaceAllLiteralString(string(text), drawn)), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestShortest(t *testing.T) {
	got := shortest(map[string]map[string]bool{"a": {"b": true, "c": true}, "b": {"c": true}, "c": {}})
	if fmt.Sprint(got) != "map[a:[b] b:[c]]" {
		t.Errorf("arrows %v", got)
	}
}

// TestLibraryStandsAlone: no package of the root module, nor a test of one, imports the program or the laboratory,
// and the library requires what it is meant to and no more.
func TestLibraryStandsAlone(t *testing.T) {
	all, err := list("./...")
	if err != nil {
		t.Fatal(err)
	}
	if all[module+"/fourier"] == nil {
		t.Fatalf("go list ./... shows no package fourier: %v", slices.Collect(maps.Keys(all)))
	}
	for path, p := range all {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if first, _, _ := strings.Cut(name(imported), "/"); ours(imported) && slices.Contains([]string{"cmd", "lab", "examples", "beam"}, first) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
	text, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(root, "go.mod")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(text, &mod); err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, r := range mod.Require {
		if !r.Indirect {
			direct = append(direct, r.Path)
		}
	}
	want := []string{"github.com/goccy/go-yaml", "github.com/gofrs/flock", "github.com/google/go-cmp", "github.com/mjibson/go-dsp", "gonum.org/v1/gonum", "pgregory.net/rapid"}
	if diff := cmp.Diff(want, direct); diff != "" {
		t.Errorf("direct requirements of the library (-want +got):\n%s", diff)
	}
}

// TestRootNeedsLittle: a program that brings its own steps compiles neither the reader of
// plans nor the second transform.
func TestRootNeedsLittle(t *testing.T) {
	all, err := list("-deps", ".")
	if err != nil {
		t.Fatal(err)
	}
	for path := range all {
		if strings.HasPrefix(path, "github.com/goccy/go-yaml") || strings.Contains(path, "go-dsp") || path == module+"/plan" {
			t.Errorf("the root package depends on %s", path)
		}
	}
}

// TestFaces: the packages that hold the systems of the papers stay small to look at: few exported types, functions,
// constants and variables. Selection has four systems: searches, sparse vector, the m best, adaptive searches; pate has one type
// more for the search for parameters, which is no accounting.
func TestFaces(t *testing.T) {
	all, err := library()
	if err != nil {
		t.Fatal(err)
	}
	for path, most := range map[string]int{"selection": 50, "pate": 36, "pate/ballots": 35, "darrm": 35, "labeldp": 35} {
		names, err := exported(all[module+"/"+path], all)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) > most {
			t.Errorf("%s exports %d names, more than %d: %v", path, len(names), most, names)
		}
	}
}

// exported returns the names that a package shows, without methods and fields; all has what it imports.
func exported(p *pkg, all map[string]*pkg) ([]string, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	compiled := func(path string) (io.ReadCloser, error) {
		dep := all[path]
		if dep == nil || dep.Export == "" {
			return nil, fmt.Errorf("%s: go list has no types of it", path)
		}
		return os.Open(dep.Export)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", compiled)}
	checked, err := config.Check(p.ImportPath, fset, files, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(checked.Scope().Names(), func(name string) bool { return !token.IsExported(name) }), nil
}
