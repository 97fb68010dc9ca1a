package plan

// From nodes to steps: the keys of a plan and of a step, and steps inside steps. What it returns is
// valid by itself; what only an accountant can refuse is refused there.

import (
	"context"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// maxCount is the largest number of runs of a plan.
const maxCount = decimal.MaxWhole

var (
	planKeys = []string{"neighbors", "records-per-person", "steps"}
	stepKeys = []string{"name", "mechanism", "sampling", "count", "steps", "selection"}
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
//
// Reading is strict: an unknown or repeated key, a value of the wrong type or
// out of its range is an error, an *Error, that names line and key. A count
// that is left out is 1, a sampling that is left out is the whole data set. A
// plan stands for at most 2^53 runs.
//
// The events of dp_accounting, as JSON objects with the key class_name, are read
// likewise; Convert writes them.
func Parse(data []byte) (*accountant.Plan, error) { return ParseContext(context.Background(), data) }

// ParseContext is Parse under a context, whose error it returns once that is done: it looks between the parts of its work,
// of which the longest takes about half a second for the largest plans.
func ParseContext(ctx context.Context, data []byte) (*accountant.Plan, error) {
	root, err := parseRootContext(ctx, data)
	if err != nil {
		return nil, err
	}
	return parseAny(ctx, root)
}

// parseAny reads a plan in either format from its nodes.
func parseAny(ctx context.Context, root *node) (*accountant.Plan, error) {
	if isEvents(root) {
		var err error
		if root, err = planOfEvents(root); err != nil {
			return nil, err
		}
	}
	return parsePlan(ctx, root)
}

// parseRoot returns the mapping that a text stands for.
func parseRoot(data []byte) (*node, error) { return parseRootContext(context.Background(), data) }

func parseRootContext(ctx context.Context, data []byte) (*node, error) {
	root, err := parseYAML(ctx, data)
	switch {
	case err != nil:
		return nil, err
	case root == nil:
		return nil, &Error{Line: 1, Problem: "is empty; a plan has the keys " + strings.Join(planKeys, ", ")}
	}
	if root.kind != mapNode {
		return nil, root.errorf("%v is not a plan (a mapping with the keys %s)", root, strings.Join(planKeys, ", "))
	}
	return root, nil
}

// parsePlan reads the plan from its nodes.
func parsePlan(ctx context.Context, root *node) (*accountant.Plan, error) {
	if err := root.checkKeys(planKeys); err != nil {
		return nil, err
	}
	p := &accountant.Plan{}
	n, err := root.need("neighbors", "add-remove, substitute or zero-out")
	if err != nil {
		return nil, err
	}
	if p.Neighbors, err = parseNeighbors(n); err != nil {
		return nil, err
	}
	if n := root.get("records-per-person"); n != nil {
		if p.RecordsPerPerson, err = n.count(); err != nil {
			return nil, err
		}
		if err := subsample.CheckRecords(p.RecordsPerPerson); err != nil {
			return nil, n.locate("records-per-person", err)
		}
	}
	n, err = root.need("steps", "a list of steps")
	if err != nil {
		return nil, err
	}
	p.Steps, err = parseSteps(n, 1, &reading{ctx: ctx})
	if err == nil && p.Records() > 1 {
		err = refusePersons(n, p.Records())
	}
	if err != nil {
		return nil, err
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
	if n.kind != mapNode {
		return s, n.errorf("%v is not a step (a mapping with the keys %s)", n, strings.Join(stepKeys, ", "))
	}
	if err := n.checkKeys(stepKeys); err != nil {
		return s, err
	}
	if v := n.get("name"); v != nil {
		if s.Name, err = v.word(); err != nil {
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
		s.Steps, err = parseSteps(steps, times, r)
		return s, err
	case mechanism == nil:
		return s, n.errorf("has neither mechanism nor steps")
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
