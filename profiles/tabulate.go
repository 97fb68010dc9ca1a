package profiles

// Tables of functions: what a user knows of a mechanism as Go code is evaluated at points, and what was stated about
// it is checked there and at points between.

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Density is a law on the line with a density, such as those of gonum's distuv.
type Density interface {
	// LogProb returns the logarithm of the density at x, −Inf where it is 0.
	LogProb(x float64) float64
}

// A Distribution is a law on the line by the masses up to a point and above it. The second must be accurate where
// it is small: 1 − CDF(x) has no digits there.
type Distribution interface {
	CDF(x float64) float64
	Survival(x float64) float64
}

// A Law is a law with both.
type Law interface {
	Density
	Distribution
}

// inner is how many points of a cell are looked at besides its ends.
const inner = 7

// between returns the inner point k of a cell.
func between(a, b float64, k int) float64 { return a + (b-a)*float64(k+1)/(inner+1) }

// Sample returns g with the logarithms of the densities p and q at its points, for which g.Err is stated. At seven points inside
// each cell it checks what g.Curvature says: a logarithm is within Curvature·h²/8 of its chord.
func (g Grid) Sample(p, q Density) (Grid, error) {
	n := len(g.At)
	for i := 0; i < n; i++ {
		if i > 0 && !(g.At[i] > g.At[i-1]) {
			return Grid{}, fault.In("density", fault.New(fmt.Sprintf("grid[%d]", i), "%v is not above the point before it", g.At[i]))
		}
	}
	values := func(f Density) []float64 {
		out := make([]float64, n)
		for i, x := range g.At {
			out[i] = f.LogProb(x)
		}
		return out
	}
	g.LogP, g.LogQ = values(p), values(q)
	if _, err := g.Table(); err != nil {
		return Grid{}, err
	}
	for k, f := range []Density{p, q} {
		at := [][]float64{g.LogP, g.LogQ}[k]
		for i := 0; i+1 < n; i++ {
			h := g.At[i+1] - g.At[i]
			for j := range inner {
				x := between(g.At[i], g.At[i+1], j)
				chord, v := at[i]+(at[i+1]-at[i])*(x-g.At[i])/h, f.LogProb(x)
				// Twice the stated error, that of the chord and that of v, and the roundings of x and of both.
				slack := g.Curvature*h*h/8 + 2*g.Err + 16*xmath.U*(1+math.Abs(v)+math.Abs(at[i])+math.Abs(at[i+1])+math.Abs(at[i+1]-at[i])*math.Abs(x)/h)
				if !(math.Abs(v-chord) <= slack) {
					return Grid{}, fault.In("density", fault.New("curvature", "%v does not hold for %c between %v and %v: at %v the logarithm is %.15g, %.3g from its chord, at most %.3g is stated",
						g.Curvature, "PQ"[k], g.At[i], g.At[i+1], x, v, math.Abs(v-chord), slack))
				}
			}
		}
	}
	return g, nil
}

// Tabulate returns the table of the laws p and q of outputs with the cells that the points at, ascending, cut the line
// into. Its err bounds the absolute error of LogProb and the relative one of CDF and Survival, of either law.
//
// It assumes that both densities and their loss log(dP/dQ) are monotone between neighbouring points, before the first and
// after the last one, so that modes belong among the points, and checks it at seven points inside each cell. CDF and Survival must make 1, and a cell's mass be between its
// length times the densities at its ends.
func Tabulate(p, q Law, at []float64, err float64) (Table, error) {
	t, e := tabulate(p, q, at, err)
	if e == nil {
		e = t.ranges(p, q, at, err)
	}
	if e != nil {
		return Table{}, fault.In("density", e)
	}
	return t, nil
}

// TabulateLoss returns the table of a privacy loss of which p is the law under P and q that under Q: a mass at +∞ is
// in the Survival of p at every point, one at −∞ in the CDF of q. Between points nothing is assumed. Its err bounds the relative errors.
//
// It checks that masses make 1, and that the masses of a cell have a loss in the cell, as those of no two other
// laws need to: dP = e^L·dQ.
func TabulateLoss(p, q Distribution, at []float64, err float64) (Table, error) {
	t, e := tabulate(p, q, at, err)
	for i := range t.Low {
		t.Low[i], t.High[i] = point(at, i-1), point(at, i)
	}
	if e == nil {
		_, e = t.mechanism(nil) // its check of masses against ranges
	}
	if e != nil {
		return Table{}, fault.In("density", e)
	}
	return t, nil
}

// tabulate returns the masses of the cells, whose ranges of losses are missing yet.
func tabulate(p, q Distribution, at []float64, err float64) (Table, error) {
	n := len(at)
	switch {
	case n == 0 || n >= maxCells:
		return Table{}, fault.New("points", "are %d, must be in [1, %d]", n, maxCells-1)
	case !(err >= 0 && err <= 0.01):
		return Table{}, fault.New("err", "%v is not in [0, 0.01]", err)
	}
	for i, x := range at {
		if math.IsNaN(x) || math.IsInf(x, 0) || i > 0 && !(x > at[i-1]) {
			return Table{}, fault.New(fmt.Sprintf("points[%d]", i), "%v is not finite and above the point before it", x)
		}
	}
	t := Table{Low: make([]float64, n+1), High: make([]float64, n+1)}
	for k, f := range []Distribution{p, q} {
		logs, massErr, e := cellMasses(f, "PQ"[k:k+1], at, err)
		if e != nil {
			return Table{}, e
		}
		for _, x := range logs {
			if math.IsInf(x, -1) {
				t.Outside = 1e-300 // what a mass of 0 may hide
			}
		}
		if t.MassErr = max(t.MassErr, massErr); k == 0 {
			t.LogP = logs
		} else {
			t.LogQ = logs
		}
	}
	return t, nil
}

// cellMasses returns the logarithms of the masses of cells, and a bound of their errors. A mass is the difference of two
// values of CDF or of Survival, whichever are the smaller ones: its error is that of both. Where both values are 0 the mass
// is below 1e-300.
func cellMasses(f Distribution, name string, at []float64, err float64) (logs []float64, massErr float64, _ error) {
	n := len(at)
	c, s := make([]float64, n), make([]float64, n)
	for i, x := range at {
		c[i], s[i] = f.CDF(x), f.Survival(x)
		switch {
		case !(c[i] >= 0 && c[i] <= 1):
			return nil, 0, fault.New("points", "CDF of %s at %v is %v, which is not in [0, 1]", name, x, c[i])
		case !(s[i] >= 0 && s[i] <= 1):
			return nil, 0, fault.New("points", "Survival of %s at %v is %v, which is not in [0, 1]", name, x, s[i])
		case math.Abs(c[i]+s[i]-1) > 2*err+4*xmath.U:
			return nil, 0, fault.New("points", "CDF and Survival of %s at %v, %v and %v, make %.17g, which is not 1 within %.3g", name, x, c[i], s[i], c[i]+s[i], 2*err+4*xmath.U)
		}
	}
	logs = make([]float64, n+1)
	for i := range logs {
		var mass, of float64 // of is what its error is in proportion to
		switch {
		case i == 0:
			mass, of = c[0], c[0]
		case i == n:
			mass, of = s[n-1], s[n-1]
		case c[i] < s[i-1]:
			mass, of = c[i]-c[i-1], c[i]+c[i-1]
		default:
			mass, of = s[i-1]-s[i], s[i]+s[i-1]
		}
		if mass < 0 {
			return nil, 0, fault.New("points", "%s has the mass %v between %v and %v: CDF falls or Survival rises there", name, mass, at[max(i-1, 0)], at[min(i, n-1)])
		}
		logs[i] = xmath.Log(mass)
		if of == 0 {
			continue
		}
		share := (err + 2*xmath.U) * of / mass
		if !(share <= 0.05) || mass < 1e-290 {
			return nil, 0, fault.New("points", "%s has the mass %.3g between %v and %v, which errors of %.3g leave without a digit; take points that are further apart or nearer to the middle", name, mass, point(at, i-1), point(at, i), err*of)
		}
		massErr = max(massErr, -math.Log1p(-share)*(1+4*xmath.U))
	}
	return logs, massErr, nil
}

// point returns a point, or an infinite one before the first and after the last.
func point(at []float64, i int) float64 {
	switch {
	case i < 0:
		return math.Inf(-1)
	case i >= len(at):
		return math.Inf(1)
	}
	return at[i]
}

// ranges sets the ranges of losses of cells between points by monotony, and checks it. Before the first and after
// the last point the masses tell whether the loss goes up or down from there.
func (t *Table) ranges(p, q Law, at []float64, err float64) error {
	n := len(at)
	lp, lq := make([]float64, n), make([]float64, n)
	big := 0.0
	for i, x := range at {
		lp[i], lq[i] = p.LogProb(x), q.LogProb(x)
		if math.IsNaN(lp[i]) || math.IsNaN(lq[i]) || math.IsInf(lp[i], 1) || math.IsInf(lq[i], 1) || math.IsInf(lp[i], -1) && math.IsInf(lq[i], -1) {
			return fault.New("points", "the logarithms of the densities at %v are %v and %v; one must be finite", x, lp[i], lq[i])
		}
		big = max(big, xmath.FiniteAbs(lp[i]), xmath.FiniteAbs(lq[i]))
	}
	t.LossErr = 2*err + 4*xmath.U*big
	for i := 1; i < n; i++ {
		a, b := lp[i-1]-lq[i-1], lp[i]-lq[i]
		t.Low[i], t.High[i] = min(a, b), max(a, b)
		if e := t.monotone(p, q, i, at, [2][2]float64{{lp[i-1], lp[i]}, {lq[i-1], lq[i]}}, err); e != nil {
			return e
		}
	}
	for _, end := range []struct{ cell, at int }{{0, 0}, {n, n - 1}} {
		i, l := end.cell, lp[end.at]-lq[end.at]
		t.Low[i], t.High[i] = math.Inf(-1), math.Inf(1)
		known := t.LossErr + 2*t.MassErr + 16*xmath.U*big
		switch mean := t.LogP[i] - t.LogQ[i]; {
		case mean > l+known:
			t.Low[i] = l
		case mean < l-known:
			t.High[i] = l
		}
	}
	return nil
}

// monotone checks the densities and the loss inside cell i against the values at its ends, and the masses against
// the densities.
func (t *Table) monotone(p, q Law, i int, at []float64, ends [2][2]float64, err float64) error {
	a, b := at[i-1], at[i]
	for j := range inner {
		x := between(a, b, j)
		values := [2]float64{p.LogProb(x), q.LogProb(x)}
		for k, v := range values {
			lo, hi := min(ends[k][0], ends[k][1]), max(ends[k][0], ends[k][1])
			if !(v >= lo-2*err-t.LossErr && v <= hi+2*err+t.LossErr) {
				return fault.New("points", "the density of %c is not monotone between %v and %v: its logarithm is %.15g and %.15g there, and %.15g at %v; its modes must be among the points",
					"PQ"[k], a, b, ends[k][0], ends[k][1], v, x)
			}
		}
		if l := values[0] - values[1]; !(l >= t.Low[i]-2*t.LossErr && l <= t.High[i]+2*t.LossErr) {
			return fault.New("points", "the loss is not monotone between %v and %v: it is in [%.15g, %.15g] at the ends, and %.15g at %v; where it turns must be among the points", a, b, t.Low[i], t.High[i], l, x)
		}
	}
	for k, mass := range []float64{t.LogP[i], t.LogQ[i]} {
		lo, hi := min(ends[k][0], ends[k][1])+xmath.Log(b-a), max(ends[k][0], ends[k][1])+xmath.Log(b-a)
		if slack := t.MassErr + t.LossErr + 8*xmath.U*(1+xmath.FiniteAbs(mass)); !(mass >= lo-slack && mass <= hi+slack) {
			return fault.New("points", "CDF and LogProb of %c do not agree: between %v and %v the mass is %.12g, and the density says that it is in [%.12g, %.12g]", "PQ"[k], a, b, math.Exp(mass), math.Exp(lo), math.Exp(hi))
		}
	}
	return nil
}
