// Profiles with finitely many losses. Atoms ascend; their masses carry one bound of
// relative error.

package profiles

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// An Atom is one value of a discrete privacy loss with its log masses.
type Atom struct {
	Loss       float64
	LogP, LogQ float64
}

// Discrete is a profile whose loss takes countably many values, all listed.
type Discrete struct {
	atoms            []Atom // ascending in Loss, finite
	logPInf, logQInf float64
	lossErr          float64

	// Cumulative log masses: upP[i] = log P(L ≥ atoms[i].Loss), with +∞ counted;
	// loP[i] = log P(L < atoms[i].Loss), loQ with −∞ counted; len(atoms)+1 each.
	upP, upQ, loP, loQ []float64
	massErr            float64 // a mass of logarithm x has relative error massErr·(1+|x|)
}

// NewDiscrete returns the profile with the given finite losses and with
// log-masses logPInf at +∞ (under P) and logQInf at −∞ (under Q). Losses closer
// than 4 u·max(1,|l|) are merged into the larger one. A mass of logarithm x has
// a relative error of at most massErr·(1+|x|), a loss an absolute error of at
// most lossErr.
//
// The masses must sum to 1 under P and under Q: to at most 1 + 1e-9, or as much more as massErr is, and to less than
// 1 only by what their errors and the rounding of the sum are together. State mass without an atom at
// infinity: composition takes P-mass that is missing for an infinite loss. A law for a lower end must be
// attained by a pair of data sets, such as that of a test on their outputs.
func NewDiscrete(atoms []Atom, logPInf, logQInf, massErr, lossErr float64) (*Discrete, error) {
	as := slices.Clone(atoms)
	if math.IsNaN(logPInf) || math.IsNaN(logQInf) {
		return nil, fault.New("masses", "%v and %v at infinity are not numbers", logPInf, logQInf)
	}
	if !(massErr >= 0 && lossErr >= 0) {
		return nil, fault.New("errors", "%v of masses and %v of losses are not in [0, +Inf]", massErr, lossErr)
	}
	for i, a := range as {
		if math.IsNaN(a.Loss) || math.IsInf(a.Loss, 0) || math.IsNaN(a.LogP) || math.IsNaN(a.LogQ) {
			return nil, fault.New(fmt.Sprintf("atoms[%d]", i), "%v has a loss that is not finite or a mass that is not a number", a)
		}
	}
	slices.SortFunc(as, func(a, b Atom) int { return cmp.Compare(a.Loss, b.Loss) })
	merged := as[:0]
	mergeErr, first := 0.0, 0.0 // first loss of the group merged into the last atom
	var p, q []float64          // its masses, added at once: one by one, thousands would add up their roundings
	finish := func() {
		if len(p) > 1 {
			last := &merged[len(merged)-1]
			last.LogP, last.LogQ = xmath.LogSum(p), xmath.LogSum(q)
		}
		p, q = p[:0], q[:0]
	}
	for _, a := range as {
		if math.IsInf(a.LogP, -1) && math.IsInf(a.LogQ, -1) {
			continue
		}
		last := len(merged) - 1
		if last >= 0 && a.Loss-merged[last].Loss <= 4*xmath.U*max(1, math.Abs(a.Loss)) {
			mergeErr = max(mergeErr, a.Loss-first)
			merged[last].Loss = a.Loss
		} else {
			finish()
			merged, first = append(merged, a), a.Loss
		}
		p, q = append(p, a.LogP), append(q, a.LogQ)
	}
	finish()
	// Masses that make 1 may come out above it. No mass is: that takes away rounding only, above and below.
	logPInf, logQInf = clamped(logPInf), clamped(logQInf)
	d := &Discrete{atoms: merged, logPInf: logPInf, logQInf: logQInf, lossErr: lossErr + mergeErr, massErr: massErr}
	n := len(merged)
	p, q = make([]float64, n), make([]float64, n)
	for i, a := range merged {
		p[i], q[i] = a.LogP, a.LogQ
	}
	d.upP, d.upQ = suffixSums(p, logPInf), suffixSums(q, math.Inf(-1))
	d.loP, d.loQ = prefixSums(p, math.Inf(-1)), prefixSums(q, logQInf)
	for i, total := range []float64{d.upP[0], d.loQ[n]} {
		if total > max(1e-9, massErr) || total < -d.err(total, total) { // more than masses with their errors can make
			return nil, fault.New("masses", "the sum %v under %s is not 1", math.Exp(total), "PQ"[i:i+1])
		}
	}
	return d, nil
}

// clamped takes the logarithm of a sum of masses that is above 1 by rounding to that of 1.
func clamped(log float64) float64 {
	if log > 0 && log <= 1e-9 {
		return 0
	}
	return log
}

// prefixSums returns log Σ_{j<i} e^{xs[j]} + e^first for i = 0..len(xs).
//
// The running sum is compensated and kept in units of 2^k of the largest term so
// far. The exponent of a term is then of order 1 where the term matters: kept
// in units of e^scale with a distant scale, it would lose u·|scale|.
func prefixSums(xs []float64, first float64) []float64 {
	const ln2Hi, ln2Lo = math.Ln2, 2.319046813846299616e-17 // log 2 = hi + lo
	out := make([]float64, len(xs)+1)
	var s xmath.Sum
	empty, k := true, 0.0
	add := func(x float64) float64 {
		if !math.IsInf(x, -1) {
			if kx := math.Round(x / math.Ln2); empty || kx > k {
				if !empty {
					s.Ldexp(int(max(k-kx, -5000))) // what is 2^5000 smaller is lost either way
				}
				empty, k = false, kx
			}
			s.Add(math.Exp(math.FMA(-k, ln2Hi, x) - k*ln2Lo))
		}
		if empty {
			return math.Inf(-1)
		}
		f, e := math.Frexp(s.Value())
		return xmath.Log(f) + (k+float64(e))*ln2Hi
	}
	out[0] = add(first)
	for i, x := range xs {
		out[i+1] = add(x)
	}
	return out
}

func suffixSums(xs []float64, last float64) []float64 {
	rev := slices.Clone(xs)
	slices.Reverse(rev)
	out := prefixSums(rev, last)
	slices.Reverse(out)
	return out
}

// NewFinite returns the profile of two output distributions p and q on the same
// outcomes. Each must be non-negative, finite and sum to 1 within 1e-9; it is
// divided by its sum. Outcomes with p = q = 0 are ignored.
func NewFinite(p, q []float64) (*Discrete, error) {
	if len(p) != len(q) {
		return nil, fault.In("finite", fault.New("q", "has %d entries, must have as many as p (%d)", len(q), len(p)))
	}
	if len(p) == 0 {
		return nil, fault.In("finite", fault.New("p", "is empty, must list at least one probability"))
	}
	logs := func(name string, xs []float64) ([]float64, error) {
		var s xmath.Sum
		for i, x := range xs {
			if !(x >= 0 && x <= 1) {
				return nil, fault.In("finite", fault.New(fmt.Sprintf("%s[%d]", name, i), "%v is not a probability in [0, 1]", x))
			}
			s.Add(x)
		}
		if !(math.Abs(s.Value()-1) <= 1e-9) {
			return nil, fault.In("finite", fault.New(name, "sums to %v, must sum to 1 within 1e-9", s.Value()))
		}
		out := make([]float64, len(xs))
		for i, x := range xs {
			out[i] = xmath.Log(x) - xmath.Log(s.Value())
		}
		return out, nil
	}
	lp, err := logs("p", p)
	if err != nil {
		return nil, err
	}
	lq, err := logs("q", q)
	if err != nil {
		return nil, err
	}
	return newFromLogs(lp, lq)
}

// newFromLogs builds a profile from log probabilities of common outcomes that
// are accurate to a few ulps.
func newFromLogs(lp, lq []float64) (*Discrete, error) {
	var atoms []Atom
	var onlyP, onlyQ []float64
	var big, bigLoss float64
	for i := range lp {
		switch {
		case math.IsInf(lp[i], -1) && math.IsInf(lq[i], -1):
		case math.IsInf(lq[i], -1):
			onlyP = append(onlyP, lp[i])
		case math.IsInf(lp[i], -1):
			onlyQ = append(onlyQ, lq[i])
		default:
			atoms = append(atoms, Atom{lp[i] - lq[i], lp[i], lq[i]})
			big = max(big, math.Abs(lp[i]), math.Abs(lq[i]))
			bigLoss = max(bigLoss, math.Abs(lp[i]-lq[i]))
		}
	}
	// Each logarithm: those of the number and of the sum, and their difference; or
	// of a mixture of two masses of 4 u each.
	return NewDiscrete(atoms, xmath.LogSum(onlyP), xmath.LogSum(onlyQ), 8*xmath.U, 16*xmath.U*big+xmath.U*bigLoss)
}

// Atoms returns the finite losses with their masses, ascending. The slice must
// not be modified.
func (d *Discrete) Atoms() []Atom { return d.atoms }

// MassErr returns c such that a listed mass of logarithm x has a relative error
// of at most c·(1+|x|).
func (d *Discrete) MassErr() float64 { return d.massErr }

// Tails implements Profile.
func (d *Discrete) Tails(eps, _ float64) Tails {
	// i is the first atom strictly above ε.
	i := sort.Search(len(d.atoms), func(i int) bool { return d.atoms[i].Loss > eps })
	// A sum of masses that make 1 may come out an ulp above.
	t := Tails{P: min(0, d.upP[i]), Q: min(0, d.upQ[i]), PC: min(0, d.loP[i]), QC: min(0, d.loQ[i])}
	t.Err, t.ErrC = d.err(t.P, t.Q), d.err(t.PC, t.QC)
	return t
}

// err bounds the relative error of tails with logarithms a and b. A tail of
// masses m_i with relative errors c(1+|log m_i|) has the relative error
// c·(1 + Σ m_i|log m_i|/Σ m_i) ≤ c·(1 + |log tail| + log n): the entropy of n
// atoms is at most log n.
func (d *Discrete) err(a, b float64) float64 {
	e := 0.0
	for _, x := range []float64{a, b} {
		if !math.IsInf(x, -1) {
			e = max(e, math.Abs(x))
		}
	}
	return d.massErr*(1+e+xmath.Log(float64(len(d.atoms)+2))) + 4*xmath.U*(1+e)
}

// Support implements Profile.
func (d *Discrete) Support() Support {
	s := Support{Min: math.Inf(1), Max: math.Inf(-1), LogPInf: d.logPInf, LogQInf: d.logQInf,
		Spike: math.NaN(), LossErr: d.lossErr}
	if n := len(d.atoms); n > 0 {
		s.Min, s.Max = d.atoms[0].Loss, d.atoms[n-1].Loss
	}
	return s
}

func (d *Discrete) reverse() Profile {
	n := len(d.atoms)
	atoms := make([]Atom, n)
	for i, a := range d.atoms {
		atoms[n-1-i] = Atom{-a.Loss, a.LogQ, a.LogP}
	}
	rev := func(xs []float64) []float64 {
		ys := slices.Clone(xs)
		slices.Reverse(ys)
		return ys
	}
	return &Discrete{atoms: atoms, logPInf: d.logQInf, logQInf: d.logPInf, lossErr: d.lossErr, massErr: d.massErr,
		upP: rev(d.loQ), upQ: rev(d.loP), loP: rev(d.upQ), loQ: rev(d.upP)}
}
