// Laws off a lattice, with masses as numbers and not logarithms: what repeated doubling
// (convolve.go) multiplies, and δ(ε) read from them.
//
// It assumes masses known to a few roundings, and returns values of δ rounded outward: up for a measure that
// is above what it stands for, down for one below.

package lattice

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// massUnit is the unit of masses, so that products of two are float64s.
const massUnit = 0x1p-300

// logBelow is the log of the mass below the first loss of a measure, as that of other laws.
const logBelow = -50

// A measure is a law as numbers: of P, on the losses of some runs.
//
// Invariants: losses ascend, masses are not negative; above what it stands for, or below it, once losses are
// moved by moved. Its masses may make more or less than 1, by rounding.
type measure struct {
	loss, mass []float64 // ascending losses, and masses in massUnit
	inf        float64   // mass at +∞, in massUnit
	moved      float64   // by how much losses may have been displaced
	cells      int       // of the largest product behind it, before they were joined
}

// underflow is far more, in massUnit, than all masses that may have been lost as below
// the least float64: at most 2^−1074 each, of 2^40 products in each of 53 doublings,
// times up to 2^53 runs.
const underflow = 0x1p-900

// newMeasure returns a law as a measure: rounded up, or down where up is false.
func newMeasure(l *pld.Law, up bool) *measure {
	sign := -1.0
	if up {
		sign = 1
	}
	mass := func(log float64) float64 {
		// The logarithm of the unit is known to 208u, and their difference rounded.
		x := math.Exp(log - xmath.Log(massUnit))
		return x * (1 + sign*xmath.U*(8+xmath.FiniteAbs(log)+500))
	}
	p := &measure{loss: l.Loss, mass: make([]float64, len(l.Loss)), inf: mass(l.LogPInf), moved: l.LossErr}
	for i, m := range l.LogMass {
		p.mass[i] = mass(m)
	}
	return p
}

// total returns the mass of all finite losses.
func (p *measure) total() float64 {
	sum := 0.0
	for _, m := range p.mass {
		sum += m
	}
	return sum
}

// places returns losses between which the odds of exceeding one change by res times
// what they are, and by 1 about the middle: where steep tails of the other law are
// shifted to, none of their masses may be given to the next one.
func (p *measure) places(res float64) []float64 {
	var out []float64
	odds := p.odds()
	next := math.Inf(1)
	for i, x := range odds {
		if x <= next {
			out = append(out, p.loss[i])
			next = x - max(1, res*math.Abs(x))
		}
	}
	return out
}

// odds returns the log-odds of being at least each loss.
func (p *measure) odds() []float64 {
	out := make([]float64, len(p.loss))
	sum := p.inf
	for i := len(out) - 1; i >= 0; i-- {
		sum += p.mass[i]
		out[i] = xmath.Log(sum)
	}
	sum = 0
	for i, m := range p.mass {
		out[i] -= xmath.Log(max(sum, math.Exp(logBelow)/massUnit))
		sum += m
	}
	return out
}

// oneMinusExp returns 1 − e^{−y} for y > 0, to an absolute error of 2u.
func oneMinusExp(y float64) float64 {
	switch {
	case y < 1e-4:
		return y * (1 - y/2*(1-y/3*(1-y/4)))
	case y > 38:
		return 1
	}
	return 1 - math.Exp(-y)
}

// logDelta returns log δ(ε) of a measure, rounded up or down, and minus its derivative.
// One minus an exponential is off by u of the mass: of what the sum and its slope are.
func (p *measure) logDelta(eps float64, up bool) (v, slope float64) {
	i, _ := slices.BinarySearch(p.loss, eps)
	sum, q := p.inf, 0.0
	for ; i < len(p.loss); i++ {
		if l := p.loss[i]; l > eps {
			sum += p.mass[i] * oneMinusExp(l-eps)
			q += p.mass[i] * math.Exp(eps-l)
		}
	}
	round := xmath.U * float64(2*len(p.loss)+8)
	if up {
		sum = (sum+4*xmath.U*q)*(1+round) + underflow
	} else {
		sum = (sum-4*xmath.U*q)*(1-round) - underflow
	}
	if !(sum > 0) {
		return math.Inf(-1), 0
	}
	v = xmath.Log(sum) + xmath.Log(massUnit)
	if up {
		return min(0, v+logRound), q / sum
	}
	return v - logRound, q / sum
}

// logRound is more than the rounding of the logarithm of a sum, that of the unit, and
// what adds them: numbers below 1000, known to half of their last place of 2^−43 each, or
// to all of it; and that of log δ, which they are compared with.
const logRound = 4 * 0x1p-43
