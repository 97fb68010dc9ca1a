package positive

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// Difference is W + Shift, cut at 0, with W = A − αB, A = exp(sZ − s²/2), B = exp(−sZ − s²/2) and
// Z standard normal: what one step adds to P − αQ for the two records of a substitution, over
// the noise without either. A law above has 0 in the place of what is negative. A law below
// has 0 in the place of Z < −Reach, where the mean is at least that.
//
// These are laws above and below for E(Σ − K)₊ only, which grows with every value. A value is
// the difference of numbers that are up to a few times max(value, Shift): errors of values are
// relative to that, which E(Σ − K)₊ with K = t·Shift bears as an error of K.
type Difference struct {
	S, Alpha, Shift, Reach float64
	Ulps                   int // of S, as in LogNormal
}

// NewDifference returns the difference with a shift of about reach standard deviations of Z
// below, that fits laws above and below.
func NewDifference(s float64, ulps int, alpha, reach float64) Difference {
	d := Difference{S: s, Ulps: ulps, Alpha: alpha, Reach: reach}
	// Minus the mean of W below −reach, rounded up.
	lo := xmath.Up(s, ulps)
	tail := xmath.NormalTail(reach)
	a, b := xmath.NormalTail(reach+lo), xmath.NormalTail(reach-lo)
	d.Shift = (alpha*b - a) / tail * (1 + 1e-9)
	return d
}

// Mean returns the mean of the shifted difference, but for what is cut.
func (b Difference) Mean() float64 { return 1 - b.Alpha + b.Shift }

func (b Difference) at(z float64) float64 {
	s := b.S
	return math.Exp(s*(z-s/2)) - b.Alpha*math.Exp(-s*(z+s/2)) + b.Shift
}

// Sketch implements Source.
func (b Difference) Sketch(n int, cut float64) *Law {
	reach := math.Sqrt(2*max(1, -xmath.Log(cut))) + 0.5
	from, to := b.lowest(), min(reach+b.S, 38)
	var zs []float64
	for i := range n + 1 {
		zs = append(zs, from+(to-from)*float64(i)/float64(n))
	}
	return b.cells(zs, true).low()
}

// lowest returns z where the difference is −Shift.
func (b Difference) lowest() float64 {
	z, _ := xmath.Bisect(60, -60, 200, func(z float64) bool { return b.at(z) > 0 })
	return z
}

// inverse returns about z with at(z) = x, x > 0.
func (b Difference) inverse(x float64) float64 {
	// y = e^{sz}: y² − (x−Shift)e^{s²/2}·y − α = 0.
	c := (x - b.Shift) * math.Exp(b.S*b.S/2)
	root := math.Sqrt(c*c/4 + b.Alpha)
	if c > 0 {
		return xmath.Log(c/2+root) / b.S
	}
	return xmath.Log(b.Alpha/(root-c/2)) / b.S
}

// Round implements Source.
func (b Difference) Round(grid []float64, above bool) *Law {
	if above {
		b.S = xmath.Up(b.S, b.Ulps)
	} else {
		b.S = xmath.Down(b.S, b.Ulps)
	}
	zs := []float64{-b.Reach}
	if above {
		zs[0] = b.lowest()
	}
	for _, g := range grid {
		if z := b.inverse(g); z > zs[len(zs)-1]+1e-12 && z < 60 {
			zs = append(zs, z)
		}
	}
	c := b.cells(zs, above)
	l := c.round(above, 0, 0)
	l.MassErr += c.relErr
	// Relative to max(value, Shift).
	l.ValueErr += 2*c.relErr + 8*u*(2+b.S*38+b.S*b.S)
	return l
}

// cells returns the cells of the points z, of which the first is where the value is 0.
func (b Difference) cells(zs []float64, above bool) *cells {
	grid := make([]float64, len(zs))
	for i, z := range zs {
		grid[i] = max(b.at(z), 0)
	}
	if above {
		grid[0] = 0
	}
	c := newCells(grid)
	for k, z := range zs {
		to := math.Inf(1)
		if k+1 < len(zs) {
			to = zs[k+1]
		}
		q, eq := NormalBetween(z, to, 0)
		p, ep := NormalBetween(z, to, b.S)
		r, er := NormalBetween(z, to, -b.S)
		if q <= 0 {
			c.beyond += p
			continue
		}
		mo := p - b.Alpha*r + (b.Shift-grid[k])*q
		mo = max(mo, 0)
		if k+1 < len(zs) {
			mo = min(mo, q*(grid[k+1]-grid[k]))
		}
		c.mass[k] += q
		c.moment[k] += mo
		c.err(eq, max(ep, er))
		c.most = max(c.most, grid[k])
	}
	c.terms = 8
	q, eq := NormalBetween(math.Inf(-1), zs[0], 0)
	if q > 0 {
		c.err(eq, 0)
		if above {
			c.mass[0] += q
		} else {
			c.below += q // with the mean 0
		}
	}
	return c
}

// Masses implements Source; nothing asks.
func (b Difference) Masses([]float64) (q, p []float64, relErr, lost float64) {
	return nil, nil, math.Inf(1), 1
}
