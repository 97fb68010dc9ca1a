// Randomized response for continuous labels: a window around the label inside an interval
// that the prior chooses (RPWithPrior of Liu and Huang).

package labeldp

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A window is an output law on cells of a grid that depends on the range of the labels
// alone. A label is moved to the nearest point of [a, b] (in cells); the 2w cells around it
// have e times the probability of each of the b − a others in [a − w, b + w).
type window struct {
	lo, hi float64 // the labels it accepts
	eps, e float64 // e is e^ε, rounded down
	grid   float64 // the width of a cell
	a, b   int64
	w      int64 // at least 1
}

// windowCells is the binary logarithm of how many cells the range of the labels has, one
// more at most.
const windowCells = 19

// RPWithPrior returns randomized response for continuous labels: the density of the output
// is e^ε times higher within halfWidth of the label than elsewhere in an interval
// [A₁ − halfWidth, A₂ + halfWidth], and labels beyond [A₁, A₂] count as its ends. A₁ and A₂
// are the labels of the prior for which outputs near the label are most likely. With
// halfWidth 0 it is the one of 24, a factor √2 apart, of least half-loss. Liu and Huang,
// "RPWithPrior: Label Differential Privacy in Regression" (arXiv:2601.22625, with its
// projection of labels). It accepts all labels between the least and the largest, and is
// biased.
//
// ε-DP under replacement of one label, and exactly so: outputs are cells of a grid of about
// 2^−20 of the label range, drawn with rational probabilities.
func RPWithPrior(p Prior, eps, halfWidth float64) (Method, error) {
	if err := cmp.Or(p.check(), checkEpsilon("epsilon", eps)); err != nil {
		return nil, err
	}
	lo, hi := p.labels[0], p.labels[len(p.labels)-1]
	if !(halfWidth >= 0 && (halfWidth <= hi-lo || lo == hi)) {
		return nil, fault.New("half-width", "%v is not in [0, %v]", halfWidth, hi-lo)
	}
	if lo == hi {
		return identity("rp-with-prior", p.labels, eps), nil
	}
	_, exp := math.Frexp(hi - lo)
	d := window{lo: lo, hi: hi, eps: eps, e: xmath.Down(math.Exp(eps), 2), grid: math.Ldexp(1, exp-windowCells-1)}
	if halfWidth > 0 {
		d.w = max(int64(math.Round(halfWidth/d.grid)), 1)
		d.choose(p)
		return d, nil
	}
	var best window
	least := math.Inf(1)
	for i := range 24 {
		d.w = max(int64(math.Round((hi-lo)*math.Pow(2, -1-float64(i)/2)/d.grid)), 1)
		d.choose(p)
		loss, err := HalfLoss(d, p)
		if err != nil {
			return nil, err
		}
		if loss < least {
			least, best = loss, d
		}
	}
	return best, nil
}

// cell returns the border between cells that is nearest to y.
func (d *window) cell(y float64) int64 { return int64(math.Round((y - d.lo) / d.grid)) }

// choose sets a and b so that P(a ≤ y ≤ b)/(2w + e^−ε(b − a)) is largest: that is, but for
// a factor, the density at y of the output of y. Ends at labels suffice.
func (d *window) choose(p Prior) {
	best := -1.0
	for i, y := range p.labels {
		sum := 0.0
		for j := i; j < len(p.labels); j++ {
			sum += p.probs[j]
			a, b := d.cell(y), d.cell(p.labels[j])
			if f := sum / (2*float64(d.w) + float64(b-a)/d.e); f > best {
				best, d.a, d.b = f, a, b
			}
		}
	}
}

// total is the weight of all cells where one outside of the window has weight 1.
func (d window) total() float64 { return d.e*2*float64(d.w) + float64(d.b-d.a) }

// Name implements profiles.Mechanism.
func (d window) Name() string { return "rp-with-prior" }

func (d window) accepts(y float64) (at int64, err error) {
	if !(y >= d.lo && y <= d.hi) {
		return 0, fault.New("label", "%v is not in [%v, %v]", y, d.lo, d.hi)
	}
	return min(max(d.cell(y), d.a), d.b), nil
}

// Pair implements profiles.Mechanism. The cells that are in the window of one label and
// not of the other have the losses ε and −ε, all others 0; they are most, min(2w, b − a),
// for labels that far apart, whose pair dominates all others for that reason.
func (d window) Pair(rel profiles.Relation) (profiles.Profile, error) {
	if err := substituteOnly(rel); err != nil {
		return nil, err
	}
	apart := float64(min(2*d.w, d.b-d.a))
	if apart == 0 {
		return threeAtoms(0, d.eps, d.e)
	}
	// Three roundings in total, one of the quotient.
	return threeAtoms(xmath.Up(apart/d.total(), 4), d.eps, d.e)
}

// Moments implements Method. The law is a mixture of two uniform ones: of all cells, and
// of the window.
func (d window) Moments(y float64) (bias, mse float64, err error) {
	at, err := d.accepts(y)
	if err != nil {
		return 0, 0, err
	}
	two := 2 * float64(d.w)
	cells := float64(d.b-d.a) + two
	for _, u := range []struct{ share, middle, cells float64 }{
		{cells / d.total(), d.grid * float64(d.a+d.b) / 2, cells},
		{(d.e - 1) * two / d.total(), d.grid * float64(at), two},
	} {
		off := u.middle - (y - d.lo)
		bias += u.share * off
		mse += u.share * (off*off + d.grid*d.grid*(u.cells*u.cells-1)/12)
	}
	return bias, mse, nil
}

// Sample implements Method.
func (d window) Sample(y float64, src rand.Source) (float64, error) {
	at, err := d.accepts(y)
	if err != nil {
		return 0, err
	}
	i := d.draw(at, random.Source(src))
	return d.lo + d.grid*(float64(i)+0.5), nil
}

// draw returns a cell. The probability of the window is that of the rational numbers that
// e and the counts of cells are.
func (d window) draw(at int64, src rand.Source) int64 {
	r := rand.New(src)
	inside := random.Fraction(src, d.e*2*float64(d.w)/d.total(), func() *big.Rat {
		e := new(big.Rat).SetFloat64(d.e)
		in := new(big.Rat).Mul(e, new(big.Rat).SetInt64(2*d.w))
		return new(big.Rat).Quo(in, new(big.Rat).Add(in, new(big.Rat).SetInt64(d.b-d.a)))
	})
	if inside {
		return at - d.w + r.Int64N(2*d.w)
	}
	i := d.a - d.w + r.Int64N(d.b-d.a)
	if i >= at-d.w {
		i += 2 * d.w // beyond the window
	}
	return i
}
