package plan

// A value in the text of a plan, which knows its line and its path, and the errors that name them.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// A kind is one of the four things that the text of a plan is made of.
type kind int

const (
	scalarNode kind = iota // a plain scalar: number, word, true, null
	textNode               // a quoted scalar
	listNode
	mapNode
)

// A node is a value in the text of a plan. It knows where it stands, so that whoever
// finds something wrong with it need not. A scalar or a text has text, a list items, a
// mapping fields, of which no two have the same key; the other two are empty.
type node struct {
	path   string // as in Error.Field; "" for the whole plan
	line   int
	column int // of the first character, from 1; 0 if the node is made of others
	kind   kind
	text   string
	items  []*node
	fields []field
}

type field struct {
	key  string
	line int
	node *node // never nil
}

// get returns the value of a key, nil if the mapping lacks it.
func (n *node) get(key string) *node {
	for _, f := range n.fields {
		if f.key == key {
			return f.node
		}
	}
	return nil
}

// all returns the node and what is inside of it, in the order of the text.
func (n *node) all() []*node {
	found := []*node{n}
	for _, f := range n.fields {
		found = append(found, f.node.all()...)
	}
	for _, item := range n.items {
		found = append(found, item.all()...)
	}
	return found
}

// need returns the value of a key that must be there; what says what it must be.
func (n *node) need(key, what string) (*node, error) {
	v := n.get(key)
	if v == nil {
		return nil, n.errorf("%s is missing; must be %s", key, what)
	}
	return v, nil
}

// checkKeys returns an error for the first key that is not in allowed.
func (n *node) checkKeys(allowed []string) error {
	for _, f := range n.fields {
		if slices.Contains(allowed, f.key) {
			continue
		}
		where := n.path
		if where == "" {
			where = "plan"
		}
		return &Error{Line: f.line, Field: where, Problem: fmt.Sprintf("unknown key %s; %s", nearest.Quote(f.key), keyHint(f, allowed))}
	}
	return nil
}

// keyHint says what an unknown key should have been.
func keyHint(f field, allowed []string) string {
	switch {
	case f.key == "epochs" && slices.Contains(allowed, "count"):
		return "write count, such as count: ceil(60000/256*60) for 60 epochs of 60000 examples in batches of 256"
	case slices.Contains([]string{"kind", "type", "name"}, f.key) && slices.Contains(allowed, "gaussian"):
		return "the name itself is the key, as in mechanism: {gaussian: {noise-multiplier: 1.1}}"
	case slices.Contains([]string{"kind", "type", "scheme", "name"}, f.key) && slices.Contains(allowed, "poisson"):
		return "the name itself is the key, as in sampling: {poisson: {rate: 256/60000}}"
	case decimal.Is(f.key) && f.node.isNull(): // {rate: 0,01} has a key 01
		return "a number has a decimal point, not a comma"
	}
	return nearest.Hint(f.key, allowed)
}

// isNull reports whether a value was left out (or is written null).
func (n *node) isNull() bool {
	return n.kind == scalarNode && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, n.text)
}

// isWord reports whether a value is the word, quoted (as in JSON) or not.
func (n *node) isWord(word string) bool {
	return (n.kind == scalarNode || n.kind == textNode) && n.text == word
}

// String describes the value in an error message, on one short line.
func (n *node) String() string {
	switch n.kind {
	case listNode:
		if len(n.items) == 0 {
			return "an empty list"
		}
		return "a list"
	case mapNode:
		return "a mapping"
	case textNode:
		return nearest.Quote(n.text)
	}
	if n.isNull() {
		return "an empty value"
	}
	// A number may be an expression of several lines, and an error is one line.
	if decimal.Is(n.text) && len(n.text) <= 40 && !strings.ContainsAny(n.text, "\n\r") {
		return n.text
	}
	return nearest.Quote(n.text)
}

// errorf returns a problem with the value.
func (n *node) errorf(format string, args ...any) error {
	return &Error{Line: n.line, Field: n.path, Problem: fmt.Sprintf(format, args...)}
}

// locate gives the problem that the constructor of name had with a parameter, such as
// gaussian: noise-multiplier: -1 is not in …, the place of the parameter in the mapping
// n: of the value of that key, or the i-th of its list for a field p[i], and within it for
// a longer path. A problem with what a mapping does not have is one with the mapping.
func (n *node) locate(name string, err error) error {
	f := *fault.Of(err)
	if len(f.Path) > 0 && f.Path[0] == name {
		f.Path = f.Path[1:]
	}
	at := n
	for len(f.Path) > 0 {
		key, index, _ := strings.Cut(f.Path[0], "[")
		v := at.get(key)
		if v == nil {
			break
		}
		at, f.Path = v, f.Path[1:]
		if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil && i >= 0 && i < len(v.items) {
			at = v.items[i]
		}
	}
	return &Error{Line: at.line, Field: at.path, Problem: f.Error(), err: err}
}

// Numbers, counts, lists and words in plans, each in its range; a problem names its line.

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

func (n *node) count() (int64, error) { return n.countTo("2^53") }

// countTo reads a whole number from 1 on, of which the caller checks that it is at most the largest one.
func (n *node) countTo(largest string) (int64, error) {
	want := "a whole number in [1, " + largest + "]"
	if err := n.scalar(want); err != nil {
		return 0, err
	}
	v, err := decimal.Whole(n.text)
	if err != nil && decimal.IsExpression(n.text) {
		return 0, n.errorf("%v %v", n, err)
	}
	if err != nil || v < 1 {
		return 0, n.errorf("%v is not %s", n, want)
	}
	return v, nil
}

func (n *node) list() ([]float64, error) { return readList(n, "numbers", (*node).number) }

// readList reads a list of things of one kind, which are called what.
func readList[T any](n *node, what string, read func(*node) (T, error)) ([]T, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of %s", n, what)
	}
	xs := make([]T, len(n.items))
	for i, item := range n.items {
		var err error
		if xs[i], err = read(item); err != nil {
			return nil, err
		}
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
