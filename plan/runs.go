package plan

// The runs of a plan as lines, for programs that have no YAML reader: the canonical form of a
// certificate (docs/reference/certificates.md). It assumes a text that Parse reads, and returns one line
// for each step that is no group, groups multiplied out.

import (
	"context"
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
)

// Runs returns a plan, and its steps as lines, each with its count, its mechanism, parameters as name and
// value, and its sampling. Numbers are hexadecimal (decimal.Hex). A step of another mechanism or scheme than
// these is a line with the word "other" and its text.
func Runs(data []byte) (*accountant.Plan, []string, error) {
	root, err := parseRoot(context.Background(), data)
	if err == nil {
		root, err = asPlan(root)
	}
	if err != nil {
		return nil, nil, err
	}
	p, err := parsePlan(context.Background(), root)
	if err != nil {
		return nil, nil, err
	}
	return p, runsOf(root.get("steps"), 1), nil
}

func runsOf(list *node, times int64) []string {
	var lines []string
	for _, s := range list.items {
		count := times
		if n := s.get("count"); n != nil {
			c, _ := n.count() // parsePlan has read it, and that the product is at most 2^53
			count *= c
		}
		if inner := s.get("steps"); inner != nil && s.get("selection") == nil {
			lines = append(lines, runsOf(inner, count)...)
			continue
		}
		lines = append(lines, fmt.Sprintf("%d %s", count, run(s)))
	}
	return lines
}

// run is a step as words, without its count. What has parts is followed by lines of them.
func run(s *node) string {
	m, ok := "", false
	switch {
	case s.get("disjoint") != nil:
	case s.get("adaptive") != nil:
		if text, ok := menuWords(s.get("adaptive")); ok {
			return text
		}
	case s.get("selection") != nil:
		if text, ok := searchWords(s); ok {
			return text
		}
	default:
		m, ok = words(s.get("mechanism"))
	}
	if sampling := s.get("sampling"); ok && sampling != nil && !sampling.isWord("none") {
		var scheme string
		scheme, ok = words(sampling)
		m += " " + scheme
	}
	if ok {
		return m
	}
	var parts []string
	for _, key := range []string{"selection", "adaptive", "mechanism", "sampling", "steps", "partition", "disjoint"} {
		if n := s.get(key); n != nil {
			parts = append(parts, key+": "+flow(n))
		}
	}
	return "other " + strings.Join(strings.Fields(strings.Join(parts, ", ")), " ")
}

// parts writes the lines of the steps inside of a menu's type or a search, which are "other" where they have parts in turn.
func parts(list *node) string {
	lines := runsOf(list, 1)
	text := fmt.Sprintf(" steps %d", len(lines))
	for _, l := range lines {
		l, _, nested := strings.Cut(l, "\n")
		if count, _, _ := strings.Cut(l, " "); nested {
			l = count + " other with parts of its own"
		}
		text += "\ninner " + l
	}
	return text
}

// menuWords writes {units: …, menu: […]}, of which parseAdaptive has read that it is one. It reports false where a cost is not a number.
func menuWords(n *node) (string, bool) {
	types := n.get("menu").items
	text := fmt.Sprintf("adaptive units %d types %d", (&values{node: n}).whole("units"), len(types))
	for _, t := range types {
		if cost := t.get("cost"); cost == nil || cost.isWord("auto") {
			return "", false
		}
		text += fmt.Sprintf("\ntype cost %d%s", (&values{node: t}).whole("cost"), parts(t.get("steps")))
	}
	return text, true
}

// searchWords writes the law of a search, with the γ that its mean stands for, and what it runs. It reports false of another law than those of
// the negative binomial family without a bound.
func searchWords(s *node) (string, bool) {
	c, err := parseSelection(s.get("selection"))
	if err != nil || c.Max != 0 {
		return "", false
	}
	l, err := c.Build()
	if err != nil {
		return "", false
	}
	shape, gamma, ok := l.Family()
	if !ok {
		return "", false
	}
	text := "selection negative-binomial shape " + decimal.Hex(shape) + " gamma " + decimal.Hex(gamma)
	list := s.get("steps")
	if list == nil { // a mechanism, perhaps on samples, is one step
		one := &node{kind: mapNode}
		for _, f := range s.fields {
			if f.key == "mechanism" || f.key == "sampling" {
				one.fields = append(one.fields, f)
			}
		}
		list = &node{kind: listNode, items: []*node{one}}
	}
	return text + parts(list), true
}

// wordKeys are the mechanisms, samplings, and parts of a matrix mechanism that have words, with the keys that are written, in this order.
var wordKeys = map[string][]string{
	"gaussian":            nil, // noise-multiplier, which other keys may stand for
	"laplace":             nil,
	"randomized-response": {"probability", "categories"},
	"discrete-gaussian":   {"noise-multiplier", "sensitivity", "dimension"},
	"discrete-laplace":    {"noise-multiplier", "sensitivity"},
	"noisy-max":           {"noise", "epsilon"},
	"threshold":           {"noise", "standard-deviation", "threshold", "partitions"},
	"select-partitions":   {"epsilon", "delta", "partitions"},
	"pure":                {"epsilon"},
	"exponential":         {"epsilon"},
	"permute-and-flip":    {"epsilon"},
	"approximate":         {"epsilon", "delta"},
	"finite":              {"p", "q"},
	"poisson":             {"rate"},
	"without-replacement": {"population", "batch"},
	"with-replacement":    {"population", "batch"},
	"random-allocation":   {"steps", "uses", "redraw", "epochs", "first"},
	"matrix":              {"noise-multiplier", "steps", "strategy", "participation"},

	"square-root":    {"bands"},
	"toeplitz":       {"coefficients"},
	"blt":            {"scales", "decays"},
	"tree":           {"completion"},
	"single":         nil,
	"epochs":         nil,
	"min-separation": nil,
	"at-most":        nil,
	"cyclic-poisson": {"cycle", "rate"},
}

// wholeKeys are those of whole numbers, with what stands for a key that is left out. first is not written then.
var wholeKeys = map[string]int{"categories": 0, "sensitivity": 1, "dimension": 0, "partitions": 1, "population": 0, "batch": 0,
	"steps": 0, "uses": 1, "epochs": 1, "first": 0, "bands": 1 << 22, "cycle": 0}

// words writes {name: {key: value, …}} of a mechanism or a sampling in the order of the keys of its table, and reports whether
// it is one that has words.
func words(n *node) (string, bool) {
	name, v := n.fields[0].key, &values{node: n.fields[0].node}
	keys, known := wordKeys[name]
	if !known || v.has("l2-sensitivity") {
		return "", false
	}
	if _, ok := noiseScales[name]; ok {
		noise, err := v.noise(name)
		return name + " noise-multiplier " + decimal.Hex(noise), err == nil && v.err == nil
	}
	text, ok := v.words(keys)
	return name + text, ok && v.err == nil
}

// words writes the values of keys.
func (v *values) words(keys []string) (text string, ok bool) {
	for _, key := range keys {
		missing, whole := wholeKeys[key]
		value := v.node.get(key)
		switch {
		case key == "first" && value == nil:
		case key == "strategy" || key == "participation":
			part, ok := matrixWords(value)
			if !ok {
				return "", false
			}
			text += " " + part
		case key == "completion":
			completion := 0
			if value != nil && v.flag(key) {
				completion = 1
			}
			text += fmt.Sprintf(" %s %d", key, completion)
		case key == "noise" || key == "redraw":
			text += " " + key + " " + v.wordOr(key, "each-epoch")
		case whole:
			text += fmt.Sprintf(" %s %d", key, v.wholeOr(key, missing))
		case value != nil && value.kind == listNode:
			text += v.listWords(key)
		default:
			text += " " + key + " " + decimal.Hex(v.number(key))
		}
	}
	return text, true
}

// listWords writes a list of numbers.
func (v *values) listWords(key string) string {
	xs := v.list(key)
	text := fmt.Sprintf(" %s %d", key, len(xs))
	for _, x := range xs {
		text += " " + decimal.Hex(x)
	}
	return text
}

// matrixWords writes a strategy or a participation of a matrix mechanism, and reports whether it is one that has words.
func matrixWords(n *node) (string, bool) {
	if n.isWord("identity") {
		return "identity", true
	}
	var texts []string
	for _, key := range []string{"square-root", "toeplitz", "blt", "tree", "single", "epochs", "min-separation", "at-most", "cyclic-poisson"} {
		inner := n.get(key)
		if inner == nil {
			continue
		}
		text, _ := (&values{node: inner}).words(wordKeys[key])
		if wordKeys[key] == nil && key != "single" {
			text = fmt.Sprintf(" %d", (&values{node: n}).whole(key))
		}
		texts = append(texts, key+text)
	}
	return strings.Join(texts, " "), len(texts) > 0 && len(texts) == len(n.fields)
}
