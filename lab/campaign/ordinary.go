package campaign

// Two more kinds of plans: what people run, whose answers must be as narrow as asked within the preset limit of work, and
// the same at the ends of every range. docs/reference/campaign.md says what such plans are for.

import (
	"math"
	"math/rand/v2"
)

// drawOrdinary draws a plan that people run, and asks at a δ and with an accuracy and a limit that people have.
func drawOrdinary(r *rand.Rand) (plan, question) {
	p := plan{neighbors: []string{"add-remove", "add-remove", "add-remove", "zero-out", "substitute"}[r.IntN(5)]}
	parts := 1
	if r.IntN(4) == 0 {
		parts = 2 + r.IntN(2) // a plan that mixes
	}
	for range parts {
		p.steps = append(p.steps, drawPart(r, &p)...)
	}
	if menus(p) {
		p.records = min(p.records, 4) // 25 cost ε in the thousands, which nobody asks for
	}
	each(p.steps, func(s *step) {
		if s.partition != "" && p.neighbors != "add-remove" { // what a later part is for
			s.partition = "fixed"
		}
	})
	return p, question{delta: logUniform(r, 1e-10, 1e-4), accuracy: 1e-3, ordinary: true}
}

// A part is what one tool or one paragraph of a report runs. It may change the relation of the plan to the one that it is for.
type part = func(r *rand.Rand, p *plan) []step

func drawPart(r *rand.Rand, p *plan) []step {
	return weighted(r, []choiceOf[part]{{20, training}, {10, schedule}, {15, workload}, {10, search}, {10, adaptivePart}, {10, branches},
		{10, shuffled}, {5, users}, {5, aggregation}, {5, allocated}})(r, p)
}

// training is noisy gradient descent: σ .5 to 10, rate 1e-4 to .1, 100 to 100,000 steps; one in four with batches of a fixed size.
func training(r *rand.Rand, p *plan) []step {
	s := step{mechanism: entry("gaussian", "noise-multiplier", logUniform(r, 0.5, 10)), sampling: entry("poisson", "rate", logUniform(r, 1e-4, 0.1)),
		count: int64(logUniform(r, 100, 1e5))}
	if p.neighbors != "add-remove" && r.IntN(4) == 0 {
		n := int64(logUniform(r, 1e3, 1e6))
		s.sampling = entry("without-replacement", "population", n, "batch", max(1, int64(float64(n)*logUniform(r, 1e-3, 0.1))))
		s.count = min(s.count, 10000)
	}
	return []step{s}
}

// schedule is training whose noise changes: 2 to 200 distinct steps of one rate, each run 1 to 1,000 times.
func schedule(r *rand.Rand, _ *plan) []step {
	n := int(logUniform(r, 2, 201))
	from, to := logUniform(r, 0.8, 4), logUniform(r, 0.8, 4)
	rate, count := logUniform(r, 1e-4, 0.05), int64(logUniform(r, 1, 1000))
	var steps []step
	for i := range n {
		sigma := digits(from*math.Pow(to/from, float64(i)/float64(n-1)), 6)
		steps = append(steps, step{mechanism: entry("gaussian", "noise-multiplier", sigma), sampling: entry("poisson", "rate", rate), count: count})
	}
	return steps
}

// workload is a report: 1 to 6 kinds of releases, each run 1 to 50 times, of an ε of .01 to 1 or noise of 1 to 100 sensitivities.
func workload(r *rand.Rand, p *plan) []step {
	steps := make([]step, 1+r.IntN(6))
	for i := range steps {
		steps[i] = step{mechanism: release(r), count: int64(logUniform(r, 1, 50))}
		for p.neighbors != "add-remove" && steps[i].mechanism.is("select-partitions") {
			steps[i].mechanism = release(r)
		}
	}
	return steps
}

func release(r *rand.Rand) *node {
	sigma, epsilon := logUniform(r, 1, 100), logUniform(r, 0.01, 1)
	return weighted(r, []choiceOf[*node]{
		{6, entry("gaussian", "noise-multiplier", sigma)}, {6, entry("laplace", "noise-multiplier", sigma)},
		{3, entry("discrete-gaussian", "noise-multiplier", sigma, "dimension", int64(1))}, {3, entry("discrete-laplace", "noise-multiplier", sigma)},
		{3, entry("exponential", "epsilon", epsilon)}, {2, entry("permute-and-flip", "epsilon", epsilon)},
		{2, entry("randomized-response", "probability", digits(2/(1+math.Exp(epsilon)), 6), "categories", int64(2))},
		{2, entry("pure", "epsilon", epsilon)}, {1, entry("approximate", "epsilon", epsilon, "delta", logUniform(r, 1e-12, 1e-8))},
		{1, entry("select-partitions", "epsilon", epsilon, "delta", logUniform(r, 1e-12, 1e-8))},
	})
}

// search shows the best of a random number of runs, by each law with a mean of 1 to 50: of a training, of noise or of an ε.
func search(r *rand.Rand, p *plan) []step {
	mean := digits(logUniform(r, 1, 50), 3)
	law := []map[string]any{
		{"law": "geometric", "mean": max(1.01, mean)},
		{"law": "logarithmic", "mean": max(1.01, mean)},
		{"law": "negative-binomial", "shape": logUniform(r, 0.2, 4), "mean": max(1.5, mean)},
		{"law": "poisson", "mean": mean},
		{"law": "binomial", "mean": mean, "max": int64(2 * math.Ceil(mean))},
		{"law": "fixed", "max": int64(mean)},
	}[r.IntN(6)]
	if r.IntN(2) == 0 {
		run := training(r, p)
		run[0].count = min(run[0].count, 10000)
		return []step{{selection: law, steps: run}}
	}
	return []step{{selection: law, mechanism: weighted(r, []choiceOf[*node]{
		{2, entry("gaussian", "noise-multiplier", logUniform(r, 1, 20))}, {1, entry("laplace", "noise-multiplier", logUniform(r, 1, 20))},
		{1, entry("pure", "epsilon", logUniform(r, 0.01, 1))}})}}
}

// adaptivePart is an analyst with 3 to 60 units and a menu of 1 to 3 types of cost 1 to 6: noise of 2 to 20, an ε of .02 to .5, or
// 1 to 30 steps of a training.
func adaptivePart(r *rand.Rand, p *plan) []step {
	s := step{units: int64(logUniform(r, 3, 60))}
	for range 1 + r.IntN(3) {
		run := training(r, &plan{neighbors: "add-remove"})
		run[0].count = int64(logUniform(r, 1, 30))
		if r.IntN(3) > 0 {
			run = []step{{mechanism: weighted(r, []choiceOf[*node]{
				{2, entry("gaussian", "noise-multiplier", logUniform(r, 2, 20))}, {1, entry("laplace", "noise-multiplier", logUniform(r, 2, 20))},
				{1, entry("pure", "epsilon", logUniform(r, 0.02, 0.5))}, {1, entry("exponential", "epsilon", logUniform(r, 0.02, 0.5))}})}}
		}
		s.steps = append(s.steps, step{cost: 1 + r.Int64N(6), steps: run})
	}
	return []step{s}
}

// branches run 2 to 4 workloads or trainings on disjoint parts of the records.
func branches(r *rand.Rand, p *plan) []step {
	s := step{partition: "fixed"}
	if p.neighbors == "add-remove" {
		s.partition = []string{"fixed", "by-record"}[r.IntN(2)]
	}
	for range 2 + r.IntN(3) {
		steps := workload(r, p)
		if r.IntN(3) == 0 {
			steps = training(r, p)
		}
		s.steps = append(s.steps, step{steps: steps})
	}
	return []step{s}
}

// shuffled is 1 to 30 rounds of the shuffle model under substitution: 100 to 1,000,000 users with a local ε of .2 to 4, one in four with a cohort.
func shuffled(r *rand.Rand, p *plan) []step {
	p.neighbors = "substitute"
	users, epsilon, k := int64(logUniform(r, 100, 1e6)), logUniform(r, 0.2, 4), int64(3+r.IntN(30))
	s := step{sampling: entry("shuffler", "users", users), count: int64(logUniform(r, 1, 30)), mechanism: weighted(r, []choiceOf[*node]{
		{3, entry("k-rr", "epsilon", epsilon, "categories", int64(2+r.IntN(20)))}, {1, entry("unary", "epsilon", epsilon, "categories", k)},
		{1, entry("subset-selection", "epsilon", epsilon, "categories", k, "size", 1+r.Int64N(k-1))}, {1, entry("hadamard", "epsilon", epsilon, "categories", k)},
		{1, entry("local-hash", "epsilon", epsilon, "size", k)}, {1, entry("pure", "epsilon", epsilon)}})}
	if r.IntN(4) == 0 {
		s.sampling.params["cohort"] = max(1, int64(float64(users)*logUniform(r, 0.01, 1)))
	}
	return []step{s}
}

// users is a training in which a person has 2 to 32 records, 2 to 4 beside a menu. It is for the whole plan.
func users(r *rand.Rand, p *plan) []step {
	p.records = 2 + r.Int64N(31)
	s := training(r, &plan{neighbors: "add-remove"})
	s[0].count = min(s[0].count, 20000)
	return s
}

// aggregation is 1 to 1,000 rounds of federated learning by secure sums: Skellam noise, or that of 10 to 10,000 clients.
func aggregation(r *rand.Rand, p *plan) []step {
	if p.neighbors == "add-remove" {
		p.neighbors = "zero-out"
	}
	delta := float64(1 + r.IntN(20))
	s := step{mechanism: entry("skellam", "standard-deviation", digits(delta*logUniform(r, 1, 30), 4), "sensitivity", delta), count: int64(logUniform(r, 1, 1000))}
	if r.IntN(2) == 0 {
		n := int64(logUniform(r, 10, 1e4))
		s.mechanism = entry("summed-noise", "noise", []string{"discrete-gaussian", "skellam"}[r.IntN(2)], "clients", n, "missing", n/10,
			"standard-deviation", digits(max(1, delta*logUniform(r, 1, 30)/math.Sqrt(float64(n))), 4), "sensitivity", delta)
	}
	return []step{s}
}

// allocated is a loader that is no coin for each record: 2 to 300 batches by random allocation or balls in bins, 1 to 3 epochs.
func allocated(r *rand.Rand, p *plan) []step {
	steps, epochs := int64(logUniform(r, 2, 300)), int64(1+r.IntN(3))
	s := step{mechanism: entry("gaussian", "noise-multiplier", logUniform(r, 0.8, 5)), sampling: entry("random-allocation", "steps", steps, "epochs", epochs)}
	if r.IntN(3) == 0 {
		s.sampling = entry("balls-in-bins", "bins", steps, "redraw", "each-epoch", "epochs", epochs)
	}
	return []step{s}
}

// drawExtreme draws a plan of the same parts, of up to three, with numbers from anywhere, and asks at δ = 0, below 1e-300 or anywhere.
// Laws alone, masses next to the smallest number and atoms of infinite loss are among them.
func drawExtreme(r *rand.Rand) (plan, question) {
	p := plan{neighbors: []string{"add-remove", "add-remove", "substitute", "zero-out"}[r.IntN(4)]}
	for range 1 + r.IntN(3) {
		steps := drawSteps(r, 1)
		switch r.IntN(4) {
		case 0:
			steps = drawPart(r, &p)
		case 1:
			steps = []step{{mechanism: drawAtoms(r), count: count(r)}}
			if r.IntN(2) == 0 {
				steps[0].sampling = entry("poisson", "rate", logUniform(r, 1e-20, 1))
			}
		case 2: // no densities: laws alone
			steps = []step{{mechanism: weighted(r, []choiceOf[maker]{{1, drawFinite}, {1, drawResponse}, {1, drawDiscreteLaplace}, {1, drawDiscreteGaussian}})(r),
				count: int64(logUniform(r, 1, 300))}}
		}
		each(steps, func(s *step) {
			s.count = min(s.count, 1e6)
			if s.mechanism.is("gaussian", "laplace") && r.IntN(4) == 0 {
				s.mechanism = entry(s.mechanism.name, "noise-multiplier", logUniform(r, 0.02, 1e5))
			}
		})
		switch r.IntN(8) {
		case 0:
			steps = []step{{partition: "fixed", steps: []step{{steps: steps}, {steps: drawSteps(r, 1)}}, count: int64(r.IntN(4))}}
		case 1:
			types := []step{{cost: 1 + r.Int64N(3), steps: []step{{mechanism: drawAtoms(r)}}}, {cost: 1 + r.Int64N(3), steps: drawClosed(r, p.neighbors)}}
			each(types, func(s *step) { s.count = min(s.count, 1e6) }) // the most that a menu takes
			steps = []step{{units: int64(1 + r.IntN(6)), steps: types[:1+r.IntN(2)]}}
		case 2:
			steps = []step{{selection: search(r, &p)[0].selection, steps: steps}}
		}
		p.steps = append(p.steps, steps...)
	}
	if r.IntN(8) == 0 {
		p.records = 1 + r.Int64N(40)
	}
	q := drawQuestion(r, p)
	if q.work = max(q.work, 1e4); q.work < 1e7 && menus(p) {
		q.work = 1e7 // prices of menus are refused where the work does not suffice
	}
	switch x := r.IntN(10); {
	case q.ofEpsilon:
	case x < 3:
		q.delta = 0
	case x < 6:
		q.delta = max(math.SmallestNonzeroFloat64, logUniform(r, 1e-323, 1e-300))
	}
	return p, q
}

// menus reports whether a plan has an adaptive part.
func menus(p plan) bool { return some(p, func(s *step) bool { return s.units > 0 }) }

// drawAtoms draws a mechanism that gives all away, or whose loss is large, with next to no probability: on a sample with less than
// the smallest number. Plans take no number below smallest.
func drawAtoms(r *rand.Rand) *node {
	const smallest = 2.3e-308
	tiny := logUniform(r, smallest, 1e-290)
	switch r.IntN(4) {
	case 0:
		return entry("approximate", "epsilon", smallEpsilon(r), "delta", tiny)
	case 1:
		return entry("finite", "p", []float64{tiny, 0.5, 0.5}, "q", []float64{0, 0.25, 0.75})
	case 2:
		return entry("finite", "p", []float64{0, 0.75, 0.25}, "q", []float64{tiny, 0.5, 0.5})
	}
	return entry("finite", "p", []float64{tiny, 0.5, 0.5}, "q", []float64{smallest, 0.5, 0.5})
}
