package main

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var claims = regexp.MustCompile(`(?i)\b(bounds?|certif\w*|dominat\w*|proved|theorem|attack)\b`)

// claimsNothing are exported names whose doc comment uses one of the words
// without a claim of their own; the reason stands beside each.
var claimsNothing = map[string]string{
	"profiles.LaplaceLike":     "a name for what is not to be taken for noise",
	"pld.Law.K":                "an evaluation with its error",
	"profiles.Reached":         "an interface; its implementations have rows",
	"profiles.SubstituteMixer": "an interface; subsample.Poisson.Apply has the row",
	"profiles.Compound":        "an interface",
	"subsample.Sequence":       "an interface; matrix.Run.Runs has the rows",
	"darrm.Objective":          "what is optimised; the certificate is apart",
	"darrm.Float64s":           "rounding to nearest",
	"darrm.Release":            "a sampler",
	"audit.Scores":             "what an attack observed",
	"audit.Rate":               "an observation",
	"labeldp.EstimatePrior":    "an estimate of a prior",
}

// TestSoundnessNamesEveryBound: whatever says in its doc comment that it bounds,
// dominates, is proved or certified has a row in docs/soundness.md; what that
// page cites exists (TestPagesNames), files included.
func TestSoundnessNamesEveryBound(t *testing.T) {
	text := strings.Join(page(t, "docs/soundness.md"), "\n")
	named := map[string]bool{}
	for _, code := range codeSpan.FindAllString(text, -1) {
		named[strings.Trim(code, "`")] = true
		if path := strings.Trim(code, "`"); strings.Contains(path, "/") && !strings.ContainsAny(path, " *") {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("docs/soundness.md names the file %s: %v", path, err)
			}
		}
	}
	seen := 0
	exported := map[string]bool{}
	for _, dir := range []string{".", "plan", "profiles", "subsample", "subsample/adaptive", "subsample/allocation", "pld", "fourier", "rdp", "selection", "cmd/sweep", "pate", "pate/ballots", "darrm", "choice", "labeldp", "matrix", "ledger", "audit"} {
		files := map[string]*ast.File{}
		fset := token.NewFileSet()
		paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var parsed []*ast.File
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files[path], parsed = f, append(parsed, f)
		}
		pkg, err := doc.NewFromFiles(fset, parsed, dir)
		if err != nil {
			t.Fatal(err)
		}
		look := func(name, comment string) {
			name = pkg.Name + "." + name
			exported[name] = true
			word := claims.FindString(comment)
			if word == "" {
				return
			}
			seen++
			if _, ok := claimsNothing[name]; !ok && !named[name] {
				t.Errorf("%s says %q; docs/soundness.md has no row for it", name, word)
			}
		}
		funcs := func(prefix string, fs []*doc.Func) {
			for _, f := range fs {
				look(prefix+f.Name, f.Doc)
			}
		}
		funcs("", pkg.Funcs)
		for _, x := range pkg.Types {
			look(x.Name, x.Doc)
			funcs("", x.Funcs)
			funcs(x.Name+".", x.Methods)
		}
	}
	if seen < 100 {
		t.Errorf("%d doc comments claim something, want at least 100", seen)
	}
	for name, why := range claimsNothing {
		if !exported[name] || why == "" || named[name] {
			t.Errorf("the exception %s is not exported, has no reason, or has a row", name)
		}
	}
}

// TestSoundnessRows: a reviewer can tick the tables row by row. Each names what is claimed, files that are there, its
// proof, its conditions, a test, and a check that gets the truth in another way, which is none of the tests; or "none",
// so that a lack of one is seen. That all tests exist is TestPagesNames.
func TestSoundnessRows(t *testing.T) {
	test := regexp.MustCompile("`Test\\w+`")
	linked := regexp.MustCompile(`\]\(([\w/]+\.md)[^)]*\)([^;\[]*)`)
	numbered := regexp.MustCompile(`([Tt]heorem|Proposition)s? ((?:M?\d+)(?:(?:, | and )M?\d+)*)(?:[^.\d]|$)`)
	cells := []string{"tick", "what", "code", "proof", "conditions", "tests", "independent check", "not claimed"}
	rows := 0
	for _, line := range page(t, "docs/soundness.md") {
		if line == "## What is not claimed" {
			break
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ✓ |") {
			continue
		}
		rows++
		row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		if len(row) != len(cells) {
			t.Errorf("%d cells, want %d: %.60s", len(row), len(cells), line)
			continue
		}
		for i, cell := range row[:7] {
			if row[i] = strings.TrimSpace(cell); row[i] == "" || i == 5 && !test.MatchString(cell) {
				t.Errorf("the cell %q names nothing: %.60s", cells[i], line)
			}
		}
		for _, code := range codeSpan.FindAllString(row[2], -1) {
			if _, err := os.Stat(filepath.Join(root, strings.Trim(code, "`"))); err != nil {
				t.Errorf("%v: %.60s", err, line)
			}
		}
		// A theorem named right after a page of this book is on that page.
		for _, link := range linked.FindAllStringSubmatch(row[3], -1) {
			text := strings.ToLower(strings.Join(page(t, filepath.Join("docs", link[1])), "\n"))
			for _, named := range numbered.FindAllStringSubmatch(link[2], -1) {
				for _, n := range regexp.MustCompile(`M?\d+`).FindAllString(named[2], -1) {
					name := strings.ToLower(named[1] + " " + n)
					if ok, _ := regexp.MatchString(name+`\b`, text); !ok {
						t.Errorf("%s has no %s: %.60s", link[1], name, line)
					}
				}
			}
		}
		independent := test.FindAllString(row[6], -1)
		if len(independent) == 0 && row[6] != "none" {
			t.Errorf("the independent check names no test: %.60s", line)
		}
		for _, name := range independent {
			if strings.Contains(row[5], name) {
				t.Errorf("%s is a test and its own independent check: %.60s", name, line)
			}
		}
	}
	if rows < 110 {
		t.Errorf("%d rows, want at least 110", rows)
	}
}
