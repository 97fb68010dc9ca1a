package profiles

// A discrete profile out of values of a convex function: chords above, tangents below.

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewChords returns a profile whose δ is at least up[i] at ε = x[i] ≥ 0 and whose reverse
// has at least back[i] there: "connect the dots". x starts at 0 and ascends. If δ of a
// profile is at most up and back at these points, the result dominates it, as δ is convex
// in e^ε: it is the lower convex hull of the values, and the last of them is the
// probability of an infinite loss.
//
// Method: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the dots" (PoPETS 2022),
// Section 3, for each half by itself, with the value at ε = 0 that both halves allow.
func NewChords(x, up, back []float64) (*Discrete, error) {
	return chords(x, up, back, false)
}

// NewChordsBelow returns a profile whose δ is at most up[i] at ε = x[i] ≥ 0, whose reverse has at most back[i] there, and both at most the chords
// between. x starts at 0 and ascends; values are at least their lower convex hull, and the last ones count as 0.
func NewChordsBelow(x, up, back []float64) (*Discrete, error) {
	if n := len(x) - 1; n >= 0 && len(up) == n+1 && len(back) == n+1 {
		up, back = append(slices.Clone(up[:n]), 0), append(slices.Clone(back[:n]), 0)
	}
	return chords(x, up, back, true)
}

func errPoints(x, up, back []float64) error {
	return fmt.Errorf("internal error: %d, %d and %d values do not describe a profile from ε = 0 on", len(x), len(up), len(back))
}

func chords(x, up, back []float64, below bool) (*Discrete, error) {
	if len(x) < 1 || len(up) != len(x) || len(back) != len(x) || x[0] != 0 {
		return nil, errPoints(x, up, back)
	}
	at0 := across(x, up, back, below)
	half := func(h []float64) (mass []float64, inf, first float64) {
		h = slices.Clone(h)
		h[0] = at0
		mass, value, inf := xmath.Chords(x, h, below)
		return mass, min(1, inf), value[0]
	}
	right, inf, first := half(up)
	left, infQ, firstQ := half(back)
	if below && first > 0 && firstQ > 0 {
		// They begin with one value but for rounding, of which the larger one is relieved.
		scale(right, &inf, min(1, firstQ/first))
		scale(left, &infQ, min(1, first/firstQ))
	}
	return twoSided(x, right, left, inf, infQ)
}

// scale multiplies masses, and that of an infinite loss, by a factor.
func scale(mass []float64, inf *float64, factor float64) {
	for i := range mass {
		mass[i] *= factor
	}
	*inf *= factor
}

// across returns the value at ε = 0 of the lower convex hull of both halves, of which that of back is at (1/α, 1 − 1/α + back/α), as far as
// chords across 0 are below the values there: each makes the value less, until the slopes on both sides are those of a convex function.
func across(x, up, back []float64, below bool) float64 {
	round := 8 * xmath.U
	if below {
		round = -round
	}
	at0 := max(up[0], back[0])
	for range x {
		// The chords from α = 1 with the least slope on the right, and the largest on the left.
		right, left, i, j := math.Inf(1), math.Inf(-1), 0, 0
		for k := 1; k < len(x); k++ {
			if v := (up[k] - at0) / math.Expm1(x[k]); v < right {
				right, i = v, k
			}
			if v := (at0-back[k])/-math.Expm1(-x[k]) + back[k] - 1; v > left {
				left, j = v, k
			}
		}
		if i == 0 || left <= right {
			break
		}
		// Of the chord between them, in shares of its width in α; both terms are positive.
		a, b := -math.Expm1(-x[j]), math.Expm1(x[i])
		v := (up[i]*a + (a+math.Exp(-x[j])*back[j])*b) / (a + b) * (1 + round)
		if !(v < at0) {
			break
		}
		at0 = v
	}
	if below { // slopes that are equal but for rounding may hide a chord
		at0 *= 1 + 2*round
	}
	return at0
}

// ampleRest is a mass at loss 0 of which what rounding leaves over is a small part.
const ampleRest = 1e-6

// twoSided returns the profile with the P-masses right at the losses x and the Q-masses
// left at −x, the rest at 0.
//
// Rounding leaves a little more for 0 under one of P and Q than under the other. That is a
// displacement of the loss 0 if there is ample mass at it; else a change of one of the
// other masses, of which a change by η moves the difference by η(1 − e^{−x}). Of two halves that
// are equal it leaves the same: all masses are off by the same 4 roundings.
func twoSided(x, right, left []float64, inf, infQ float64) (*Discrete, error) {
	var atoms []Atom
	var p, q xmath.Sum // what is left at 0
	p.Add(1)
	q.Add(1)
	p.Add(-inf)
	q.Add(-infQ)
	room := 0.0
	for i := len(x) - 1; i >= 0; i-- {
		e := math.Exp(-x[i])
		if m := right[i]; m > 0 && x[i] > 0 {
			l := xmath.Log(m)
			atoms = append(atoms, Atom{Loss: x[i], LogP: l, LogQ: l - x[i]})
			p.Add(-m)
			q.Add(-m * e)
			room = max(room, -m*math.Expm1(-x[i]))
		}
		if m := left[i]; m > 0 && x[i] > 0 {
			l := xmath.Log(m)
			atoms = append(atoms, Atom{Loss: -x[i], LogP: l - x[i], LogQ: l})
			p.Add(-m * e)
			q.Add(-m)
			room = max(room, -m*math.Expm1(-x[i]))
		}
	}
	massErr, lossErr := 8*xmath.U, 2*xmath.U*x[len(x)-1]
	rest, off := min(p.Value(), q.Value()), math.Abs(p.Value()-q.Value())+16*xmath.U
	if inf == infQ && slices.Equal(right, left) {
		off = 0
	}
	if rest < 0 {
		// Nothing is at 0, and what the masses were raised by makes more than 1 of them: those of a law are less by so much.
		massErr -= rest * (1 + 1e-9)
	}
	switch {
	case rest >= ampleRest:
		rest = max(p.Value(), q.Value())
		lossErr += off / rest
	case room > 0:
		massErr += off / room
	}
	if rest > 0 {
		atoms = append(atoms, Atom{Loss: 0, LogP: xmath.Log(rest), LogQ: xmath.Log(rest)})
	}
	return NewDiscrete(atoms, xmath.Log(inf), xmath.Log(infQ), massErr, lossErr)
}

// values returns δ at the losses x, ascending, of P-masses there and inf at ∞: from the largest down, in positive terms,
// δ(a) = inf + Σ m·(1 − e^{a−x}) over the losses x above a.
func values(x, mass []float64, inf float64) []float64 {
	out := make([]float64, len(x))
	v, q := inf, 0.0 // δ and e^a·Q(L > a)
	for k := len(x) - 1; k >= 0; k-- {
		out[k] = v
		if k > 0 {
			q += mass[k]
			v -= math.Expm1(x[k-1]-x[k]) * q
			q *= math.Exp(x[k-1] - x[k])
		}
	}
	return out
}

// Lines are what is known of a convex δ at points x[i] ≥ 0: δ(x[i]) ≥ W[i], and the line through that value with the
// slope −Q[i] per e^ε/e^{x[i]} is below δ. Everywhere δ is at least Inf.
type Lines struct {
	W, Q []float64
	Inf  float64
}

// NewTangents returns a profile below one of which up is known, and back of its reverse, for x from 0 up. Where nothing is
// known, it is 0. Of a symmetric profile both are the same.
//
// It is the largest of the lines, whose corners are joined by chords. At a corner the smaller of the two lines counts, so that
// chords are below them wherever rounding puts it.
func NewTangents(x []float64, up, back Lines) (*Discrete, error) {
	for _, l := range []Lines{up, back} {
		if len(x) < 1 || len(l.W) != len(x) || len(l.Q) != len(x) || x[0] != 0 {
			return nil, fmt.Errorf("internal error: %d, %d and %d values do not describe a profile from ε = 0 on", len(x), len(l.W), len(l.Q))
		}
	}
	// Both have one value at 0, so low that their lines there make a convex corner: a lower one is a line below, too.
	first, right, left := min(up.W[0], back.W[0], 1-up.Q[0]-back.Q[0]), up.Q[0], back.Q[0]
	if slices.Equal(up.W, back.W) && slices.Equal(up.Q, back.Q) && up.Inf == back.Inf {
		// In the middle of the slopes on both sides of ε = 0 is that of a line below, too.
		first, right = up.W[0], min(right, (1-up.W[0])/2)
		left = right
	}
	a, b := up.largest(x, first, right), back.largest(x, first, left)
	at := slices.Concat(a.corners, b.corners)
	slices.Sort(at)
	at = slices.Compact(at)
	h, hBack := make([]float64, len(at)), make([]float64, len(at))
	for i, y := range at {
		h[i], hBack[i] = a.at(y), b.at(y)
	}
	return chords(at, h, hBack, true)
}

// A largestLine is the largest of lines: lines[k] from corners[k] on, until the last of them is 0 at the last corner; and inf.
type largestLine struct {
	x, w, q []float64 // of the lines
	inf     float64
	lines   []int
	corners []float64
}

// at returns the value at a corner y, from below, and +Inf elsewhere, where chords say it: the smaller one of the two lines that meet
// there. The terms of a line are known to 2 u, and that with e^d to d·u more.
func (l largestLine) at(y float64) float64 {
	k, corner := slices.BinarySearch(l.corners, y)
	if y >= l.corners[len(l.lines)] {
		return l.inf * (1 - 2*xmath.U)
	}
	least := math.Inf(1)
	for _, k := range []int{k - 1, k} {
		if !corner || k < 0 {
			continue
		}
		i := l.lines[k]
		d := y - l.x[i]
		fall := l.q[i] * math.Expm1(d)
		least = min(least, max(0, l.w[i]-fall-8*xmath.U*(1+math.Abs(d))*(l.w[i]+math.Abs(fall))))
	}
	return (l.inf + least) * (1 - 2*xmath.U)
}

// largest returns the largest of the lines from ε = 0 up. The line at 0 is that of the value w0 and of the slope q0.
func (l Lines) largest(x []float64, w0, q0 float64) largestLine {
	out := largestLine{x: x, w: slices.Clone(l.W), q: slices.Clone(l.Q), inf: l.Inf}
	w, q := out.w, out.q
	w[0], q[0] = w0, q0
	for i := range w {
		if l.Inf > 0 {
			w[i] = (w[i] - l.Inf) * (1 - 4*xmath.U)
		}
		if w[i] < 0 { // Inf is above
			w[i], q[i] = 0, 0
		}
	}
	// A line that is passed before it begins is none of the largest.
	for j := range x {
		begin := 0.0
		for n := len(out.lines); n > 0; n = len(out.lines) {
			i := out.lines[n-1]
			e, d := math.Exp(x[i]-x[j]), math.Expm1(x[j]-x[i])
			// w_i − q_i·s = w_j − q_j·((1 + s)e − 1) = w_j + q_j·e·(d − s)
			steeper := q[i] - q[j]*e
			begin = math.Inf(1)
			if steeper > 0 {
				begin = x[i] + math.Log1p(max((w[i]-w[j]-q[j]*e*d)/steeper, -1))
			}
			// Of two lines that are one but for rounding the second may seem to begin anywhere. Where the first has met 0 it is of no use.
			if q[i] > 0 && !(begin < x[i]+math.Log1p(w[i]/q[i])) {
				begin = math.Inf(1)
			}
			if !(begin <= out.corners[n-1]) {
				break
			}
			out.lines, out.corners = out.lines[:n-1], out.corners[:n-1]
			begin = 0
		}
		if begin < math.Inf(1) {
			out.lines, out.corners = append(out.lines, j), append(out.corners, begin)
		}
	}
	end := x[len(x)-1] + 1e-9
	if last := out.lines[len(out.lines)-1]; q[last] > 0 {
		end = x[last] + math.Log1p(w[last]/q[last])
	}
	out.corners = append(out.corners, end)
	return out
}
