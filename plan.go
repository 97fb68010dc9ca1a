package accountant

import (
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A PlanError says what is wrong with a plan, and where.
type PlanError struct {
	Line    int    // 1 is the first; 0 if the problem has no line
	Field   string // such as steps[0].mechanism.gaussian.noise-multiplier; "" for the whole plan
	Problem string
}

// Error returns "line 4: steps[0].count: 0 is not …", on one line.
func (e *PlanError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Message())
	return b.String()
}

// Message returns the error without its line.
func (e *PlanError) Message() string {
	if e.Field == "" {
		return "plan: " + e.Problem
	}
	return e.Field + ": " + e.Problem
}

var (
	planKeys = []string{"neighbors", "steps"}
	stepKeys = []string{"name", "mechanism", "sampling", "count", "steps", "selection"}
)

// ParsePlan reads a plan from YAML, of which JSON is a part:
//
//	neighbors: add-remove
//	steps:
//	  - mechanism: {gaussian: {noise-multiplier: 1.1}}
//	    sampling:  {poisson: {rate: 0.01}}
//	    count: 1000
//	  - count: 3
//	    steps:
//	      - mechanism: {laplace: {noise-multiplier: 20}}
//
// Reading is strict: an unknown or repeated key, a value of the wrong type or
// out of its range is an error, a *PlanError, that names line and key. A count
// that is left out is 1, a sampling that is left out is the whole data set. A
// plan stands for at most 2^53 runs.
func ParsePlan(data []byte) (*Plan, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	if root.kind != mapNode {
		return nil, root.errorf("%v is not a plan (a mapping with the keys %s)", root, strings.Join(planKeys, ", "))
	}
	if err := root.checkKeys(planKeys); err != nil {
		return nil, err
	}
	p := &Plan{}
	n, err := root.need("neighbors", "add-remove or substitute")
	if err != nil {
		return nil, err
	}
	if p.Neighbors, err = parseNeighbors(n); err != nil {
		return nil, err
	}
	n, err = root.need("steps", "a list of steps")
	if err != nil {
		return nil, err
	}
	total := int64(0)
	p.Steps, err = parseSteps(n, 1, &total)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func parseNeighbors(n *node) (profiles.Relation, error) {
	if n.kind == scalarNode || n.kind == textNode {
		if r, err := profiles.ParseRelation(n.text); err == nil {
			return r, nil
		}
	}
	return 0, n.errorf("%v is not a relation; %s", n, nearest.Hint(n.text, []string{"add-remove", "substitute"}))
}

// parseSteps reads a list of steps that is run times times; total counts the
// runs of the whole plan.
func parseSteps(n *node, times int64, total *int64) ([]Step, error) {
	if n.kind != listNode {
		return nil, n.errorf("%v is not a list of steps", n)
	}
	if len(n.items) == 0 {
		return nil, n.errorf("is empty; must list at least one step")
	}
	steps := make([]Step, len(n.items))
	for i, item := range n.items {
		var err error
		if steps[i], err = parseStep(item, times, total); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

func parseStep(n *node, times int64, total *int64) (s Step, err error) {
	if n.kind != mapNode {
		return s, n.errorf("%v is not a step (a mapping with the keys %s)", n, strings.Join(stepKeys, ", "))
	}
	if err := n.checkKeys(stepKeys); err != nil {
		return s, err
	}
	if v := n.get("name"); v != nil {
		if s.Name, err = v.name(); err != nil {
			return s, err
		}
	}
	s.Count = 1
	at := n
	if v := n.get("count"); v != nil {
		at = v
		if s.Count, err = v.count(); err != nil {
			return s, err
		}
	}
	if times > maxCount/s.Count {
		return s, at.errorf("makes more than 2^53 runs (%d in each of %d)", s.Count, times)
	}
	times *= s.Count

	if v := n.get("selection"); v != nil {
		if s.Selection, err = parseSelection(v); err != nil {
			return s, err
		}
	}
	mechanism, sampling, steps := n.get("mechanism"), n.get("sampling"), n.get("steps")
	switch {
	case steps != nil && mechanism != nil:
		return s, steps.errorf("is set beside mechanism; a step has one of the two")
	case steps != nil && sampling != nil:
		return s, sampling.errorf("is set beside steps; set it in each of them")
	case steps != nil:
		s.Steps, err = parseSteps(steps, times, total)
		return s, err
	case mechanism == nil:
		return s, n.errorf("has neither mechanism nor steps")
	}
	if *total += times; *total > maxCount {
		return s, at.errorf("makes the plan longer than 2^53 runs")
	}
	if s.Mechanism, err = parseEntry(mechanism, "mechanism", mechanisms); err != nil {
		return s, err
	}
	if sampling != nil && !sampling.isWord("none") {
		var scheme subsample.Scheme
		if scheme, err = parseEntry(sampling, "sampling scheme", samplings); err != nil {
			return s, err
		}
		if err := checkSampled(s.Mechanism); err != nil {
			return s, sampling.errorf("%s", strings.TrimPrefix(err.Error(), "sampling: "))
		}
		s.Sampling = scheme
	}
	return s, nil
}

func (n *node) name() (string, error) {
	if n.kind == listNode || n.kind == mapNode || n.isNull() {
		return "", n.errorf("%v is not text", n)
	}
	return strings.TrimSpace(n.text), nil
}

// checkKeys returns an error for the first key that is not in allowed.
func (n *node) checkKeys(allowed []string) error {
next:
	for _, f := range n.fields {
		for _, a := range allowed {
			if f.key == a {
				continue next
			}
		}
		where := n.path
		if where == "" {
			where = "plan"
		}
		return &PlanError{Line: f.line, Field: where, Problem: fmt.Sprintf("unknown key %s; %s", quote(f.key), nearest.Hint(f.key, allowed))}
	}
	return nil
}

// need returns the value of a key that must be there.
func (n *node) need(key, what string) (*node, error) {
	v := n.get(key)
	if v == nil {
		return nil, n.errorf("%s is missing; must be %s", key, what)
	}
	return v, nil
}
