// Lattice laws as factors: of those that share one lattice all terms of the sum are at N frequencies (fold.go).
//
// It assumes laws of positive mass. What it returns is of the law over its total mass, which makes it a probability.

package contour

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// A Law is the transform of a lattice law over its total mass. Composing T copies of the law multiplies every δ of the
// transform by e^{T·Excess}.
type Law struct {
	*pld.Law
	Excess, ExcessErr float64 // logarithm of the total mass, and its error
	pInf, pErr        float64 // P(L = ∞), and its error
	gap, gapErr       float64 // Q less P, both where L < ∞, and its error
}

// NewLaw returns the transform of a law.
func NewLaw(l *pld.Law) *Law {
	const u = xmath.U
	var total, gap, wrong xmath.Sum
	total.Add(math.Exp(l.LogPInf))
	for _, m := range l.LogMass {
		total.Add(math.Exp(m))
	}
	f := &Law{Law: l, Excess: xmath.Log(total.Value())}
	// exp 2u a term, the sum 2u, the logarithm 2u of itself.
	f.ExcessErr = u * (4 + 2*math.Abs(f.Excess))
	if x := l.LogPInf - f.Excess; !math.IsInf(x, -1) {
		f.pInf = max(math.Exp(x), math.SmallestNonzeroFloat64) // it may underflow, but there is some
		f.pErr = f.pInf*(f.ExcessErr+u*(4+2*math.Abs(x))) + math.SmallestNonzeroFloat64
	}
	for i, m := range l.LogMass {
		x, loss := m-f.Excess, l.Loss[i]
		d := math.Exp(x) * math.Expm1(-loss)
		gap.Add(d)
		wrong.Add(math.Abs(d) * (f.ExcessErr + u*(8+2*math.Abs(x)+2*math.Abs(loss))))
		wrong.Add(2 * u * math.Exp(x-loss) * (math.Abs(l.Offset) + 2*math.Abs(loss))) // of the loss o + iΔ
	}
	f.gap, f.gapErr = gap.Value(), wrong.Value()
	return f
}

// Strip implements transform.Transform: the loss is bounded.
func (l *Law) Strip() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// Infinite implements transform.Transform. A law that was rounded is never known to have exactly 1 under Q.
func (l *Law) Infinite() (pInf, qInf float64) { return l.pInf, math.SmallestNonzeroFloat64 }

// Real implements transform.Transform. At 0 and −1 the error is relative to what M lacks to 1, as many runs need it.
func (l *Law) Real(s float64) (k, slope, err float64) {
	less, wrong := l.pInf, l.pErr
	if s == -1 {
		less, wrong = less-l.gap, wrong+l.gapErr
	}
	if (s == 0 || s == -1) && math.Abs(less) < 0.5 {
		k = math.Log1p(-less)
		return k, 0, wrong/(1-less-wrong) + 4*xmath.U*math.Abs(k)
	}
	k, err = l.K(s)
	return k - l.Excess, 0, err + l.ExcessErr + 2*xmath.U*(math.Abs(k)+math.Abs(l.Excess))
}

// largest returns an upper bound of the sum of the largest losses of laws.
func (c *Composition) largest() float64 {
	var sum xmath.Sum
	for _, x := range c.factors {
		l := x.Transform.(*Law)
		loss := l.MaxLoss()
		sum.AddProduct(float64(x.Count), loss+4*xmath.U*(math.Abs(l.Offset)+2*math.Abs(loss))) // a loss is o + iΔ
	}
	return xmath.Up(sum.Value(), 4)
}

// Line implements transform.Transform: frequencies of laws are those of a lattice.
func (l *Law) Line(context.Context, float64, float64, float64, int) (transform.Line, error) {
	return nil, errors.New("the frequencies of a lattice law are those of its lattice")
}

// Reverse implements transform.Transform; laws are made of reversed profiles instead.
func (l *Law) Reverse() transform.Transform { return nil }

// A lawSketch is a sketch of a law.
type lawSketch struct{ *Law }

// Real implements transform.Sketch.
func (l lawSketch) Real(s float64) (k, slope float64) {
	k, slope, _ = l.Tilted(s)
	return k - l.Excess, slope
}

// Line implements transform.Sketch.
func (lawSketch) Line(float64) transform.SketchLine { return nil }

func newSketch(t transform.Transform) transform.Sketch {
	if l, ok := t.(*Law); ok {
		return lawSketch{l}
	}
	return transform.NewSketch(t)
}
