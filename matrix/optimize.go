package matrix

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/optimize"
)

// This file searches strategies: the matrix of a class whose prefix sums have the least error at
// a given price. What is found is priced like any other matrix; nothing that is searched here is
// part of a proof. The end of this file has the problem and why its banded form has one optimum.

// A Goal is what a strategy is searched for.
type Goal struct {
	Steps         int
	Participation Participation
	// Class is "banded", "toeplitz" or "blt".
	Class string
	// Bands is the number of bands of the first two; 0 is the separation of the schema, or half of
	// it and more if all are too many. A banded matrix may not have more than the separation.
	Bands int
	// Buffers is the number of terms of a BLT; 0 adds terms as long as one gains 0.1 %.
	Buffers int
	// MaxError asks for the least error of the worst prefix sum, not of their mean square. A
	// banded matrix has no such search.
	MaxError bool
}

// An Optimum is what [Optimize] found.
type Optimum struct {
	Strategy Strategy
	// Sensitivity is proved, by the way that prices a run. With secret sampling it is the
	// largest norm of a column; for balls in bins, of the sum of a bin's columns.
	Sensitivity Sensitivity
	// RMSE is the root of the mean squared error of the prefix sums, and MaxError the largest
	// standard deviation of one, for a noise multiplier equal to the upper end of Sensitivity.
	// They are float64 results without a proof.
	RMSE, MaxError float64
	// Unfinished says why the search ended early; nil if it converged.
	Unfinished error
}

// Limits of a search: steps·(bands+1)² of a banded one, and steps·bands of a Toeplitz one, whose
// some 100 evaluations take half a second each; and the terms of a BLT.
const (
	maxBandWork   = 110_000_000
	maxSeriesWork = 1 << 27
	maxBuffers    = 12
)

// Optimize searches a strategy. It checks ctx and its limit of work at each evaluation: a work
// or time limit ends it with the best strategy so far, a cancelled context with an error.
func Optimize(ctx context.Context, g Goal) (Optimum, error) {
	if err := g.check(); err != nil {
		return Optimum{}, err
	}
	var strategy Strategy
	var unfinished, err error
	switch g.Class {
	case "banded":
		strategy, unfinished, err = g.banded(ctx)
	case "toeplitz":
		strategy, unfinished, err = g.toeplitz(ctx)
	default:
		strategy, unfinished, err = g.buffered(ctx)
	}
	if err != nil {
		return Optimum{}, err
	}
	c := Config{NoiseMultiplier: 1, Steps: g.Steps, Strategy: strategy, Participation: g.Participation}
	if err := c.check(); err != nil {
		return Optimum{}, err
	}
	out := Optimum{Strategy: strategy, Unfinished: unfinished}
	if out.Sensitivity, err = c.spread(ctx); err != nil {
		return Optimum{}, err
	}
	mean, largest := c.errors()
	out.RMSE, out.MaxError = out.Sensitivity.Upper*math.Sqrt(mean), out.Sensitivity.Upper*math.Sqrt(largest)
	return out, nil
}

// check returns what is wrong with a goal.
func (g *Goal) check() error {
	if g.Participation.kind == noParticipation {
		return fault.New("participation", "is missing")
	}
	if g.Steps < 1 || g.Steps > maxSteps {
		return fault.New("steps", "%d is not an integer in [1, %d]", g.Steps, maxSteps)
	}
	probe := Config{NoiseMultiplier: 1, Steps: g.Steps, Strategy: Identity(), Participation: g.Participation}
	if err := probe.check(); err != nil {
		return err
	}
	switch g.Class {
	case "banded", "toeplitz":
		if g.Buffers != 0 {
			return fault.New("buffers", "%d is for blt, not for %s", g.Buffers, g.Class)
		}
	case "blt":
		if g.Bands != 0 {
			return fault.New("bands", "%d is for banded and toeplitz, not for blt", g.Bands)
		}
		if g.Buffers < 0 || g.Buffers > maxBuffers {
			return fault.New("buffers", "%d is not an integer in [1, %d], or 0", g.Buffers, maxBuffers)
		}
		if g.needsBands() {
			return fault.New("strategy", "a blt has no bands, which %v needs; use banded or toeplitz", g.Participation)
		}
		return nil
	default:
		return fault.New("strategy", "%q is not banded, toeplitz or blt", g.Class)
	}
	b, _ := g.schema()
	if g.Bands == 0 {
		g.Bands = b
		most := maxSeriesWork / g.Steps
		if g.Class == "banded" {
			most = int(math.Sqrt(float64(maxBandWork)/float64(g.Steps))) - 1
		}
		if most >= b/2 {
			g.Bands = min(b, max(1, most))
		}
	}
	if g.Bands < 1 || g.Bands > g.Steps {
		return fault.New("bands", "%d is not in [1, steps], %d steps", g.Bands, g.Steps)
	}
	if g.needsBands() && g.Bands > b {
		return fault.New("bands", "%d is above the separation of %v, %d", g.Bands, g.Participation, b)
	}
	if g.Class == "toeplitz" {
		if work := float64(g.Steps) * float64(g.Bands); work > maxSeriesWork {
			return fault.New("bands", "%d makes steps times bands larger than %d; use blt", g.Bands, maxSeriesWork)
		}
		return nil
	}
	switch {
	case g.MaxError:
		return fault.New("error", "max is searched for toeplitz and blt; banded has rmse")
	case g.Steps > maxRows:
		return fault.New("steps", "%d is not in [1, %d] for banded; toeplitz and blt take more", g.Steps, maxRows)
	case g.Participation.kind == ballsInBins || g.Participation.kind == poisson:
		return fault.New("strategy", "banded is not searched for %v; use toeplitz or blt", g.Participation)
	case g.Bands > b:
		return fault.New("bands", "%d is above the separation of %v, %d: its columns overlap, and the problem is another one; use toeplitz or blt", g.Bands, g.Participation, b)
	case float64(g.Steps)*float64(g.Bands+1)*float64(g.Bands+1) > maxBandWork:
		return fault.New("bands", "%d makes steps times (bands + 1)² larger than %d", g.Bands, maxBandWork)
	}
	return nil
}

// needsBands reports whether the schema is for banded matrices alone.
func (g *Goal) needsBands() bool {
	return g.Participation.kind == cyclicPoisson || g.Participation.kind == bMinSep
}

// schema returns the separation of participations and how many count together: 1 where the
// largest norm of a column decides, which it does for coins.
func (g *Goal) schema() (b, k int) {
	p := g.Participation
	switch p.kind {
	case cyclicPoisson, bMinSep:
		return p.separation, 1
	case ballsInBins:
		return p.separation, (g.Steps-1)/p.separation + 1
	}
	return p.over(g.Steps)
}

// spread returns the sensitivity, or with secret sampling what takes its place.
func (c Config) spread(ctx context.Context) (Sensitivity, error) {
	switch c.Participation.kind {
	case cyclicPoisson, bMinSep, poisson:
		c.Participation = Single()
	case ballsInBins:
		_, above, _, err := c.balls(ctx)
		s := exactly(above.diagonal)
		s.exact = false
		return s.root(), err
	}
	return c.sensitivity(ctx)
}

// errors returns the mean and the largest of the variances of the prefix sums, for noise of
// variance 1: of the rows of AC⁻¹, with A the matrix of prefix sums.
func (c Config) errors() (mean, largest float64) {
	n := c.Steps
	if c.Strategy.kind == banded {
		w := newBandWork(n, c.Strategy.bands)
		for j, column := range columnsOf(c.Strategy.rows) {
			copy(w.c[j*w.p:], column)
		}
		w.inverse(false)
		for i := range n {
			x := w.s[i*w.full+w.w-1]
			mean += x
			largest = max(largest, x)
		}
		return mean / float64(n), largest
	}
	sums := slices.Repeat([]float64{1}, n)
	c.Strategy.solver(n).back(sums)
	total := 0.0
	for t := range n {
		x := sums[n-1-t] // the prefix sum of C⁻¹ at t
		total += x * x
		mean += float64(n-t) / float64(n) * x * x
	}
	return mean, total
}

// search minimises f, which returns its value and writes the gradient, from x on, by L-BFGS (gonum/optimize). It returns
// the best point and why it ended early. It ends where ten rounds lower the value by less than tolerance. work is what an
// evaluation takes, in terms of a sum.
func search(ctx context.Context, x []float64, tolerance, work float64, f func(x, gradient []float64) float64) (best []float64, value float64, unfinished, err error) {
	best, value = slices.Clone(x), math.Inf(1)
	latest := make([]float64, len(x)) // the gradient where Func was called last: Bisection asks for both together
	problem := optimize.Problem{
		Func: func(at []float64) float64 {
			y := f(at, latest)
			if math.IsNaN(y) || slices.ContainsFunc(latest, func(v float64) bool { return !finite(v) }) {
				return math.Inf(1)
			}
			if y < value {
				value = y
				copy(best, at)
			}
			return y
		},
		Grad: func(gradient, _ []float64) { copy(gradient, latest) },
		Status: func() (optimize.Status, error) {
			if unfinished = context.Cause(ctx); unfinished == nil {
				unfinished = parallel.Spend(ctx, work)
			}
			return optimize.NotTerminated, unfinished
		},
	}
	settings := &optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: tolerance, Iterations: 10}, MajorIterations: maxIterations}
	// Other errors than that of Status are of lines on which rounding allows no lower point.
	_, _ = optimize.Minimize(problem, x, settings, &optimize.LBFGS{Linesearcher: &optimize.Bisection{}, Store: maxPairs})
	if unfinished != nil && !errors.Is(unfinished, parallel.ErrWork) && !errors.Is(unfinished, parallel.ErrTimeLimit) {
		return nil, 0, nil, unfinished
	}
	return best, value, unfinished, nil
}

// maxPairs is how many moves a search remembers: more make fewer rounds, and take their memory.
const maxPairs = 20

// Tolerances of the logarithm of the squared error. Long banded searches creep: what is left at
// wide was below 5e-4 where it was looked at.
const narrow, wide = 1e-7, 1e-4

// maxIterations ends a search that creeps.
const maxIterations = 1000

// A solver applies inverses of a Toeplitz matrix.
type solver interface {
	// back overwrites u with the solution of Cᵀx = u. Read backwards it is that of Cx = u.
	back(u []float64)
}

func (s Strategy) solver(n int) solver {
	if s.kind == blt {
		return terms{s.scales, s.decays}
	}
	coefficients, _ := s.toeplitzCoefficients(n)
	return series(leading(coefficients))
}

// A series is a Toeplitz matrix by its coefficients.
type series []float64

func (c series) back(u []float64) {
	n := len(u)
	for t := n - 1; t >= 0; t-- {
		m := min(len(c)-1, n-1-t)
		u[t] = (u[t] - dot(c[1:], u[t+1:], m)) / c[0]
	}
}

// terms are a BLT by its scales and decays.
type terms struct{ scales, decays []float64 }

func (b terms) back(u []float64) {
	var kept [maxTerms]float64
	state := kept[:len(b.scales)]
	for t := len(u) - 1; t >= 0; t-- {
		x := u[t]
		for i, a := range b.scales {
			x -= a * state[i]
		}
		for i, d := range b.decays {
			state[i] = d*state[i] + x
		}
		u[t] = x
	}
}

// A toeplitzLoss is log of error times squared sensitivity as a function of the coefficients.
type toeplitzLoss struct {
	n, b, k    int
	orthogonal bool // columns b apart have no common row
	max        bool
	g, v, s    []float64
}

func (g *Goal) loss(orthogonal bool) *toeplitzLoss {
	b, k := g.schema()
	n := g.Steps
	return &toeplitzLoss{n: n, b: b, k: k, orthogonal: orthogonal, max: g.MaxError, g: make([]float64, n), v: make([]float64, n), s: make([]float64, n)}
}

// at returns the value at coefficients, zeros left out at the end, and adds its gradient to out,
// which is as long. With h = 1/c and g its prefix sums the error is Σ w_s·g_s², and its gradient
// −2·Σ_s w_s·g_s·(g∗h)_{s−j}, two solutions with the transposed matrix.
func (l *toeplitzLoss) at(c []float64, m solver, out []float64) float64 {
	n := l.n
	for t := range l.g {
		l.g[t] = 1
	}
	m.back(l.g)
	slices.Reverse(l.g)
	total := 0.0
	for t, x := range l.g {
		w := 1.0
		if !l.max {
			w = float64(n-t) / float64(n)
		}
		total += w * x * x
		l.v[t] = w * x
	}
	sum := 0.0
	for t := n - 1; t >= 0; t-- {
		sum += l.v[t]
		l.v[t] = sum
	}
	m.back(l.v)
	m.back(l.v)
	for t := range out {
		out[t] = -2 * l.v[t] / total
	}
	return xmath.Log(total) + xmath.Log(l.squared(c, out))
}

// squared returns the squared sensitivity and adds the gradient of its logarithm.
func (l *toeplitzLoss) squared(c, out []float64) float64 {
	n, b, k, total := l.n, l.b, l.k, 0.0
	if k == 1 || l.orthogonal {
		times := func(t int) float64 { return float64(min(k, (n-1-t)/b+1)) }
		for t, x := range c {
			total += times(t) * x * x
		}
		for t, x := range c {
			out[t] += 2 * times(t) * x / total
		}
		return total
	}
	// The rows of the sum of columns, as in stridedSquared.
	s := l.s
	for t := range s {
		s[t] = 0
		if t < len(c) {
			s[t] = c[t]
		}
		if t >= b {
			s[t] += s[t-b]
		}
		if old := t - k*b; old >= 0 && old < len(c) {
			s[t] -= c[old]
		}
		total += s[t] * s[t]
	}
	for t := n - 1; t >= 0; t-- {
		// Σ_{j<k} s_{t+jb}, from its end.
		l.v[t] = s[t]
		if t+b < n {
			l.v[t] += l.v[t+b]
		}
		if t+k*b < n {
			l.v[t] -= s[t+k*b]
		}
	}
	for t := range out {
		out[t] += 2 * l.v[t] / total
	}
	return total
}

// rootStart returns so many coefficients of the square root, where searches begin.
func rootStart(p int) []float64 {
	c := make([]float64, p)
	c[0] = 1
	for t := 1; t < p; t++ {
		c[t] = c[t-1] * float64(2*t-1) / float64(2*t)
	}
	return c
}

// toeplitz searches coefficients c_0 = 1, c_1, …: any where their signs do not matter for the
// sensitivity, falling ones c_t = Π 1/(1 + e^−x_i) elsewhere, so that the formula is right.
func (g *Goal) toeplitz(ctx context.Context) (_ Strategy, unfinished, err error) {
	c, unfinished, err := g.coefficients(ctx)
	if err != nil {
		return Strategy{}, nil, err
	}
	for t := range c {
		c[t] = short(c[t])
	}
	s, err := Toeplitz(c)
	return s, unfinished, err
}

func (g *Goal) coefficients(ctx context.Context) (c []float64, unfinished, err error) {
	b, k := g.schema()
	secret := g.Participation.kind == ballsInBins || g.Participation.kind == poisson // need C ≥ 0
	free := (k == 1 || g.Bands <= b) && !secret
	l := g.loss(free)
	c = rootStart(g.Bands)
	x := make([]float64, g.Bands-1)
	for t := range x {
		x[t] = c[t+1]
		if !free {
			x[t] = xmath.Log(float64(2*t + 1)) // the ratio (2t+1)/(2t+2) of its neighbours
		}
	}
	into := make([]float64, g.Bands)
	expand := func(x []float64) {
		for t, v := range x {
			c[t+1] = v
			if !free {
				c[t+1] = c[t] / (1 + math.Exp(-v))
			}
		}
	}
	if len(x) > 0 {
		// Three solutions of steps·bands products, 100 to a term.
		x, _, unfinished, err = search(ctx, x, narrow, 3*float64(g.Steps)*float64(g.Bands)/100, func(x, out []float64) float64 {
			expand(x)
			value := l.at(c, series(c), into)
			if free {
				copy(out, into[1:])
				return value
			}
			sum := 0.0
			for t := len(x) - 1; t >= 0; t-- {
				sum += into[t+1] * c[t+1]
				out[t] = sum / (1 + math.Exp(x[t]))
			}
			return value
		})
	}
	if err != nil {
		return nil, nil, err
	}
	expand(x)
	return c, unfinished, nil
}

// short rounds to seven digits, which is what is written of matrices of many entries. It keeps
// the order of numbers.
func short(x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 0
	}
	scale := math.Pow(10, 7-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// buffered searches a BLT. Its parameters are log(d/(1−d)) of the decays d, and y with scales
// e^y_i/(1 + Σe^y), whose sum is below 1, so that coefficients fall.
func (g *Goal) buffered(ctx context.Context) (_ Strategy, unfinished, err error) {
	var best Strategy
	value := math.Inf(1)
	first, last := g.Buffers, g.Buffers
	if g.Buffers == 0 {
		first, last = 1, maxBuffers
	}
	for d := first; d <= last; d++ {
		before, kept, keptWhy := value, best, unfinished
		for _, x := range g.starts(d) {
			found, v, early, err := search(ctx, x, narrow, 8*float64(g.Steps)*float64(d)/20, g.bufferedLoss(d))
			if err != nil {
				return Strategy{}, nil, err
			}
			if v < value || best.kind == noStrategy {
				scales, decays := buffersOf(found)
				if best, err = BLT(scales, decays); err != nil {
					return Strategy{}, nil, err
				}
				value, unfinished = v, early
			}
			if errors.Is(early, parallel.ErrWork) || errors.Is(early, parallel.ErrTimeLimit) {
				return best, early, nil
			}
		}
		if before-value < 2e-3 { // of the logarithm of the squared error
			return kept, keptWhy, nil
		}
	}
	return best, unfinished, nil
}

// starts returns points to search from: decays whose distances to 1 are a geometric sequence
// from .7 down to a part of 1/steps or of 1/separation, and scales as ∫ s^−½e^−ts ds/π has them.
func (g *Goal) starts(d int) [][]float64 {
	b, _ := g.schema()
	var all [][]float64
	for _, least := range []float64{.3 / float64(g.Steps), 3 / float64(g.Steps), 1 / float64(b+1)} {
		least = min(least, .3)
		x := make([]float64, 2*d)
		sum := 0.0
		scales := make([]float64, d)
		ratio := math.Pow(least/.7, 1/float64(max(1, d-1)))
		for i := range d {
			s := .7 * math.Pow(ratio, float64(i))
			if d == 1 {
				s = math.Sqrt(.7 * least)
			}
			x[i] = xmath.Log((1 - s) / s)
			scales[i] = math.Sqrt(s) * -xmath.Log(ratio) / math.Pi
			sum += scales[i]
		}
		for i, a := range scales {
			a *= .5 / sum
			x[d+i] = xmath.Log(a / .5)
		}
		all = append(all, x)
	}
	return all
}

// buffersOf returns the scales and decays of parameters.
func buffersOf(x []float64) (scales, decays []float64) {
	d := len(x) / 2
	scales, decays = make([]float64, d), make([]float64, d)
	most := 0.0
	for _, y := range x[d:] {
		most = max(most, y)
	}
	sum := math.Exp(-most)
	for i := range d {
		decays[i] = min(1/(1+math.Exp(-x[i])), 1-0x1p-40)
		scales[i] = max(math.Exp(x[d+i]-most), minEntry)
		sum += scales[i]
	}
	for i := range scales {
		scales[i] = max(scales[i]/sum, minEntry)
	}
	return scales, decays
}

func (g *Goal) bufferedLoss(d int) func(x, out []float64) float64 {
	n := g.Steps
	l := g.loss(false)
	c, into := make([]float64, n), make([]float64, n)
	return func(x, out []float64) float64 {
		scales, decays := buffersOf(x)
		clear(c)
		c[0] = 1
		for i, a := range scales {
			term := a
			for t := 1; t < n && term > minTerm; t++ {
				c[t] += term
				term *= decays[i]
			}
		}
		value := l.at(c, terms{scales, decays}, into)
		// The gradient by scale i is Σ_t into_t·d^(t−1), by its decay a·Σ into_t·(t−1)·d^(t−2).
		byScale := make([]float64, d)
		mean := 0.0
		for i, decay := range decays {
			sum, slope := 0.0, 0.0
			for t := n - 1; t >= 1; t-- {
				slope = slope*decay + sum
				sum = sum*decay + into[t]
			}
			out[i] = scales[i] * slope * decay * (1 - decay)
			byScale[i] = sum
			mean += scales[i] * sum
		}
		for i, a := range scales {
			out[d+i] = a * (byScale[i] - mean)
		}
		return value
	}
}

// The problem, and why its banded form has one optimum.
//
// Where participations are a separation ≥ p apart, columns that count together have no common row, and with X = CᵀC
// the banded problem is: tr(AᵀAX⁻¹) least over banded X whose diagonal has sums of at most 1 over each pattern. It
// is convex, so that where a search ends with gradient 0 nothing is better; by rows C is one parametrisation of X.
// For one participation and secret sampling all columns have norm 1; for epochs each coset has the sum 1; for any
// pattern a separation apart norms fall from block to block of b steps, which costs less than 0.1 % in the examples
// of the tests. The error is tr(MᵀM)⁻¹ with M = CA⁻¹, of p + 1 bands, and takes steps·p² operations with its
// gradient (matrix/optimize_banded.go). The tests meet SciPy's optima to 1e-6 (convex ones up to 256 steps) and
// 1e-3, and the BLTs that jax_privacy's tests publish to their digits.
