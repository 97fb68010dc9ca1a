package profiles

// A mechanism of one's own: a pair of output distributions that is known by cells. The proof that the law above
// dominates is docs/theory/pairs.md §10.

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// maxCells is the largest number of cells of a Table, and of points of a Grid.
const maxCells = 200_000

// A Table is a pair (P, Q) of output distributions, P on one data set and Q on its neighbour, by the masses of cells
// into which the outputs are cut. The mechanism never shows more than one output, which lies in one cell.
type Table struct {
	// LogP and LogQ are the logarithms of the masses of each cell; −Inf is a cell that cannot be hit.
	LogP, LogQ []float64
	// Low and High bound the loss log(dP/dQ) in each cell, and may be infinite. Both nil, each cell is one outcome,
	// whose loss is that of its masses, unless Ascending is set.
	Low, High []float64
	// Ascending says, in place of Low and High, that no loss in a cell is above one in a later cell.
	Ascending bool
	// MassErr bounds the error of the logarithms of masses (the relative error of the masses), LossErr that of Low
	// and High.
	MassErr, LossErr float64
	// Outside bounds the masses of P and of Q outside all cells, each.
	Outside float64
}

// tableErrors are the errors that the laws of a table allow for. Tests take each of them away.
type tableErrors struct {
	mass    float64 // of the logarithm of a listed mass
	outside float64
	widen   float64 // of a range of losses, at both ends
	loss    float64 // of a listed loss
}

// NewTable returns the mechanism of t, under whichever relation it is used with: that no other pair of neighbours
// is worse is the caller's claim, as for NewFiniteMechanism. Its Pair dominates every pair with these masses and ranges of losses
// that t allows. Its Attack shows the cell alone, whose law is attained by all of them.
//
// It refuses masses that do not sum to 1 within the errors that t states, and cells whose masses no loss in their
// range can have.
func NewTable(t Table) (Mechanism, error) {
	m, err := t.mechanism(nil)
	if err != nil {
		return nil, fault.In("density", err)
	}
	return m, nil
}

// mechanism makes the laws; change, if not nil, is given their errors before they are used.
func (t Table) mechanism(change func(*tableErrors)) (Mechanism, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	p, offP, err := normalised("p", t.LogP, t.MassErr, t.Outside)
	if err != nil {
		return nil, err
	}
	q, offQ, err := normalised("q", t.LogQ, t.MassErr, t.Outside)
	if err != nil {
		return nil, err
	}
	n := len(p)
	big := 0.0
	for i := range p {
		big = max(big, xmath.FiniteAbs(p[i]), xmath.FiniteAbs(q[i]))
	}
	rounding := 16 * xmath.U * (1 + big)
	var e tableErrors
	e.mass = t.MassErr + max(offP, offQ) + rounding
	e.outside = t.Outside
	e.loss = 2*e.mass + rounding
	e.widen = t.LossErr + 2*e.mass + rounding
	if t.Ascending {
		e.widen += 2*e.mass + rounding // the ends of the ranges are losses of masses themselves
	}
	if change != nil {
		change(&e)
	}

	lower, err := t.shown(p, q, e)
	if err != nil {
		return nil, err
	}
	if t.Low == nil && !t.Ascending && t.Outside == 0 {
		return declared{"density", lower}, nil
	}
	low, high := t.Low, t.High
	switch {
	case t.Ascending:
		if low, high, err = ascending(p, q, e); err != nil {
			return nil, err
		}
	case low == nil:
		low, high = make([]float64, n), make([]float64, n)
		for i := range p {
			low[i] = p[i] - q[i]
			high[i] = low[i]
		}
	}
	upper, err := split(p, q, low, high, e)
	if err != nil {
		return nil, err
	}
	return tabled{upper: upper, lower: lower}, nil
}

// check refuses what is no table.
func (t Table) check() error {
	n := len(t.LogP)
	switch {
	case n == 0:
		return fault.New("p", "is empty, must list at least one mass")
	case n > maxCells:
		return fault.New("p", "has %d entries, must have at most %d", n, maxCells)
	case len(t.LogQ) != n:
		return fault.New("q", "has %d entries, must have as many as p (%d)", len(t.LogQ), n)
	case t.Low != nil && t.Ascending:
		return fault.New("order", "is set, not allowed with low and high")
	case (t.Low == nil) != (t.High == nil):
		return fault.New("high", "must be set where low is, and only there")
	case t.Low != nil && len(t.Low) != n:
		return fault.New("low", "has %d entries, must have as many as p (%d)", len(t.Low), n)
	case t.Low != nil && len(t.High) != n:
		return fault.New("high", "has %d entries, must have as many as p (%d)", len(t.High), n)
	case !(t.MassErr >= 0 && t.MassErr <= 0.1):
		return fault.New("mass-error", "%v is not in [0, 0.1]", t.MassErr)
	case !(t.LossErr >= 0 && t.LossErr <= 1e6):
		return fault.New("loss-error", "%v is not in [0, 1e+06]", t.LossErr)
	case !(t.Outside >= 0 && t.Outside <= 0.1):
		return fault.New("outside", "%v is not in [0, 0.1]", t.Outside)
	}
	for i := range t.Low {
		if !(t.Low[i] <= t.High[i]) || math.IsInf(t.Low[i], 1) || math.IsInf(t.High[i], -1) {
			return fault.New(fmt.Sprintf("low[%d]", i), "%v is not at most high[%d], %v, with a loss between them", t.Low[i], i, t.High[i])
		}
	}
	return nil
}

// normalised divides masses by their sum, and returns how far that moves a logarithm. The truth makes 1 with what
// is outside.
func normalised(name string, logs []float64, massErr, outside float64) (out []float64, off float64, err error) {
	allowed := 1e-9 + massErr + outside
	for i, x := range logs {
		if !(x <= allowed) { // NaN is none either
			return nil, 0, fault.New(fmt.Sprintf("%s[%d]", name, i), "%v is not a mass in [0, 1]", math.Exp(x))
		}
	}
	total := prefixSums(logs, math.Inf(-1))[len(logs)]
	if !(total >= -allowed-outside*outside && total <= allowed) {
		return nil, 0, fault.New(name, "sums to %.12g, must sum to 1 within %.3g: 1e-9, mass-error and outside together", math.Exp(total), allowed)
	}
	out = make([]float64, len(logs))
	for i, x := range logs {
		out[i] = x - total
	}
	return out, math.Abs(total), nil
}

// shown returns the law of the cell: what an attack attains that looks at nothing else. What is outside counts to
// the cell that it changes least.
func (t Table) shown(p, q []float64, e tableErrors) (*Discrete, error) {
	mass := e.mass
	if e.outside > 0 {
		best := math.Inf(-1)
		for i := range p {
			best = max(best, min(p[i], q[i]))
		}
		if !(best > xmath.Log(e.outside)) {
			return nil, fault.New("outside", "%v is not below both masses of some cell", e.outside)
		}
		mass += e.outside * math.Exp(-best) * (1 + e.mass) * (1 + 8*xmath.U)
	}
	d, err := newFromLogs(p, q)
	if err != nil {
		return nil, err
	}
	extra := mass - e.mass
	return NewDiscrete(d.atoms, d.logPInf, d.logQInf, math.Expm1(mass)*(1+4*xmath.U)+d.massErr, e.loss+2*extra+d.lossErr)
}

// ascending returns the ranges of losses of cells in order: between the losses of the neighbours' masses, which are
// averages of those inside.
func ascending(p, q []float64, e tableErrors) (low, high []float64, err error) {
	low, high = make([]float64, len(p)), make([]float64, len(p))
	last, at := math.Inf(-1), -1
	for i := range p {
		low[i] = last
		if math.IsInf(p[i], -1) && math.IsInf(q[i], -1) {
			continue
		}
		l := p[i] - q[i]
		if l < last-2*e.loss {
			return nil, nil, fault.New("order", "is ascending, but p[%d]/q[%d] = %.9g is below p[%d]/q[%d] = %.9g by more than the errors", i, i, math.Exp(l), at, at, math.Exp(last))
		}
		if l > last {
			last, at = l, i
		}
	}
	next := math.Inf(1)
	for i := len(p) - 1; i >= 0; i-- {
		high[i] = next
		if !math.IsInf(p[i], -1) || !math.IsInf(q[i], -1) {
			next = min(next, p[i]-q[i])
		}
	}
	return low, high, nil
}

// split returns the law above all pairs with these masses and ranges of losses: the mass of a cell goes to the ends
// of its range, so that both masses stay (docs/theory/pairs.md §10). The ranges are widened first.
//
// With l the loss of the masses p and q as numbers, the split of p at l is exact in real numbers, and its Q-mass is
// p·e^−l: that is q but for the rounding of l, at most 3 u of the largest logarithm. All terms are positive.
func split(p, q, low, high []float64, e tableErrors) (*Discrete, error) {
	var atoms []Atom
	none := math.Inf(-1)
	infP, infQ := []float64{}, []float64{}
	if e.outside > 0 {
		infP, infQ = append(infP, xmath.Log(e.outside)), append(infQ, xmath.Log(e.outside))
	}
	bigLoss := 0.0
	for i := range p {
		l := p[i] - q[i]
		switch {
		case p[i] == none && q[i] == none:
			continue
		case l < low[i]-e.widen || l > high[i]+e.widen:
			return nil, fault.New(fmt.Sprintf("p[%d]", i), "and q[%d], %.9g and %.9g, have the loss %.12g, which is not in [%v, %v] within %.3g: the masses or the range of the cell are wrong",
				i, math.Exp(p[i]), math.Exp(q[i]), l, low[i], high[i], e.widen)
		case q[i] == none:
			infP = append(infP, p[i])
			continue
		case p[i] == none:
			infQ = append(infQ, q[i])
			continue
		}
		a, b := min(lowered(low[i]-e.widen), l), max(-lowered(-high[i]-e.widen), l)
		switch {
		case math.IsInf(a, -1) && math.IsInf(b, 1):
			infP, infQ = append(infP, p[i]), append(infQ, q[i])
		case math.IsInf(b, 1):
			atoms = append(atoms, Atom{Loss: a, LogP: p[i] - (l - a), LogQ: q[i]})
			infP = append(infP, p[i]+xmath.Log1mExp(a-l))
		case math.IsInf(a, -1):
			atoms = append(atoms, Atom{Loss: b, LogP: p[i], LogQ: q[i] - (b - l)})
			infQ = append(infQ, q[i]+xmath.Log1mExp(l-b))
		case a == b:
			atoms = append(atoms, Atom{Loss: b, LogP: p[i], LogQ: q[i]})
		default:
			whole := xmath.Log1mExp(a - b)
			up := p[i] + xmath.Log1mExp(a-l) - whole
			down := p[i] - (l - a) + xmath.Log1mExp(l-b) - whole
			atoms = append(atoms, Atom{Loss: a, LogP: down, LogQ: down - a}, Atom{Loss: b, LogP: up, LogQ: up - b})
		}
		for _, x := range []float64{a, b} {
			bigLoss = max(bigLoss, xmath.FiniteAbs(x))
		}
	}
	// What is outside is at most e.outside of either mass: the rest may be as much smaller than listed.
	mass := e.mass + 2*e.outside
	return NewDiscrete(atoms, xmath.LogSum(infP), xmath.LogSum(infQ), math.Expm1(mass)*(1+4*xmath.U)+16*xmath.U*(1+bigLoss), e.loss+4*e.outside+xmath.U*bigLoss)
}

// lowered returns the number before x, x itself if it is infinite.
func lowered(x float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	return xmath.Down(x, 1)
}

// tabled is a mechanism of a table whose cells have more than one loss.
type tabled struct{ upper, lower *Discrete }

func (tabled) Name() string { return "density" }

// Pair returns the law above.
func (t tabled) Pair(Relation) (Profile, error) { return t.upper, nil }

// Attack implements Attacked: the law of the cell that the output lies in.
func (t tabled) Attack(Relation) (Mechanism, error) { return declared{"density", t.lower}, nil }

// A Grid is a pair of densities on the line by the logarithms of their values at points.
type Grid struct {
	// At are the points, ascending; LogP and LogQ the logarithms of the densities there.
	At, LogP, LogQ []float64
	// Curvature bounds the second derivatives of both logarithms between neighbouring points: 1/σ² for Gaussian
	// densities. They may bend without bound at the points in Kinks, which are among At.
	Curvature float64
	Kinks     []float64
	// Err bounds the error of the logarithms at the points, Outside the mass of either density before the first and
	// after the last point together.
	Err, Outside float64
}

// Table returns the cells between the points of the grid. Between two of them a logarithm is within
// Curvature·h²/8 of its chord, which gives the mass, and the loss within twice that. It refuses values at three
// points in a row that bend more than Curvature, where the middle one is no kink.
func (g Grid) Table() (Table, error) {
	t, err := g.table()
	if err != nil {
		return Table{}, fault.In("density", err)
	}
	return t, nil
}

func (g Grid) table() (Table, error) {
	n := len(g.At)
	switch {
	case n < 2:
		return Table{}, fault.New("grid", "has %d points, must have at least 2", n)
	case n > maxCells:
		return Table{}, fault.New("grid", "has %d points, must have at most %d", n, maxCells)
	case len(g.LogP) != n:
		return Table{}, fault.New("log-p", "has %d entries, must have as many as grid (%d)", len(g.LogP), n)
	case len(g.LogQ) != n:
		return Table{}, fault.New("log-q", "has %d entries, must have as many as grid (%d)", len(g.LogQ), n)
	case !(g.Curvature >= 0 && g.Curvature <= 1e12):
		return Table{}, fault.New("curvature", "%v is not in [0, 1e+12]", g.Curvature)
	case !(g.Err >= 0 && g.Err <= 0.01):
		return Table{}, fault.New("density-error", "%v is not in [0, 0.01]", g.Err)
	}
	for i, x := range g.At {
		if math.IsNaN(x) || math.IsInf(x, 0) || i > 0 && !(x > g.At[i-1]) {
			return Table{}, fault.New(fmt.Sprintf("grid[%d]", i), "%v is not finite and above the point before it", x)
		}
		for k, f := range [][]float64{g.LogP, g.LogQ} {
			if math.IsNaN(f[i]) || math.IsInf(f[i], 0) || math.Abs(f[i]) > 1e6 {
				return Table{}, fault.New(fmt.Sprintf("log-%c[%d]", "pq"[k], i), "%v is not a logarithm in [-1e+06, 1e+06]; end the grid where a density is 0", f[i])
			}
		}
	}
	for i, x := range g.Kinks {
		if _, ok := slices.BinarySearch(g.At, x); !ok {
			return Table{}, fault.New(fmt.Sprintf("kinks[%d]", i), "%v is not a point of grid", x)
		}
	}
	if err := g.bends(); err != nil {
		return Table{}, err
	}
	t := Table{LogP: make([]float64, n-1), LogQ: make([]float64, n-1), Low: make([]float64, n-1), High: make([]float64, n-1), Outside: g.Outside, LossErr: 2 * g.Err}
	big := 0.0
	for i := range t.LogP {
		h := g.At[i+1] - g.At[i]
		off := g.Curvature * h * h / 8 * (1 + 8*xmath.U)
		t.LogP[i], t.LogQ[i] = chordMass(g.LogP[i], g.LogP[i+1], h), chordMass(g.LogQ[i], g.LogQ[i+1], h)
		a, b := g.LogP[i]-g.LogQ[i], g.LogP[i+1]-g.LogQ[i+1]
		t.Low[i], t.High[i] = xmath.Down(min(a, b)-2*off, 2), xmath.Up(max(a, b)+2*off, 2)
		t.MassErr = max(t.MassErr, off)
		big = max(big, math.Abs(g.LogP[i]), math.Abs(g.LogQ[i]), math.Abs(g.LogP[i+1]), math.Abs(g.LogQ[i+1]), math.Abs(xmath.Log(h)))
	}
	// The chord's mass is a sum of three logarithms and an exponential of their rounding; h has one rounding, and two of its ends.
	t.MassErr += g.Err + 16*xmath.U*(1+big)
	t.LossErr += 2 * xmath.U * big
	if t.MassErr > 0.1 {
		return Table{}, fault.New("grid", "is too coarse: with curvature %v its masses are known to %.3g of themselves, must be to 0.1", g.Curvature, t.MassErr)
	}
	return t, nil
}

// chordMass returns the logarithm of the integral of e^x from a to b along a line over a length of h.
func chordMass(a, b, h float64) float64 {
	d := math.Abs(a - b)
	mean := 0.0
	if d > 0 {
		mean = xmath.Log(-math.Expm1(-d) / d)
	}
	return max(a, b) + xmath.Log(h) + mean
}

// bends refuses three values in a row that no function of the stated curvature has: their second divided
// difference, twice that is a second derivative between them.
func (g Grid) bends() error {
	kink := make(map[float64]bool, len(g.Kinks))
	for _, x := range g.Kinks {
		kink[x] = true
	}
	for i := 1; i+1 < len(g.At); i++ {
		if kink[g.At[i]] {
			continue
		}
		left, right := g.At[i]-g.At[i-1], g.At[i+1]-g.At[i]
		for k, f := range [][]float64{g.LogP, g.LogQ} {
			bend := 2 * ((f[i+1]-f[i])/right - (f[i]-f[i-1])/left) / (left + right)
			value := g.Err + 4*xmath.U*(math.Abs(f[i-1])+math.Abs(f[i])+math.Abs(f[i+1]))
			slack := 4*value*(1/left+1/right)/(left+right) + 8*xmath.U*(math.Abs(bend)+math.Abs(g.At[i])/min(left, right)*g.Curvature)
			if !(math.Abs(bend) <= g.Curvature+slack) {
				return fault.New(fmt.Sprintf("log-%c[%d]", "pq"[k], i), "%v, between %v and %v, has a second derivative of about %.6g near the point %v, which is not within curvature %v; a point where it may bend belongs into kinks",
					f[i], f[i-1], f[i+1], bend, g.At[i], g.Curvature)
			}
		}
	}
	return nil
}

// Proof (docs/theory/pairs.md §10): Lemma 10, and its errors.
//
// δ(ε) is the sum over cells of ∫(R − e^ε)₊ dQ, R = dP/dQ. In a cell R lies in [e^a, e^b], dQ has the mass q and R dQ
// the mass p. (r − e^ε)₊ is convex in r, so that with mean and range given the integral is largest with all of dQ at
// the two ends. The Q-mass at e^b is then (p − q·e^a)/(e^b − e^a), which is the first formula times e^−b; the infinite
// ends are limits. ∎
//
// Errors. Let P′ = (p̂/p)·P and Q′ = (q̂/q)·Q in the cell: their losses differ from those of P and Q by a constant of
// at most 2e, and lie in [a − w, b + w], w = 2e + (the stated error of a and b). The lemma holds for measures, so some
// kernel makes P′ and Q′ of the split of p̂, q̂ on [a − w, b + w]. The same kernel makes P and Q of that split with
// its P-masses times p/p̂ and its Q-masses times q/q̂. So the true pair is dominated by a list whose masses differ
// from the listed ones by e^±e and whose losses by 2e: that is what a list of outcomes states about itself, and what
// every engine allows for.
//
// Where ranges are known by order alone (`Ascending`), a and b are losses of the masses of the cells beside, and have
// an error of 2e themselves: the average of R over an earlier cell is at most all R of a later one.
