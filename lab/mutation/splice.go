package main

// The text of a file with its mutants behind switches. It assumes that spans are the same or apart.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// apart leaves out mutants whose span cuts that of one before them.
func apart(ms []*mutant) []*mutant {
	var kept []*mutant
	for _, m := range ms {
		if !slices.ContainsFunc(kept, func(k *mutant) bool { return k.file == m.file && k.span != m.span && k.span.overlaps(m.span) }) {
			kept = append(kept, m)
		}
	}
	return kept
}

// splice returns the switched text. A line directive before each mutant says whose a compiler's complaint is.
func splice(src []byte, ms []*mutant) string {
	bySpan := map[span][]*mutant{}
	for _, m := range ms {
		bySpan[m.span] = append(bySpan[m.span], m)
	}
	var b strings.Builder
	done := 0
	for _, s := range slices.SortedFunc(maps.Keys(bySpan), func(a, b span) int { return a.from - b.from }) {
		b.Write(src[done:s.from])
		b.WriteString(switched(string(src[s.from:s.to]), bySpan[s]))
		done = s.to
	}
	b.Write(src[done:])
	return b.String()
}

func switched(was string, ms []*mutant) string {
	var b strings.Builder
	switch {
	case ms[0].condition:
		out := was
		for _, m := range ms {
			out = fmt.Sprintf("mutated(%d) && (\n//line mutant:%d\n%s) ||\n//line other:1\n !mutated(%[1]d) && (%[4]s)", m.id, m.id, m.is, out)
		}
		return out
	case ms[0].define:
		b.WriteString(was)
		for _, m := range ms {
			fmt.Fprintf(&b, "\nif mutated(%d) {\n//line mutant:%d\n%s\n//line other:1\n}", m.id, m.id, m.is)
		}
	default:
		for _, m := range ms {
			fmt.Fprintf(&b, "if mutated(%d) {\n//line mutant:%d\n%s\n//line other:1\n} else ", m.id, m.id, m.is)
		}
		b.WriteString("{\n" + was + "\n}")
	}
	return b.String()
}

// switches is the file that each changed package gets.
func switches(pkg string) string {
	return `package ` + pkg + `

import (
	"os"
	"strconv"
	"sync"
)

var mutationActive, mutationTrace = func() (int32, string) {
	n, _ := strconv.Atoi(os.Getenv("MUTATION_ACTIVE"))
	return int32(n), os.Getenv("MUTATION_TRACE")
}()

func mutated(id int32) bool {
	if mutationTrace != "" {
		mutationReached(id)
	}
	return id == mutationActive
}

var mutationSeen sync.Map

func mutationReached(id int32) {
	if _, seen := mutationSeen.LoadOrStore(id, true); seen {
		return
	}
	if f, err := os.OpenFile(mutationTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(strconv.Itoa(int(id)) + "\n")
		f.Close()
	}
}
`
}
