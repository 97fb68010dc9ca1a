package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// This file writes a plan as YAML, in the form of the pages: keys of a step in one order,
// a line each, mechanisms and the like on one line; and events as JSON. It assumes that the
// plan has been read without an error; what it writes is read as the same plan.

func writePlan(root *node) []byte {
	var b bytes.Buffer
	b.WriteString("neighbors: " + flow(root.get("neighbors")) + "\n")
	if k := root.get("records-per-person"); k != nil {
		b.WriteString("records-per-person: " + flow(k) + "\n")
	}
	b.WriteString("steps:\n")
	writeSteps(&b, root.get("steps"), "  ")
	return b.Bytes()
}

func writeSteps(b *bytes.Buffer, steps *node, indent string) {
	for _, s := range steps.items {
		lead := indent + "- "
		for _, key := range []string{"name", "selection", "adaptive", "mechanism", "sampling", "count", "partition"} {
			v := s.get(key)
			if v == nil || key == "count" && valueOf(s, key) == 1 {
				continue
			}
			b.WriteString(lead + key + ": " + flow(v) + "\n")
			lead = indent + "  "
		}
		for _, key := range []string{"steps", "disjoint"} {
			if inner := s.get(key); inner != nil {
				b.WriteString(lead + key + ":\n")
				writeSteps(b, inner, indent+"    ")
			}
		}
	}
}

// plainWord reports whether YAML reads s as text without quotes, and not as a number: what
// else YAML takes for something it is put in quotes.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// flow writes a node on one line.
func flow(n *node) string {
	var parts []string
	for _, f := range n.fields {
		parts = append(parts, f.key+": "+flow(f.node))
	}
	for _, item := range n.items {
		parts = append(parts, flow(item))
	}
	x, ok := plainNumber(n.text)
	switch {
	case n.kind == mapNode:
		return "{" + strings.Join(parts, ", ") + "}"
	case n.kind == listNode:
		return "[" + strings.Join(parts, ", ") + "]"
	case n.kind == scalarNode && ok:
		return x
	case plainWord(n.text) && !(&node{text: n.text}).isNull() && n.text != "true" && n.text != "false":
		return n.text
	}
	return quoted(n.text)
}

// plainNumber writes a number in the shortest way that JSON and YAML share, and a number
// without one as Python does.
func plainNumber(text string) (string, bool) {
	x, err := decimal.Parse(text)
	switch {
	case err != nil:
		return "", false
	case math.IsInf(x, 1):
		return "Infinity", true
	case math.IsInf(x, -1) || math.IsNaN(x):
		return "", false
	}
	if w, err := decimal.Whole(text); err == nil && float64(w) == x {
		return decimal.Short(float64(w)), true
	}
	return decimal.Short(x), true
}

// inJSON writes a node as JSON, a key to a line; indent is the end of a line and what the next begins with.
func inJSON(n *node, indent string) string {
	var parts []string
	for _, f := range n.fields {
		parts = append(parts, indent+"  "+quoted(f.key)+": "+inJSON(f.node, indent+"  "))
	}
	for _, item := range n.items {
		parts = append(parts, indent+"  "+inJSON(item, indent+"  "))
	}
	x, ok := plainNumber(n.text)
	switch {
	case n.kind == mapNode:
		return "{" + strings.Join(parts, ",") + indent + "}"
	case n.kind == listNode:
		return "[" + strings.Join(parts, ",") + indent + "]"
	case n.kind == textNode:
		return quoted(n.text)
	case ok:
		return x
	}
	return n.text // null, Infinity
}

// quoted is a text in quotes, as JSON and YAML both read it.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}
