// The transform of a pair of Gaussian mixtures with whole-numbered means.
//
// It assumes weights known to relative errors. It returns lines that sum over the nodes of a trapezoidal rule
// (docs/theory/contour.md).

package transform

// Pairs of Gaussian mixtures, the losses of sampled Gaussian noise: what they are, and what does not
// depend on θ. It assumes a likelihood ratio that increases with the output.

import (
	"fmt"
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/xmath"
)

const u = xmath.U

// A Component is one mean of a pair of Gaussian mixtures, other than 0, in units of the shift. P has means above 0, Q below.
type Component struct {
	Mean       int
	LogP, LogQ float64 // logarithms of the weights in P and in Q; −Inf for none
	Err        float64 // bound of the relative error of both weights
}

// A Pair describes P = Σ P_c N(c, σ²), c ≥ 0, and Q = Σ Q_c N(c, σ²), c ≤ 0.
type Pair struct {
	// Sigma is the standard deviation over the shift; SigmaErr bounds its relative error.
	Sigma, SigmaErr float64
	// Components lists the means other than 0.
	Components []Component
	// LogP0 and LogQ0 are the logarithms of the weights of mean 0, to a relative error Err0
	// of the weights. They are used where the difference from 1 would cancel.
	LogP0, LogQ0, Err0 float64
	// RealZeros says that Σ P_c w^c has only real zeros, and so has Σ Q_c w^c; see zeros.go. It
	// holds for all weights of a binomial law, and not for a part of them.
	RealZeros bool
}

// maxMean bounds means: differences of them index tables.
const maxMean = 1 << 20

// NewGaussianMixture returns the transform of a pair of Gaussian mixtures. Their likelihood ratio, and with it the loss, increases
// with the output, as Theorem 6 of the contour engine needs.
func NewGaussianMixture(pair Pair) (Transform, error) {
	if !(pair.Sigma > 0 && pair.Sigma < math.Inf(1)) {
		return nil, fmt.Errorf("sigma: %v is not in (0, ∞)", pair.Sigma)
	}
	seen := map[int]bool{}
	for _, c := range pair.Components {
		if c.Mean == 0 || c.Mean < -maxMean || c.Mean > maxMean {
			return nil, fmt.Errorf("mean: %d is not in [-%d, %d] without 0", c.Mean, maxMean, maxMean)
		}
		if !(c.LogP <= 1e-9 && c.LogQ <= 1e-9) || !(c.Err >= 0) {
			return nil, fmt.Errorf("mean: %d has log weights %v and %v, not in [-Inf, 0]", c.Mean, c.LogP, c.LogQ)
		}
		if c.Mean < 0 && !math.IsInf(c.LogP, -1) || c.Mean > 0 && !math.IsInf(c.LogQ, -1) {
			return nil, fmt.Errorf("mean: %d has log weights %v and %v; those of P are above 0, those of Q below", c.Mean, c.LogP, c.LogQ)
		}
		if seen[c.Mean] {
			return nil, fmt.Errorf("mean: %d is listed twice", c.Mean)
		}
		seen[c.Mean] = true
	}
	forward, backward := newMixture(pair), newMixture(mirrored(pair))
	forward.rev, backward.rev = backward, forward
	return forward, nil
}

// mirrored exchanges P and Q, and the sign of the output, so that the loss of
// the other direction increases, too.
func mirrored(p Pair) Pair {
	r := p
	r.LogP0, r.LogQ0 = p.LogQ0, p.LogP0
	r.Components = make([]Component, len(p.Components))
	for i, c := range p.Components {
		r.Components[i] = Component{Mean: -c.Mean, LogP: c.LogQ, LogQ: c.LogP, Err: c.Err}
	}
	return r
}

// mixture is a pair of Gaussian mixtures in the direction in which the loss
// increases with the output x. Points of the lattice are d = (x − x0)/σ², so that
// the loss of a single shift is d without rounding.
type mixture struct {
	sigma, inv2, sigErr  float64 // inv2 is 1/σ²
	logSigma             float64
	x0                   float64
	p, q                 side
	span, spanP, spanQ   float64 // largest differences of means: of all, of P, of Q
	realZeros            bool    // see zeros.go
	rev                  *mixture
	lattices             [maxLevel + 1]lattice
	divergenceOnce       sync.Once
	divergenceLowerBound float64
}

func newMixture(pair Pair) *mixture {
	m := &mixture{sigma: pair.Sigma, sigErr: pair.SigmaErr, inv2: 1 / (pair.Sigma * pair.Sigma), logSigma: xmath.Log(pair.Sigma)}
	for _, c := range pair.Components {
		if !math.IsInf(c.LogP, -1) {
			m.spanP = max(m.spanP, float64(c.Mean))
		}
		if !math.IsInf(c.LogQ, -1) {
			m.spanQ = max(m.spanQ, float64(-c.Mean))
		}
	}
	m.span = m.spanP + m.spanQ
	switch {
	case m.spanQ == 0:
		m.x0 = 0.5
	case m.spanP == 0:
		m.x0 = -0.5
	}
	// A single zero is that of two means, for which nothing is gained.
	m.realZeros = pair.RealZeros && max(m.spanP, m.spanQ) > 1
	m.p, m.q = m.newSide(+1, int(m.spanP)+1, pair.LogP0, pair.Err0), m.newSide(-1, int(m.spanQ)+1, pair.LogQ0, pair.Err0)
	for _, c := range pair.Components {
		m.p.set(c.Mean, c.LogP, c.Err)
		m.q.set(-c.Mean, c.LogQ, c.Err)
	}
	return m
}

// Strip implements Transform: Gaussian mixtures have every moment.
func (m *mixture) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform.
func (m *mixture) Infinite() (pInf, qInf float64) { return 0, 0 }

// Reverse implements Transform.
func (m *mixture) Reverse() Transform { return m.rev }

// at returns the node at lattice point d.
func (m *mixture) at(d float64) node {
	n := m.evaluate(d)
	n.fill()
	return n
}

// evaluate returns the logarithms of the node at lattice point d.
//
// With E_c = e^{v_c} − 1 the densities relative to that of mean 0 are 1 + ΣP_cE_c and
// 1 + ΣQ_cE_c, and dP/dQ − 1 = (ΣP_cE_c − ΣQ_cE_c)/(1 + ΣQ_cE_c), which keeps its digits
// where the loss is small. Where 1 + Σ cancels or overflows, the shares tell the densities.
func (m *mixture) evaluate(d float64) node {
	x := m.sigma*d + m.x0/m.sigma
	logN := -x*x/2 - m.logSigma - 0.91893853320467274178
	errN := u * (12 + 8*math.Abs(logN) + 2*math.Abs(d) + math.Abs(m.x0)*m.inv2)
	var out node
	var lP, dP, lQ, dQ float64
	if m.realZeros {
		out.ofP, lP, dP = m.p.at(d)
		out.ofQ, lQ, dQ = m.q.at(d)
		if math.Abs(lP-lQ) > 0.5 { // good enough for many means
			out.logQ, out.errQ, out.loss, out.errLoss = logN+lQ, errN+dQ, lP-lQ, dP+dQ+u*math.Abs(lP-lQ)
			return out
		}
	}
	sumP, errP, okP := m.p.excess(d)
	sumQ, errQ, okQ := m.q.excess(d)
	gP, gQ, both := 1+sumP, 1+sumQ, okP && okQ
	if okP && gP > 0.5 {
		lP = math.Log1p(sumP)
		dP = logError(errP/gP) + 3*u*math.Abs(lP)
	} else if !m.realZeros {
		_, lP, dP = m.p.at(d)
	}
	if okQ && gQ > 0.5 {
		lQ = math.Log1p(sumQ)
		dQ = logError(errQ/gQ) + 3*u*math.Abs(lQ)
	} else if !m.realZeros {
		_, lQ, dQ = m.q.at(d)
	}
	out.logQ, out.errQ = logN+lQ, errN+dQ
	out.loss, out.errLoss = lP-lQ, dP+dQ+u*math.Abs(lP-lQ)
	diff := sumP - sumQ
	if r := diff / gQ; both && gQ > 0.5 && r > -0.5 && r < 1 {
		out.loss = math.Log1p(r)
		out.errLoss = logError((errP+errQ*(1+math.Abs(r))+4*u*math.Abs(diff))/gQ/(1+r)) + 3*u*math.Abs(out.loss)
	} else if r := -diff / gP; both && gP > 0.5 && r > -0.5 && r < 1 {
		out.loss = -math.Log1p(r)
		out.errLoss = logError((errQ+errP*(1+math.Abs(r))+4*u*math.Abs(diff))/gP/(1+r)) + 3*u*math.Abs(out.loss)
	}
	return out
}

// A component whose share is below e^negligible of the largest is left out of sums, and counts as an error of
// negligibleShare.
const (
	negligible      = -44
	negligibleShare = 8e-20
)

// logError bounds the error of the logarithm of a number with the relative error x:
// −log(1−x), and nothing is known from x = 1 on.
func logError(x float64) float64 {
	switch {
	case x < 0.01:
		return 1.01 * x
	case x < 1:
		return -1.01 * math.Log1p(-x)
	}
	return math.Inf(1)
}
