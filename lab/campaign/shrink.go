package campaign

// A smaller plan that fails likewise: steps are left out, groups opened, counts halved, numbers
// shortened, as long as the same check still fails.

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shrink returns the smallest violation that was found in some time, starting from v.
func shrink(ctx context.Context, ask answerer, seed uint64, v *violation, limit time.Duration) *violation {
	end := time.Now().Add(limit)
	limited, stop := context.WithDeadline(ctx, end) // a candidate may be harder than the plan that it is made of
	defer stop()
	for found := true; found && time.Now().Before(end); {
		found = false
		for _, c := range smaller(v.plan, v.question) {
			if time.Now().After(end) || ctx.Err() != nil {
				return v
			}
			x := newExaminer(ask, seed, math.MaxInt)
			var other *violation
			if errors.As(x.examine(limited, c.plan, c.question), &other) && other.check == v.check {
				v, found = other, true
				break
			}
		}
	}
	return v
}

// A candidate is a plan with its question.
type candidate struct {
	plan     plan
	question question
}

// smaller lists what is a step smaller.
func smaller(p plan, q question) []candidate {
	var out []candidate
	try := func(p plan, q question) { out = append(out, candidate{p, q}) }
	size := 0
	each(p.steps, func(*step) { size++ })
	for i := range size { // the steps in the order of each
		if steps := without(p.steps, &i); len(steps) > 0 {
			c := p
			c.steps = steps
			try(c, q)
		}
	}
	for i := range size {
		for _, change := range changes {
			c := p.clone()
			at, changed := 0, false
			each(c.steps, func(s *step) {
				if at == i {
					changed = change(s)
				}
				at++
			})
			if changed {
				try(c, q)
			}
		}
	}
	for i, s := range p.steps { // groups opened
		if s.isGroup() {
			c := p.clone()
			c.steps = append(append(c.steps[:i:i], s.steps...), c.steps[i+1:]...)
			try(c, q)
		}
	}
	if p.records > 0 {
		c := p
		c.records = p.records / 2
		try(c, q)
	}
	for _, change := range []func(*question){
		func(q *question) { q.work = 0 },
		func(q *question) { q.accuracy = 1e-3 },
		func(q *question) { q.delta = shorter(q.delta) },
		func(q *question) { q.epsilon = shorter(q.epsilon) },
	} {
		other := q
		if change(&other); other != q {
			try(p, other)
		}
	}
	return out
}

// without returns the steps without the one of a number, which counts down.
func without(steps []step, number *int) []step {
	var out []step
	for _, s := range steps {
		*number--
		if *number == -1 {
			continue
		}
		if s.steps != nil {
			if s.steps = without(s.steps, number); len(s.steps) == 0 {
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// changes make one step simpler, if they can.
var changes = []func(*step) bool{
	func(s *step) bool { had := s.sampling != nil; s.sampling = nil; return had },
	func(s *step) bool { had := s.selection != nil; s.selection = nil; return had },
	func(s *step) bool { had := s.count > 0; s.count = 0; return had },
	func(s *step) bool { had := s.count > 2; s.count /= 2; return had },
	func(s *step) bool { had := s.count > 1; s.count--; return had },
	func(s *step) bool { return shorten(&s.mechanism) },
	func(s *step) bool { return shorten(&s.sampling) },
}

// shorten takes digits from the numbers of a node.
func shorten(n **node) bool {
	if *n == nil {
		return false
	}
	whole := "" // halved where no other number gets shorter
	for _, key := range slices.Sorted(maps.Keys((*n).params)) {
		switch v := (*n).params[key].(type) {
		case float64:
			if s := shorter(v); s != v {
				*n = (*n).with(key, s)
				return true
			}
		case int64:
			if v > 1 && whole == "" {
				whole = key
			}
		}
	}
	*n = (*n).with(whole, (*n).whole(whole, 0)/2)
	return whole != ""
}

// shorter returns a number of one digit fewer.
func shorter(x float64) float64 {
	n := len(strings.Trim(strings.Replace(strings.SplitN(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e", 2)[0], ".", "", 1), "0"))
	if n <= 1 {
		return x
	}
	return digits(x, max(1, min(n-1, 4)))
}
