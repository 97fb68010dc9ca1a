package campaign

// Laws: what the answer to one plan says about the answer to another. Each names the other plan
// and how the two answers lie. As answers are intervals, "the same" means that they intersect,
// and "at most" that the lower end of one is not above the upper end of the other.

import (
	"math/rand/v2"
)

type relation int

const (
	same   relation = iota
	atMost          // the other plan costs at most as much
	atLeast
)

// A law makes the other plan and question of those that it is given; false where it has nothing to say.
type law struct {
	name string
	rel  relation
	make func(r *rand.Rand, p *plan, q *question) bool
}

// on changes one step that a condition holds for.
func on(when func(plan, step) bool, change func(*rand.Rand, *step)) func(*rand.Rand, *plan, *question) bool {
	return func(r *rand.Rand, p *plan, _ *question) bool {
		var found []*step
		each(p.steps, func(s *step) {
			if s.mechanism != nil && when(*p, *s) {
				found = append(found, s)
			}
		})
		if len(found) > 0 {
			change(r, found[r.IntN(len(found))])
		}
		return len(found) > 0
	}
}

// each calls f for every step, groups before their steps.
func each(steps []step, f func(*step)) {
	for i := range steps {
		f(&steps[i])
		each(steps[i].steps, f)
	}
}

// all reports whether a condition holds for every mechanism of a plan without selections.
func all(p plan, f func(step) bool) bool {
	return !some(p, func(s *step) bool { return s.selection != nil || s.mechanism != nil && !f(*s) })
}

// branched reports whether a plan has disjoint branches: there n events may go n ways, and a count of n goes one.
func branched(p plan) bool { return some(p, func(s *step) bool { return s.partition != "" }) }

// some reports whether a condition holds for a step of a plan.
func some(p plan, f func(*step) bool) (found bool) {
	each(p.steps, func(s *step) { found = found || f(s) })
	return found
}

func isNoise(s step) bool   { return s.mechanism.is("gaussian", "laplace") }
func unsampled(s step) bool { return s.sampling == nil }
func poissonOrWhole(s step) bool {
	return s.sampling == nil || s.sampling.is("poisson")
}

var laws = []law{
	{"order of steps", same, func(r *rand.Rand, p *plan, q *question) bool {
		r.Shuffle(len(p.steps), func(i, j int) { p.steps[i], p.steps[j] = p.steps[j], p.steps[i] })
		return len(p.steps) > 1
	}},
	{"n events are a count of n", same, func(r *rand.Rand, p *plan, q *question) bool {
		i := r.IntN(len(p.steps))
		n := p.steps[i].runs()
		if n < 2 || branched(*p) {
			return false
		}
		rest := p.steps[i]
		p.steps[i].count = 1 + r.Int64N(n-1)
		rest.count = n - p.steps[i].count
		p.steps = append(p.steps, rest)
		return true
	}},
	{"nested counts multiply", same, func(r *rand.Rand, p *plan, q *question) bool {
		if branched(*p) {
			return false
		}
		for i, s := range p.steps {
			if n := s.runs(); n%2 == 0 {
				s.count = n / 2
				p.steps[i] = step{count: 2, steps: []step{s}}
			} else {
				s.count = 1
				p.steps[i] = step{count: n, steps: []step{s}}
			}
		}
		p.steps = []step{{steps: p.steps}}
		return true
	}},
	{"another step", atLeast, func(r *rand.Rand, p *plan, q *question) bool {
		p.steps = append(p.steps, step{mechanism: weighted(r, []choiceOf[maker]{{3, drawGaussian}, {1, drawLaplace}, {1, drawResponse}})(r), count: count(r)})
		return p.records <= 1
	}},
	{"more runs", atLeast, on(func(_ plan, s step) bool { return s.selection == nil && s.runs() < 1e12 },
		func(r *rand.Rand, s *step) { s.count = s.runs() + 1 + r.Int64N(s.runs()) })},
	{"a quarter of the variance four times", same, on(func(_ plan, s step) bool {
		return s.mechanism.is("gaussian") && unsampled(s) && s.selection == nil && s.runs() < 1e12 && s.mechanism.number("noise-multiplier") < 1e5
	}, func(_ *rand.Rand, s *step) {
		s.mechanism = s.mechanism.with("noise-multiplier", 2*s.mechanism.number("noise-multiplier"))
		s.count = 4 * s.runs()
	})},
	{"more noise", atMost, on(func(_ plan, s step) bool { return isNoise(s) },
		func(r *rand.Rand, s *step) {
			s.mechanism = s.mechanism.with("noise-multiplier", s.mechanism.number("noise-multiplier")*(1+r.Float64()))
		})},
	{"a smaller ε of one run", atMost, on(func(_ plan, s step) bool {
		return s.mechanism.is("pure", "approximate", "exponential", "permute-and-flip")
	}, func(r *rand.Rand, s *step) {
		s.mechanism = s.mechanism.with("epsilon", s.mechanism.number("epsilon")*(0.1+0.9*r.Float64()))
	})},
	{"more random responses", atMost, on(func(p plan, s step) bool { return s.mechanism.is("randomized-response") },
		func(r *rand.Rand, s *step) {
			p := s.mechanism.number("probability")
			s.mechanism = s.mechanism.with("probability", min(1, p+(1-p)*r.Float64()))
		})},
	{"a smaller rate", atMost, on(func(_ plan, s step) bool { return s.sampling.is("poisson") },
		func(r *rand.Rand, s *step) {
			s.sampling = s.sampling.with("rate", s.sampling.number("rate")*(0.1+0.9*r.Float64()))
		})},
	{"no sampling is a rate of 1", same, on(func(_ plan, s step) bool { return unsampled(s) && !s.mechanism.is("matrix", "majority") },
		func(_ *rand.Rand, s *step) { s.sampling = entry("poisson", "rate", 1.0) })},
	{"no sampling is a sample of all", same, on(func(p plan, s step) bool {
		return unsampled(s) && isNoise(s) && p.neighbors == "substitute" && p.records <= 1
	}, func(r *rand.Rand, s *step) {
		n := 1 + r.Int64N(1000)
		s.sampling = entry("without-replacement", "population", n, "batch", n)
	})},
	{"a schedule of one step is no sampling", same, on(func(p plan, s step) bool {
		return unsampled(s) && isNoise(s) && p.neighbors == "zero-out" && p.records <= 1 && s.runs() <= 20 && s.mechanism.number("noise-multiplier") >= 1
	}, func(r *rand.Rand, s *step) {
		s.sampling = []*node{entry("random-allocation", "steps", int64(1)), entry("fixed-order", "uses", int64(1))}[r.IntN(2)]
	})},
	{"sampling is not worse than none", atLeast, on(func(p plan, s step) bool {
		return isNoise(s) && s.sampling.is("poisson", "without-replacement", "truncated-poisson") && p.neighbors != "add-remove" || isNoise(s) && s.sampling.is("poisson")
	}, func(_ *rand.Rand, s *step) { s.sampling = nil })},
	{"a MUST chain through all records", same, on(func(p plan, s step) bool { return s.sampling.is("with-replacement") && p.neighbors != "add-remove" },
		func(r *rand.Rand, s *step) {
			n, m := s.sampling.whole("population", 1), s.sampling.whole("batch", 1)
			s.sampling = entry("must-ow", "population", n, "subset", n, "batch", m)
			if r.IntN(2) == 0 {
				s.sampling = entry("must-wo", "population", n, "subset", m+r.Int64N(5), "batch", m)
			}
		})},
	{"one draw is one draw", same, on(func(p plan, s step) bool {
		return s.sampling.is("with-replacement", "without-replacement") && s.sampling.whole("batch", 0) == 1 && p.neighbors != "add-remove"
	}, func(r *rand.Rand, s *step) {
		n := s.sampling.whole("population", 1)
		s.sampling = []*node{entry("with-replacement", "population", n, "batch", int64(1)), entry("without-replacement", "population", n, "batch", int64(1)),
			entry("must-ow", "population", n, "subset", 1+r.Int64N(n), "batch", int64(1))}[r.IntN(3)]
	})},
	{"persons of one record", same, func(_ *rand.Rand, p *plan, q *question) bool {
		ok := p.records == 0
		p.records = 1
		return ok
	}},
	{"more records to a person", atLeast, func(r *rand.Rand, p *plan, q *question) bool {
		p.records = max(p.records, 1) + 1 + r.Int64N(3)
		return all(*p, func(s step) bool { return !s.mechanism.is("majority", "matrix", "threshold", "select-partitions") })
	}},
	{"reversal of the data sets", same, func(_ *rand.Rand, p *plan, q *question) bool {
		any := false
		ok := all(*p, func(s step) bool {
			any = any || s.mechanism.is("finite")
			return unsampled(s) && (s.mechanism.is("gaussian", "laplace", "pure", "approximate", "discrete-laplace", "finite") ||
				s.mechanism.is("randomized-response") && p.neighbors != "zero-out")
		})
		each(p.steps, func(s *step) {
			if s.mechanism.is("finite") {
				s.mechanism = entry("finite", "p", s.mechanism.list("q"), "q", s.mechanism.list("p"))
			}
		})
		return ok && any
	}},
	{"noise of a limit on contributions", atLeast, on(func(p plan, s step) bool { return isNoise(s) && p.records <= 1 },
		func(r *rand.Rand, s *step) {
			name, unit := "standard-deviation", float64(int64(1)<<r.IntN(20))
			if s.mechanism.is("laplace") {
				name = "scale"
			}
			s.mechanism = entry(s.mechanism.name, name, unit*s.mechanism.number("noise-multiplier"), "partitions", int64(1), "per-partition", unit)
		})},
	{"a substitution moves twice as far", same, func(_ *rand.Rand, p *plan, q *question) bool {
		ok := p.neighbors == "substitute" && all(*p, func(s step) bool { return isNoise(s) && unsampled(s) })
		p.neighbors = "add-remove"
		each(p.steps, func(s *step) {
			if s.mechanism != nil {
				s.mechanism = s.mechanism.with("noise-multiplier", s.mechanism.number("noise-multiplier")/2)
			}
		})
		return ok
	}},
	{"an empty place is a removal", same, func(_ *rand.Rand, p *plan, q *question) bool {
		ok := p.neighbors == "add-remove" && all(*p, func(s step) bool {
			return poissonOrWhole(s) && s.mechanism.is("gaussian", "laplace", "pure", "approximate", "finite", "discrete-laplace")
		})
		p.neighbors = "zero-out"
		return ok
	}},
	{"a substitution is not less than an empty place", atLeast, func(_ *rand.Rand, p *plan, q *question) bool {
		ok := (p.neighbors == "zero-out" || p.neighbors == "add-remove" && all(*p, poissonOrWhole)) && all(*p, isNoise) && p.records <= 1
		p.neighbors = "substitute"
		return ok
	}},
	{"pure is approximate with δ = 0", same, on(func(_ plan, s step) bool { return s.mechanism.is("pure") },
		func(_ *rand.Rand, s *step) {
			s.mechanism = entry("approximate", "epsilon", s.mechanism.number("epsilon"), "delta", 0.0)
		})},
	{"an exponential mechanism is pure", atLeast, on(func(_ plan, s step) bool { return s.mechanism.is("exponential") },
		func(_ *rand.Rand, s *step) {
			s.mechanism = entry("pure", "epsilon", s.mechanism.number("epsilon"))
		})},
	{"a larger δ, or ε", atMost, func(r *rand.Rand, p *plan, q *question) bool {
		q.delta = q.delta + (1-q.delta)*r.Float64()*r.Float64()
		q.epsilon += r.Float64()
		return true
	}},
	{"another accuracy", same, func(r *rand.Rand, p *plan, q *question) bool {
		q.accuracy = []float64{0.3, 0.01, 1e-5}[r.IntN(3)]
		return true
	}},
	{"another limit of work", same, func(r *rand.Rand, p *plan, q *question) bool {
		q.work = logUniform(r, 1e3, 1e7)
		return true
	}},
	{"laws alone", same, func(_ *rand.Rand, p *plan, q *question) bool {
		q.laws = true
		return true
	}},
}
