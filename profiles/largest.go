// The least profile above finitely many discrete ones, rounded up.

package profiles

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// walkScale keeps masses down to e^{−800} in the range of a float64: they are
// held times e^walkScale.
const walkScale = 400

// A walked is the profile of a vectorLaw at the losses m/(2σ²), m = first,
// first−2, … ≥ 0, which hold all losses of all vectors of one norm.
type walked struct {
	first int
	// By (first − m)/2, times e^walkScale: the mass of the loss under P, δ, and
	// e^ε·Q(L > ε).
	p, delta, above []float64
	// 1 − δ, as a sum of positive terms and not scaled.
	rest []float64
}

// A vectorLaw is the mechanism seen through ⟨v', ·⟩ for one vector v = g·v'.
type vectorLaw struct {
	noise    integerNoise // moved by g·|v'|²
	g, norm2 int          // norm2 is |v|²
}

// walk sums the profile of l from its largest loss down, in positive terms.
func (l vectorLaw) walk(sigma float64) walked {
	top := l.noise.shift + l.noise.w.margin() - 1
	return walkAtoms(2*l.g*top-l.norm2, l.norm2, sigma, func(m int) float64 {
		j := m + l.norm2
		if j%(2*l.g) != 0 {
			return math.Inf(-1)
		}
		if k := j / (2 * l.g); k <= top {
			return l.noise.w.log(k - l.noise.shift)
		}
		return math.Inf(-1)
	})
}

// walkAtoms walks from the loss index top, of the same parity as parity, over
// the masses e^logP(m); the losses below 0 have the mirrored masses.
func walkAtoms(top, parity int, sigma float64, logP func(m int) float64) walked {
	if (top-parity)%2 != 0 {
		top++
	}
	n := top/2 + 1
	w := walked{top, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	h := 1 / (sigma * sigma)
	up, down := math.Expm1(h), math.Exp(-h)
	var d, b float64
	for i := range w.p {
		m := top - 2*i
		if i > 0 {
			b = down * (b + w.p[i-1])
			d += up * b
		}
		w.p[i], w.delta[i], w.above[i] = math.Exp(logP(m)+walkScale), d, b
	}
	// P(L ≤ ε), from the smallest loss up; P(L = −l) = e^{−l}P(L = l).
	below := 0.0
	for i := range w.p {
		if m := top - 2*i; m > 0 {
			below += math.Exp(logP(m) - float64(m)*h/2)
		}
	}
	for i := n - 1; i >= 0; i-- {
		below += math.Exp(logP(top - 2*i))
		w.rest[i] = below + w.above[i]*math.Exp(-walkScale)
	}
	return w
}

// at returns δ, times e^walkScale, and 1 − δ at loss index m.
func (w walked) at(m int) (delta, rest float64) {
	switch i := (w.first - m) / 2; {
	case i < 0:
		return 0, 1
	case i >= len(w.delta):
		return w.delta[len(w.delta)-1], w.rest[len(w.rest)-1]
	default:
		return w.delta[i], w.rest[i]
	}
}

// aboveAt returns e^ε·Q(L > ε), times e^walkScale, at loss index m.
func (w walked) aboveAt(m int) float64 {
	if i := (w.first - m) / 2; i >= 0 {
		return w.above[i]
	}
	return 0
}

// less returns how far the profile of w at m is below that of v (times
// e^walkScale), and that over min(δ, 1−δ).
func (w walked) less(v walked, m int) (by, relative float64) {
	d, r := w.at(m)
	e, s := v.at(m)
	if r < 0.5 {
		by = (r - s) * math.Exp(walkScale)
		d = r * math.Exp(walkScale)
	} else {
		by = e - d
	}
	if d == 0 && e == 0 || r == 0 && s == 0 {
		return 0, -1 // δ, or 1 − δ, is below 1e-307 for both: no float64 δ can tell
	}
	if by == 0 {
		return 0, 0
	}
	return by, by / max(d, 1e-290)
}

// walkErr bounds the relative error of sums of n positive terms whose logarithms
// are below 800 in magnitude.
func walkErr(n int) float64 { return float64(n+1000) * 0x1p-51 }

// largestOf returns a profile that is at least that of every law, and the
// largest of them at every loss m/(2σ²) up to its MassErr: the polygon through
// those points (δ is convex in e^ε, and each law a polygon with these corners).
// It is symmetric, as they are. When one law is the largest everywhere, it is that
// law exactly.
//
// From the largest loss down the polygon follows one law and takes over its
// masses; where another law is larger at the next point, the side in between is
// the chord from the one to the other. It is long because the walk carries the polygon, its
// law and two sums of masses along.
func largestOf(laws []vectorLaw, sigma float64) (Profile, error) {
	ws := make([]walked, len(laws))
	first, long := laws[0].norm2%2, 0
	massErr := 0.0
	for i, l := range laws {
		ws[i] = l.walk(sigma)
		first, long = max(first, ws[i].first), max(long, len(ws[i].p))
		massErr = max(massErr, l.noise.massErr)
	}
	unsure := walkErr(long) + massErr
	tol, over := 4*unsure, 0.0 // over is what may be above the polygon, relatively
	h := 1 / (sigma * sigma)
	masses := make([]float64, first/2+1) // by (first − m)/2, times e^walkScale
	now, only := 0, true
	for i := range masses {
		m := first - 2*i
		best, most := now, tol
		for j := range ws {
			if j == now {
				continue
			}
			_, rel := ws[now].less(ws[j], m)
			if rel > most {
				best, most = j, rel
			}
			if rel > -2*unsure && rel <= tol && m < ws[j].first {
				over = max(over, rel+2*unsure)
			}
		}
		if best != now && i > 0 {
			// The slope falls by the Q-mass that best has above m and now has not. The
			// chord splits it between the two ends as the laws' distances there are.
			left, _ := ws[now].less(ws[best], m)
			right, _ := ws[best].less(ws[now], m+2)
			left, right = max(0, left), max(0, right)
			q := max(0, ws[best].aboveAt(m)-ws[now].aboveAt(m)) // times e^ε at m
			masses[i-1] += q * (left / (left + right)) * math.Exp(h)
			low := q * (right / (left + right))
			if m == 0 {
				low *= 2 // and the mirrored chord's
			}
			masses[i] += low
			only = false
		}
		if best != now && i == 0 {
			only = best == 0 // nothing taken over yet
		}
		now = best
		if k := (ws[now].first - m) / 2; m <= ws[now].first && k < len(ws[now].p) {
			masses[i] += ws[now].p[k]
		}
	}
	if only && now == 0 || len(laws) == 1 {
		return laws[now].noise.pair(laws[now].noise.shift, over)
	}
	logP := func(m int) float64 { return xmath.Log(masses[(first-m)/2]) - walkScale }
	made := walkAtoms(first, first, sigma, logP)
	slack := 0.0
	for m := first; m >= 0; m -= 2 {
		for i := range ws {
			_, rel := made.less(ws[i], m)
			slack = max(slack, rel)
		}
	}
	if slack > 1e-6 {
		return nil, fmt.Errorf("internal error: the profile of all vectors is %v too small; please report the mechanism", slack)
	}
	var atoms []Atom
	for m := first; m >= 0; m -= 2 {
		p, loss := logP(m), float64(m)*h/2
		if math.IsInf(p, -1) {
			continue
		}
		atoms = append(atoms, Atom{loss, p, p - loss})
		if m > 0 {
			atoms = append(atoms, Atom{-loss, p - loss, p})
		}
	}
	out := math.Inf(-1)
	for _, l := range laws {
		out = max(out, l.noise.outside(l.noise.shift))
	}
	return NewDiscrete(atoms, out, out, massErr+2*slack+4*walkErr(len(masses)), 8*xmath.U*float64(first)*h)
}
