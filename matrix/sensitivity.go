package matrix

import (
	"cmp"
	"context"
	"fmt"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Sensitivity is certified: how far one record, whose contributions have norm at most 1,
// moves Cx, in the worst pattern of the schema. The truth is in [Lower, Upper]: Lower is
// rounded down from what a pattern reaches, Upper is rounded up. Under substitute the run
// moves by twice as much.
type Sensitivity struct {
	Lower, Upper float64
	// Exact says that a theorem gives the sensitivity, so that the ends are apart by
	// rounding only.
	Exact bool
}

// squares is the same before roots are taken. With exact, the two are the same.
type squares struct {
	lower, upper double
	exact        bool
}

func exactly(x double) squares { return squares{x, x, true} }

// between is what a pattern reaches, and a proved bound, which never is below that but for
// rounding.
func between(lower double, upper float64) squares {
	return squares{lower, larger(double{upper, 0}, double{lower.up(), 0}), false}
}

func (s squares) root() Sensitivity {
	return Sensitivity{s.lower.sqrt().down(), s.upper.sqrt().up(), s.exact}
}

// sensitivity implements Run.Sensitivity.
func (c Config) sensitivity(ctx context.Context) (Sensitivity, error) {
	if err := c.check(); err != nil {
		return Sensitivity{}, err
	}
	if c.Participation.Secret() {
		return Sensitivity{}, fault.New("participation", "%v has no one sensitivity", c.Participation)
	}
	s, err := c.squared(ctx)
	if err != nil {
		return Sensitivity{}, err
	}
	return s.root(), nil
}

func (c Config) squared(ctx context.Context) (squares, error) {
	if err := ctx.Err(); err != nil {
		return squares{}, err
	}
	n, p := c.Steps, c.Participation
	b, k := p.over(n)
	switch {
	case c.Strategy.kind == tree:
		return treeSquared(ctx, c.Strategy, n, p)
	case c.Strategy.isToeplitz():
		return toeplitzSquared(ctx, c.Strategy, n, b, k, p.kind == epochs)
	}
	return denseSquared(ctx, columnsOf(c.Strategy.rows), c.Strategy.bands, b, k, p.kind == epochs)
}

// smallToeplitz is the largest number of steps for which a Toeplitz matrix that is not
// known to fall is also taken entry by entry.
const smallToeplitz = 1024

func toeplitzSquared(ctx context.Context, s Strategy, n, b, k int, whole bool) (squares, error) {
	coefficients, falling := s.toeplitzCoefficients(n)
	switch {
	case k == 1:
		return exactly(normSquared(coefficients, n)), nil
	case falling, whole && nonNegative(coefficients):
		// The sum of a coset is that of the first, moved down and cut off.
		return exactly(stridedSquared(coefficients, n, b, k, false)), nil
	case len(coefficients) <= b:
		return exactly(orthogonalSquared(coefficients, n, b, k)), nil
	}
	lower := normSquared(coefficients, n)
	for _, alternate := range []bool{false, true} {
		lower = larger(lower, stridedSquared(coefficients, n, b, k, alternate))
	}
	upper := stridedSquared(majorant(coefficients), n, b, k, false)
	if n > smallToeplitz || s.kind != toeplitz {
		return squares{lower: lower, upper: upper}, nil
	}
	c := make(columns, n)
	for i := range c {
		c[i] = s.coefficients[:min(n-i, len(s.coefficients))]
	}
	d, err := denseSquared(ctx, c, len(coefficients), b, k, whole)
	if err != nil || d.exact {
		return d, err
	}
	d.lower = larger(d.lower, lower)
	if upper.less(d.upper) {
		d.upper = upper
	}
	return d, nil
}

// denseSquared is for columns of any kind; whole says that patterns are cosets.
func denseSquared(ctx context.Context, c columns, bands, b, k int, whole bool) (squares, error) {
	norms := c.normsSquared()
	positive := c.nonNegative()
	switch {
	case k == 1:
		return exactly(orthogonal(norms, len(c), 1)), nil
	case whole && (positive || bands <= b):
		// The whole coset is the worst; without signs, or for orthogonal columns.
		var most double
		for _, pattern := range cosets(len(c), b) {
			if err := ctx.Err(); err != nil {
				return squares{}, err
			}
			value := c.patternSquared(pattern, nil)
			if !positive {
				value = double{}
				for _, i := range pattern {
					value = value.add(norms[i])
				}
			}
			most = larger(most, value)
		}
		return exactly(most), nil
	case bands <= b:
		return exactly(orthogonal(norms, b, k)), nil
	}
	g, err := gramOf(ctx, c, norms)
	if err != nil {
		return squares{}, err
	}
	lower := orthogonal(norms, len(c), 1) // one participation
	reach := func(pattern []int) {
		var u []float64
		if !positive {
			u = c.signs(pattern)
		}
		lower = larger(lower, c.patternSquared(pattern, u))
	}
	if whole {
		upper := 0.0
		for _, pattern := range cosets(len(c), b) {
			if err := ctx.Err(); err != nil {
				return squares{}, err
			}
			reach(pattern)
			upper = max(upper, g.boundedSum(pattern))
		}
		return between(lower, upper), nil
	}
	upper, r, err := g.vecSens(ctx, b, k)
	if err != nil {
		return squares{}, err
	}
	pattern := g.search(b, k, r)
	if g.n <= maxExhaustive {
		// Sums of at most k² + n terms differ from exact ones by less than slack.
		const slack = 1e-11
		worst, done := g.exhaust(pattern, r, b, k, slack)
		pattern = worst
		if done {
			upper = min(upper, g.boundedSum(worst)*(1+2*slack))
		}
	}
	reach(pattern)
	return between(lower, xmath.Up(upper, 1)), nil
}

// maxGramTree is the largest tree whose Gram matrix is made.
const maxGramTree = 2048

// treeSquared is in whole numbers, which float64 has exactly.
func treeSquared(ctx context.Context, s Strategy, n int, p Participation) (squares, error) {
	t := newBinary(n, s.completion)
	b, k := p.over(n)
	whole := func(x int) double { return double{float64(x), 0} }
	switch {
	case k == 1:
		return exactly(whole(t.levels())), nil
	case p.kind == epochs:
		most := 0
		for _, pattern := range cosets(n, b) {
			if err := ctx.Err(); err != nil {
				return squares{}, err
			}
			most = max(most, t.squared(pattern))
		}
		return exactly(whole(most)), nil
	}
	upper, lower := t.bound(b, k), 0
	for j := range min(b, 64) {
		lower = max(lower, t.squared(stride(j, b, k, n)))
	}
	if n <= maxGramTree {
		g := t.gram(n)
		sum, r, err := g.vecSens(ctx, b, k)
		if err != nil {
			return squares{}, err
		}
		upper = min(upper, int(sum)) // of whole numbers, with less than 1 of rounding
		pattern := g.search(b, k, r)
		if n <= maxExhaustive {
			if worst, done := g.exhaust(pattern, r, b, k, 0); done {
				return exactly(whole(t.squared(worst))), nil
			}
		}
		lower = max(lower, t.squared(pattern))
	}
	return squares{whole(lower), whole(upper), lower == upper}, nil
}

// A Participation is the schema: at which of the n steps one record may take part. The
// zero value is none.
type Participation struct {
	kind       participationKind
	separation int // steps from one participation to the next, at least
	times      int // participations, at most
	rate       float64
	delta      float64 // what is given up with Poisson sampling of every step
}

type participationKind int

const (
	noParticipation participationKind = iota
	single
	epochs
	minSeparation
	cyclicPoisson
	ballsInBins
	poisson
	bMinSep
)

// Single is one participation at most, at any step.
func Single() Participation { return Participation{kind: single, times: 1} }

// Epochs is a fixed order that is run through k times: with n = k·b steps, a record takes
// part in steps j, j+b, j+2b, …, or some of them, for one j.
func Epochs(k int) (Participation, error) {
	return Participation{kind: epochs, times: k}, atLeastOne("epochs", k)
}

func atLeastOne(field string, x int) error {
	if x < 1 {
		return fault.New(field, "%d is not an integer of at least 1", x)
	}
	return nil
}

// MinSeparation is any pattern of at most k participations, of which two are at least b
// steps apart.
func MinSeparation(b, k int) (Participation, error) {
	return Participation{kind: minSeparation, separation: b, times: k}, cmp.Or(atLeastOne("min-separation", b), atLeastOne("at-most", k))
}

// CyclicPoisson is secret sampling: a record belongs to one of so many groups, as a
// function of the record alone; the groups take turns, and the record takes part in each
// turn of its group by a coin of its own with the given rate. C must be banded.
func CyclicPoisson(cycle int, rate float64) (Participation, error) {
	return Participation{kind: cyclicPoisson, separation: cycle, rate: rate}, cmp.Or(atLeastOne("cycle", cycle), noiserange.CheckRate(rate))
}

// BallsInBins is secret sampling: a record draws one of so many bins, uniformly and
// independently of all else, and takes part in steps j, j+bins, j+2·bins, … for its bin j.
// C must have no negative entries.
func BallsInBins(bins int) (Participation, error) {
	return Participation{kind: ballsInBins, separation: bins}, atLeastOne("bins", bins)
}

// Poisson is secret sampling: a record takes part in every step by a coin of its own with the
// given rate. C must be Toeplitz without negative coefficients. The bound is loose (Theorem M5
// of coins.go) and gives up the probability delta once for each run.
func Poisson(rate, delta float64) (Participation, error) {
	if err := noiserange.CheckRate(rate); err != nil {
		return Participation{}, err
	}
	if !(delta >= 1e-200 && delta <= 0.5) {
		return Participation{}, fault.New("delta", "%v is not in [1e-200, 0.5]", delta)
	}
	return Participation{kind: poisson, rate: rate, delta: delta}, nil
}

// BMinSep is secret sampling: at every step a record that has not taken part in
// any of the b − 1 steps before takes part by a coin with the given rate. The coins are of each
// record alone, and of steps before the first one it may have taken part in some. C must have at
// most b bands.
func BMinSep(b int, rate float64) (Participation, error) {
	return Participation{kind: bMinSep, separation: b, rate: rate}, cmp.Or(atLeastOne("separation", b), noiserange.CheckRate(rate))
}

// Secret reports whether the participations of a record must stay secret.
func (p Participation) Secret() bool {
	return p.kind == cyclicPoisson || p.kind == ballsInBins || p.kind == poisson || p.kind == bMinSep
}

// String describes the schema.
func (p Participation) String() string {
	switch p.kind {
	case single:
		return "single"
	case epochs:
		return fmt.Sprintf("epochs: %d", p.times)
	case minSeparation:
		return fmt.Sprintf("min-separation: %d, at-most: %d", p.separation, p.times)
	case cyclicPoisson:
		return fmt.Sprintf("cyclic-poisson: cycle %d, rate %v", p.separation, p.rate)
	case ballsInBins:
		return fmt.Sprintf("balls-in-bins: %d", p.separation)
	case bMinSep:
		return fmt.Sprintf("b-min-sep: separation %d, rate %v", p.separation, p.rate)
	case poisson:
		return fmt.Sprintf("poisson: rate %v, delta %v", p.rate, p.delta)
	}
	return "none"
}

// over returns the separation b and the number of participations k within n steps.
func (p Participation) over(n int) (b, k int) {
	switch p.kind {
	case epochs:
		return n / p.times, p.times
	case minSeparation:
		b = min(p.separation, n)
		return b, min(p.times, (n-1)/b+1)
	}
	return n, 1
}

// Theorem M1: a run without secret sampling.
//
// Let sens(C) be the largest |Cu| over patterns π of the schema and contributions u with |u_i| ≤ 1 on π and 0 off
// it.
//
// Theorem M1 (Denisov, McMahan, Rush, Smith and Thakurta 2022, arXiv:2202.08312, Theorem 2.1). The run, with x
// chosen adaptively, is dominated in both directions by the Gaussian pair of shift μ = sens(C)/σ; under substitute
// by that of 2μ. Both are attained.
//
// Proof. Fix the other records, whose contributions are functions of the past outputs. Row r then has, given the
// past, the means m_r and m_r + a_r with and without the record, where a_r = Σ_j C_rj u_j is a function of the past
// (assumption 2). On every path Σ_r |a_r|² = |Cu|² ≤ sens². Add one more release, of noise with the shift √(sens² −
// Σ|a_r|²), also known before it is drawn; leaving it out again is post-processing. Now Σ|a_r|² = sens² always. With
// z_r the noise under the data set without the record, the log-likelihood ratio is Λ = Σ⟨a_r, z_r⟩/σ² − sens²/2σ².
// Given the past each ⟨a_r, z_r⟩/σ² is normal with variance |a_r|²/σ², so that E exp(iθ⟨a_r, z_r⟩/σ² + θ²|a_r|²/2σ²)
// = 1 and the product over r is a martingale: E exp(iθΛ) = exp(−iθμ²/2 − θ²μ²/2). So Λ is N(−μ²/2, μ²), which is the
// loss of a Gaussian pair of shift μ; under the other data set it is N(+μ²/2, μ²) by the same argument. It is
// attained by the worst u, chosen in advance. Under substitute the difference of two contributions of norm 1 has
// norm at most 2, and 2 for opposite ones. ∎
//
// With X = CᵀC, sens² = max_π max_u Σ_{i,j∈π} X_ij⟨u_i, u_j⟩ ≤ max_π Σ_{i,j∈π} |X_ij|, with equality if X ≥ 0 on π
// (all u equal). How it is found:
//
//	C, schema | way |
//	any, single | the largest column norm | exact
//	Toeplitz, c ≥ 0 non-increasing | the pattern {0, b, 2b, …}, by running sums (Kalinin and Lampert 2024, arXiv:2405.13763, Theorem 2) | exact
//	columns b apart have no common row | a sum of norms: the first columns (Toeplitz), or by dynamic programming; any signs | exact
//	any C ≥ 0, epochs | the largest of b whole cosets | exact
//	other Toeplitz | above: |c| with its running maximum from the right, every |X_ij| of which is at least as large; up to 1024 steps the next row too. Below: equal and alternating contributions | interval
//	other matrices | above: r_i = max over patterns with i of Σ_j |X_ij|, then max Σ r_i (Choquette-Choo et al. 2023, arXiv:2306.08153, Algorithm 3, which leaves out the condition on i). Up to 64 steps a branch and bound over patterns. Below: a pattern found by local search, with signs | interval
//	tree, single or epochs | ⌊log₂ n⌋ + 1, or Σ over nodes of hits² | exact
//	tree, min-separation | up to 64 steps exhaustive; else as above (2048 steps), and level by level: at most min(k, ⌈2^l/b⌉) hits a node and k together | interval
//
// Sums are in twice the digits of float64 (matrix/vecsens.go): where a theorem gives the sensitivity, its two ends
// are neighbouring float64 numbers, and the price is that of a Gaussian, exactly. Elsewhere the two ends are the
// proved pair and the attack of the interval.
