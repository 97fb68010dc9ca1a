package plan

import (
	"math"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// This file makes nodes of others, for a plan that is not read from its own text. Each
// stands where the node stands that it is made of, so that what is wrong with it is told
// there.

// mapping returns a mapping at the place of n, of keys and their values in turn.
func (n *node) mapping(pairs ...any) *node {
	m := &node{path: n.path, line: n.line, kind: mapNode}
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(*node); v != nil {
			m.fields = append(m.fields, field{pairs[i].(string), v.line, v})
		}
	}
	return m
}

// listOf returns a list at the place of n.
func (n *node) listOf(items []*node) *node {
	return &node{path: n.path, line: n.line, kind: listNode, items: items}
}

// scalarLike returns a scalar at the place of n.
func (n *node) scalarLike(text string) *node {
	return &node{path: n.path, line: n.line, kind: scalarNode, text: text}
}

// numbersOf returns a list of one-digit numbers.
func (n *node) numbersOf(digits string) *node {
	var items []*node
	for _, d := range digits {
		if d != ' ' {
			items = append(items, n.scalarLike(string(d)))
		}
	}
	return n.listOf(items)
}

// valueOf returns the number of a key that has been read before, 1 if it is left out and
// NaN if it is no number.
func valueOf(n *node, key string) float64 {
	v := n.get(key)
	if v == nil {
		return 1
	}
	x, err := v.number()
	if err != nil {
		return math.NaN()
	}
	return x
}

// orOne returns the value of a key, 1 if it is left out.
func (n *node) orOne(key string) *node {
	if v := n.get(key); v != nil {
		return v
	}
	return n.scalarLike("1")
}

// less returns a number at the place of n that is below the exact value of an x > 0 that
// was computed with at most so many roundings, each of a relative error of 2^-53: less
// noise is what an upper bound may presume. more returns one above it. The factor is
// twice what the roundings need and has room for its own.
func (n *node) less(x float64, roundings int) *node {
	return n.scalarLike(decimal.Short(x * (1 - float64(roundings+1)*0x1p-52)))
}

func (n *node) more(x float64, roundings int) *node {
	return n.scalarLike(decimal.Short(x * (1 + float64(roundings+1)*0x1p-52)))
}

// textLike returns a quoted text at the place of n.
func (n *node) textLike(text string) *node {
	return &node{path: n.path, line: n.line, kind: textNode, text: text}
}
