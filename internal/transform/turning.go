// Theorem 8 (contour.md): how fast an angle goes on beyond the nodes, where all zeros are real.

package transform

import "math"

// twoMeans reports whether P and Q have means 0 and ±1 alone: their polynomials have a single zero, which is real.
func (m *mixture) twoMeans() bool {
	return len(m.cs) == 1 && math.Abs(m.cs[0].mean) == 1
}

// meanOfTwo returns E[c] under the shares of P or of Q at lattice point d, and the bound of its error.
func (m *mixture) meanOfTwo(d float64, p bool) (mean, err float64) {
	c, first := &m.cs[0], m.logQ0
	if p {
		first = m.logP0
	}
	v, _ := m.exponent(c, d)
	return c.mean / (1 + math.Exp(first-v-c.log(p))), 4*m.exponentErr(d) + 24*u
}

// A factor 1 − s + s·e^{ia}, 0 < a < π, has an angle whose derivative by d is that of its log-odds, which move by at
// most Δd, times
//
//	Im s·e^{ia}/(1 − s + s·e^{ia}) = s(1−s)·sin a/(1 − 4s(1−s)·sin²(a/2)) ≤ 2·tan(a/2)·s(1−s).
//
// Going outwards by Δ in d, the share that grows is at most e^Δ of what it is at the outermost node, and the other
// falls. So with the sums A and B of both over the zeros, n of them, the angle moves by at most
//
//	2·tan(a/2)·min(A(e^Δ − 1), B·Δ, Δ·n/4),
//
// and never beyond what is known of all of that side. From Δ on the majorant has fallen by zΔσ + Δ²σ²/2: the integral from
// one Δ to the next is at most what is left at the first times e^{t·Im L} with the angle at the second.

// turningCells is the number of cells, turningCell their width; the first of them are narrower. steers: time for width.
const (
	turningCells = 48
	turningCell  = 0.25
)

// turningTail returns the logarithm of a bound of the integral beyond the nodes on one side in stripBetween: now bounds
// Im L at the outermost node, most everywhere beyond.
func (s *tilted) turningTail(t, a, wide float64, right bool, now, most float64) float64 {
	m := s.m
	best := s.tailOn(wide, right) + t*most*(1+1e-12)
	if !m.realZeros && !m.twoMeans() || !(a < widthOfZeros+1e-9) || !(now < most) {
		return best
	}
	// On the right the angle of P grows, on the left that of Q falls.
	j, lo, hi := 0, m.minQ, m.maxQ
	if right {
		j, lo, hi = len(s.nodes)-1, m.minP, m.maxP
	}
	var mean, err float64
	switch n := s.nodes[j].shares; {
	case n == nil:
		mean, err = m.meanOfTwo(float64(s.lo+j)*s.h, right)
	case right:
		mean, err = m.meanOf(&n.p)
	default:
		mean, err = m.meanOf(&n.q)
	}
	grows, falls := hi-mean+err, mean-lo+err
	if right {
		grows, falls = falls, grows
	}
	turn := 2 * math.Tan(a/2) * (1 + 1e-12)
	for _, g := range s.majorants(wide, right) {
		if !(g.z > 0) {
			continue
		}
		tail := m.logMills(g.z, g.log)
		sum := newScaledSum(tail + t*now)
		for i, from := 0, 0.0; i < turningCells; i++ {
			to := from + turningCell*min(1, float64(i+1)/4)
			angle := now + turn*min(grows*math.Expm1(to), falls*to, (hi-lo)/4*to)
			last := i == turningCells-1 || !(angle < most)
			if last {
				angle = most
			}
			y := from * m.sigma
			sum.add(tail - (g.z*y+y*y/2)*(1-1e-12) + t*angle*(1+1e-12))
			if last {
				break
			}
			from = to
		}
		best = min(best, sum.log()+1e-9)
	}
	return best
}
