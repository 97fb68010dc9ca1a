// The size of the integrand on a line x + iaσ², for θ > 0 (Theorem 4 and contour-errata.md 4).

package transform

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// On the line |P(x+iaσ²)| ≤ e^{a²σ²/2}·P(x), but 1/|Q| grows: with log Q(x) = −x²/(2σ²) + B(x) + const
// and B_a the same on the line, e^{B−B_a} is between 1 and 1/cos(a·span_Q/2). That to the power θ
// is far too much where θ is large: f = P^{θ+1}Q^{−θ} then lives where one component has almost all
// of Q. What is used instead, d = x/σ² and E, Var the mean and variance of c under the shares of Q at x:
//
//   - 1 − e^{2(B_a−B)} = ΣΣ w_c w_d (1 − cos(a(c−d))) ≤ a²Var;
//   - the second derivative of B_a by d is Re of the variance of c under the complex shares
//     w_c e^{iac}/Σ, at most Var·e^{2(B−B_a)};
//   - over a distance of h/2 a share grows by at most e^{span_Q·h/2}, and so does a second moment;
//   - with c measured from an extreme mean, c ≥ 0, the derivative of B_a is
//     ΣΣ w_c w_d·(c+d)/2·cos(a(c−d))·e^{2(B−B_a)} ≥ cos(a·span_Q)·E[c] where that cosine is positive.

// logSector is the logarithm of C of contour-errata.md 4 for θ ≥ −1:
// |P^{θ+1}Q^{−θ}| at x ± iaσ² is at most e^{a²σ²/2}·C times that at x.
func (m *mixture) logSector(theta, a float64) float64 {
	if theta <= 0 || m.spanQ == 0 {
		return 0
	}
	n, unit := m.zerosQ()
	c := math.Cos(unit * a / 2)
	if !(unit*a < math.Pi) || c <= 0 {
		return math.Inf(1)
	}
	return -theta*n*xmath.Log(c) + 1e-12*(1+theta*n)
}

// local reports whether the shares of Q matter.
func (s *tilted) local() bool { return s.theta > 0 && s.m.spanQ > 0 }

// cellGrowthOn returns the logarithm of the factor by which |f| on lines up to ±aσ² can exceed
// the larger of its values at the ends of a cell, at which c has the second moments v1, v2: the
// logarithm of |f| has a second derivative by d of at least −σ² − θ·Var·e^{2(B−B_a)}.
func (s *tilted) cellGrowthOn(a, v1, v2 float64) float64 {
	m := s.m
	if m.realZeros {
		// Each zero has Re(s(1−s)) for its complex share, at most its own over cos²(a/2), and that of
		// a real line grows by at most e^{h/2}.
		c := math.Cos(a / 2)
		return s.h * s.h / 8 * (1/m.inv2 + s.theta*min(max(v1, v2)*math.Exp(s.h/2), m.spanQ/4)/(c*c)) * (1 + 1e-12)
	}
	v := max(v1, v2) * math.Exp(m.spanQ*s.h/2)
	less := 1 - a*a*v
	if c := math.Cos(m.spanQ * a / 2); !(less > c*c) {
		less = c * c
		v = min(v, m.spanQ*m.spanQ/4)
	}
	return s.h * s.h / 8 * (1/m.inv2 + s.theta*v/less) * (1 + 1e-12)
}

// turnSlack bounds the errors of the moduli of turns at all nodes and those of Im L: they round, and follow the
// errors of the weights and of σ.
func (s *tilted) turnSlack(a float64) (mod, angle float64) {
	dv := 0.0
	for i := range s.nodes {
		dv = max(dv, s.nodes[i].shareErr())
	}
	mod, angle = s.m.turnError(a, dv, leastResolved)
	return mod, 2 * angle
}

// A majorant is a Gaussian above |f| beyond an end of the nodes: it has the logarithm log there, z standard
// deviations beyond its mean.
type majorant struct{ log, z float64 }

// tailOn returns the logarithm of a bound of ∫|f| over what is left out on one side of the line ±iaσ²,
// but for e^{a²σ²/2}.
func (s *tilted) tailOn(a float64, right bool) float64 {
	best := math.Inf(1)
	for _, g := range s.majorants(a, right) {
		best = min(best, s.m.logMills(g.z, g.log))
	}
	return best
}

// majorants returns what is known about |f| over e^{a²σ²/2} on the line ±iaσ², beyond the nodes on one side.
func (s *tilted) majorants(a float64, right bool) []majorant {
	m, j := s.m, s.lo
	if right {
		j = s.hi
	}
	d := float64(j) * s.h
	plain := majorant{s.nodes[j-s.lo].logF(s.theta), m.beyond(s.theta, d, right)}
	growth := m.logSector(s.theta, a)
	n, unit := m.zerosQ()
	if !s.local() || !(a*unit < math.Pi) {
		plain.log += growth
		return []majorant{plain}
	}
	mean, err := m.meanOf(s.nodes[j-s.lo].ofQ)
	// Going outwards, E[c] moves to the extreme mean of this side: Var ≤ span·|E − extreme|.
	from := mean + err + m.spanQ
	if right {
		from = err - mean
	}
	if m.realZeros {
		// The variance is Σ s(1−s), at most Σ s and Σ (1−s).
		growth = min(growth, s.theta*(1e-10-4*min(from, n/4)*xmath.Log(math.Cos(a/2))*(1+1e-12)))
	} else if x := a * a * m.spanQ * from * (1 + 1e-12); x < 1 {
		growth = min(growth, -s.theta/2*math.Log1p(-x)+1e-10*s.theta)
	}
	plain.log += growth
	out := []majorant{plain}
	// c measured from the other extreme mean has at least a share cos(a·span) of its derivative.
	if cos := math.Cos(a*unit) - 1e-14; cos > 0 && a*unit < math.Pi/2 {
		_, q := m.turn(&s.nodes[j-s.lo], m.angles(a))
		mod, _ := s.turnSlack(a)
		log := s.nodes[j-s.lo].logF(s.theta) - s.theta*q.logLow + s.theta*(1e-10+mod)
		z := 0.0
		if right {
			z = m.x(d) - ((s.theta+1)*m.spanP - s.theta*(cos*(mean-err+m.spanQ)-m.spanQ))
		} else {
			z = -s.theta*cos*(mean+err) - m.x(d)
		}
		out = append(out, majorant{log, z/m.sigma*(1-1e-9) - 1e-14*s.theta*(1+m.span)/m.sigma})
	}
	return out
}

// meanQ returns E[c] of Q at lattice point d, and the bound of its error.
func (m *mixture) meanQ(d float64) (mean, err float64) {
	x, _, _ := m.q.at(d)
	return m.meanOf(x)
}

// meanOf returns E[c] of shares of Q, and the bound of its error.
func (m *mixture) meanOf(x *window) (mean, err float64) {
	return x.at + x.mean, m.spanQ * (4*x.dv + u*(16+2*m.span))
}
