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
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/xmath"
)

const u = xmath.U

// A Component is one mean of a pair of Gaussian mixtures. The mean is an integer
// in units of the shift, not 0: the weights of mean 0 are what is left of 1.
type Component struct {
	Mean       int
	LogP, LogQ float64 // logarithms of the weights in P and in Q; −Inf for none
	Err        float64 // bound of the relative error of both weights
}

// A Pair describes P = Σ P_c N(c, σ²) and Q = Σ Q_c N(c, σ²) with integer means c.
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

// NewGaussianMixture returns the transform of a pair of Gaussian mixtures whose
// likelihood ratio is monotone: P_c/Q_c does not decrease in c. Else there is an
// error: Theorem 6 of the contour engine needs that the loss increases with the
// output.
func NewGaussianMixture(pair Pair) (Transform, error) {
	if !(pair.Sigma > 0 && pair.Sigma < math.Inf(1)) {
		return nil, fmt.Errorf("sigma: %v is not in (0, ∞)", pair.Sigma)
	}
	type mean struct{ c, p, q float64 }
	means := []mean{{0, pair.LogP0, pair.LogQ0}}
	for _, c := range pair.Components {
		if c.Mean == 0 || c.Mean < -maxMean || c.Mean > maxMean {
			return nil, fmt.Errorf("mean: %d is not in [-%d, %d] without 0", c.Mean, maxMean, maxMean)
		}
		if !(c.LogP <= 1e-9 && c.LogQ <= 1e-9) || !(c.Err >= 0) {
			return nil, fmt.Errorf("mean: %d has log weights %v and %v, not in [-Inf, 0]", c.Mean, c.LogP, c.LogQ)
		}
		means = append(means, mean{float64(c.Mean), c.LogP, c.LogQ})
	}
	slices.SortFunc(means, func(a, b mean) int { return int(a.c - b.c) })
	last := math.Inf(-1)
	for i, m := range means {
		if i > 0 && m.c == means[i-1].c {
			return nil, fmt.Errorf("mean: %v is listed twice", m.c)
		}
		if math.IsInf(m.p, -1) && math.IsInf(m.q, -1) {
			continue
		}
		if r := m.p - m.q; r < last {
			return nil, fmt.Errorf("mean: %v has log(P/Q) = %v, below that of a smaller mean, %v", m.c, r, last)
		} else {
			last = r
		}
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

// A component of mixture: at lattice point d its likelihood ratio to mean 0 is
// e^v, v = mean·d + offset.
type component struct {
	mean, offset float64
	p, q         float64
	logP, logQ   float64
	err          float64
	exact        bool // v is exact
}

// mixture is a pair of Gaussian mixtures in the direction in which the loss
// increases with the output x. Points of the lattice are d = (x − x0)/σ², so that
// the loss of a single shift is d without rounding.
type mixture struct {
	sigma, inv2, sigErr  float64 // inv2 is 1/σ²
	logSigma             float64
	x0                   float64
	cs                   []component
	logP0, logQ0, err0   float64
	minP, maxP           float64 // the ends of the means of P
	minQ, maxQ           float64
	span, spanP, spanQ   float64    // largest differences of means: of all, of P, of Q
	only                 *component // the mean ±1 of the one of P and Q that has two means, where the other has mean 0
	onlyP                bool       // it is that of P
	realZeros            bool       // see zeros.go
	sideP, sideQ         side       // of real zeros
	rev                  *mixture
	lattices             [maxLevel + 1]lattice
	tails                [2]atomic.Pointer[[2]float64] // θ and tailFrom, left and right
	divergenceOnce       sync.Once
	divergenceLowerBound float64
}

func newMixture(pair Pair) *mixture {
	m := &mixture{sigma: pair.Sigma, sigErr: pair.SigmaErr, logP0: pair.LogP0, logQ0: pair.LogQ0, err0: pair.Err0}
	m.inv2 = 1 / (pair.Sigma * pair.Sigma)
	m.logSigma = xmath.Log(pair.Sigma)
	m.minP, m.minQ, m.maxP, m.maxQ = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	reach := func(c, logP, logQ float64) {
		if !math.IsInf(logP, -1) {
			m.minP, m.maxP = min(m.minP, c), max(m.maxP, c)
		}
		if !math.IsInf(logQ, -1) {
			m.minQ, m.maxQ = min(m.minQ, c), max(m.maxQ, c)
		}
	}
	reach(0, pair.LogP0, pair.LogQ0)
	for _, c := range pair.Components {
		reach(float64(c.Mean), c.LogP, c.LogQ)
	}
	switch {
	case m.minP >= 0 && m.minQ >= 0:
		m.x0 = 0.5
	case m.maxP <= 0 && m.maxQ <= 0:
		m.x0 = -0.5
	}
	m.spanP, m.spanQ = m.maxP-m.minP, m.maxQ-m.minQ
	m.span = max(m.maxP, m.maxQ) - min(m.minP, m.minQ)
	// A single zero is that of two means, for which nothing is gained.
	m.realZeros = pair.RealZeros && max(m.spanP, m.spanQ) > 1
	for _, c := range pair.Components {
		if math.IsInf(c.LogP, -1) && math.IsInf(c.LogQ, -1) {
			continue
		}
		mean := float64(c.Mean)
		k := component{mean: mean, offset: mean * (m.x0 - mean/2) * m.inv2,
			p: math.Exp(c.LogP), q: math.Exp(c.LogQ), logP: c.LogP, logQ: c.LogQ, err: c.Err}
		// The exponentials of the logarithms of weights round, too.
		k.err += u * (3 + 2*max(math.Abs(xmath.Finite(c.LogP)), math.Abs(xmath.Finite(c.LogQ))))
		k.exact = k.offset == 0 && (mean == 1 || mean == -1)
		m.cs = append(m.cs, k)
	}
	if m.realZeros {
		m.sideP, m.sideQ, m.realZeros = m.makeSides()
	}
	if m.twoMeans() && (m.spanP == 1) != (m.spanQ == 1) && m.minP+m.maxP+m.minQ+m.maxQ == m.cs[0].mean {
		m.only, m.onlyP = &m.cs[0], m.spanP == 1
	}
	return m
}

// Strip implements Transform: Gaussian mixtures have every moment.
func (m *mixture) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements Transform.
func (m *mixture) Infinite() (pInf, qInf float64) { return 0, 0 }

// Reverse implements Transform.
func (m *mixture) Reverse() Transform { return m.rev }

// exponent returns v, the logarithm of the likelihood ratio of component c to mean
// 0 at lattice point d, and the bound of its error. An error of σ moves it by that
// much of dv/dlog(1/σ) = v − c²/(2σ²), the outcome (x/σ) held fixed.
func (m *mixture) exponent(c *component, d float64) (v, err float64) {
	v = c.mean*d + c.offset
	if !c.exact {
		err = u * (math.Abs(v) + math.Abs(c.mean*d) + 5*math.Abs(c.offset))
	}
	if m.sigErr > 0 {
		err += m.sigErr * (math.Abs(v) + c.mean*c.mean*m.inv2/2)
	}
	return v, err
}

// A node is what is known at one point of the lattice: the logarithm of the
// density of Q in x, the loss, the bound of the relative error of that density and the
// bound of the error of the loss.
//
// q and p = q·e^L are the densities, and kappa is p·ex(−L); see secondorder.go. They
// do not depend on the line, so that a line costs one exponential for each node.
type node struct {
	logQ, loss, errQ, errLoss, q, p, kappa float64
	odds                                   float64 // log of the share of mean ±1 over that of mean 0, where there are no others
	shares                                 *shares // nil but for mixtures with real zeros
}

// at returns the node at lattice point d.
func (m *mixture) at(d float64) node {
	n := m.evaluate(d)
	n.q, n.p = math.Exp(n.logQ), math.Exp(n.logQ+n.loss)
	n.kappa = divergenceTerm(n.p, n.q, n.loss)
	if c := m.only; c != nil {
		n.odds = c.mean*d + c.offset + c.log(m.onlyP) - m.first(m.onlyP)
	}
	return n
}

// first returns the logarithm of the weight of mean 0 in P or in Q.
func (m *mixture) first(p bool) float64 {
	if p {
		return m.logP0
	}
	return m.logQ0
}

// evaluate returns the logarithms of the node at lattice point d.
//
// With E_c = e^{v_c} − 1 the densities relative to that of mean 0 are 1 + ΣP_cE_c and
// 1 + ΣQ_cE_c, and dP/dQ − 1 = Σ(P_c−Q_c)E_c / (1 + ΣQ_cE_c), which keeps its digits
// where the loss is small. Where 1 + Σ cancels or overflows, logarithms are added.
func (m *mixture) evaluate(d float64) node {
	if m.realZeros {
		return m.evaluateSides(d)
	}
	s := m.sigma*d + m.x0/m.sigma
	logN := -s*s/2 - m.logSigma - 0.91893853320467274178
	errN := u * (12 + 8*math.Abs(logN) + 2*math.Abs(d) + math.Abs(m.x0)*m.inv2)

	var sumP, sumQ, diff, errP, errQ, top float64
	for i := range m.cs {
		c := &m.cs[i]
		v, dv := m.exponent(c, d)
		if v > top {
			top = v
		}
		if v > 500 {
			continue
		}
		e := math.Expm1(v)
		rel := math.Abs(e)*(c.err+4*u) + (1+e)*dv
		sumP += c.p * e
		sumQ += c.q * e
		diff += (c.p - c.q) * e
		errP += c.p * rel
		errQ += c.q * rel
	}
	errP += errP / 4 * float64(len(m.cs)-1)
	errQ += errQ / 4 * float64(len(m.cs)-1)
	plain := top <= 500
	gP, gQ := 1+sumP, 1+sumQ
	out := node{}
	var lP, lQ, dP, dQ float64
	if plain && gQ > 0.5 {
		lQ = math.Log1p(sumQ)
		dQ = logError(errQ/gQ) + 3*u*math.Abs(lQ)
		if m.spanQ == 0 && m.maxQ == 0 {
			lQ, dQ = 0, 0
		}
	} else {
		lQ, dQ = m.logSide(d, false)
	}
	out.logQ, out.errQ = logN+lQ, errN+dQ
	if plain && gQ > 0.5 {
		if r := diff / gQ; r > -0.5 && r < 1 {
			out.loss = math.Log1p(r)
			out.errLoss = logError((errP+errQ*(1+math.Abs(r))+4*u*math.Abs(diff))/gQ/(1+r)) + 3*u*math.Abs(out.loss)
			return out
		}
	}
	if plain && gP > 0.5 {
		if r := -diff / gP; r > -0.5 && r < 1 {
			out.loss = -math.Log1p(r)
			out.errLoss = logError((errQ+errP*(1+math.Abs(r))+4*u*math.Abs(diff))/gP/(1+r)) + 3*u*math.Abs(out.loss)
			return out
		}
		lP = math.Log1p(sumP)
		dP = logError(errP/gP) + 3*u*math.Abs(lP)
	} else {
		lP, dP = m.logSide(d, true)
	}
	out.loss = lP - lQ
	out.errLoss = dP + dQ + u*math.Abs(out.loss)
	return out
}

// logSide returns the logarithm of the density of P or Q relative to that of mean 0,
// by adding logarithms, and the bound of its error.
func (m *mixture) logSide(d float64, p bool) (log, err float64) {
	first := m.logQ0
	if p {
		first = m.logP0
	}
	top := first
	for i := range m.cs {
		c := &m.cs[i]
		v, _ := m.exponent(c, d)
		top = max(top, v+c.log(p))
	}
	sum, size, skipped := math.Exp(first-top), 0.0, 0.0
	size = sum * (m.err0 + u*(2+2*math.Abs(xmath.Finite(first))))
	for i := range m.cs {
		c := &m.cs[i]
		l := c.log(p)
		if math.IsInf(l, -1) {
			continue
		}
		v, dv := m.exponent(c, d)
		if v+l-top < negligible {
			skipped++
			continue
		}
		w := math.Exp(v + l - top)
		sum += w
		size += w * (c.err + dv + u*(4+2*math.Abs(v+l)+2*math.Abs(l)))
	}
	size += skipped * negligibleShare
	log = top + xmath.Log(sum)
	return log, logError(size/sum) + u*(float64(len(m.cs))+2*math.Abs(log)+2*math.Abs(top)+2)
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

func (c *component) log(p bool) float64 {
	if p {
		return c.logP
	}
	return c.logQ
}

// twoMeans reports whether P and Q have means 0 and ±1 alone: their polynomials have a single zero, which is real.
func (m *mixture) twoMeans() bool {
	return len(m.cs) == 1 && math.Abs(m.cs[0].mean) == 1
}
