// Theorem 8 (contour.md): how fast an angle goes on beyond the nodes, where all zeros are real.

package transform

import "math"

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
// of which the first is below its chord A·(e^D − 1)/D·Δ for Δ ≤ D. A Gaussian majorant of f times e^{t·κΔ} is a Gaussian
// whose mean is t·κ further out. From D on all of the angle counts, and the majorant has fallen by
// zDσ + D²σ²/2 there.

// reaches are the D that are tried; they prove nothing.
var reaches = [...]float64{0.5, 1, 2, 4, 8}

// turningTail returns the logarithm of a bound of the integral beyond the nodes on one side in stripBetween: now bounds
// Im L at the outermost node, most everywhere beyond.
func (s *tilted) turningTail(t, a, wide float64, right bool, now, most float64) float64 {
	m := s.m
	best := s.tailOn(wide, right) + t*most*(1+1e-12)
	if !m.realZeros || !(a < widthOfZeros+1e-9) || !(now < most) {
		return best
	}
	// On the right the angle of P grows, on the left that of Q falls.
	x, lo, hi := &s.nodes[0].shares.q, m.minQ, m.maxQ
	if right {
		x, lo, hi = &s.nodes[len(s.nodes)-1].shares.p, m.minP, m.maxP
	}
	mean, err := m.meanOf(x)
	grows, falls := hi-mean+err, mean-lo+err
	if right {
		grows, falls = falls, grows
	}
	turn := 2 * math.Tan(a/2) * (1 + 1e-12)
	plain := min(falls, (hi-lo)/4)
	for _, g := range s.majorants(wide, right) {
		near := func(rate float64) float64 {
			return m.logMills(g.z-t*turn*rate/m.sigma*(1+1e-12), g.log) + t*now*(1+1e-12)
		}
		best = min(best, near(plain))
		if !(g.z > 0) {
			continue
		}
		for _, reach := range reaches {
			rate := min(plain, grows*math.Expm1(reach)/reach)
			y := reach * m.sigma
			far := m.logMills(g.z, g.log) - (g.z*y+y*y/2)*(1-1e-12) + t*most*(1+1e-12)
			best = min(best, logSumUp(near(rate), far))
		}
	}
	return best
}
