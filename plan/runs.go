package plan

// The runs of a plan as lines, for programs that have no YAML reader: the canonical form of a
// certificate (docs/reference/certificates.md). It assumes a text that Parse reads, and returns one line
// for each step that is no group, groups multiplied out.

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/profiles"
)

// Header is what the lines of Runs hold for: the relation, and the records of a person.
type Header struct {
	Neighbors        profiles.Relation
	RecordsPerPerson int64
}

// Runs returns the steps of a plan as lines, each with its count, its mechanism, parameters as name and
// value, and its sampling. Numbers are as Hex writes them. A step of another mechanism or scheme than
// these is a line with the word "other" and its text.
func Runs(data []byte) (Header, []string, error) {
	root, err := parseRoot(data)
	if err == nil && isEvents(root) {
		root, err = planOfEvents(root)
	}
	if err != nil {
		return Header{}, nil, err
	}
	p, err := parsePlan(context.Background(), root)
	if err != nil {
		return Header{}, nil, err
	}
	return Header{p.Neighbors, p.Records()}, runsOf(root.get("steps"), 1), nil
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
	text := "selection negative-binomial shape " + Hex(shape) + " gamma " + Hex(gamma)
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

// words writes {name: {key: value, …}} of a mechanism or a sampling in the order of the keys of its table, and reports whether
// it is one that has words.
func words(n *node) (string, bool) {
	name, v := n.fields[0].key, &values{node: n.fields[0].node}
	number := func(key string) string { return " " + key + " " + Hex(v.number(key)) }
	whole := func(key string, missing int) string { return fmt.Sprintf(" %s %d", key, v.wholeOr(key, missing)) }
	text := name
	switch name {
	case "gaussian", "laplace":
		if v.has("l2-sensitivity") {
			return "", false
		}
		order, scale := 1, "scale"
		if name == "gaussian" {
			order, scale = 2, "standard-deviation"
		}
		noise, err := v.noise(scale, order)
		if err != nil {
			return "", false
		}
		text += " noise-multiplier " + Hex(noise)
	case "randomized-response":
		text += number("probability") + fmt.Sprintf(" categories %d", v.whole("categories"))
	case "discrete-gaussian":
		text += number("noise-multiplier") + whole("sensitivity", 1) + whole("dimension", 0)
	case "discrete-laplace":
		if v.has("l2-sensitivity") {
			return "", false
		}
		text += number("noise-multiplier") + whole("sensitivity", 1)
	case "noisy-max":
		text += " noise " + v.word("noise") + number("epsilon")
	case "threshold":
		if v.word("noise") != "gaussian" {
			return "", false
		}
		text += " noise gaussian" + number("standard-deviation") + number("threshold") + whole("partitions", 1)
	case "select-partitions":
		text += number("epsilon") + number("delta") + whole("partitions", 1)
	case "pure", "exponential", "permute-and-flip":
		text += number("epsilon")
	case "approximate":
		text += number("epsilon") + number("delta")
	case "finite":
		text += v.listWords("p") + v.listWords("q")
	case "poisson":
		text += number("rate")
	case "without-replacement", "with-replacement":
		text += fmt.Sprintf(" population %d batch %d", v.whole("population"), v.whole("batch"))
	case "random-allocation":
		text += fmt.Sprintf(" steps %d uses %d redraw %s epochs %d", v.whole("steps"), v.wholeOr("uses", 1), v.wordOr("redraw", "each-epoch"), v.wholeOr("epochs", 1))
		if v.has("first") {
			text += fmt.Sprintf(" first %d", v.whole("first"))
		}
	case "matrix":
		text += number("noise-multiplier") + fmt.Sprintf(" steps %d", v.whole("steps"))
		for _, key := range []string{"strategy", "participation"} {
			part, ok := matrixWords(n.fields[0].node.get(key))
			if !ok {
				return "", false
			}
			text += " " + part
		}
	default:
		return "", false
	}
	return text, v.err == nil
}

// listWords writes a list of numbers.
func (v *values) listWords(key string) string {
	xs := v.list(key)
	text := fmt.Sprintf(" %s %d", key, len(xs))
	for _, x := range xs {
		text += " " + Hex(x)
	}
	return text
}

// matrixWords writes a strategy or a participation of a matrix mechanism, and reports whether it is one that has words.
func matrixWords(n *node) (string, bool) {
	if n.isWord("identity") {
		return "identity", true
	}
	text, known := "", 0
	for _, key := range []string{"square-root", "toeplitz", "blt", "tree", "single", "epochs", "min-separation", "at-most", "cyclic-poisson"} {
		inner := n.get(key)
		if inner == nil {
			continue
		}
		known++
		if text != "" {
			text += " "
		}
		text += key
		v := &values{node: inner}
		switch key {
		case "square-root":
			text += fmt.Sprintf(" bands %d", v.wholeOr("bands", 1<<22))
		case "tree":
			completion := 0
			if v.has("completion") && v.flag("completion") {
				completion = 1
			}
			text += fmt.Sprintf(" completion %d", completion)
		case "toeplitz", "blt":
			for _, key := range []string{"coefficients", "scales", "decays"} {
				if v.has(key) {
					text += v.listWords(key)
				}
			}
		case "epochs", "min-separation", "at-most":
			text += fmt.Sprintf(" %d", (&values{node: n}).whole(key))
		case "cyclic-poisson":
			text += fmt.Sprintf(" cycle %d rate %s", v.whole("cycle"), Hex(v.number("rate")))
		}
	}
	return text, known > 0 && known == len(n.fields)
}

// Hex writes a number exactly, as %a of glibc does: hexadecimal, with no more digits than it has; 0 has
// no sign. Go shifts the digits of a subnormal number to the front, glibc leaves them where they are.
func Hex(x float64) string {
	if x == 0 {
		return "0x0p+0"
	}
	if bits := math.Float64bits(x) &^ (1 << 63); bits < 1<<52 {
		sign := strings.Repeat("-", int(math.Float64bits(x)>>63))
		return sign + "0x0." + strings.TrimRight(fmt.Sprintf("%013x", bits), "0") + "p-1022"
	}
	s := strconv.FormatFloat(x, 'x', -1, 64)
	mantissa, exponent, ok := strings.Cut(s, "p")
	if !ok {
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	digits := strings.TrimLeft(exponent[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mantissa + "p" + exponent[:1] + digits
}
