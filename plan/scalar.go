package plan

// Numbers, counts, lists and words in plans, each in its range; a problem names its line.

import (
	"errors"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// Numbers are read from the text of the plan rather than as YAML types, so that 1,
// 1.0 and 1e0 are the same number, and no digit of a count is lost.

func (n *node) number() (float64, error) {
	if err := n.scalar("a number"); err != nil {
		return 0, err
	}
	x, err := decimal.Parse(n.text)
	if err != nil {
		return 0, n.errorf("%v %v", n, err)
	}
	return x, nil
}

func (n *node) whole() (int, error) {
	if err := n.scalar("a whole number"); err != nil {
		return 0, err
	}
	v, err := decimal.Whole(n.text)
	if err == nil && int64(int(v)) != v {
		err = errors.New("is too large for this machine's integers")
	}
	if err != nil {
		return 0, n.errorf("%v %v", n, err)
	}
	return int(v), nil
}

func (n *node) count() (int64, error) {
	if err := n.scalar("a whole number in [1, 2^53]"); err != nil {
		return 0, err
	}
	v, err := decimal.Whole(n.text)
	if err != nil && decimal.IsExpression(n.text) {
		return 0, n.errorf("%v %v", n, err)
	}
	if err != nil || v < 1 {
		return 0, n.errorf("%v is not a whole number in [1, 2^53]", n)
	}
	return v, nil
}

func (n *node) list() ([]float64, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of numbers", n)
	}
	xs := make([]float64, len(n.items))
	for i, item := range n.items {
		x, err := item.number()
		if err != nil {
			return nil, err
		}
		xs[i] = x
	}
	return xs, nil
}

func (n *node) word() (string, error) {
	if n.kind == listNode || n.kind == mapNode || n.isNull() {
		return "", n.errorf("%v is not text", n)
	}
	return strings.TrimSpace(n.text), nil
}

// scalar returns an error unless n is a plain scalar.
func (n *node) scalar(what string) error {
	switch {
	case n.kind == textNode && decimal.IsExpression(n.text): // JSON can only quote it
		return nil
	case n.kind == textNode && decimal.Is(n.text):
		return n.errorf("%v is not %s (remove the quotes)", n, what)
	case n.kind != scalarNode || n.isNull():
		return n.errorf("%v is not %s", n, what)
	}
	return nil
}

func parseNeighbors(n *node) (profiles.Relation, error) {
	if n.kind == scalarNode || n.kind == textNode {
		if r, err := profiles.ParseRelation(n.text); err == nil {
			return r, nil
		}
	}
	var names []string
	for _, r := range profiles.Relations() {
		names = append(names, r.String())
	}
	return 0, n.errorf("%v is not a relation; %s", n, nearest.Hint(n.text, names))
}
