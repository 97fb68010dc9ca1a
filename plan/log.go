package plan

// A line of a log of steps, as a training program writes it while it runs: what was done since
// the line before, in terms of a plan or as steps of its own. What it returns is added to a total.

import (
	"context"
	"math/big"
	"slices"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/subsample"
)

// logKeys are those of a line that counts runs of a step of the plan.
var logKeys = []string{"steps", "epochs", "step", "note"}

// ParseLogLine reads a line of a log of steps and returns what it adds. A line is
//
//	{"steps": 235}                    so many more runs of the plan's only step
//	{"epochs": 1, "step": "training"} or of the step of this name, in passes over the data
//	{"steps": [{"mechanism": …}]}     a part of a plan, or a whole one
//	{"mechanism": …, "count": 3}      a step
//
// each with a note, if wanted. of is the plan that the first two are about; nil if there is
// none: then every line needs steps of its own, and the first one neighbors. Epochs are as
// many runs as the sampling of the step needs to draw each record once on average,
// rounded up; of a scheme with a schedule for each epoch, runs. What of has as the count of
// a step is not used. The error is an *Error, of line 1.
func ParseLogLine(line []byte, of *accountant.Plan) (*accountant.Plan, error) {
	root, err := parseRoot(context.Background(), line)
	if err != nil {
		return nil, err
	}
	if note := root.get("note"); note != nil {
		if note.kind != scalarNode && note.kind != textNode {
			return nil, note.errorf("%v is not a text", note)
		}
		root.fields = slices.DeleteFunc(slices.Clone(root.fields), func(f field) bool { return f.key == "note" })
	}
	steps := root.get("steps")
	r := &reading{ctx: context.Background()}
	switch {
	case root.get("mechanism") != nil:
		s, err := parseStep(root, 1, r)
		if err != nil {
			return nil, err
		}
		return added(root, of, []accountant.Step{s})
	case root.get("neighbors") != nil || steps != nil && of == nil:
		return parsePlan(r.ctx, root)
	case steps != nil && steps.kind == listNode:
		if err := root.checkKeys([]string{"steps"}); err != nil {
			return nil, err
		}
		list, err := parseSteps(steps, 1, r)
		if err != nil {
			return nil, err
		}
		return added(root, of, list)
	}
	return countLine(root, of)
}

// added is a plan of these steps, of the relation and the unit of another one.
func added(n *node, of *accountant.Plan, steps []accountant.Step) (*accountant.Plan, error) {
	if of == nil {
		return nil, n.errorf("neighbors is missing; must be add-remove, substitute or zero-out where no plan is given")
	}
	return &accountant.Plan{Neighbors: of.Neighbors, RecordsPerPerson: of.RecordsPerPerson, Steps: steps}, nil
}

// countLine reads a line that counts runs of a step of the plan.
func countLine(n *node, of *accountant.Plan) (*accountant.Plan, error) {
	if err := n.checkKeys(logKeys); err != nil {
		return nil, err
	}
	steps, epochs := n.get("steps"), n.get("epochs")
	switch {
	case steps == nil && epochs == nil:
		return nil, n.errorf("has neither steps nor epochs")
	case steps != nil && epochs != nil:
		return nil, epochs.errorf("is set beside steps; a line has one of the two")
	case of == nil:
		return nil, epochs.errorf("is about a plan, and none is given")
	}
	s, err := logged(n, of)
	if err != nil {
		return nil, err
	}
	if steps != nil {
		if _, ok := epochRuns(s); ok {
			return nil, steps.errorf("is not how runs of this step are counted: each is of whole epochs; write epochs")
		}
		if s.Count, err = steps.count(); err != nil {
			return nil, err
		}
	} else if s.Count, err = runsOfEpochs(epochs, s); err != nil {
		return nil, err
	}
	return added(n, of, []accountant.Step{s})
}

// logged is the step of the plan that a line names, or the only one.
func logged(n *node, of *accountant.Plan) (accountant.Step, error) {
	name := n.get("step")
	if name == nil {
		if len(of.Steps) != 1 {
			return accountant.Step{}, n.errorf("step is missing; must name one of the plan's %d steps", len(of.Steps))
		}
		return of.Steps[0], nil
	}
	word, err := name.word()
	if err != nil {
		return accountant.Step{}, err
	}
	var names []string
	var found []accountant.Step
	for _, s := range of.Steps {
		if s.Name == word {
			found = append(found, s)
		}
		names = append(names, s.Name)
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return accountant.Step{}, name.errorf("%v names %d steps of the plan", name, len(found))
	case len(names) == 0:
		return accountant.Step{}, name.errorf("%v is not a step; those of the plan have no names", name)
	}
	return accountant.Step{}, name.errorf("%v is not a step; %s", name, nearest.Hint(word, names))
}

// epochRuns is how many epochs one run of a step is, for schemes with a schedule for each.
func epochRuns(s accountant.Step) (epochs int64, ok bool) {
	if s.Sampling == nil || !slices.Contains([]string{"random-allocation", "balls-in-bins", "shuffle"}, s.Sampling.Name()) {
		return 0, false
	}
	p, ok := s.Sampling.(interface{ Parameters() map[string]any })
	if !ok {
		return 1, true
	}
	if n, ok := p.Parameters()["epochs"].(int64); ok {
		return n, true
	}
	return 1, true
}

// runsOfEpochs is how many runs of a step so many epochs are, rounded up.
func runsOfEpochs(n *node, s accountant.Step) (int64, error) {
	if each, ok := epochRuns(s); ok {
		epochs, err := n.count()
		if err == nil && epochs%each != 0 {
			err = n.errorf("%v is not a multiple of %d, the epochs of one draw", n, each)
		}
		return epochs / each, err
	}
	epochs, err := n.number()
	if err != nil {
		return 0, err
	}
	var records, each float64 // a run has each of so many records
	switch scheme := s.Sampling.(type) {
	case subsample.BatchSetter:
		records, each = float64(scheme.Population()), float64(scheme.Batch())
	case interface{ Rate() float64 }:
		records, each = 1, scheme.Rate()
	default:
		return 0, n.errorf("is not known of a step without a sampling rate; write steps")
	}
	up := wholeRuns(epochs, records, each)
	if !(up >= 1 && up <= maxCount) {
		return 0, n.errorf("%v epochs are not between 1 and 2^53 runs of the step", n)
	}
	return int64(up), nil
}

// wholeRuns is epochs·records/each rounded up, or what is no number of runs if one of them is none. A rate that was written as
// 1/234 is off by half a unit in the last place, and so are epochs that were written as 0.1: what is as near above a whole
// number as they may be off is meant to be one, unless so many runs are counted that a part of one is as near.
func wholeRuns(epochs, records, each float64) float64 {
	runs := epochs * records / each
	if !(runs > 0 && runs <= 2*maxCount) {
		return runs
	}
	exact := new(big.Rat).SetFloat64(epochs)
	exact.Mul(exact, new(big.Rat).SetFloat64(records)).Quo(exact, new(big.Rat).SetFloat64(each))
	down := new(big.Int).Quo(exact.Num(), exact.Denom())
	over, _ := new(big.Rat).Sub(exact, new(big.Rat).SetInt(down)).Float64()
	whole, _ := new(big.Float).SetInt(down).Float64()
	if off := 0x1p-50 * runs; over == 0 || over <= off && off < 0x1p-10 && whole > 0 {
		return whole
	}
	return whole + 1
}
