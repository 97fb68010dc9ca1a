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
	var b bytes.Buffer
	switch n.kind {
	case mapNode:
		b.WriteByte('{')
		for i, f := range n.fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.key + ": " + flow(f.node))
		}
		b.WriteByte('}')
	case listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(flow(item))
		}
		b.WriteByte(']')
	default:
		x, ok := plainNumber(n.text)
		switch {
		case n.kind == scalarNode && ok:
			return x
		case plainWord(n.text) && !(&node{text: n.text}).isNull() && n.text != "true" && n.text != "false":
			return n.text
		}
		return quoted(n.text)
	}
	return b.String()
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

// writeJSON writes a node as JSON, a key to a line.
func writeJSON(b *bytes.Buffer, n *node, indent string) {
	inner := indent + "  "
	switch n.kind {
	case mapNode:
		b.WriteString("{")
		for i, f := range n.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n" + inner + quoted(f.key) + ": ")
			writeJSON(b, f.node, inner)
		}
		b.WriteString("\n" + indent + "}")
	case listNode:
		b.WriteString("[")
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n" + inner)
			writeJSON(b, item, inner)
		}
		b.WriteString("\n" + indent + "]")
	case textNode:
		b.WriteString(quoted(n.text))
	default:
		if x, ok := plainNumber(n.text); ok {
			b.WriteString(x)
		} else { // null, Infinity
			b.WriteString(n.text)
		}
	}
}

// quoted is a text in quotes, as JSON and YAML both read it.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // text always has a form
	return strings.TrimSuffix(b.String(), "\n")
}
