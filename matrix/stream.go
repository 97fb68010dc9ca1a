package matrix

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Stream is one run of the mechanism: what a training loop hands its sums of clipped
// contributions to, one vector for each step, and gets them back with correlated noise.
//
// # What it releases
//
// Step t draws z_t and computes the row y_t = (Cx)_t + z_t, a multiple of a grid that does not
// depend on the data, with noise that is exact (package noise). What it returns, the
// estimate of x_t that is x_t + (C⁻¹z)_t but for rounding, is computed from rows alone, so
// that rounding from there on is post-processing. The rounding of the sums (Cx)_t in float64
// is not in the noise multiplier: the caller counts it, as the last bits of x. A sum of m
// products is within 2m·2^-53·Σ|C_tj||x_j| of the truth.
//
// For trees the nodes that no later sum needs are left out, and what is returned is
// the difference of two sums of nodes.
//
// # Memory
//
// It keeps Vectors() vectors, whatever the number of steps: two for each band but the
// diagonal, for each buffer of a BLT, for each level of a tree. They are secret. A
// square-root matrix with as many bands as steps has bounded memory in name only; take
// fewer bands, or a BLT.
//
// It is not safe for concurrent use.
type Stream struct {
	config Config
	sigma  float64 // of the noise
	grid   float64
	src    rand.Source
	step   int
	dim    int
	filter filter
}

// A filter is a matrix in streaming form. A run calls row, then back, at each step.
type filter interface {
	// row returns (Cx)_t in out; x stays as it is.
	row(t int, x, out []float64)
	// back returns the estimate of x_t in y, from the row y and those before it.
	back(t int, x, y []float64)
}

// maxStream bounds the numbers that a stream keeps, 2 GiB.
const maxStream = 1 << 28

// NewStream returns a run over vectors of a dimension whose contributions have norms of at
// most clip. The source nil is the operating system's; another must be secret, and for this
// run alone.
func NewStream(c Config, clip float64, dimension int, src rand.Source) (*Stream, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if !(clip > 0 && !math.IsInf(clip, 1)) {
		return nil, fault.New("clip", "%v is not in (0, +Inf)", clip)
	}
	sigma := c.NoiseMultiplier * clip
	if math.FMA(c.NoiseMultiplier, clip, -sigma) > 0 { // rounded down: no less noise than is priced
		sigma = xmath.Up(sigma, 1)
	}
	if !(sigma >= 0x1p-900 && sigma <= 0x1p900) {
		return nil, fault.New("clip", "%v times the noise multiplier is not in [2^-900, 2^900]", clip)
	}
	if dimension < 1 || dimension > maxStream {
		return nil, fault.New("dimension", "%d is not an integer in [1, %d]", dimension, maxStream)
	}
	s := &Stream{config: c, sigma: sigma, grid: math.Ldexp(1, math.Ilogb(sigma)-gridBits), src: random.Source(src), dim: dimension}
	if v := vectors(c); v > maxStream/dimension {
		return nil, fault.New("dimension", "%d vectors of %d numbers are more than %d numbers", v, dimension, maxStream)
	}
	s.filter = newFilter(c, dimension)
	return s, nil
}

// gridBits is how much finer than the noise the grid of releases is, in bits.
const gridBits = 30

// vectors returns how many vectors the stream of a matrix keeps.
func vectors(c Config) int {
	switch c.Strategy.kind {
	case blt:
		return 2 * len(c.Strategy.scales)
	case tree:
		return 2 * bits.Len(uint(c.Steps))
	}
	return 2 * (c.Strategy.bands - 1)
}

func newFilter(c Config, dim int) filter {
	s := c.Strategy
	switch s.kind {
	case blt:
		return &buffers{s, makeVectors(len(s.scales), dim), makeVectors(len(s.scales), dim)}
	case tree:
		levels := bits.Len(uint(c.Steps))
		return &nodes{makeVectors(levels, dim), makeVectors(levels, dim)}
	}
	w := window{rows: s.rows, past: makeVectors(s.bands-1, dim), known: makeVectors(s.bands-1, dim)}
	if s.kind != banded {
		coefficients, _ := s.toeplitzCoefficients(c.Steps)
		w.coefficients = leading(coefficients)
	}
	return &w
}

func makeVectors(n, dim int) [][]float64 {
	v, all := make([][]float64, n), make([]float64, n*dim)
	for i := range v {
		v[i] = all[i*dim : (i+1)*dim : (i+1)*dim]
	}
	return v
}

// Next does a step: x is the sum of the clipped contributions, and what is returned, a new
// slice, may be published. After an error the step is not done.
func (s *Stream) Next(x []float64) ([]float64, error) {
	if s.step == s.config.Steps {
		return nil, fault.New("steps", "all %d are done; a new run has its own cost", s.step)
	}
	if len(x) != s.dim {
		return nil, fault.New("x", "has %d numbers, must have %d", len(x), s.dim)
	}
	for i, v := range x {
		if !finite(v) {
			return nil, fault.New(fmt.Sprintf("x[%d]", i), "%v is not finite", v)
		}
	}
	y := make([]float64, s.dim)
	s.filter.row(s.step, x, y)
	for i, v := range y {
		var err error
		if y[i], err = profiles.AddGaussian(s.src, v, s.sigma, s.grid); err != nil {
			return nil, fault.In(fmt.Sprintf("x[%d]", i), err)
		}
	}
	s.filter.back(s.step, x, y)
	s.step++
	return y, nil
}

// add adds a·x to out.
func add(out []float64, a float64, x []float64) {
	for i, v := range x {
		out[i] += a * v
	}
}

// A window is a banded matrix: it keeps the last bands − 1 steps, true and estimated.
type window struct {
	coefficients []float64 // Toeplitz
	rows         []row     // others
	past, known  [][]float64
}

// each calls f with the coefficients of the steps before t in row t, and where the step is
// kept, and returns the diagonal.
func (w *window) each(t int, f func(c float64, at int)) (diagonal float64) {
	if w.rows == nil {
		for i := 1; i < len(w.coefficients) && i <= t; i++ {
			f(w.coefficients[i], (t-i)%len(w.past))
		}
		return w.coefficients[0]
	}
	r := w.rows[t]
	last := len(r.values) - 1
	for i, c := range r.values[:last] {
		f(c, (r.from+i)%len(w.past))
	}
	return r.values[last]
}

func (w *window) row(t int, x, out []float64) {
	diagonal := w.each(t, func(c float64, at int) { add(out, c, w.past[at]) })
	add(out, diagonal, x)
}

func (w *window) back(t int, x, y []float64) {
	diagonal := w.each(t, func(c float64, at int) { add(y, -c, w.known[at]) })
	for i := range y {
		y[i] /= diagonal
	}
	if len(w.past) > 0 {
		copy(w.past[t%len(w.past)], x)
		copy(w.known[t%len(w.past)], y)
	}
}

// buffers are a BLT: buffer i is Σ_j decay^(t−1−j)·x_j, true and estimated.
type buffers struct {
	strategy    Strategy
	past, known [][]float64
}

func (b *buffers) row(_ int, x, out []float64) {
	copy(out, x)
	for i, a := range b.strategy.scales {
		add(out, a, b.past[i])
	}
}

func (b *buffers) back(_ int, x, y []float64) {
	for i, a := range b.strategy.scales {
		add(y, -a, b.known[i])
	}
	for i, d := range b.strategy.decays {
		for j := range y {
			b.past[i][j] = d*b.past[i][j] + x[j]
			b.known[i][j] = d*b.known[i][j] + y[j]
		}
	}
}

// nodes are a tree: the nodes that make up the steps so far, one for each bit of their
// number, true and released. The one that step t ends takes in the smaller ones.
type nodes struct{ past, known [][]float64 }

func (n *nodes) row(t int, x, out []float64) {
	copy(out, x)
	for l := range bits.TrailingZeros(uint(t + 1)) {
		add(out, 1, n.past[l])
	}
}

func (n *nodes) back(t int, x, y []float64) {
	l := bits.TrailingZeros(uint(t + 1))
	copy(n.known[l], y)
	copy(n.past[l], x)
	for i := range l {
		add(n.past[l], 1, n.past[i])
		add(y, -1, n.known[i])
	}
}

// finite reports whether a number is one.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
