package campaign

// Random plans and questions, of three kinds: any plan, plans whose cost is known in closed
// form, and samplers so small that they can be enumerated.

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// oneIn is of how many hard plans one is asked about. Of 2500 plans a fifth was hard and took three quarters of the time: without
// a choice a million plans would take fifteen hours of one core, with it they take two.
const oneIn = 20

// Case returns a plan that is no noise schedule, as one line of JSON, and a δ at which ε is asked. The same seed and
// number always draw the same.
func Case(seed, number uint64) (text []byte, delta float64) {
	p, q := drawPlan(rand.New(rand.NewPCG(seed, number)))
	return p.line(), q.delta
}

// Schedule is Case for noise schedules.
func Schedule(seed, number uint64) (text []byte, delta float64) {
	p, delta := drawSchedule(rand.New(rand.NewPCG(seed, number)))
	return p.line(), delta
}

// drawSchedule draws 2 to 1,600 distinct steps of Gaussian noise on Poisson samples, each run 1 to 1,000 times, and a
// δ from 1e-12 to 1e-5. The noise goes from one multiplier to another or jumps about between them; rates and
// counts do likewise, or stay.
func drawSchedule(r *rand.Rand) (plan, float64) {
	n := int(logUniform(r, 2, 1601))
	path := func(from, to float64) func(i int) float64 {
		jumps := r.IntN(4) == 0
		return func(i int) float64 {
			part := float64(i) / float64(n-1)
			if jumps {
				part = r.Float64()
			}
			return digits(from*math.Pow(to/from, part), 6)
		}
	}
	span := 1.2 + 1.8*r.Float64()
	if r.IntN(2) == 0 {
		span = 1 / span
	}
	sigma := logUniform(r, 0.6, 8)
	sigmas := path(sigma, sigma*span)
	rate, count := logUniform(r, 1e-4, 0.1), logUniform(r, 1, 1000)
	rates, counts := path(rate, rate), path(count, count)
	if r.IntN(3) == 0 {
		rates = path(rate, logUniform(r, max(1e-4, rate/4), min(0.1, 4*rate)))
	}
	if r.IntN(3) == 0 {
		counts = path(count, logUniform(r, 1, 1000))
	}
	p := plan{neighbors: []string{"add-remove", "add-remove", "add-remove", "zero-out", "substitute"}[r.IntN(5)]}
	for i := range n {
		p.steps = append(p.steps, step{mechanism: entry("gaussian", "noise-multiplier", sigmas(i)),
			sampling: entry("poisson", "rate", rates(i)), count: int64(math.Round(counts(i)))})
	}
	return p, logUniform(r, 1e-12, 1e-5)
}

// digits rounds to so many significant digits.
func digits(x float64, n int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		panic(err) // it was just written
	}
	return y
}

// drawPlan draws a plan and a question about it.
func drawPlan(r *rand.Rand) (plan, question) {
	for {
		if p, q := drawAny(r); !hard(p, q) || r.IntN(oneIn) == 0 {
			return p, q
		}
	}
}

// hard guesses whether a plan takes a tenth of a second rather than a few milliseconds: schemes and mechanisms whose profiles or
// laws are computed, few runs of noise on a sample, whose loss is not at all normal, unless it is one run by itself, and samples at a tiny δ.
func hard(p plan, q question) bool {
	tiny := !q.ofEpsilon && q.delta < 1e-30
	alone := len(p.steps) == 1 && p.steps[0].runs() == 1
	return some(p, func(s *step) bool {
		return s.selection != nil || tiny && s.sampling != nil ||
			s.mechanism.is("exponential", "noisy-max", "discrete-gaussian") ||
			s.sampling.is("with-replacement", "must-ww", "random-allocation", "balls-in-bins", "shuffle", "truncated-poisson") ||
			isNoise(*s) && s.sampling != nil && !alone && (s.runs() <= 200 || !s.sampling.is("poisson"))
	})
}

func drawAny(r *rand.Rand) (plan, question) {
	p := plan{neighbors: []string{"add-remove", "add-remove", "substitute", "zero-out"}[r.IntN(4)]}
	switch kind := r.IntN(100); {
	case kind < 60:
		p.steps = drawClosed(r, p.neighbors)
	case kind < 64:
		p.steps = drawTiny(r)
	default:
		if r.IntN(8) == 0 {
			p.records = 1 + r.Int64N(8)
		}
		p.steps = drawSteps(r, 0)
	}
	return p, drawQuestion(r, p)
}

// drawSteps draws any steps.
func drawSteps(r *rand.Rand, depth int) []step {
	steps := make([]step, 1+r.IntN(3)*r.IntN(2))
	for i := range steps {
		if depth < 2 && r.IntN(10) == 0 {
			steps[i] = step{count: int64(r.IntN(6)), steps: drawSteps(r, depth+1)}
			continue
		}
		s := step{mechanism: drawMechanism(r), count: count(r)}
		if s.mechanism.is("majority", "matrix", "threshold", "select-partitions", "noisy-max", "permute-and-flip") {
			s.count = int64(r.IntN(30)) // each costs time or is known worse
		}
		switch x := r.IntN(100); {
		case s.mechanism.is("majority", "matrix"):
		case x < 40:
			s.sampling = drawPoisson(r)
		case x < 52:
			s.sampling = drawFixedSize(r, 1e6)
			s.count = min(s.count, 500)
		case x < 53:
			s.sampling = drawAllocation(r)
			s.count = min(s.count, 4)
		}
		if r.IntN(100) == 0 {
			s.selection = map[string]any{"law": "geometric", "mean": 1 + 20*r.Float64()}
			s.count = 0
		}
		steps[i] = s
	}
	return steps
}

// drawClosed draws steps that truth.go knows, mostly.
func drawClosed(r *rand.Rand, neighbors string) []step {
	var steps []step
	small := func() int64 { return int64(1 + r.IntN(6)) }
	switch r.IntN(6) {
	case 0, 1: // Gaussian noise, and finite ones
		for range 1 + r.IntN(3) {
			steps = append(steps, step{mechanism: drawGaussian(r), count: count(r)})
		}
	case 2: // equal Laplace noise
		steps = append(steps, step{mechanism: drawLaplace(r), count: small()})
	case 3: // one run on a sample
		m := drawGaussian(r)
		if r.IntN(3) == 0 {
			m = drawLaplace(r)
		}
		steps = append(steps, step{mechanism: m, sampling: drawPoisson(r)})
	case 4: // randomized response alone, many times
		m := drawResponse(r)
		most := 1000.0
		if m.number("categories") > 2 {
			most = 40
		}
		return []step{{mechanism: m, count: int64(logUniform(r, 1, most))}}
	}
	for range r.IntN(3) {
		s := step{mechanism: weighted(r, []choiceOf[maker]{{2, drawResponse}, {2, drawFinite}, {1, drawDiscreteLaplace}, {1, drawPure}, {1, drawApproximate}})(r), count: small()}
		if neighbors != "substitute" && r.IntN(2) == 0 {
			s.sampling = drawPoisson(r)
		}
		steps = append(steps, s)
	}
	if steps == nil {
		steps = []step{{mechanism: drawFinite(r), count: small()}}
	}
	r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

// drawTiny draws one or two runs on a sample of at most five records.
func drawTiny(r *rand.Rand) []step {
	sigma := logUniform(r, 0.4, 4)
	s := step{mechanism: entry("gaussian", "noise-multiplier", sigma), count: int64(1 + r.IntN(4)/3)}
	if r.IntN(3) == 0 {
		s.mechanism = entry("laplace", "noise-multiplier", sigma)
	}
	n := int64(1 + r.IntN(5))
	batch, subset := 1+r.Int64N(n), 1+r.Int64N(n)
	switch r.IntN(6) {
	case 0:
		s.sampling = entry("poisson", "rate", rounded(r, 0.05+0.9*r.Float64()))
	case 1:
		s.sampling = entry("without-replacement", "population", n, "batch", batch)
	case 2:
		s.sampling = entry("with-replacement", "population", n, "batch", 1+r.Int64N(4))
	case 3:
		s.sampling = entry("must-ow", "population", n, "subset", subset, "batch", 1+r.Int64N(4))
	case 4:
		s.sampling = entry("must-wo", "population", n, "subset", subset, "batch", min(batch, subset))
	case 5:
		s.sampling = entry("must-ww", "population", n, "subset", subset, "batch", 1+r.Int64N(3))
	}
	return []step{s}
}

// drawQuestion draws what is asked.
func drawQuestion(r *rand.Rand, p plan) question {
	q := question{accuracy: []float64{0.1, 1e-2, 1e-3, 1e-3, 1e-4, 1e-6}[r.IntN(6)]}
	switch r.IntN(10) {
	case 0:
		q.delta = logUniform(r, 1e-300, 1e-12)
	case 1:
		q.delta = min(0.999, logUniform(r, 1e-2, 1))
	case 2:
		q.delta = []float64{1e-300, 1e-12, 0.25, 0.5}[r.IntN(4)]
	default:
		q.delta = logUniform(r, 1e-12, 1e-2)
	}
	if len(p.steps) == 1 && enumerable(p) {
		q.delta = max(q.delta, 1e-7)
	}
	if r.IntN(4) == 0 {
		q.ofEpsilon = true
		q.epsilon = rounded(r, math.Exp(6*r.Float64()-4))
		if r.IntN(6) == 0 {
			q.epsilon = -q.epsilon
		}
	}
	// Most have 10 ms: hard ones are then wider, and say so. One in two hundred has the preset.
	switch x := r.IntN(200); {
	case x < 20:
		q.work = logUniform(r, 1e3, 1e6)
	case x < 22:
		q.work = 1e7
	case x < 199:
		q.work = 2.5e5
	}
	return q
}
