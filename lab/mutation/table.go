package main

// The page: how many were killed in each package, and which survived and why.

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/lab/try"
)

// Each line of harmless.txt is a mutant's name, "harmless" or "open", and why.
//
//go:embed harmless.txt
var harmless string

type reason struct{ kind, why string }

func reasons(text string) map[string]reason {
	all := map[string]reason{}
	for l := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimSpace(l), " ", 3)
		if len(f) == 3 && !strings.HasPrefix(l, "#") {
			all[f[0]] = reason{f[1], f[2]}
		}
	}
	return all
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// short is the part of a changed text around the change.
func short(was, is string) (string, string) {
	was, is = flat(was), flat(is)
	from := 0
	for from < min(len(was), len(is)) && was[from] == is[from] {
		from++
	}
	from = max(0, from-25)
	cut := func(s string) string {
		if from > 0 {
			s = "…" + s[from:]
		}
		if len(s) > 90 {
			s = s[:90] + "…"
		}
		return "`" + strings.ReplaceAll(strings.ToValidUTF8(s, ""), "|", "¦") + "`"
	}
	return cut(was), cut(is)
}

// A page is what the table is written of.
type page struct {
	strings.Builder
	all []mutant
	ms  []*mutant // those that were asked
	why map[string]reason
}

// write writes the page of all possible mutants and those asked; notGo of the sample do not compile.
func write(o options, all []mutant, ms []*mutant, notGo int) {
	p := &page{all: all, ms: ms, why: reasons(harmless)}
	p.WriteString("# Mutation\n\n")
	command := fmt.Sprintf("go run ./lab/mutation -n %d -seed %d", o.n, o.seed)
	if o.only != "" {
		command = "go run ./lab/mutation -only …" // a sample put together from several
	}
	if o.pkg != packages {
		command += " -pkg " + o.pkg
	}
	fmt.Fprintf(p, "Written by `%s -o lab/mutation/%s`; how it works is in `lab/mutation/doc.go`.\n", command, filepath.Base(o.out))
	p.WriteString("Each mutant is one line that carries a bound with one thing wrong. It is *killed* when a test fails with it. *Harmless* are\n" +
		"survivors that break no promise, with the reason; *open* are those that a test could kill and none does.\n" +
		"Names stay the same as long as a line and its function are the same.\n\n")
	fmt.Fprintf(p, "Of the %d mutants of this sample %d do not compile and %d have been asked; each against the tests of these packages that reach it, up to %v of\n"+
		"processor time, its own package first. A survivor may be killed by a test beyond that, or by a newer one.\n\n", notGo+len(ms), notGo, len(ms), o.budget)
	p.counts()
	p.survivors()
	p.killed()
	if o.out == "" {
		fmt.Print(p.String())
		return
	}
	try.Check(os.WriteFile(o.out, []byte(p.String()), 0o644))
}

func (p *page) counts() {
	p.WriteString("| package | functions that carry a bound | possible mutants | asked | killed | harmless | open | killed of those that harm |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	var pkgs []string
	for _, m := range p.all {
		if !slices.Contains(pkgs, m.pkg) {
			pkgs = append(pkgs, m.pkg)
		}
	}
	for _, pkg := range pkgs {
		p.count("`"+pkg+"`", func(m *mutant) bool { return m.pkg == pkg })
	}
	p.count("all", func(*mutant) bool { return true })
	p.WriteString("\n| what is wrong | functions | possible mutants | asked | killed | harmless | open | killed of those that harm |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, operator := range []string{"error term", "direction", "comparison", "sign", "constant", "early return"} {
		p.count(operator, func(m *mutant) bool { return m.operator == operator })
	}
}

func (p *page) count(title string, in func(*mutant) bool) {
	fns, possible, asked, killed, fine, open := map[string]bool{}, 0, 0, 0, 0, 0
	for i := range p.all {
		if m := &p.all[i]; in(m) {
			fns[m.file+m.fn] = true
			possible++
		}
	}
	for _, m := range p.ms {
		switch {
		case !in(m):
			continue
		case m.state == "killed":
			killed++
		case p.why[m.name].kind == "harmless":
			fine++
		default:
			open++
		}
		asked++
	}
	fmt.Fprintf(p, "| %s | %d | %d | %d | %d | %d | %d | %.0f %% |\n", title, len(fns), possible, asked, killed, fine, open, 100*float64(killed)/float64(max(1, killed+open)))
}

func (p *page) survivors() {
	p.WriteString("\n## Survivors\n\n| mutant | where | kind | was | is | why it is left |\n|---|---|---|---|---|---|\n")
	for _, m := range p.ms {
		if m.state == "killed" {
			continue
		}
		was, is := short(m.was, m.is)
		r, ok := p.why[m.name]
		if !ok {
			r = reason{"open", m.state}
		}
		fmt.Fprintf(p, "| %s | `%s` `%s` | %s | %s | %s | %s: %s |\n", m.name, m.file, m.fn, m.operator, was, is, r.kind, r.why)
	}
}

func (p *page) killed() {
	p.WriteString("\n## Killed\n\n| mutant | where | kind | by |\n|---|---|---|---|\n")
	for _, m := range p.ms {
		if m.state == "killed" {
			by := m.killer
			if r := []rune(by); len(r) > 90 {
				by = string(r[:90]) + "…"
			}
			fmt.Fprintf(p, "| %s | `%s` `%s` | %s | %s |\n", m.name, m.file, m.fn, m.operator, by)
		}
	}
}
