package campaign

// Plans as data that can be changed, and their text. A plan here is what its file says, key by
// key, so that it may also be one that the accountant refuses.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A node is {name: {key: value, …}}: a mechanism or a sampling. Its values are float64, int64, bool, string, []float64, a *node or
// the like of its own.
type node struct {
	name   string
	params map[string]any
}

// A step is a mechanism with its sampling, or steps, run count times (0: once). With a partition the steps are branches on
// disjoint parts of the records; with units they are the types of a menu, each a group with a cost.
type step struct {
	mechanism, sampling *node
	selection           map[string]any
	count               int64
	steps               []step
	partition           string
	units, cost         int64
}

// isGroup reports whether a step stands for its steps, one after the other.
func (s step) isGroup() bool {
	return s.mechanism == nil && s.selection == nil && s.partition == "" && s.units == 0
}

type plan struct {
	neighbors string
	records   int64 // 0: left out
	steps     []step
}

func entry(name string, keysAndValues ...any) *node {
	n := &node{name, map[string]any{}}
	for i := 0; i < len(keysAndValues); i += 2 {
		n.params[keysAndValues[i].(string)] = keysAndValues[i+1]
	}
	return n
}

// number returns the value of a key; 0 if it is missing or no number.
func (n *node) number(key string) float64 {
	if x, ok := n.params[key].(float64); ok {
		return x
	}
	return float64(n.whole(key, 0))
}

// whole returns the value of a key, or preset if it is missing.
func (n *node) whole(key string, preset int64) int64 {
	if x, ok := n.params[key].(int64); ok {
		return x
	}
	return preset
}

// list returns the numbers of a key.
func (n *node) list(key string) []float64 {
	x, _ := n.params[key].([]float64)
	return x
}

// is reports whether a node has one of the names.
func (n *node) is(names ...string) bool { return n != nil && slices.Contains(names, n.name) }

// with returns the node with another value of a key that it has.
func (n *node) with(key string, value any) *node {
	out := &node{n.name, maps.Clone(n.params)}
	if _, ok := out.params[key]; ok {
		out.params[key] = value
	}
	return out
}

func (s step) runs() int64 { return max(s.count, 1) }

// clone returns a copy that shares no list of steps; nodes are never changed in place.
func (p plan) clone() plan {
	p.steps = cloneSteps(p.steps)
	return p
}

func cloneSteps(steps []step) []step {
	out := slices.Clone(steps)
	for i := range out {
		out[i].steps = cloneSteps(out[i].steps)
	}
	return out
}

// flat returns the steps with a mechanism, groups multiplied out; false if one is a selection, has branches or a menu,
// or counts multiply to more than 2^53.
func (p plan) flat() ([]step, bool) { return flatten(p.steps, 1, nil) }

func flatten(steps []step, times int64, out []step) ([]step, bool) {
	for _, s := range steps {
		if s.selection != nil || s.partition != "" || s.units > 0 || s.runs() > 1<<53/times {
			return nil, false
		}
		n := times * s.runs()
		if s.mechanism == nil {
			var ok bool
			if out, ok = flatten(s.steps, n, out); !ok {
				return nil, false
			}
			continue
		}
		s.count = n
		out = append(out, s)
	}
	return out, true
}

// text is the plan as a file: JSON with a line for each step.
func (p plan) text() string { return strings.ReplaceAll(string(p.line()), "},{", "},\n{") + "\n" }

// line is the plan as one line of JSON.
func (p plan) line() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers are finite
	}
	return text
}

func (p plan) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Neighbors string `json:"neighbors"`
		Records   int64  `json:"records-per-person,omitempty"`
		Steps     []step `json:"steps"`
	}{p.neighbors, p.records, p.steps})
}

func (s step) MarshalJSON() ([]byte, error) {
	out := struct {
		Adaptive  any            `json:"adaptive,omitempty"`
		Count     int64          `json:"count,omitempty"`
		Disjoint  []step         `json:"disjoint,omitempty"`
		Mechanism *node          `json:"mechanism,omitempty"`
		Partition string         `json:"partition,omitempty"`
		Sampling  *node          `json:"sampling,omitempty"`
		Selection map[string]any `json:"selection,omitempty"`
		Steps     []step         `json:"steps,omitempty"`
	}{Count: s.count, Mechanism: s.mechanism, Partition: s.partition, Sampling: s.sampling, Selection: s.selection, Steps: s.steps}
	switch {
	case s.units > 0:
		var types []map[string]any
		for i, t := range s.steps {
			types = append(types, map[string]any{"name": fmt.Sprintf("type-%d", i), "cost": t.cost, "steps": t.steps})
		}
		out.Adaptive, out.Steps = map[string]any{"units": s.units, "menu": types}, nil
	case s.partition != "":
		out.Disjoint, out.Steps = s.steps, nil
	}
	return json.Marshal(out)
}

func (n *node) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{n.name: n.params})
}
