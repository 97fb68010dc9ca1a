package plan

import (
	"cmp"
	"fmt"
)

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
		if _, err := Parse(text); err != nil {
			return nil, err
		}
		root, err := parseRoot(text)
		if err == nil && isEvents(root) {
			root, err = planOfEvents(root)
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
