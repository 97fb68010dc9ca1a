package main

// The page: how many were killed in each package, which survived and why, and which functions were asked about.

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
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

func write(root string, o options, all []mutant, ms []*mutant) error {
	var b strings.Builder
	why := reasons(harmless)
	b.WriteString("# Mutation\n\n")
	fmt.Fprintf(&b, "Written by `go run ./internal/mutation -n %d -seed %d`; how it works is in [its doc.go](../internal/mutation/doc.go).\n", o.n, o.seed)
	b.WriteString("Each mutant is one line that carries a bound with one thing wrong. It is *killed* when a test fails with it. *Harmless* are\n" +
		"survivors that break no promise, with the reason; *open* are those that a test should kill and none does.\n\n")
	b.WriteString("| package | functions that carry a bound | possible mutants | asked | killed | harmless | open | killed of those that harm |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	var pkgs []string
	for _, m := range all {
		if !slices.Contains(pkgs, m.pkg) {
			pkgs = append(pkgs, m.pkg)
		}
	}
	row := func(title string, in func(pkg string) bool) {
		fns, possible, asked, killed, fine, open := map[string]bool{}, 0, 0, 0, 0, 0
		for _, m := range all {
			if in(m.pkg) {
				fns[m.file+m.fn] = true
				possible++
			}
		}
		for _, m := range ms {
			switch {
			case !in(m.pkg):
				continue
			case m.state == "killed":
				killed++
			case why[m.name].kind == "harmless":
				fine++
			default:
				open++
			}
			asked++
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %.0f %% |\n", title, len(fns), possible, asked, killed, fine, open, 100*float64(killed)/float64(max(1, killed+open)))
	}
	for _, p := range pkgs {
		row("`"+p+"`", func(q string) bool { return p == q })
	}
	row("all", func(string) bool { return true })
	b.WriteString("\n## Survivors\n\n| mutant | where | kind | was | is | why it is left |\n|---|---|---|---|---|---|\n")
	for _, m := range ms {
		if m.state == "killed" {
			continue
		}
		was, is := short(m.was, m.is)
		r, ok := why[m.name]
		if !ok {
			r = reason{"open", m.state}
		}
		fmt.Fprintf(&b, "| %s | `%s` `%s` | %s | %s | %s | %s: %s |\n", m.name, m.file, m.fn, m.operator, was, is, r.kind, r.why)
	}
	b.WriteString("\n## Killed\n\n| mutant | where | kind | by |\n|---|---|---|---|\n")
	for _, m := range ms {
		if m.state == "killed" {
			by := m.killer
			if len(by) > 90 {
				by = by[:90] + "…"
			}
			fmt.Fprintf(&b, "| %s | `%s` `%s` | %s | %s |\n", m.name, m.file, m.fn, m.operator, by)
		}
	}
	b.WriteString("\n## Functions taken to carry a bound\n\n")
	last, seen := "", map[string]bool{}
	for _, m := range all {
		if seen[m.file+m.fn] {
			continue
		}
		seen[m.file+m.fn] = true
		if m.file != last {
			if last != "" {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- `%s`: ", m.file)
			last = m.file
		} else {
			b.WriteString(", ")
		}
		b.WriteString(m.fn)
	}
	b.WriteString("\n")
	if o.out == "" {
		fmt.Print(b.String())
		return nil
	}
	return os.WriteFile(o.out, []byte(b.String()), 0o644)
}
