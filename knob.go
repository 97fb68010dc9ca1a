package accountant

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/calibrate"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A knob is a quantity of some steps of a plan as one number.
type knob struct {
	calibrate.Knob
	factor   bool // on the values of several steps
	build    func(x float64) (*Plan, error)
	settings func(x float64) []Setting
	rest     func() []Step // the plan without the steps that are turned
}

// newKnob returns the knob of a goal. It is long because each quantity that can be turned
// is a case with its range and its errors.
func newKnob(p *Plan, g Goal) (*knob, error) {
	if p == nil || len(p.Steps) == 0 {
		return nil, fault.New("steps", "is empty; must list at least one step")
	}
	if g.Solve < 0 || int(g.Solve) >= len(quantityNames) {
		return nil, fault.New("solve", "%v is not a quantity", g.Solve)
	}
	at, err := findStep(p.Steps, g.Step)
	if err != nil {
		return nil, err
	}
	switch g.Solve {
	case Count:
		return countKnob(p, at), nil
	case RecordsPerPerson:
		if at != "" {
			return nil, fault.New("step", "%s cannot be turned by itself: records-per-person is of the whole plan", nearest.Quote(g.Step))
		}
		return recordsKnob(p), nil
	}
	if g.Solve == Batch && (g.Examples < 0 || g.Examples > maxRuns) {
		return nil, fault.New("examples", "%d is not an integer in [0, 2^53]", g.Examples)
	}
	// The steps that have the quantity.
	type turned struct {
		path, name string
		value      float64
	}
	var found []turned
	lo, hi := 0.0, math.Inf(1)
	population, largest := int64(0), int64(0)
	eachStep(p.Steps, "steps", func(path string, s Step) {
		if s.Mechanism == nil || !within(path, at) {
			return
		}
		t := turned{path, s.Name, 0}
		switch g.Solve {
		case NoiseMultiplier:
			b, ok := s.Mechanism.(profiles.NoiseScaler)
			if !ok {
				return
			}
			t.value = b.NoiseMultiplier()
			r := p.Neighbors
			if _, fixed := s.Sampling.(subsample.BatchSetter); fixed {
				r = Substitute // a batch of fixed size replaces a record by another
			}
			l, h := b.NoiseRange(r)
			lo, hi = max(lo, l/t.value), min(hi, h/t.value)
		case Rate:
			c, ok := s.Sampling.(subsample.RateSetter)
			if !ok || c.Rate() == 0 {
				return
			}
			t.value = c.Rate()
			lo, hi = max(lo, minRate/t.value), min(hi, 1/t.value)
		case Batch:
			n, most := g.Examples, g.Examples
			switch c := s.Sampling.(type) {
			case subsample.BatchSetter:
				n, most, t.value = c.Population(), c.MaxBatch(), float64(c.Batch())
			case subsample.RateSetter:
				if n == 0 {
					err = fault.New("examples", "is missing; the batch of %s sampling is rate times the number of examples", c.Name())
				}
				t.value = max(1, math.Round(c.Rate()*float64(n)))
			default:
				return
			}
			if population != 0 && population != n {
				err = fault.New("step", "the steps sample from %d and %d examples; name one step", population, n)
			}
			if population == 0 {
				largest = most
			}
			population, largest = n, min(largest, most)
		}
		found = append(found, t)
	})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		where := "the plan"
		if g.Step != "" {
			where = "step " + nearest.Quote(g.Step)
		}
		return nil, fault.New("solve", "%s has no step with a %v that can be turned", where, g.Solve)
	}
	k := &knob{Knob: calibrate.Knob{Lo: lo, Hi: hi, Start: 1, Safer: -1}, factor: len(found) > 1}
	values := map[string]float64{}
	for _, t := range found {
		values[t.path] = t.value
	}
	value := func(path string, x float64) float64 { return k.Snap(x * values[path]) }
	switch {
	case g.Solve == Batch:
		k.Lo, k.Hi, k.Start, k.Integer, k.factor = 1, float64(largest), found[0].value, true, false
		value = func(_ string, x float64) float64 { return x }
	case !k.factor:
		v := found[0].value
		k.Lo, k.Hi, k.Start = lo*v, hi*v, v
		value = func(_ string, x float64) float64 { return x }
	}
	if g.Solve == NoiseMultiplier {
		k.Safer = 1
	}
	if !k.Integer {
		// lo·v and hi·v carry rounding: the ends are to be valid values.
		k.Lo, k.Hi = k.Snap(k.Lo*(1+1e-9)), k.Snap(k.Hi)
		if k.Hi*(1+1e-12) > hi && k.factor {
			k.Hi = k.Snap(hi * (1 - 1e-9))
		}
	}
	k.settings = func(x float64) []Setting {
		var out []Setting
		for _, t := range found {
			out = append(out, Setting{t.path, t.name, value(t.path, x)})
		}
		return out
	}
	k.build = func(x float64) (*Plan, error) {
		steps, err := rebuild(p.Steps, "steps", func(path string, s *Step) (err error) {
			if _, ok := values[path]; !ok {
				return nil
			}
			v := value(path, x)
			switch g.Solve {
			case NoiseMultiplier:
				s.Mechanism, err = s.Mechanism.(profiles.NoiseScaler).WithNoiseMultiplier(v)
			case Rate:
				s.Sampling, err = s.Sampling.(subsample.RateSetter).WithRate(v)
			case Batch:
				if c, ok := s.Sampling.(subsample.BatchSetter); ok {
					s.Sampling, err = c.WithBatch(int64(v))
				} else {
					s.Sampling, err = s.Sampling.(subsample.RateSetter).WithRate(v / float64(population))
				}
			}
			if err != nil {
				err = fault.In(path, err)
			}
			return err
		})
		return p.with(steps), err
	}
	k.rest = func() []Step {
		return without(p.Steps, "steps", func(path string) bool { _, ok := values[path]; return ok })
	}
	return k, nil
}

// minRate is the smallest sampling rate that a search goes to.
const minRate = 1e-15

// countKnob turns the count of the step at a path, or of the whole plan.
func countKnob(p *Plan, at string) *knob {
	k := &knob{Knob: calibrate.Knob{Lo: 1, Integer: true, Safer: -1}}
	if at == "" && len(p.Steps) == 1 {
		at = "steps[0]"
	}
	name, start, inside := "", int64(1), int64(1)
	if at == "" {
		at = "steps"
		inside = runsOf(p.Steps)
	}
	outside := int64(1)
	eachStep(p.Steps, "steps", func(path string, s Step) {
		switch {
		case path == at:
			name, start = s.Name, max(s.Count, 1)
			if s.Selection == nil && s.Mechanism == nil {
				inside = runsOf(s.Steps)
			}
		case within(at, path):
			outside = product(outside, max(s.Count, 1))
		}
	})
	k.Start = float64(start)
	k.Hi = max(1, math.Floor(maxRuns/float64(inside)/float64(outside)))
	if total := runsOf(p.Steps); at != "steps" {
		// The other steps count too.
		others := float64(total) - k.Start*float64(inside)*float64(outside)
		k.Hi = max(1, math.Floor((maxRuns-max(0, others))/float64(inside)/float64(outside)))
	}
	k.build = func(x float64) (*Plan, error) {
		if at == "steps" {
			return p.with([]Step{{Count: int64(x), Steps: p.Steps}}), nil
		}
		steps, err := rebuild(p.Steps, "steps", func(path string, s *Step) error {
			if path == at {
				s.Count = int64(x)
			}
			return nil
		})
		return p.with(steps), err
	}
	k.settings = func(x float64) []Setting { return []Setting{{at, name, x}} }
	k.rest = func() []Step {
		if at == "steps" {
			return nil
		}
		return without(p.Steps, "steps", func(path string) bool { return path == at })
	}
	return k
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
			n = product(n, runsOf(s.Steps))
		}
		total = min(maxRuns, total+n)
	}
	return total
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
		out = append(out, s)
	}
	return out
}
