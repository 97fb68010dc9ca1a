package plan

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The schema has every key by which plans are read, and the kinds of their values: it takes
// the examples, which have most of them, and refuses what Parse refuses for its shape.
func TestSchema(t *testing.T) {
	var s map[string]any
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob("../examples/*.yaml")
	more, _ := filepath.Glob("../examples/all.json")
	paths = append(paths, more...)
	if len(paths) < 5 {
		t.Fatal("no examples")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parseRoot(context.Background(), data)
		if err != nil {
			t.Fatal(err)
		}
		if path, ok := fits(s, s, n); !ok {
			t.Errorf("%s: the schema refuses %s", path, path)
		}
	}
	for _, text := range []string{
		"neighbors: replace\nsteps: [{mechanism: {pure: {epsilon: 1}}}]", "neighbors: add-remove\nsteps: []",
		"neighbors: add-remove\nsteps: [{mechanism: {pure: {eps: 1}}}]", "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: [1]}}}]",
		"neighbors: add-remove\nsteps: [{mechanism: {}}]", "steps: [{mechanism: {pure: {epsilon: 1}}}]", "neighbors: add-remove\nsteps: [{epochs: 3}]",
	} {
		n, err := parseRoot(context.Background(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := fits(s, s, n); ok {
			t.Errorf("the schema takes %s", text)
		}
		if _, err := Parse(t.Context(), []byte(text)); err == nil {
			t.Errorf("Parse takes %s", text)
		}
	}
}

// fits is as much of a validator as the schema needs; it returns the path of what is refused.
func fits(root, s map[string]any, n *node) (string, bool) {
	if ref, ok := s["$ref"].(string); ok && ref == "#/$defs/step" {
		return fits(root, root["$defs"].(map[string]any)["step"].(map[string]any), n)
	}
	if allowed, ok := s["enum"].([]any); ok {
		for _, a := range allowed {
			if n.isWord(a.(string)) {
				return "", true
			}
		}
		return n.path, false
	}
	var types []any
	switch x := s["type"].(type) {
	case string:
		types = []any{x}
	case []any:
		types = x
	}
	kinds := map[kind][]string{scalarNode: {"number", "integer", "string"}, textNode: {"string"}, listNode: {"array"}, mapNode: {"object"}}[n.kind]
	ok := types == nil
	for _, a := range types {
		for _, k := range kinds {
			ok = ok || a == k
		}
	}
	if !ok {
		return n.path, false
	}
	if low, has := s["minItems"].(float64); has && float64(len(n.items)) < low {
		return n.path, false
	}
	if low, has := s["minProperties"].(float64); has && float64(len(n.fields)) < low {
		return n.path, false
	}
	if items, has := s["items"].(map[string]any); has {
		for _, item := range n.items {
			if path, ok := fits(root, items, item); !ok {
				return path, false
			}
		}
	}
	if required, has := s["required"].([]any); has {
		for _, key := range required {
			if n.get(key.(string)) == nil {
				return n.path, false
			}
		}
	}
	properties, has := s["properties"].(map[string]any)
	for _, f := range n.fields {
		p, known := properties[f.key].(map[string]any)
		if has && !known {
			return f.node.path, false
		}
		if path, ok := fits(root, p, f.node); !ok {
			return path, false
		}
	}
	return "", true
}
