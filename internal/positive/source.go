package positive

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Source is the law of one likelihood ratio dP/dQ under Q, which the programs add up.
type Source interface {
	// Sketch returns about n cells by their means, where E(X − x)₊ and E(x − X)₊ are above
	// cut. It steers and proves nothing.
	Sketch(n int, cut float64) *Law
	// Round returns a law above or below on about these values.
	Round(grid []float64, above bool) *Law
	// Masses returns the Q- and the P-masses of the cells between ascending values that are
	// near edges, the same for both, of which the first has no lower and the last no upper end,
	// and a bound of their relative errors. P-mass at infinity counts in the last cell. Where a
	// cell is what two tails differ by in their last digits, it is left out: lost bounds what is
	// missing of either law for that.
	Masses(edges []float64) (q, p []float64, relErr, lost float64)
}

// LogNormal is exp(sZ − s²/2), Z standard normal: the likelihood ratio of a Gaussian
// mechanism of noise multiplier 1/s.
type LogNormal struct {
	S float64
	// Ulps is by how many units in the last place S may be off: a law above has it that much larger.
	Ulps int
}

// Sketch implements Source.
func (b LogNormal) Sketch(n int, cut float64) *Law {
	reach := math.Sqrt(2*math.Max(1, -xmath.Log(cut))) + 0.5
	from, to := max(-reach, b.S/2-mostLog/b.S), min(reach+b.S, 38, b.S/2+mostLog/b.S)
	from = min(from, to-1)
	zs := make([]float64, n+1)
	for i := range zs {
		zs[i] = from + (to-from)*float64(i)/float64(n)
	}
	return b.cells(zs).low()
}

// Round implements Source. The values are those of points z, so that the ends of the cells are
// known exactly.
func (b LogNormal) Round(grid []float64, above bool) *Law {
	// The likelihood ratio grows with s in the convex order.
	if above {
		b.S = xmath.Up(b.S, b.Ulps)
	} else {
		b.S = xmath.Down(b.S, b.Ulps)
	}
	zs := make([]float64, 0, len(grid))
	for _, g := range grid {
		if g <= 0 {
			continue
		}
		z := xmath.Log(g)/b.S + b.S/2
		if n := len(zs); (n == 0 || z > zs[n-1]) && math.Abs(z) < 60 && math.Abs(xmath.Log(g)) < mostLog {
			zs = append(zs, z)
		}
	}
	if len(zs) == 0 {
		zs = append(zs, b.S/2) // the value 1
	}
	c := b.cells(zs)
	l := c.round(above, 0, 0)
	// g = e^{sz − s²/2} is rounded, the product and the square too.
	reach := 0.0
	for _, z := range []float64{zs[0], zs[len(zs)-1]} {
		reach = max(reach, math.Abs(b.S*z))
	}
	l.ValueErr += 4 * u * (2 + reach + b.S*b.S)
	l.MassErr += c.relErr
	l.ValueErr += 2 * c.relErr
	return l.positive(above)
}

// positive returns the law of values that are above 0, of which some may have come out as 0.
func (l *Law) positive(above bool) *Law {
	if !above && len(l.X) > 0 && l.X[0] == 0 {
		l.X[0] = math.SmallestNonzeroFloat64 // within takes it to leastX
	}
	return l
}

// value returns e^{sz − s²/2}.
func (b LogNormal) value(z float64) float64 { return math.Exp(b.S * (z - b.S/2)) }

// cells returns the masses and moments of the cells of the points z.
func (b LogNormal) cells(zs []float64) *cells {
	grid := make([]float64, len(zs))
	for i, z := range zs {
		grid[i] = b.value(z)
	}
	c := newCells(grid)
	for k, z := range zs {
		to := math.Inf(1)
		if k+1 < len(zs) {
			to = zs[k+1]
		}
		q, eq := NormalBetween(z, to, 0)
		p, ep := NormalBetween(z, to, b.S)
		c.put(k, q, p, eq, ep)
	}
	q, eq := NormalBetween(math.Inf(-1), zs[0], 0)
	p, ep := NormalBetween(math.Inf(-1), zs[0], b.S)
	c.putBelow(q, p, eq, ep)
	return c
}

// NormalBetween returns Pr[a − m < Z ≤ b − m] and a bound on its relative error: a difference of
// the smaller tails.
func NormalBetween(a, b, m float64) (p, err float64) {
	// The ends are rounded by the subtraction, which moves a tail by its hazard.
	tail := func(x, end float64) (t, e float64) {
		if math.IsInf(x, 0) || math.Abs(x) > 38 {
			if x > 0 {
				return 0, 0
			}
			return 1, u
		}
		t = xmath.NormalTail(x)
		move := u * math.Abs(x)
		if end == 0 || m == 0 {
			move = 0
		}
		return t, t * (6*u + xmath.NormalHazard(x+move)*move*(1+1e-6))
	}
	x, y := a-m, b-m
	switch {
	case x >= 0:
		s, es := tail(x, a)
		t, et := tail(y, b)
		p, err = s-t, es+et
	case y <= 0:
		s, es := tail(-x, a)
		t, et := tail(-y, b)
		p, err = t-s, es+et
	default:
		s, es := tail(-x, a)
		t, et := tail(y, b)
		p = (0.5 - s) + (0.5 - t)
		err = es + et + 2*u
		if p < 0.5 { // the two halves without the difference from ½
			p = 0.5 * (math.Erf(y/math.Sqrt2) + math.Erf(-x/math.Sqrt2))
			err = p*8*u + u*(math.Abs(x)+math.Abs(y))
		}
	}
	if p <= 0 {
		return 0, 0
	}
	return p, err/p + 2*u
}

// put adds the Q-mass q and the P-mass p of cell k, with their relative errors.
func (c *cells) put(k int, q, p, eq, ep float64) {
	g, end := c.grid[k], c.grid[k+1]
	if q <= 0 {
		c.beyond += p // underflow, or no digit left
		return
	}
	c.mass[k] += q
	mo := max(p-g*q, 0)
	if !math.IsInf(end, 1) {
		mo = min(mo, q*(end-g))
	}
	c.moment[k] += mo
	c.terms = max(c.terms, 4)
	c.err(eq, ep)
	c.most = max(c.most, g)
}

func (c *cells) putBelow(q, p, eq, ep float64) {
	if q <= 0 {
		return
	}
	c.below += q
	c.belowMo += min(p, q*c.grid[0])
	c.err(eq, ep)
}

// err keeps the largest relative error of masses that count.
func (c *cells) err(eq, ep float64) { c.relErr = max(c.relErr, eq, ep) }

// FromProfile is the likelihood ratio of a profile, from its tails. P-mass on outcomes that Q
// cannot produce is the mean at infinity, Q-mass on those that P cannot produce lies at 0.
type FromProfile struct{ Profile profiles.Profile }

// Sketch implements Source.
func (b FromProfile) Sketch(n int, cut float64) *Law {
	if d, ok := b.Profile.(*profiles.Discrete); ok && len(d.Atoms()) <= n {
		return listed(d, false)
	}
	sup := b.Profile.Support()
	logCut := xmath.Log(cut)
	// The range of losses by bisection on the tails.
	lo, hi := sup.Min, sup.Max
	if math.IsInf(hi, 1) {
		hi = edge(func(x float64) bool { return b.Profile.Tails(x, 0).P > logCut })
	}
	if math.IsInf(lo, -1) {
		lo = -edge(func(x float64) bool { return b.Profile.Tails(-x, 0).QC > logCut })
	}
	ls := make([]float64, n+1)
	lo, hi = max(lo, -mostLog), min(hi, mostLog)
	for i := range ls {
		ls[i] = lo + (hi-lo)*float64(i)/float64(n)
	}
	return b.cells(withAtoms(ls, sup.Atoms)).low().positive(false)
}

// withAtoms returns the losses and the atoms among those that have values, ascending: atoms are ends of
// cells, so that no cell holds one inside, but for those beyond all values.
func withAtoms(ls, atoms []float64) []float64 {
	for _, a := range atoms {
		if math.Abs(a) < mostLog {
			ls = append(ls, a)
		}
	}
	if len(ls) == 0 {
		ls = append(ls, 0)
	}
	slices.Sort(ls)
	return slices.Compact(ls)
}

// edge returns where holds ends, for a predicate that holds up to some point.
func edge(holds func(float64) bool) float64 {
	hi := 1.0
	for holds(hi) && hi < 700 {
		hi *= 2
	}
	_, hi = xmath.Bisect(0, hi, 30, holds)
	return hi
}

// topOf returns the mass or mean of an infinite loss. Above, one that no float64 has is the smallest there is, so that a loss
// without a bound stays one.
func topOf(logPInf float64, above bool) float64 {
	x := math.Exp(logPInf)
	if above && !math.IsInf(logPInf, -1) {
		x = max(x, math.SmallestNonzeroFloat64)
	}
	return x
}

// listed returns the atoms of d, above or below where they are beyond the range of values: P-mass
// there is at infinity or at the end of the range, and Q-mass at 0 or at the other end (see within).
func listed(d *profiles.Discrete, above bool) *Law {
	sup := d.Support()
	l := &Law{Top: topOf(sup.LogPInf, above)}
	zero, far := topOf(sup.LogQInf, above), 0.0
	for _, a := range d.Atoms() {
		if above && (a.Loss > mostLog || a.Loss < -mostLog) {
			zero += math.Exp(a.LogQ)
		}
	}
	if zero > 0 {
		l.X, l.Mass = append(l.X, 0), append(l.Mass, zero)
	}
	for _, a := range d.Atoms() {
		x, m := math.Exp(a.Loss), math.Exp(a.LogQ)
		switch {
		case a.Loss > mostLog && above:
			l.Top += math.Exp(a.LogP)
			continue
		case a.Loss > mostLog:
			x, m = mostX, math.Exp(a.LogP-mostLog)
		case a.Loss < -mostLog && above:
			continue
		case a.Loss < -mostLog:
			x = leastX
		case m == 0 && above: // a mass that no float64 has, with its mean
			l.Top += math.Exp(a.LogP)
			continue
		}
		if m == 0 {
			continue
		}
		if n := len(l.X); n > 0 && x <= l.X[n-1] {
			l.Mass[n-1] += m // rounding made them one value
			continue
		}
		l.X, l.Mass = append(l.X, x), append(l.Mass, m)
		far = max(far, math.Abs(a.Loss), math.Abs(a.LogQ), math.Abs(a.LogP))
	}
	l.MassErr = d.MassErr()*(1+far) + 8*u*(1+far)
	l.ValueErr = sup.LossErr*(1+1e-9) + 8*u*(1+far)
	return l
}

// Round implements Source.
func (b FromProfile) Round(grid []float64, above bool) *Law {
	if d, ok := b.Profile.(*profiles.Discrete); ok {
		l := listed(d, above)
		if len(l.X) <= 2*len(grid) || len(grid) < 2 {
			return l
		}
		return combine(add, l, &Law{X: []float64{0}, Mass: []float64{1}}, grid, above)
	}
	sup := b.Profile.Support()
	var ls []float64
	for _, g := range grid {
		if l := xmath.Log(g); g > 0 && math.Abs(l) < mostLog {
			ls = append(ls, l)
		}
	}
	ls = withAtoms(ls, sup.Atoms)
	c := b.cells(ls)
	l := c.round(above, 0, 0)
	if math.IsInf(sup.LogQInf, -1) {
		l = l.positive(above)
	}
	l.Top += topOf(sup.LogPInf, above) * (1 + 8*u)
	far := max(math.Abs(ls[0]), math.Abs(ls[len(ls)-1]))
	l.MassErr += c.relErr
	l.ValueErr += 2*c.relErr + 4*u*(1+far) + sup.LossErr*(1+1e-9)
	return l
}

// cells returns the masses of the cells [l_k, l_{k+1}) of the loss; an atom at an end counts
// from there on.
func (b FromProfile) cells(ls []float64) *cells {
	sup := b.Profile.Support()
	tails := make([]profiles.Tails, len(ls))
	for i, l := range ls {
		// L ≥ l is L > l⁻.
		tails[i] = b.Profile.Tails(math.Nextafter(l, math.Inf(-1)), 0)
	}
	ls, tails = resolvedEnds(ls, tails, sup.Atoms)
	grid := make([]float64, len(ls))
	for i, l := range ls {
		grid[i] = math.Exp(l)
	}
	c := newCells(grid)
	pInf := math.Exp(sup.LogPInf)
	for k := range ls {
		a := tails[k]
		end := profiles.Tails{P: math.Inf(-1), Q: math.Inf(-1)}
		if k+1 < len(ls) {
			end = tails[k+1]
		}
		q, eq := between(a.Q, end.Q, a.QC, end.QC, a.Err, end.Err, a.ErrC, end.ErrC, k+1 == len(ls))
		p, ep := between(a.P, end.P, a.PC, end.PC, a.Err, end.Err, a.ErrC, end.ErrC, k+1 == len(ls))
		if k+1 == len(ls) {
			p = max(0, p-pInf)
		}
		c.put(k, q, p, eq, ep)
	}
	c.putBelow(math.Exp(tails[0].QC), math.Exp(tails[0].PC), tails[0].ErrC, tails[0].ErrC)
	return c
}

// resolvedEnds leaves out ends of cells whose masses would be what two tails differ by in their last digits,
// such as that between an atom and a point a rounding away from it: any ends give laws above and below. Atoms stay.
func resolvedEnds(ls []float64, tails []profiles.Tails, atoms []float64) ([]float64, []profiles.Tails) {
	resolved := func(a, b profiles.Tails) bool {
		_, eq := between(a.Q, b.Q, a.QC, b.QC, a.Err, b.Err, a.ErrC, b.ErrC, false)
		_, ep := between(a.P, b.P, a.PC, b.PC, a.Err, b.Err, a.ErrC, b.ErrC, false)
		return max(eq, ep) <= min(max(resolution, 1e4*max(a.Err, b.Err, a.ErrC, b.ErrC)), worstResolution)
	}
	fixed := func(l float64) bool {
		_, ok := slices.BinarySearch(atoms, l)
		return ok
	}
	var kept []int
next:
	for i, l := range ls {
		for len(kept) > 0 && !resolved(tails[kept[len(kept)-1]], tails[i]) {
			if !fixed(ls[kept[len(kept)-1]]) {
				kept = kept[:len(kept)-1]
			} else if !fixed(l) {
				continue next
			} else {
				break
			}
		}
		kept = append(kept, i)
	}
	outL, outT := make([]float64, len(kept)), make([]profiles.Tails, len(kept))
	for i, k := range kept {
		outL[i], outT[i] = ls[k], tails[k]
	}
	return outL, outT
}

// resolution is the relative error from which a cell is joined to its neighbour: 1e-5 of a tail that is known
// to a few roundings. Of tails that are known less well cells may be so too, up to worstResolution.
const resolution, worstResolution = 1e-10, 1e-2

// between returns the mass between two points from the smaller ones of their tails, with its
// relative error.
func between(upA, upB, loA, loB, errA, errB, errLoA, errLoB float64, last bool) (m, err float64) {
	m, abs := difference(upA, upB, loA, loB, errA, errB, errLoA, errLoB, last)
	if m == 0 { // both tails are the same
		return 0, 0
	}
	return m, abs/m + 4*u
}

// difference is between with its absolute error.
func difference(upA, upB, loA, loB, errA, errB, errLoA, errLoB float64, last bool) (m, abs float64) {
	// of is what a tail may be wrong by; one that is 0 is not, whatever its relative error.
	of := func(log, err float64) float64 {
		if math.IsInf(log, -1) {
			return 0
		}
		return math.Exp(log) * (math.Abs(err) + 2*u*(1+math.Abs(log)))
	}
	if last {
		return math.Exp(upA), of(upA, errA)
	}
	big, small, eb, es := upA, upB, errA, errB
	if loB < upA {
		big, small, eb, es = loB, loA, errLoB, errLoA
	}
	if math.IsInf(big, -1) {
		return 0, 0
	}
	if big > small {
		m = math.Exp(xmath.LogSub(big, small))
	}
	return m, of(big, eb) + of(small, es)
}

// Masses implements Source: cells of the noise itself.
func (b LogNormal) Masses(edges []float64) (q, p []float64, relErr, lost float64) {
	b.S = xmath.Down(b.S, b.Ulps)
	zs := []float64{math.Inf(-1)}
	for _, g := range edges {
		z := max(xmath.Log(g)/b.S+b.S/2, zs[len(zs)-1])
		zs = append(zs, z)
	}
	zs = append(zs, math.Inf(1))
	for i := range len(zs) - 1 {
		x, ex := NormalBetween(zs[i], zs[i+1], 0)
		y, ey := NormalBetween(zs[i], zs[i+1], b.S)
		q, p, relErr = append(q, x), append(p, y), max(relErr, ex, ey)
		lost += math.SmallestNonzeroFloat64 // no cell is empty
	}
	return q, p, relErr, lost
}

// unresolved is the relative error from which a mass is left out and counts as lost: above that of
// any profile, and small beside the rounding of a test to its lattice.
const unresolved = 1e-6

// Masses implements Source.
func (b FromProfile) Masses(edges []float64) (q, p []float64, relErr, lost float64) {
	if d, ok := b.Profile.(*profiles.Discrete); ok {
		return listedMasses(d, edges)
	}
	var missing [2]float64
	keep := func(m, abs float64, law int) float64 {
		if m > 0 && abs <= unresolved*m {
			relErr = max(relErr, abs/m+4*u)
			return m
		}
		missing[law] += m + abs + math.SmallestNonzeroFloat64 // it need not be 0
		return 0
	}
	a := profiles.Tails{PC: math.Inf(-1), QC: math.Inf(-1)}
	for i := 0; i <= len(edges); i++ {
		end := profiles.Tails{P: math.Inf(-1), Q: math.Inf(-1)}
		if i < len(edges) {
			end = b.Profile.Tails(xmath.Log(edges[i]), 0)
		}
		x, ex := difference(a.Q, end.Q, a.QC, end.QC, a.Err, end.Err, a.ErrC, end.ErrC, i == len(edges))
		y, ey := difference(a.P, end.P, a.PC, end.PC, a.Err, end.Err, a.ErrC, end.ErrC, i == len(edges))
		q, p = append(q, keep(x, ex, 0)), append(p, keep(y, ey, 1))
		a = end
	}
	return q, p, relErr, max(missing[0], missing[1]) * (1 + 1e-9)
}

// listedMasses is Masses of atoms, of which each is an outcome: a cell without any has nothing, where two tails would leave
// their rounding.
func listedMasses(d *profiles.Discrete, edges []float64) (q, p []float64, relErr, lost float64) {
	q, p = make([]float64, len(edges)+1), make([]float64, len(edges)+1)
	const mostUnder = 700 // a logarithm above those of subnormal numbers
	far := 0.0
	put := func(to []float64, i int, log float64) {
		switch {
		case math.IsInf(log, -1):
		case log < -mostUnder:
			lost += 2*math.Exp(log) + math.SmallestNonzeroFloat64
		default:
			to[i] += math.Exp(log)
			far = max(far, math.Abs(log))
		}
	}
	sup := d.Support()
	put(q, 0, sup.LogQInf)
	put(p, len(edges), sup.LogPInf)
	for _, a := range d.Atoms() {
		i, _ := slices.BinarySearch(edges, math.Exp(a.Loss))
		put(q, i, a.LogQ)
		put(p, i, a.LogP)
	}
	return q, p, d.MassErr()*(1+far) + u*(float64(len(d.Atoms()))+8+2*far), lost
}

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
