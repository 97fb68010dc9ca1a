// What discretising a profile works on: the grid, its vertices and cells, and the masses of a
// law as they come. A discretizer has its points in ascending order and one cell between each two;
// masses of a cell or a tally are in units of e^scale of their own.

package pld

import (
	"math"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Grid is the part Lo..Hi of a lattice on which a profile is discretised. With
// Share > 0 not all of its points are used: see thin.
type Grid struct {
	Offset, Step float64
	Lo, Hi       int64 // first and last lattice index, Lo < Hi

	// Where the law will be tilted by θ = Tilt, and its K(θ) is about LogNorm, a
	// stretch that carries little tilted mass may be covered by cells of 2^k
	// lattice steps. The second-order error of a cell is its tilted mass times
	// the square of its width; a wide cell may have at most Share of it, in units
	// of Step². Every polygon and every choice of tangents is sound, so this
	// trades work only.
	Tilt, LogNorm, Share float64

	// Most bounds the vertices, where it is above 0 and below half a million. Stop,
	// if set, is asked now and then whether to give up.
	Most int
	Stop func() bool
}

func (g Grid) most() int {
	if g.Most > 0 {
		return min(g.Most, maxVertices)
	}
	return maxVertices
}

// maxVertices bounds the points of a grid.
const maxVertices = 1 << 19

// Uniform returns the grid of all lattice points with indices lo..hi.
func Uniform(offset, step float64, lo, hi int64) Grid {
	return Grid{Offset: offset, Step: step, Lo: lo, Hi: hi}
}

// point is a vertex of the polygon: where the profile is evaluated, and how far
// that may be from the lattice point it stands for.
type point struct {
	k      int64 // on the lattice
	t, tol float64
	tails  profiles.Tails
	atom   bool
	diff   difference
	move   float64 // distance of an atom from the lattice point it is given to
}

// cell is what lies between two vertices, (t_i, t_{i+1}]. All masses are in units
// of e^scale, so that nothing underflows: scale is 0 except in tails beyond
// e^{−600}.
type cell struct {
	scale      float64
	w          float64 // width
	p, errP    float64 // P-mass and its error
	v, errV    float64 // P-mass that moves up to t_{i+1}, and its error
	far        float64 // p(t_{i+1}) on the right side, P(L ≤ t_i) on the left
	errFar     float64
	s          float64 // where the tangent touches
	left, errL float64 // depth of the tangent below h at t_i
	rght, errR float64 // and at t_{i+1}
}

const deep = -600 // log mass below which cells carry their own scale

// A difference is D at a point: its value and error.
type difference struct{ x, err float64 }

type discretizer struct {
	p      profiles.Profile
	sup    profiles.Support
	g      Grid
	pts    []point
	cells  []cell
	center int // first vertex from which tails are counted from above
	moved  float64
	exact  hook.TailDifferencer // nil: differences of tails will do
	cut    bool                 // lower: P-mass below the grid is left out
}

// lattice reports whether the vertices are points of a lattice.
func (d *discretizer) lattice() bool { return d.g.Step > 0 }

// rescale turns a number in units of e^from into units of e^to; nothing stays
// nothing, however far the units are apart.
func rescale(x, from, to float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Exp(from-to)
}

// A tally collects the masses of the vertices, in units of e^scale.
type tally struct {
	d           *discretizer
	m, err, scl []float64
}

func (d *discretizer) newTally() *tally {
	n := len(d.pts)
	return &tally{d: d, m: make([]float64, n), err: make([]float64, n), scl: make([]float64, n)}
}

func (t *tally) set(i int, m, err, scale float64) { t.m[i], t.err[i], t.scl[i] = m, err, scale }

// law returns the law of the masses, rounded up (sign +1) or down (−1).
func (t *tally) law(sign, logPInf float64) *Law {
	d := t.d
	l := &Law{Offset: d.g.Offset, Step: d.g.Step, LogPInf: min(0, logPInf), LossErr: d.sup.LossErr + d.moved, SecondOrder: true}
	l.Loss = make([]float64, 0, len(t.m))
	l.LogMass = make([]float64, 0, len(t.m))
	for i, m := range t.m {
		m += sign * t.err[i]
		if !(m > 0) {
			continue
		}
		lm := xmath.Log(m) + t.scl[i]
		lm += sign * 2 * xmath.U * (1 + math.Abs(lm) + math.Abs(t.scl[i]))
		loss := d.pts[i].t
		if d.lattice() {
			l.Index = append(l.Index, d.pts[i].k)
			loss = d.g.Offset + float64(d.pts[i].k)*d.g.Step
		}
		l.Loss = append(l.Loss, loss)
		l.LogMass = append(l.LogMass, lm)
	}
	return l
}

// Masses between two points: what a cell of the grid gets, from the tails at its ends. It
// assumes tails with bounds of their errors, and returns masses with bounds of theirs.

// tiltedMass bounds the tilted mass between two points.
func tiltedMass(a, b point, g Grid) float64 {
	m := xmath.LogSub(a.tails.P, b.tails.P)
	if b.tails.PC < a.tails.P {
		m = xmath.LogSub(b.tails.PC, a.tails.PC)
	}
	return math.Exp(m + g.Tilt*b.t - g.LogNorm)
}

// within returns the error of a tail in units of e^scale, of logarithm x known to
// err, when a larger tail of logarithm at most most bounds it.
func within(tail, x, err, most float64) float64 {
	if err < 1e-3 {
		return tail * rise(err)
	}
	return max(tail, math.Exp(min(x+err, most, 700))*(1+1e-9))
}

// between returns e^shift times the mass between two points, from the logs of
// its tails above (up) and up to (lo) the points, whichever are smaller; and the
// error bound, from the error of each tail. Where a tail loses its accuracy with
// its size, next to the end of a support, the larger one must not pay for it.
func between(upA, upB, loA, loB float64, a, b profiles.Tails, shift, tol float64) (m, err float64) {
	big, small, relBig, relSmall := loB, loA, b.ErrC, a.ErrC
	if upA < loB {
		big, small, relBig, relSmall = upA, upB, a.Err, b.Err
	}
	if math.IsInf(big, -1) {
		return 0, 0
	}
	top := math.Exp(big + shift)
	m = -top * math.Expm1(small-big)
	err = top*rise(relBig) + math.Abs(m)*(tol+xmath.U*(6+2*math.Abs(big)+2*math.Abs(shift)))
	if !math.IsInf(small, -1) {
		if relSmall > 1 {
			// Nothing is known but the order of the two masses, which their logarithms need not have.
			err += max(top, math.Exp(small+shift))
		} else {
			err += math.Exp(small+shift) * rise(relSmall) * (1 + 4*xmath.U)
		}
		err += top * 2 * xmath.U * math.Abs(small-big) * math.Exp(small-big)
	}
	return m, err
}

// rise returns e^x − 1: by what part of itself a mass may be larger whose
// logarithm has error x.
func rise(x float64) float64 {
	if x < 1e-9 {
		return x * (1 + 1e-9)
	}
	return math.Expm1(x)
}

func massP(a, b profiles.Tails, shift float64) (m, err float64) {
	return between(a.P, b.P, a.PC, b.PC, a, b, shift, 0)
}

func massQ(a, b profiles.Tails, shift, tol float64) (m, err float64) {
	return between(a.Q, b.Q, a.QC, b.QC, a, b, shift, tol)
}
