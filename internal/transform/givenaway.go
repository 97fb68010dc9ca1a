// Transforms of what gives everything away with some probability.
//
// They assume a transform without infinite losses, and return it times a power of 1 − m.

package transform

// What is given away with some probability: the transform of a pair is scaled, and the rest is an
// infinite loss. It assumes a base without infinite losses.

import (
	"context"
	"math"
)

// NewGivenAway returns the transform of P = (1−m)·P' + m·(loss +∞) against Q' = Q, for the
// transform of (P', Q), which has no infinite losses: everything is given away with
// probability m. As L = L' + log(1−m), M(z) = (1−m)^{z+1}·M'(z). It is nil for a nil base.
func NewGivenAway(base Transform, m float64) Transform {
	if base == nil || m == 0 {
		return base
	}
	return givenAway{base: base, m: m, log: math.Log1p(-m), of: givenP}
}

// NewBothGivenAway returns the transform of P = (1−m)·P' + m·(loss +∞) against Q = (1−m)·Q' +
// m·(loss −∞), for the transform of (P', Q'), which has no infinite losses. As L = L',
// M(z) = (1−m)·M'(z). It is nil for a nil base.
func NewBothGivenAway(base Transform, m float64) Transform {
	if base == nil || m == 0 {
		return base
	}
	return givenAway{base: base, m: m, log: math.Log1p(-m), of: givenBoth}
}

// A given is the measure that gives everything away with probability m.
type given int

const (
	givenP given = iota
	givenQ
	givenBoth
)

type givenAway struct {
	base Transform
	m    float64
	log  float64 // log(1−m)
	of   given
}

// power returns a and b such that M(z) = (1−m)^{az+b}·M'(z).
func (g givenAway) power() (a, b float64) {
	switch g.of {
	case givenQ:
		return -1, 0
	case givenBoth:
		return 0, 1
	}
	return 1, 1
}

// Strip implements Transform.
func (g givenAway) Strip() (lo, hi float64) { return g.base.Strip() }

// Infinite implements Transform.
func (g givenAway) Infinite() (pInf, qInf float64) {
	switch g.of {
	case givenQ:
		return 0, g.m
	case givenBoth:
		return g.m, g.m
	}
	return g.m, 0
}

// Release implements Releaser.
func (g givenAway) Release() {
	if r, ok := g.base.(Releaser); ok {
		r.Release()
	}
}

// Reverse implements Transform.
func (g givenAway) Reverse() Transform {
	return givenAway{base: g.base.Reverse(), m: g.m, log: g.log, of: [...]given{givenQ, givenP, givenBoth}[g.of]}
}

// Real implements Transform.
func (g givenAway) Real(s float64) (k, slope, err float64) {
	a, b := g.power()
	e := a*s + b
	k, slope, err = g.base.Real(s)
	return k + e*g.log, slope + a*g.log, err + 4*u*(1+math.Abs(s))*-g.log + u*math.Abs(k)
}

// Line implements Transform.
func (g givenAway) Line(ctx context.Context, theta, tMax, tol float64, maxNodes int) (Line, error) {
	l, err := g.base.Line(ctx, theta, tMax, tol, maxNodes)
	if err != nil {
		return nil, err
	}
	a, b := g.power()
	return givenAwayLine{Line: l, slope: a * g.log, real: (a*theta + b) * g.log, size: (1 + math.Abs(theta)) * -g.log}, nil
}

// givenAwayLine adds real + i·t·slope to the logarithm on a line; size bounds the terms of real.
type givenAwayLine struct {
	Line
	slope, real, size float64
}

// LogM implements Line.
func (l givenAwayLine) LogM(t float64) (re, im, err float64) {
	re, im, err = l.Line.LogM(t)
	return re + l.real, im + t*l.slope, err + 4*u*(l.size+math.Abs(t*l.slope)+math.Abs(re)+math.Abs(im))
}

// Column implements Columner, where the base does.
func (l givenAwayLine) Column(h float64, re, im, err []float64) bool {
	c, ok := l.Line.(Columner)
	if !ok || !c.Column(h, re, im, err) {
		return false
	}
	for k := range re {
		t := float64(k) * h
		err[k] += 4 * u * (l.size + math.Abs(t*l.slope) + math.Abs(re[k]) + math.Abs(im[k]))
		re[k], im[k] = re[k]+l.real, im[k]+t*l.slope
	}
	return true
}

// Decay implements Line.
func (l givenAwayLine) Decay(t float64) float64 {
	d := l.Line.Decay(t)
	return d + l.real + 4*u*(l.size+math.Abs(d))
}
