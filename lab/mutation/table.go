package main

// The page: how many were killed in each package, and which survived and why.

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/lab/plots"
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

// The text of the page; write fills in its tables.
//
//go:embed page.tmpl
var pageText string

// write writes the page of all possible mutants and those asked; notGo of the sample do not compile.
func write(o options, all []mutant, ms []*mutant, notGo int) {
	command := fmt.Sprintf("go run ./lab/mutation -n %d -seed %d", o.n, o.seed)
	if o.only != "" {
		command = "go run ./lab/mutation -only …" // a sample put together from several
	}
	if o.pkg != packages {
		command += " -pkg " + o.pkg
	}
	page := plots.Values{"command": command, "file": filepath.Base(o.out), "sample": notGo + len(ms), "notGo": notGo, "asked": len(ms), "budget": o.budget, "survivors": "", "killed": ""}
	why := reasons(harmless)
	count := func(table, title string, in func(*mutant) bool) {
		page.Add(table, "| %s | %s |\n", title, counted(all, ms, why, in))
	}
	var pkgs []string
	for _, m := range all {
		if !slices.Contains(pkgs, m.pkg) {
			pkgs = append(pkgs, m.pkg)
		}
	}
	for _, pkg := range pkgs {
		count("packages", "`"+pkg+"`", func(m *mutant) bool { return m.pkg == pkg })
	}
	count("packages", "all", func(*mutant) bool { return true })
	for _, operator := range []string{"error term", "direction", "comparison", "sign", "constant", "early return"} {
		count("operators", operator, func(m *mutant) bool { return m.operator == operator })
	}
	for _, m := range ms {
		where := fmt.Sprintf("| %s | `%s` `%s` | %s |", m.name, m.file, m.fn, m.operator)
		if m.state == "killed" {
			by := m.killer
			if r := []rune(by); len(r) > 90 {
				by = string(r[:90]) + "…"
			}
			page.Add("killed", "%s %s |\n", where, by)
			continue
		}
		r, ok := why[m.name]
		if !ok {
			r = reason{"open", m.state}
		}
		was, is := short(m.was, m.is)
		page.Add("survivors", "%s %s | %s | %s: %s |\n", where, was, is, r.kind, r.why)
	}
	text := page.Page(pageText)
	if o.out == "" {
		try.Must(os.Stdout.Write(text))
		return
	}
	try.Check(os.WriteFile(o.out, text, 0o644))
}

// counted returns cells about some of the mutants: their functions, how many there are, and what became of those that were asked.
func counted(all []mutant, ms []*mutant, why map[string]reason, in func(*mutant) bool) string {
	fns, possible, asked, killed, fine := map[string]bool{}, 0, 0, 0, 0
	for i := range all {
		if m := &all[i]; in(m) {
			fns[m.file+m.fn] = true
			possible++
		}
	}
	for _, m := range ms {
		switch {
		case !in(m):
			continue
		case m.state == "killed":
			killed++
		case why[m.name].kind == "harmless":
			fine++
		}
		asked++
	}
	return fmt.Sprintf("%d | %d | %d | %d | %d | %d | %.0f %%", len(fns), possible, asked, killed, fine, asked-killed-fine, 100*float64(killed)/float64(max(1, asked-fine)))
}
