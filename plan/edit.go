package plan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/goccy/go-yaml/parser"
)

// This file changes the text of plans and leaves alone what it need not touch: comments,
// order and the way in which numbers are written. Whatever it returns is read again and
// compared with what it should be.

// Set returns the text of a plan with other numbers at some places, which are given as in
// Error.Field, such as steps[0].sampling.poisson.rate; a * stands for any key, as in
// steps[0].mechanism.*.noise-multiplier. Each must hold a number already.
func Set(text []byte, numbers map[string]float64) ([]byte, error) {
	root, err := checked(text)
	if err != nil {
		return nil, err
	}
	out := string(text)
	starts := []int{len(out) - len(strings.TrimPrefix(out, byteOrderMark))} // of lines
	for _, end := range lineEnd.FindAllStringIndex(out, -1) {
		starts = append(starts, end[1])
	}
	// From the end to the beginning: a change moves what stands behind it.
	var places []*node
	values := map[*node]float64{}
	for _, path := range slices.Sorted(maps.Keys(numbers)) {
		n := root.find(path)
		if n == nil || n.kind != scalarNode || !decimal.Is(n.text) {
			return nil, fault.New(path, "is not written in the plan as a number; write one there first")
		}
		places, values[n] = append(places, n), numbers[path]
	}
	slices.SortFunc(places, func(a, b *node) int {
		if a.line != b.line {
			return b.line - a.line
		}
		return b.column - a.column
	})
	for _, n := range places {
		at := starts[n.line-1]
		for range n.column - 1 {
			_, size := utf8.DecodeRuneInString(out[at:])
			at += size
		}
		if n.column < 1 || !strings.HasPrefix(out[at:], n.text) {
			return nil, n.errorf("cannot be changed where it stands")
		}
		rest := out[at+len(n.text):]
		n.text = decimal.Short(values[n])
		out = out[:at] + n.text + rest
	}
	return reread(out, root)
}

// checked returns the nodes of a text that is a plan.
func checked(text []byte) (*node, error) {
	root, err := parseRoot(context.Background(), text)
	if err == nil {
		_, err = parseAny(context.Background(), root)
	}
	return root, err
}

// Number returns the number that the text of a plan has at a place, as of Set.
func Number(text []byte, path string) (x float64, ok bool) {
	root, err := parseRoot(context.Background(), text)
	if err != nil {
		return 0, false
	}
	n := root.find(path)
	if n == nil || n.kind != scalarNode {
		return 0, false
	}
	x, err = decimal.Parse(n.text)
	return x, err == nil
}

const byteOrderMark = "\ufeff"

// lineEnd matches each of the ends that a line can have.
var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

// Tidy returns the text of a plan with its blanks put in order; comments stay.
func Tidy(text []byte) ([]byte, error) {
	root, err := checked(text)
	if err != nil {
		return nil, err
	}
	plain, marked := strings.CutPrefix(string(text), byteOrderMark)
	file, err := parser.ParseBytes([]byte(lineEnd.ReplaceAllString(plain, "\n")), parser.ParseComments)
	if err != nil {
		return nil, err
	}
	out := strings.TrimRight(file.String(), "\n") + "\n"
	if end := lineEnd.FindString(plain); end != "" { // all end as the first does
		out = strings.ReplaceAll(out, "\n", end)
	}
	if marked {
		out = byteOrderMark + out
	}
	return reread(out, root)
}

// reread returns a text if it stands for the same as root.
func reread(text string, root *node) ([]byte, error) {
	got, err := checked([]byte(text))
	if err != nil {
		return nil, err
	}
	if !same(got, root) {
		return nil, root.errorf("is written in a way that cannot be changed without changing what it says")
	}
	return []byte(text), nil
}

// find returns the node at a path, or nil.
func (n *node) find(path string) *node {
	for _, found := range n.all() {
		if matches(found.path, path) {
			return found
		}
	}
	return nil
}

// matches reports whether a path is what a pattern stands for.
func matches(path, pattern string) bool {
	return slices.EqualFunc(strings.Split(path, "."), strings.Split(pattern, "."), func(key, want string) bool { return want == "*" || key == want })
}

// same reports whether two nodes stand for the same, wherever they stand.
func same(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text {
		return false
	}
	return slices.EqualFunc(a.items, b.items, same) &&
		slices.EqualFunc(a.fields, b.fields, func(f, g field) bool { return f.key == g.key && same(f.node, g.node) })
}

// This file compares the text of two plans by what it stands for.

// A Change is a place where two plans differ: a value that is another one, or that only one
// of them has.
type Change struct {
	Path     string // as in Error.Field
	Old, New string // "" where the plan has nothing there
}

// Diff returns where plan b differs from plan a. Steps with a name are compared with those
// of the same name, others with those at the same place; the path is that in b, or in a
// for what b does not have.
func Diff(a, b []byte) ([]Change, error) {
	var roots [2]*node
	for i, text := range [][]byte{a, b} {
		root, err := checked(text)
		if err == nil {
			root, err = asPlan(root)
		}
		if err != nil {
			return nil, err
		}
		roots[i] = root
	}
	return changes(roots[0], roots[1]), nil
}

// changes returns where two nodes differ, either of which may be nil.
func changes(a, b *node) []Change {
	switch {
	case a == nil:
		return []Change{{Path: b.path, New: b.brief()}}
	case b == nil:
		return []Change{{Path: a.path, Old: a.brief()}}
	case a.kind == mapNode && b.kind == mapNode:
		var all []Change
		for _, f := range a.fields {
			all = append(all, changes(f.node, b.get(f.key))...)
		}
		for _, f := range b.fields {
			if a.get(f.key) == nil {
				all = append(all, changes(nil, f.node)...)
			}
		}
		return all
	case a.kind == listNode && b.kind == listNode:
		return itemChanges(a, b)
	case a.text == b.text && a.kind <= textNode && b.kind <= textNode:
		return nil
	}
	return []Change{{b.path, a.brief(), b.brief()}}
}

// itemChanges compares lists: items of the same name, then the others in their order.
func itemChanges(a, b *node) []Change {
	name := func(n *node) string {
		if v := n.get("name"); v != nil {
			return v.text
		}
		return ""
	}
	left := map[string][]*node{}
	for _, item := range a.items {
		left[name(item)] = append(left[name(item)], item)
	}
	partner := map[*node]*node{}
	var all []Change
	for _, item := range b.items {
		if l := left[name(item)]; len(l) > 0 {
			partner[l[0]], left[name(item)] = item, l[1:]
			all = append(all, changes(l[0], item)...)
		} else {
			all = append(all, changes(nil, item)...)
		}
	}
	for _, item := range a.items {
		if partner[item] == nil {
			all = append(all, changes(item, nil)...)
		}
	}
	return all
}

// brief is a value on one short line.
func (n *node) brief() string {
	switch n.kind {
	case listNode:
		return fmt.Sprintf("a list of %d", len(n.items))
	case mapNode:
		if m := n.get("mechanism"); m != nil && len(m.fields) == 1 {
			return "a step with " + m.fields[0].key
		}
		if len(n.fields) == 1 {
			return n.fields[0].key + ": " + n.fields[0].node.brief()
		}
		return "a mapping"
	}
	return cmp.Or(n.text, "an empty value")
}
