package plan

// From nodes to steps: the keys of a plan and of a step, and steps inside steps. What it returns is
// valid by itself; what only an accountant can refuse is refused there.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// maxCount is the largest number of runs of a plan.
const maxCount = decimal.MaxWhole

var (
	planKeys = []string{"neighbors", "records-per-person", "steps"}
	stepKeys = []string{"name", "mechanism", "sampling", "count", "steps", "selection", "adaptive", "disjoint", "partition"}
)

// Parse reads a plan from YAML, of which JSON is a part:
//
//	neighbors: add-remove
//	records-per-person: 4 # 1 if left out
//	steps:
//	  - mechanism: {gaussian: {noise-multiplier: 1.1}}
//	    sampling:  {poisson: {rate: 0.01}}
//	    count: 1000
//	  - count: 3
//	    steps:
//	      - mechanism: {laplace: {noise-multiplier: 20}}
//	  - partition: fixed
//	    disjoint: # branches on disjoint parts of the records
//	      - mechanism: {gaussian: {noise-multiplier: 4}}
//	      - mechanism: {gaussian: {noise-multiplier: 5}}
//
// Reading is strict: an unknown or repeated key, a value of the wrong type or
// out of its range is an error, an *Error, that names line and key. A count
// that is left out is 1, a sampling that is left out is the whole data set. A
// plan stands for at most 2^53 runs.
//
// The events of dp_accounting, as JSON objects with the key class_name, are read
// likewise; Convert writes them.
//
// Once ctx is done, the error is that of ctx, which is looked at between the parts of the work: the longest takes about
// half a second for the largest plans.
func Parse(ctx context.Context, data []byte) (*accountant.Plan, error) {
	root, err := parseRoot(ctx, data)
	if err != nil {
		return nil, err
	}
	return parseAny(ctx, root)
}

// parseAny reads a plan in either format from its nodes.
func parseAny(ctx context.Context, root *node) (*accountant.Plan, error) {
	root, err := asPlan(root)
	if err != nil {
		return nil, err
	}
	return parsePlan(ctx, root)
}

// asPlan returns the nodes of the plan that those of either format stand for.
func asPlan(root *node) (*node, error) {
	if isEvents(root) {
		return planOfEvents(root)
	}
	return root, nil
}

// parseRoot returns the mapping that a text stands for.
func parseRoot(ctx context.Context, data []byte) (*node, error) {
	root, err := parseYAML(ctx, data)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, &Error{Line: 1, Problem: "is empty; a plan has the keys " + strings.Join(planKeys, ", ")}
	}
	if root.kind != mapNode {
		_, err = root.parameters("a plan", planKeys)
	}
	return root, err
}

// parsePlan reads the plan from its nodes.
func parsePlan(ctx context.Context, root *node) (*accountant.Plan, error) {
	if err := root.checkKeys(planKeys); err != nil {
		return nil, err
	}
	p, v := &accountant.Plan{}, &values{node: root}
	p.Neighbors, p.RecordsPerPerson = v.unit()
	p.Steps = v.stepsOnce(ctx)
	if v.err == nil && p.Records() > 1 {
		v.err = refusePersons(root.get("steps"), p.Records())
	}
	if v.err != nil {
		return nil, v.err
	}
	return p, nil
}

// A reading of a plan counts the runs so far.
type reading struct {
	ctx   context.Context
	total int64
}

// parseSteps reads a list of steps that is run times times.
func parseSteps(n *node, times int64, r *reading) ([]accountant.Step, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of steps", n)
	}
	if len(n.items) == 0 {
		return nil, n.errorf("is empty; must list at least one step")
	}
	steps := make([]accountant.Step, len(n.items))
	for i, item := range n.items {
		var err error
		if steps[i], err = parseStep(item, times, r); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func parseStep(n *node, times int64, r *reading) (s accountant.Step, err error) {
	if err := r.ctx.Err(); err != nil {
		return s, err
	}
	v, err := n.parameters("a step", stepKeys)
	if err != nil {
		return s, err
	}
	s.Count = 1
	optional(v, "name", &s.Name, (*node).word)
	optional(v, "count", &s.Count, (*node).count)
	if v.err != nil {
		return s, v.err
	}
	at := cmp.Or(n.get("count"), n)
	if times > maxCount/s.Count {
		return s, at.errorf("makes more than 2^53 runs (%d in each of %d)", s.Count, times)
	}
	times *= s.Count

	if optional(v, "selection", &s.Selection, parseSelection); v.err != nil {
		return s, v.err
	}
	mechanism, sampling, steps := n.get("mechanism"), n.get("sampling"), n.get("steps")
	if v := n.get("adaptive"); v != nil {
		for _, other := range []*node{mechanism, sampling, steps, n.get("selection"), n.get("disjoint"), n.get("partition")} {
			if other != nil {
				return s, other.errorf("is set beside adaptive, which has steps of its own")
			}
		}
		if r.total += times; r.total > maxCount {
			return s, at.errorf("makes the plan longer than 2^53 runs")
		}
		s.Mechanism, err = parseAdaptive(r.ctx, v)
		return s, err
	}
	if disjoint := n.get("disjoint"); disjoint != nil {
		return s, parseDisjoint(n, disjoint, times, r, &s)
	}
	switch {
	case n.get("partition") != nil:
		return s, n.get("partition").errorf("is set without disjoint, whose branches it is about")
	case steps != nil && mechanism != nil:
		return s, steps.errorf("is set beside mechanism; a step has one of the two")
	case steps != nil && sampling != nil:
		return s, sampling.errorf("is set beside steps; set it in each of them")
	case steps != nil:
		s.Steps, err = parseSteps(steps, times, r)
		return s, err
	case mechanism == nil:
		return s, n.errorf("has neither mechanism nor steps nor disjoint")
	}
	if r.total += times; r.total > maxCount {
		return s, at.errorf("makes the plan longer than 2^53 runs")
	}
	if s.Mechanism, err = parseEntry(mechanism, "mechanism", mechanisms()); err != nil {
		return s, err
	}
	if sampling != nil && !sampling.isWord("none") {
		var scheme subsample.Scheme
		if scheme, err = parseEntry(sampling, "sampling scheme", samplings()); err != nil {
			return s, err
		}
		if err := profiles.CheckSampled(s.Mechanism, scheme.Name()); err != nil {
			return s, sampling.locate("sampling", err)
		}
		s.Sampling = scheme
	}
	return s, nil
}

// parseDisjoint reads the branches of a step, each a mapping like a step.
func parseDisjoint(n, disjoint *node, times int64, r *reading, s *accountant.Step) (err error) {
	for _, key := range []string{"mechanism", "sampling", "steps", "selection"} {
		if v := n.get(key); v != nil {
			return v.errorf("is set beside disjoint; set it in each branch")
		}
	}
	v := &values{node: n}
	word := ask(v, "partition", "fixed (by the place of a record) or by-record (by what it is)", (*node).word)
	if v.err != nil {
		return v.err
	}
	allowed := []string{string(accountant.FixedPartition), string(accountant.ByRecord)}
	if !slices.Contains(allowed, word) {
		return n.get("partition").errorf("%s", nearest.Value(word, allowed))
	}
	s.Partition = accountant.Partition(word)
	if s.Disjoint, err = parseSteps(disjoint, times, r); err != nil {
		return err
	}
	if len(s.Disjoint) < 2 {
		return disjoint.errorf("has %d branch, must list at least 2", len(s.Disjoint))
	}
	return nil
}

// What is wrong with a plan, and where: line and path beside the field and its problem.

// An Error is what is wrong with a plan, and where. It wraps what a constructor had
// against a value, an accountant.FieldError, if one had.
type Error struct {
	Line    int    // 1 is the first; 0 if the problem has no line
	Field   string // such as steps[0].mechanism.gaussian.noise-multiplier; "" for the whole plan
	Problem string
	err     error
}

// Error returns "line 4: steps[0].count: 0 is not …", on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Message())
	return b.String()
}

// Message returns the error without its line.
func (e *Error) Message() string {
	if e.Field == "" {
		return "plan: " + e.Problem
	}
	return e.Field + ": " + e.Problem
}

// Unwrap returns what a constructor had against the value, or nil.
func (e *Error) Unwrap() error { return e.err }

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
