package accountant

// Plans as data: steps, their numbers of runs, and the ways through steps inside steps. Nothing
// here knows what a mechanism costs.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
)

// A Step is a mechanism with its sampling, run Count times; or, when Steps is
// set instead of Mechanism, a sub-plan run Count times. With Selection, one run is
// a private selection: the mechanism or the sub-plan is the candidate, run a
// random number of times, of which only the best is shown.
type Step struct {
	Name      string
	Mechanism profiles.Mechanism
	Sampling  subsample.Scheme // nil: the whole data set
	Count     int64            // 0 means 1
	Steps     []Step
	Selection *selection.Config
	// Disjoint, in place of Mechanism and Steps, are branches that run on disjoint parts of the records, all of them Count
	// times on the same parts. A record costs what its branch does; the plan, the most that one of them does. Partition says
	// what decides the branch of a record.
	Disjoint  []Step
	Partition Partition
}

// A Plan is a sequence of steps, fixed in advance, under one neighbouring
// relation and for one unit of privacy.
type Plan struct {
	Neighbors profiles.Relation
	// RecordsPerPerson is how many records a person has at most: neighbours differ by
	// those of one person. 0 means 1, neighbours that differ by one record.
	RecordsPerPerson int64
	Steps            []Step
}

// Records returns RecordsPerPerson, 1 where it is left out.
func (p *Plan) Records() int64 { return cmp.Or(p.RecordsPerPerson, 1) }

// with returns the plan with other steps.
func (p *Plan) with(steps []Step) *Plan { return &Plan{p.Neighbors, p.RecordsPerPerson, steps} }

// Scaled returns the plan with part/whole of every count, rounded up, for part
// in [1, whole]. Of counts inside one another only the outermost above 1 is
// scaled, and a step that runs once stays.
func (p *Plan) Scaled(part, whole int64) (*Plan, error) {
	if whole < 1 || part < 1 || part > whole || whole > 1<<20 {
		return nil, fault.New("part", "%d/%d is not a fraction in (0, 1] with a denominator of at most 2^20", part, whole)
	}
	return p.with(scaled(p.Steps, part, whole)), nil
}

func scaled(steps []Step, part, whole int64) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		if s.Count > 1 {
			// count·part/whole without overflow.
			s.Count = s.Count/whole*part + (s.Count%whole*part+whole-1)/whole
		} else if s.Selection == nil {
			s.Steps, s.Disjoint = scaled(s.Steps, part, whole), scaled(s.Disjoint, part, whole)
		}
		if len(s.Disjoint) == 0 {
			s.Disjoint = nil
		}
		if len(s.Steps) == 0 {
			s.Steps = nil
		}
		out[i] = s
	}
	return out
}

// maxRuns is the largest number of runs: counts must be exact in float64.
const maxRuns = xmath.MaxCount

func checkCount(count int64) error {
	if count < 1 || count > maxRuns {
		return fault.New("count", "%d is not an integer in [1, 2^53]", count)
	}
	return nil
}

// product multiplies, at most maxRuns.
func product(a, b int64) int64 {
	if b > 0 && a > maxRuns/b {
		return maxRuns
	}
	return a * b
}

// runsOf counts the runs of steps, at most maxRuns; a private selection is one.
func runsOf(steps []Step) int64 {
	total := int64(0)
	for _, s := range steps {
		n := max(s.Count, 1)
		if s.Selection == nil && s.Mechanism == nil {
			inside := runsOf(s.Steps)
			for _, branch := range s.Disjoint {
				inside = max(inside, runsOf([]Step{branch}))
			}
			n = product(n, inside)
		}
		total = min(maxRuns, total+n)
	}
	return total
}

// sequenceSteps returns the steps that one run of a list of runs stands for.
func sequenceSteps(ctx context.Context, list subsample.Sequence, sampling subsample.Scheme, r profiles.Relation) ([]Step, error) {
	if sampling != nil {
		return nil, fault.New("sampling", "must be left out; %s has its own", list.Name())
	}
	runs, err := list.Runs(ctx, r)
	if err != nil {
		return nil, fault.In(list.Name(), err)
	}
	steps := make([]Step, len(runs))
	for i, x := range runs {
		steps[i] = Step{Mechanism: x.Mechanism, Sampling: x.Scheme, Count: x.Count}
	}
	return steps, nil
}

// eachRun calls f for every step that is no list of others, with its number of runs: a private
// selection is one, a subsample.Sequence is taken apart.
func eachRun(ctx context.Context, steps []Step, times int64, r profiles.Relation, f func(s Step, count int64) error) error {
	for _, s := range steps {
		n := product(times, max(s.Count, 1))
		inside := s.Steps
		list, ok := s.Mechanism.(subsample.Sequence)
		var err error
		switch {
		case s.Disjoint != nil:
			return fault.New("disjoint", "is not a list of runs: a record has a part in one branch alone")
		case s.Selection != nil || s.Mechanism != nil && !ok:
			if err = f(s, n); err != nil {
				return err
			}
			continue
		case ok:
			if inside, err = sequenceSteps(ctx, list, s.Sampling, r); err != nil {
				return err
			}
		}
		if err := eachRun(ctx, inside, n, r, f); err != nil {
			return err
		}
	}
	return nil
}

// findStep returns the path of the step of a name or path; "" for "".
func findStep(steps []Step, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var paths, names []string
	eachStep(steps, "steps", func(path string, s Step) {
		if path == name || s.Name == name {
			paths = append(paths, path)
		}
		if s.Name != "" {
			names = append(names, s.Name)
		}
	})
	switch len(paths) {
	case 0:
		return "", fault.New("step", "%s is not a step; %s", nearest.Quote(name), stepHint(name, names))
	case 1:
		return paths[0], nil
	}
	return "", fault.New("step", "%s names %d steps; say %s, …", nearest.Quote(name), len(paths), paths[0])
}

// stepHint suggests a step for a name that is none.
func stepHint(name string, names []string) string {
	if len(names) == 0 {
		return "the plan has no named steps; say steps[0], …"
	}
	return nearest.Hint(name, names)
}

// within reports whether path is at or below the step at a path.
func within(path, at string) bool {
	return at == "" || path == at || len(path) > len(at) && path[:len(at)] == at && path[len(at)] == '.'
}

// eachStep calls f for each step, groups before their steps.
func eachStep(steps []Step, path string, f func(path string, s Step)) {
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		f(at, s)
		eachStep(s.Steps, at+".steps", f)
		eachStep(s.Disjoint, at+".disjoint", f)
	}
}

// rebuild returns a copy of the steps, each changed by f.
func rebuild(steps []Step, path string, f func(path string, s *Step) error) ([]Step, error) {
	if steps == nil {
		return nil, nil
	}
	out := make([]Step, len(steps))
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := f(at, &s); err != nil {
			return nil, err
		}
		var err error
		if s.Steps, err = rebuild(s.Steps, at+".steps", f); err != nil {
			return nil, err
		}
		if s.Disjoint, err = rebuild(s.Disjoint, at+".disjoint", f); err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// without returns the steps but those at paths that drop names, and groups that
// are empty without them.
func without(steps []Step, path string, drop func(path string) bool) []Step {
	var out []Step
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		if drop(at) {
			continue
		}
		if s.Steps != nil {
			if s.Steps = without(s.Steps, at+".steps", drop); len(s.Steps) == 0 {
				continue
			}
		}
		if s.Disjoint != nil {
			s.Disjoint = without(s.Disjoint, at+".disjoint", drop)
			switch len(s.Disjoint) {
			case 0:
				continue
			case 1:
				s.Steps, s.Disjoint, s.Partition = s.Disjoint, nil, ""
			}
		}
		out = append(out, s)
	}
	return out
}

// hasLaws reports whether some step has laws that are made for a question.
func hasLaws(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		_, ok := s.Sampling.(subsample.LawMaker)
		if w, is := s.Sampling.(subsample.Whole); is {
			_, whole := w.Whole()
			ok = ok && !whole
		}
		return ok || hasLaws(s.Steps) || hasLaws(s.Disjoint)
	})
}
