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
// It keeps as many vectors, whatever the number of steps: two for each band but the
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
	// The vectors that are kept, of what was summed and of its estimates.
	past, known [][]float64
}

// A filter is a matrix in streaming form: row t is a sum of x_t and of vectors that are kept of the steps before.
type filter interface {
	// row calls term with the coefficient of each vector that counts in row t, and returns that of x_t.
	row(t int, term func(c float64, at int)) (diagonal float64)
	// keep takes x_t over into the vectors that are kept.
	keep(t int, kept [][]float64, x []float64)
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
	f, n := newFilter(c)
	if 2*n > maxStream/dimension {
		return nil, fault.New("dimension", "%d vectors of %d numbers are more than %d numbers", 2*n, dimension, maxStream)
	}
	return &Stream{config: c, sigma: sigma, grid: math.Ldexp(1, math.Ilogb(sigma)-gridBits), src: random.Source(src), dim: dimension, filter: f,
		past: makeVectors(n, dimension), known: makeVectors(n, dimension)}, nil
}

// gridBits is how much finer than the noise the grid of releases is, in bits.
const gridBits = 30

// newFilter returns the matrix, and how many vectors it keeps.
func newFilter(c Config) (filter, int) {
	s := c.Strategy
	switch s.kind {
	case blt:
		return terms{s.scales, s.decays}, len(s.scales)
	case tree:
		return nodes{}, bits.Len(uint(c.Steps))
	}
	w := window{rows: s.rows, size: s.bands - 1}
	if s.kind != banded {
		coefficients, _ := s.toeplitzCoefficients(c.Steps)
		w.coefficients = leading(coefficients)
	}
	return w, w.size
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
	y, diagonal := s.row(x)
	for i, v := range y {
		var err error
		if y[i], err = profiles.AddGaussian(s.src, v, s.sigma, s.grid); err != nil {
			return nil, fault.In(fmt.Sprintf("x[%d]", i), err)
		}
	}
	s.filter.row(s.step, func(c float64, at int) { add(y, -c, s.known[at]) })
	for i := range y {
		y[i] /= diagonal
	}
	s.filter.keep(s.step, s.past, x)
	s.filter.keep(s.step, s.known, y)
	s.step++
	return y, nil
}

// row returns (Cx)_t, of which x_t counts as often as the diagonal says.
func (s *Stream) row(x []float64) (y []float64, diagonal float64) {
	y = make([]float64, s.dim)
	diagonal = s.filter.row(s.step, func(c float64, at int) { add(y, c, s.past[at]) })
	add(y, diagonal, x)
	return y, diagonal
}

// add adds a·x to out.
func add(out []float64, a float64, x []float64) {
	for i, v := range x {
		out[i] += a * v
	}
}

// A window is a banded matrix: it keeps the last steps, as many as bands below the diagonal.
type window struct {
	coefficients []float64 // Toeplitz
	rows         []row     // others
	size         int
}

func (w window) row(t int, term func(c float64, at int)) (diagonal float64) {
	if w.rows == nil {
		for i := 1; i < len(w.coefficients) && i <= t; i++ {
			term(w.coefficients[i], (t-i)%w.size)
		}
		return w.coefficients[0]
	}
	r := w.rows[t]
	last := len(r.values) - 1
	for i, c := range r.values[:last] {
		term(c, (r.from+i)%w.size)
	}
	return r.values[last]
}

func (w window) keep(t int, kept [][]float64, x []float64) {
	if w.size > 0 {
		copy(kept[t%w.size], x)
	}
}

// row is that of a BLT, whose buffer i is Σ_j decay^(t−1−j)·x_j.
func (b terms) row(_ int, term func(c float64, at int)) (diagonal float64) {
	for i, a := range b.scales {
		term(a, i)
	}
	return 1
}

func (b terms) keep(_ int, kept [][]float64, x []float64) {
	for i, d := range b.decays {
		for j := range x {
			kept[i][j] = d*kept[i][j] + x[j]
		}
	}
}

// nodes are a tree: the nodes that make up the steps so far, one for each bit of their
// number. The one that step t ends takes in the smaller ones.
type nodes struct{}

func (nodes) row(t int, term func(c float64, at int)) (diagonal float64) {
	for l := range bits.TrailingZeros(uint(t + 1)) {
		term(1, l)
	}
	return 1
}

func (n nodes) keep(t int, kept [][]float64, x []float64) {
	l := bits.TrailingZeros(uint(t + 1))
	copy(kept[l], x)
	n.row(t, func(c float64, at int) { add(kept[l], c, kept[at]) })
}

// finite reports whether a number is one.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
