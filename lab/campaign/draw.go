package campaign

// Random mechanisms and samplings. Ranges reach to where the accountant still answers; most
// draws lie where people use it.

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// logUniform draws a number whose logarithm is uniform.
func logUniform(r *rand.Rand, lo, hi float64) float64 {
	return rounded(r, math.Exp(xmath.Log(lo)+r.Float64()*(xmath.Log(hi)-xmath.Log(lo))))
}

// rounded keeps a random number of digits: short numbers meet ties and ends.
func rounded(r *rand.Rand, x float64) float64 {
	if r.IntN(2) == 0 || x == 0 {
		return x
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-float64(r.IntN(3)))
	if y := math.Round(x/unit) * unit; y > 0 {
		return y
	}
	return x
}

// noise draws a noise multiplier.
func noise(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0:
		return logUniform(r, 0.05, 1e4)
	case 1:
		return logUniform(r, 10, 300)
	}
	return logUniform(r, 0.4, 20)
}

// count draws a number of runs.
func count(r *rand.Rand) int64 {
	switch r.IntN(12) {
	case 0, 1, 2:
		return 0 // left out
	case 3:
		return int64(logUniform(r, 1, 1e12))
	case 4, 5, 6:
		return int64(logUniform(r, 1, 2e4))
	}
	return int64(logUniform(r, 1, 300))
}

// weighted chooses by weights.
func weighted[T any](r *rand.Rand, of []choiceOf[T]) T {
	total := 0
	for _, c := range of {
		total += c.weight
	}
	x := r.IntN(total)
	for _, c := range of {
		if x -= c.weight; x < 0 {
			return c.value
		}
	}
	panic("unreachable")
}

type choiceOf[T any] struct {
	weight int
	value  T
}

type maker = func(*rand.Rand) *node

var drawGaussian maker = func(r *rand.Rand) *node { return entry("gaussian", "noise-multiplier", noise(r)) }
var drawLaplace maker = func(r *rand.Rand) *node { return entry("laplace", "noise-multiplier", noise(r)) }

// smallEpsilon draws an ε of one run.
func smallEpsilon(r *rand.Rand) float64 {
	if r.IntN(10) == 0 {
		return logUniform(r, 1e-9, 30)
	}
	return logUniform(r, 1e-3, 3)
}

func drawResponse(r *rand.Rand) *node {
	p := rounded(r, r.Float64())
	if r.IntN(20) == 0 {
		p = float64(r.IntN(2))
	}
	return entry("randomized-response", "probability", min(p, 1), "categories", int64(2+r.IntN(2)*r.IntN(20)))
}

// dyadic draws n probabilities of dyadic numbers, which add to 1 exactly.
func dyadic(r *rand.Rand, n int) []float64 {
	x, left := make([]float64, n), 64
	for i := range n - 1 {
		k := r.IntN(left + 1)
		x[i] = float64(k) / 64
		left -= k
	}
	x[n-1] = float64(left) / 64
	return x
}

func drawFinite(r *rand.Rand) *node {
	n := 2 + r.IntN(3)
	return entry("finite", "p", dyadic(r, n), "q", dyadic(r, n))
}

func drawPure(r *rand.Rand) *node { return entry("pure", "epsilon", smallEpsilon(r)) }

func drawApproximate(r *rand.Rand) *node {
	return entry("approximate", "epsilon", smallEpsilon(r), "delta", logUniform(r, 1e-20, 0.1))
}

func drawDiscreteGaussian(r *rand.Rand) *node {
	n := entry("discrete-gaussian", "noise-multiplier", logUniform(r, 0.4, 40), "sensitivity", int64(1+r.IntN(2)*r.IntN(3)))
	if r.IntN(2) == 0 {
		n.params["dimension"] = int64(1)
	}
	return n
}

func drawDiscreteLaplace(r *rand.Rand) *node {
	return entry("discrete-laplace", "noise-multiplier", logUniform(r, 0.3, 100), "sensitivity", int64(1+r.IntN(2)*r.IntN(4)))
}

func drawMixture(r *rand.Rand) *node {
	k := 1 + r.IntN(3)
	shifts := []float64{0}
	for i := range k {
		shifts = append(shifts, float64(i+1))
	}
	p := dyadic(r, k+1)
	return entry("gaussian-mixture", "noise-multiplier", noise(r), "shifts", shifts, "probabilities", p)
}

func drawThreshold(r *rand.Rand) *node {
	at := logUniform(r, 2, 100)
	if r.IntN(2) == 0 {
		return entry("threshold", "noise", "gaussian", "standard-deviation", logUniform(r, 0.5, 20), "threshold", at, "partitions", int64(1+r.IntN(3)))
	}
	return entry("threshold", "noise", "laplace", "scale", logUniform(r, 0.5, 20), "threshold", at, "partitions", int64(1+r.IntN(3)))
}

func drawMatrix(r *rand.Rand) *node {
	steps := int64(2 + r.IntN(60))
	n := entry("matrix", "noise-multiplier", logUniform(r, 0.5, 30), "steps", steps)
	bands := 1 + r.Int64N(steps)
	n.params["strategy"] = entry("square-root", "bands", bands)
	if r.IntN(2) == 0 {
		n.params["participation"] = entry("cyclic-poisson", "cycle", bands, "rate", logUniform(r, 1e-3, 1))
	} else {
		n.params["participation"] = map[string]any{"single": true}
	}
	return n
}

// drawMechanism draws any mechanism.
func drawMechanism(r *rand.Rand) *node {
	return weighted(r, []choiceOf[maker]{
		{34, drawGaussian}, {14, drawLaplace}, {6, drawDiscreteLaplace}, {4, drawDiscreteGaussian}, {7, drawResponse}, {6, drawFinite}, {3, drawMixture},
		{6, drawPure}, {5, drawApproximate},
		{4, func(r *rand.Rand) *node { return entry("exponential", "epsilon", smallEpsilon(r)) }},
		{2, func(r *rand.Rand) *node { return entry("permute-and-flip", "epsilon", smallEpsilon(r)) }},
		{2, func(r *rand.Rand) *node {
			return entry("noisy-max", "noise", []string{"gumbel", "exponential", "laplace"}[r.IntN(3)], "epsilon", smallEpsilon(r))
		}},
		{2, drawThreshold}, {1, drawMatrix},
		{2, func(r *rand.Rand) *node {
			return entry("select-partitions", "epsilon", smallEpsilon(r), "delta", logUniform(r, 1e-12, 0.01), "partitions", int64(1+r.IntN(4)))
		}},
		{1, func(r *rand.Rand) *node {
			return entry("majority", "mechanisms", int64(3+2*r.IntN(5)), "epsilon", logUniform(r, 0.01, 0.5), "allowance", int64(1+r.IntN(3)))
		}},
	})(r)
}

// rate draws a sampling rate.
func rate(r *rand.Rand) float64 {
	switch r.IntN(10) {
	case 0:
		return logUniform(r, 1e-9, 1e-3)
	case 1:
		return 1
	}
	return min(1, logUniform(r, 1e-3, 1))
}

func drawPoisson(r *rand.Rand) *node { return entry("poisson", "rate", rate(r)) }

// drawFixedSize draws a scheme of fixed size over a population of at most most records.
func drawFixedSize(r *rand.Rand, most float64) *node {
	n := int64(logUniform(r, 2, most))
	batch, subset := int64(logUniform(r, 1, float64(n))), int64(logUniform(r, 1, float64(n)))
	switch r.IntN(5) {
	case 0, 1:
		return entry("without-replacement", "population", n, "batch", batch)
	case 2:
		return entry("with-replacement", "population", n, "batch", min(batch, 300))
	}
	name := []string{"must-ow", "must-wo", "must-ww"}[r.IntN(3)]
	batch, subset = min(batch, 60), min(subset, 200)
	if name == "must-wo" {
		batch = min(batch, subset)
	}
	return entry(name, "population", n, "subset", subset, "batch", batch)
}

// drawAllocation draws a scheme whose laws are computed for a question: short, as they take long.
func drawAllocation(r *rand.Rand) *node {
	steps := int64(1 + r.IntN(30))
	switch r.IntN(6) {
	case 0:
		return entry("balls-in-bins", "bins", steps, "redraw", "each-epoch", "epochs", int64(1+r.IntN(3)))
	case 1:
		return entry("shuffle", "batches", steps)
	case 2:
		n := int64(logUniform(r, 10, 1e5))
		return entry("truncated-poisson", "rate", rate(r), "cap", 1+r.Int64N(n), "population", n)
	case 3:
		return entry("fixed-order", "uses", int64(1+r.IntN(3)))
	case 4:
		return entry("random-allocation", "steps", steps, "uses", 1+r.Int64N(min(steps, 3)))
	}
	return entry("random-allocation", "steps", steps)
}
