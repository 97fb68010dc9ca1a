package plan

// Grids: a plan in which ranges stand where values do, and the plans that it stands for, one at a
// time. It assumes nothing about their number, and keeps one plan; what is wrong with a single plan
// is that plan's error, what is wrong with a range is the grid's.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// maxGrid is the largest number of plans that a grid may stand for: days of work, and a result of ten gigabytes.
const maxGrid = 1e8

// A Grid is the text of plans that differ in some values. It is not safe for concurrent use:
// the plans that it returns are.
//
// Invariants: axes move from the last one on, like the digits of a number; the nodes of an axis
// are places in root, and their contents are those of the plan that was made last.
type Grid struct {
	root  *node
	axes  []axis
	count int64
}

// An axis is one range, or several of a zip, which move together.
type axis struct {
	zip    string
	length int64
	ranges []gridRange
}

// A Variant is a plan of a grid, or of lines of plans.
type Variant struct {
	Plan *accountant.Plan
	Err  error // what is wrong with this plan, with its field
	// Values are those of the ranges, as JSON: numbers, or text, one of the two for each range.
	Values []string
	// Shape is the same for plans that differ in their counts at most.
	Shape string
}

// ParseGrid reads a plan in which any value may be a range: {values: [1, 2, 5]},
// {linspace: [first, last, number]} or {logspace: [first, last, number]}. All ranges are
// combined, the last one of the text moving fastest; those with the same key zip move
// together and must be equally long. The key name gives a range another column than the
// name of what it varies, and round: true takes the nearest whole number of each value.
// A value of linspace is the float64 nearest to the exact one, one of logspace
// has twelve digits.
func ParseGrid(text []byte) (*Grid, error) {
	root, err := parseRoot(context.Background(), text)
	if err != nil {
		return nil, err
	}
	g := &Grid{root: root, count: 1}
	if err := g.find(root); err != nil {
		return nil, err
	}
	for _, a := range g.axes {
		if g.count > maxGrid/a.length {
			r := a.ranges[0]
			return nil, r.at.errorf("makes a grid of more than %.0e plans", maxGrid)
		}
		g.count *= a.length
	}
	return g, g.nameColumns()
}

// Len returns the number of plans.
func (g *Grid) Len() int64 { return g.count }

// Columns returns the names of the ranges, in the order of the text.
func (g *Grid) Columns() []string {
	var names []string
	for _, r := range g.ranges() {
		names = append(names, r.name)
	}
	return names
}

// ranges returns all ranges in the order of the text.
func (g *Grid) ranges() []gridRange {
	var all []gridRange
	for _, a := range g.axes {
		all = append(all, a.ranges...)
	}
	slices.SortFunc(all, func(a, b gridRange) int { return a.order - b.order })
	return all
}

// At returns plan i of 0 … Len() − 1.
func (g *Grid) At(i int64) Variant {
	var v Variant
	values := make([]string, 0, 8)
	place := i
	for k := len(g.axes) - 1; k >= 0; k-- {
		a := g.axes[k]
		at := place % a.length
		place /= a.length
		for _, r := range a.ranges {
			value := r.value(at)
			r.at.kind, r.at.text, r.at.items, r.at.fields = value.kind, value.text, value.items, value.fields
			for len(values) <= r.order {
				values = append(values, "")
			}
			values[r.order] = r.cell(value)
		}
	}
	v.Values = values
	var b strings.Builder
	g.root.shape(&b, true)
	v.Shape = b.String()
	v.Plan, v.Err = parseAny(context.Background(), g.root)
	return v
}

// ParseVariant reads one plan that stands by itself.
func ParseVariant(text []byte) Variant {
	root, err := parseRoot(context.Background(), text)
	if err != nil {
		return Variant{Err: err}
	}
	var b strings.Builder
	root.shape(&b, true)
	p, err := parseAny(context.Background(), root)
	return Variant{Plan: p, Err: err, Shape: b.String()}
}

// shape writes a node so that other nodes have the same text only if they stand for the same, but
// for the counts of steps: how often a step runs is no part of what it is. The counts inside of a
// selection are: they are those of one candidate. So are those inside of branches.
func (n *node) shape(b *strings.Builder, step bool) {
	switch n.kind {
	case listNode:
		b.WriteByte('[')
		for _, item := range n.items {
			item.shape(b, step)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case mapNode:
		b.WriteByte('{')
		for _, f := range n.fields {
			if step && f.key == "count" {
				continue
			}
			fmt.Fprintf(b, "%q:", f.key)
			f.node.shape(b, step && f.key == "steps" && n.get("selection") == nil)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case textNode:
		fmt.Fprintf(b, "%q", n.text)
	default:
		b.WriteString(n.text)
	}
}

// find collects the ranges below a node, in the order of the text.
func (g *Grid) find(n *node) error {
	if isRange(n) {
		return g.add(n)
	}
	for _, f := range n.fields {
		if meant := nearest.Word(f.key, rangeKinds); len(n.fields) <= 3 && f.node.kind == listNode && strings.HasSuffix(meant, "space") {
			return n.errorf("unknown key %s; did you mean %q?", nearest.Quote(f.key), meant)
		}
		if err := g.find(f.node); err != nil {
			return err
		}
	}
	for _, item := range n.items {
		if err := g.find(item); err != nil {
			return err
		}
	}
	return nil
}

// maxRanges bounds the ranges of a grid.
const maxRanges = 100

// add reads the range at a node, and puts it on its axis.
func (g *Grid) add(n *node) error {
	order := 0
	for _, a := range g.axes {
		order += len(a.ranges)
	}
	if order == maxRanges {
		return n.errorf("is one more range than %d", maxRanges)
	}
	r, zip, err := readRange(n)
	if err != nil {
		return err
	}
	r.order = order
	if zip != "" {
		for i := range g.axes {
			a := &g.axes[i]
			if a.zip != zip {
				continue
			}
			if a.length != r.length {
				first := a.ranges[0].at
				return n.errorf("has %d values, and %s on line %d, of the same zip %s, has %d", r.length, first.path, first.line, zip, a.length)
			}
			a.ranges = append(a.ranges, r)
			return nil
		}
	}
	g.axes = append(g.axes, axis{zip, r.length, []gridRange{r}})
	return nil
}

// reservedColumns are names that no range may have: those of answers.
var reservedColumns = []string{"index", "delta", "epsilon", "epsilon-lower", "epsilon-upper", "infinite", "delta-lower", "delta-upper", "target-tpr", "at-fpr",
	"solve", "value", "common-factor", "next", "certified", "lower", "upper", "gap", "warning", "error", "sweep"}

// nameColumns gives the ranges without a name that of what they vary, or their path where two
// would have the same.
func (g *Grid) nameColumns() error {
	last := func(r gridRange) string { return r.at.path[strings.LastIndexByte(r.at.path, '.')+1:] }
	times := map[string]int{}
	for _, r := range g.ranges() {
		times[last(r)]++
	}
	taken := map[string]*node{}
	for i := range g.axes {
		for j := range g.axes[i].ranges {
			r := &g.axes[i].ranges[j]
			if r.name == "" {
				if r.name = last(*r); times[r.name] > 1 || slices.Contains(reservedColumns, r.name) {
					r.name = r.at.path
				}
			}
			if slices.Contains(reservedColumns, r.name) {
				return r.at.errorf("name: %s is a column of the answer; choose another", r.name)
			}
			if first := taken[r.name]; first != nil {
				return r.at.errorf("name: %s is the column of %s on line %d; choose another", r.name, first.path, first.line)
			}
			taken[r.name] = r.at
		}
	}
	return nil
}
