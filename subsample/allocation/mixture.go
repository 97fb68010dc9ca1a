package allocation

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// mixture is the pair in which one of several pairs is drawn and the output tells which: tails
// add, and so do profiles and transforms. The weights add up to 1, the first being 1 less the
// others. No part has atoms or infinite losses.
type mixture struct {
	n       int
	parts   [3]profiles.Profile
	weights [3]float64
}

func newMixture(parts []profiles.Profile, weights []float64) profiles.Profile {
	m := mixture{n: len(parts)}
	copy(m.parts[:], parts)
	copy(m.weights[:], weights)
	return m
}

// Tails implements profiles.Profile.
func (m mixture) Tails(eps, tol float64) profiles.Tails {
	none := math.Inf(-1)
	r := profiles.Tails{P: none, Q: none, PC: none, QC: none}
	for i := range m.n {
		if m.weights[i] == 0 {
			continue
		}
		w := xmath.Log(m.weights[i])
		t := m.parts[i].Tails(eps, tol)
		r.P, r.Q = xmath.LogAdd(r.P, w+t.P), xmath.LogAdd(r.Q, w+t.Q)
		r.PC, r.QC = xmath.LogAdd(r.PC, w+t.PC), xmath.LogAdd(r.QC, w+t.QC)
		round := 4 * u * (2 + math.Abs(w))
		r.Err = max(r.Err, t.Err+round+2*u*(math.Abs(xmath.Finite(t.P))+math.Abs(xmath.Finite(t.Q))))
		r.ErrC = max(r.ErrC, t.ErrC+round+2*u*(math.Abs(xmath.Finite(t.PC))+math.Abs(xmath.Finite(t.QC))))
	}
	r.P, r.Q, r.PC, r.QC = min(r.P, 0), min(r.Q, 0), min(r.PC, 0), min(r.QC, 0)
	return r
}

// Cost implements profiles.Costly.
func (m mixture) Cost() (sum float64) {
	for _, p := range m.parts[:m.n] {
		sum += profiles.Cost(p)
	}
	return sum
}

// LogDelta implements profiles.LogDeltaer.
func (m mixture) LogDelta(eps float64) (logDelta, err float64) {
	logDelta = math.Inf(-1)
	for i := range m.n {
		if m.weights[i] == 0 {
			continue
		}
		w := xmath.Log(m.weights[i])
		d, e := profiles.LogDelta(m.parts[i], eps)
		if math.IsInf(e, 1) {
			return logDelta, e
		}
		logDelta = xmath.LogAdd(logDelta, w+d)
		err = max(err, e+4*u*(2+math.Abs(w)+math.Abs(xmath.Finite(d))))
	}
	return min(0, logDelta), err
}

// Support implements profiles.Profile.
func (m mixture) Support() profiles.Support {
	none := math.Inf(-1)
	s := profiles.Support{Min: math.Inf(1), Max: none, LogPInf: none, LogQInf: none, Spike: math.NaN()}
	for i := range m.n {
		if m.weights[i] == 0 {
			continue
		}
		x := m.parts[i].Support()
		s.Min, s.Max = min(s.Min, x.Min), max(s.Max, x.Max)
		s.LossErr = max(s.LossErr, x.LossErr)
		s.Atoms = append(s.Atoms, x.Atoms...)
		if math.IsNaN(s.Spike) {
			s.Spike = x.Spike
		}
	}
	slices.Sort(s.Atoms)
	if len(s.Atoms) == 0 {
		s.Atoms = nil
	}
	return s
}

// Transform implements profiles.Transformer.
func (m mixture) Transform() profiles.Transform {
	var of []transform.Transform
	var weights []float64
	for i := range m.n {
		if m.weights[i] > 0 {
			of = append(of, profiles.TransformOf(m.parts[i]))
			weights = append(weights, m.weights[i])
		}
	}
	return transform.NewUnion(weights, of)
}

// reflected is the symmetric pair with the profile of up at ε ≥ 0 and its reflection below. Its
// loss has an atom at 0, of what is left.
type reflected struct{ up profiles.Profile }

// SelfReverse implements profiles.SelfReverser.
func (reflected) SelfReverse() bool { return true }

// Cost implements profiles.Costly.
func (r reflected) Cost() float64 { return profiles.Cost(r.up) }

// Tails implements profiles.Profile.
func (r reflected) Tails(eps, tol float64) profiles.Tails {
	if eps >= 0 {
		t := r.up.Tails(eps, tol)
		t.PC, t.QC = xmath.Log1mExp(t.P), xmath.Log1mExp(t.Q)
		t.ErrC = 4*u + max(xmath.ComplementErr(t.P, t.PC, t.Err), xmath.ComplementErr(t.Q, t.QC, t.Err))
		return t
	}
	t := r.up.Tails(math.Nextafter(-eps, math.Inf(-1)), tol+2*u*math.Abs(eps))
	b := profiles.Tails{PC: t.Q, QC: t.P, ErrC: t.Err}
	b.P, b.Q = xmath.Log1mExp(b.PC), xmath.Log1mExp(b.QC)
	b.Err = 4*u + max(xmath.ComplementErr(b.PC, b.P, b.ErrC), xmath.ComplementErr(b.QC, b.Q, b.ErrC))
	return b
}

// LogDelta implements profiles.LogDeltaer: h(α) = 1 − α + αh(1/α) left of 1.
func (r reflected) LogDelta(eps float64) (logDelta, err float64) {
	d, err := profiles.LogDelta(r.up, math.Abs(eps))
	if eps >= 0 || math.IsInf(err, 1) {
		return d, err
	}
	return min(0, xmath.LogAdd(xmath.Log1mExp(eps), eps+d)), err + 8*u*(1+math.Abs(eps)+math.Abs(xmath.Finite(d)))
}

// Support implements profiles.Profile.
func (r reflected) Support() profiles.Support {
	s := r.up.Support()
	return profiles.Support{Min: -s.Max, Max: s.Max, LogPInf: s.LogPInf, LogQInf: s.LogPInf, Atoms: []float64{0}, Spike: math.NaN(), LossErr: s.LossErr}
}
