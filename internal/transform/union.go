// Mixtures of pairs in which the output tells which pair was drawn.
//
// They assume weights that make 1. They return sums of transforms, with the errors of each.

package transform

// Mixtures of pairs in which the output tells which pair was drawn: transforms add up.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// NewUnion returns the transform of the mixture of pairs in which the output tells which pair
// was drawn: M(z) = Σ w_i M_i(z). The first weight is 1 less the others, exactly; it is
// nil if one of the transforms is.
func NewUnion(weights []float64, of []Transform) Transform {
	for _, t := range of {
		if t == nil {
			return nil
		}
	}
	return &union{weights, of}
}

type union struct {
	weights []float64
	of      []Transform
}

// Strip implements Transform.
func (m *union) Strip() (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, t := range m.of {
		a, b := t.Strip()
		lo, hi = max(lo, a), min(hi, b)
	}
	return lo, hi
}

// Infinite implements Transform.
func (m *union) Infinite() (pInf, qInf float64) {
	for i, t := range m.of {
		p, q := t.Infinite()
		pInf += m.weights[i] * p * (1 + 4*u)
		qInf += m.weights[i] * q * (1 + 4*u)
	}
	return pInf, qInf
}

// Release implements Releaser.
func (m *union) Release() {
	for _, t := range m.of {
		if r, ok := t.(Releaser); ok {
			r.Release()
		}
	}
}

// Reverse implements Transform.
func (m *union) Reverse() Transform {
	r := &union{m.weights, make([]Transform, len(m.of))}
	for i, t := range m.of {
		r.of[i] = t.Reverse()
	}
	return r
}

// Real implements Transform. Near 1 it is log(1 + Σ w_i(M_i − 1)), whose terms have one sign.
func (m *union) Real(s float64) (k, slope, err float64) {
	ks, errs := make([]float64, len(m.of)), make([]float64, len(m.of))
	slopes := make([]float64, len(m.of))
	top := 0.0
	for i, t := range m.of {
		ks[i], slopes[i], errs[i] = t.Real(s)
		if !(errs[i] < 0.1) || math.IsInf(ks[i], 0) {
			return ks[i], slopes[i], math.Inf(1)
		}
		top = max(top, ks[i])
	}
	if top < 1 {
		top = 0
	}
	var x xmath.Sum
	wrong, total := 0.0, 0.0
	for i, w := range m.weights {
		v, d := math.Exp(ks[i]-top), math.Expm1(ks[i])
		if top > 0 {
			d = v
		}
		x.Add(w * d)
		wrong += w * (v*errs[i]*(1+errs[i]) + 6*u*math.Abs(d) + 2*u*v*math.Abs(ks[i]-top))
		total += w * v
		slope += w * v * slopes[i]
	}
	if top > 0 {
		k = top + xmath.Log(x.Value())
	} else {
		k = math.Log1p(x.Value())
	}
	return k, slope / total, wrong/total*(1+1e-9) + 4*u*math.Abs(k)
}

// Line implements Transform.
func (m *union) Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	l := &unionLine{weights: m.weights}
	for _, t := range m.of {
		x, err := t.Line(ctx, theta, tMax, tol, maxNodes)
		if err != nil {
			return nil, err
		}
		l.of = append(l.of, x)
	}
	return l, nil
}

type unionLine struct {
	weights []float64
	of      []Line
}

// LogM implements Line.
func (l *unionLine) LogM(t float64) (re, im, err float64) {
	const few = 4
	var buf [3 * few]float64
	parts := buf[:0]
	for _, x := range l.of {
		a, b, e := x.LogM(t)
		parts = append(parts, a, b, e)
	}
	return l.together(parts)
}

// Column implements Columner.
func (l *unionLine) Column(h float64, re, im, err []float64) bool {
	n, of := len(re), len(l.of)
	all := make([]float64, 3*of*n)
	column := make([]float64, 3*n)
	any := false
	for i, x := range l.of {
		a, b, e := column[:n], column[n:2*n], column[2*n:]
		if c, ok := x.(Columner); ok && c.Column(h, a, b, e) {
			any = true
		} else {
			for k := range a {
				a[k], b[k], e[k] = x.LogM(float64(k) * h)
			}
		}
		for k := range a {
			copy(all[3*(k*of+i):], []float64{a[k], b[k], e[k]})
		}
	}
	if !any {
		return false
	}
	for k := range re {
		re[k], im[k], err[k] = l.together(all[3*k*of : 3*(k+1)*of])
	}
	return true
}

// together returns the logarithm of the sum, given re, im and err of each transform.
func (l *unionLine) together(parts []float64) (re, im, err float64) {
	top, known := math.Inf(-1), true
	for i := 0; i < len(parts); i += 3 {
		top = max(top, parts[i])
		known = known && parts[i+2] < 0.1
	}
	if !known || math.Abs(top) > 600 {
		// Moduli add.
		sum := 0.0
		for i, w := range l.weights {
			e := parts[3*i+2]
			if math.IsInf(e, 1) {
				e = 0
			}
			sum += w * math.Exp(parts[3*i]+e-top)
		}
		return top + xmath.Log(sum) + 8*u*(1+math.Abs(top)), 0, math.Inf(1)
	}
	// 1 + Σ w_i(M_i − 1): complex e^v − 1 without cancellation.
	var x, y xmath.Sum
	wrong := 0.0
	for i, w := range l.weights {
		a, b, e := parts[3*i], parts[3*i+1], parts[3*i+2]
		sin, cos := math.Sincos(b)
		half := math.Sin(b / 2)
		m := math.Exp(a)
		x.Add(w * (math.Expm1(a)*cos - 2*half*half))
		y.Add(w * m * sin)
		size := math.Hypot(a, b)
		wrong += w * (m*e*(1+e) + 8*u*min(size, 2)*max(1, m))
	}
	return logComplex(1, x.Value(), y.Value(), wrong, 0)
}

// Decay implements Line.
func (l *unionLine) Decay(t float64) float64 {
	top := math.Inf(-1)
	for _, x := range l.of {
		top = max(top, x.Decay(t))
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for i, x := range l.of {
		sum += l.weights[i] * math.Exp(x.Decay(t)-top)
	}
	return top + xmath.Log(sum) + 6*u*(1+math.Abs(top))
}

// Terms implements Line.
func (l *unionLine) Terms(n int) float64 {
	sum := 0.0
	for _, x := range l.of {
		sum += x.Terms(n)
	}
	return sum
}
