package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/lab/try"
)

const sampled = `package small

// bound returns an upper bound.
func bound(x, err float64) float64 {
	y := x*2 + err
	if x < 1 {
		return 0
	}
	y += 3 * err
	return max(y, x)
}

func other(x float64) float64 { return x + 1 }
`

// TestSites: each kind of wrong is found in a function that carries a bound, and nowhere else.
func TestSites(t *testing.T) {
	ms := sites("/m", "/m/p/small.go", []byte(sampled))
	var got []string
	names := map[string]bool{}
	for _, m := range ms {
		if m.fn != "bound" || m.pkg != "p" || m.clause != "small" || names[m.name] {
			t.Errorf("%+v", m)
		}
		names[m.name] = true
		got = append(got, m.operator+": "+m.is)
	}
	for _, want := range []string{
		"error term: y = (x*2)", "sign: y = x*2 - (err)", "comparison: x <= 1", "comparison: x >= 1", "constant: x < (1+1)",
		"early return: false && (x < 1)", "sign: y -= 3 * err", "error term: y += 0*(3 * err)", "direction: return min(y, x)", "constant: return (0-1)",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	// The switched text is a Go file, and without a switch does what it did: the text before is all there.
	kept := make([]*mutant, len(ms))
	for i := range ms {
		kept[i] = &ms[i]
		ms[i].id = int32(i + 1)
	}
	kept = apart(kept)
	text := splice([]byte(sampled), kept)
	if _, err := parser.ParseFile(token.NewFileSet(), "small.go", text, 0); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	for _, m := range kept {
		if !strings.Contains(text, m.was) || !strings.Contains(text, m.is) {
			t.Errorf("%q or %q is not in\n%s", m.was, m.is, text)
		}
	}
}

// TestBadOptions: a number of mutants that is none is an error and no panic.
func TestBadOptions(t *testing.T) {
	for _, c := range []struct {
		o    options
		want string
	}{
		{options{n: -1, asked: "."}, "n: -1 is not in [0, +Inf)"},
		{options{n: 1, asked: "("}, "missing closing"},
		{options{n: 1, asked: ".", pkg: "nosuch", list: true}, "pkg: nosuch has no line"},
	} {
		if err := try.Run(func() { run(c.o) }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}

// TestReasons: each line of harmless.txt is a mutant that exists, with a reason; those of lines that have
// changed since are to be taken off the list.
func TestReasons(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := find(root, strings.Split(packages+","+systems, ","))
	if len(all) < 5000 {
		t.Errorf("%d mutants, want at least 5000", len(all))
	}
	for l := range strings.Lines(harmless) {
		f := strings.Fields(l)
		if strings.HasPrefix(l, "#") {
			continue
		}
		if len(f) < 6 || f[1] != "harmless" && f[1] != "open" || !slices.ContainsFunc(all, func(m mutant) bool { return m.name == f[0] }) {
			t.Errorf("not a mutant, or no reason: %s", l)
		}
	}
	var lists strings.Builder
	page, err := os.ReadFile(filepath.Join(root, "docs/reference/mutation.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"engine.txt", "systems.txt", "second.txt"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lists.Write(text)
		table, _, _ := strings.Cut(string(text), "| what is wrong |")
		for l := range strings.Lines(table) {
			if strings.HasPrefix(l, "| all |") && !strings.Contains(string(page), l) {
				t.Errorf("docs/reference/mutation.md does not have the sum of %s: %s", name, l)
			}
		}
	}
	for name, r := range reasons(harmless) {
		if !strings.Contains(lists.String(), name) || !strings.Contains(lists.String(), r.why) {
			t.Errorf("no list has %s", name)
		}
	}
}
