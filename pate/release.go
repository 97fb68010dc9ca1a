// Publishing a cost that depends on the votes, and its conversion to ε. It assumes that
// parameters were fixed without the votes.

package pate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/rdp"
)

// A Round is one round of labelling, whose cost is to be published.
type Round struct {
	Sensitivity *Sensitivity
	Beta        float64 // smoothness
	Sigma       float64 // scale of the noise, in units of SS_β
}

// A Conversion turns a Rényi cost into (ε, δ).
type Conversion int

const (
	// Improved is that of rdp.Epsilon.
	Improved Conversion = iota
	// Classic is that of rdp.EpsilonClassic, which the tables of PATE 2018 use.
	Classic
)

// A Sanitized is a total privacy cost with noise, and what it was made of.
type Sanitized struct {
	// Epsilon may be published, together with the order, δ and every β and σ,
	// if those were fixed without looking at the votes. It estimates the ε that
	// was paid, publication included, and is no upper bound: its mean is
	// Private.Fixed, up to the rounding to the multiples of Grid, and half of the
	// time it is below.
	Epsilon float64

	// Grid is a power of two that follows from the order and δ alone.
	Grid float64

	// Private is NOT SAFE TO PUBLISH: every field but GNSS is a function of the votes. It is no
	// part of the JSON of a Sanitized.
	Private struct {
		Cost      float64   // B_λ: data-dependent Rényi cost of all rounds
		GNSS      float64   // Rényi cost of publishing it
		Fixed     float64   // ε of both together, before noise
		Smooth    []float64 // SS_β of every round
		Distances []int     // where it is reached
		StdDev    float64   // of the noise
	} `json:"-"`
}

// Sanitize returns an estimate of the (ε, δ) cost of all rounds, sanitized by Gaussian noise
// that is calibrated to smooth sensitivity, the cost of that publication
// included. The source nil is the operating system's.
//
// The result is rounded to multiples of a power of two, at most 1/4096 of
// log(1/δ)/(λ − 1), what δ alone costs in the classic conversion. The analysis is of a
// real number plus real Gaussian noise; rounding their sum to a grid that does not
// depend on the votes is post-processing, and may be as coarse as one likes. The
// standard deviation of the noise is a function of the votes, so that a grid made
// from it would tell of them; so would the low bits of a sum of floats, whose
// pattern is that of the cost and of the standard deviation, and rounding removes
// them. The noise is an exact draw, and the multiple is the one nearest to the sum of
// real numbers.
//
// Theorem: PATE 2018, section B.3, with the cost of the noise by [GNSS.RDP] in
// place of Theorem 23. Conditions: the order, δ, β and σ of every round must be
// fixed in advance; all rounds have the same order, and none is Realised or
// ExpectedNotABound.
func Sanitize(delta float64, conversion Conversion, src rand.Source, rounds ...Round) (Sanitized, error) {
	var s Sanitized
	if err := checkDelta(delta); err != nil {
		return s, err
	}
	if len(rounds) == 0 {
		return s, fault.New("rounds", "is empty, must hold at least one")
	}
	if conversion != Improved && conversion != Classic {
		return s, fault.New("conversion", "%d is not in [improved, classic]", int(conversion))
	}
	p := &s.Private
	var order float64
	var noisy random.Sum
	src = random.Source(src)
	for i, x := range rounds {
		field := fmt.Sprintf("rounds[%d]", i)
		switch {
		case x.Sensitivity == nil:
			return Sanitized{}, fault.In(field, fault.New("sensitivity", "is missing"))
		case !x.Sensitivity.Bound:
			return Sanitized{}, fault.In(field, fault.New("report", "expected or realised is not in [worst, independent]: it is no bound"))
		case i > 0 && x.Sensitivity.Order != order:
			return Sanitized{}, fault.In(field, fault.New("order", "%v is not %v, that of rounds[0]", x.Sensitivity.Order, order))
		}
		order = x.Sensitivity.Order
		ss, d, err := x.Sensitivity.Smooth(x.Beta)
		if err != nil {
			return Sanitized{}, fault.In(field, err)
		}
		g, err := GNSS{order, x.Beta}.RDP(x.Sigma)
		if err != nil {
			return Sanitized{}, fault.In(field, err)
		}
		p.Cost += x.Sensitivity.Cost
		p.GNSS += g
		p.Smooth, p.Distances = append(p.Smooth, ss), append(p.Distances, d)
		p.StdDev = math.Hypot(p.StdDev, ss*x.Sigma)
		noisy.Noise = append(noisy.Noise, random.Term{Scale: ss * x.Sigma, Z: random.Normal(src)})
	}
	fixed, err := conversion.epsilonAt(order, (p.Cost+p.GNSS)*(1+u*float64(2*len(rounds)+2)), delta)
	if err != nil {
		return Sanitized{}, err
	}
	p.Fixed = fixed
	s.Grid = releaseGrid(order, delta)
	noisy.Fixed = []float64{fixed}
	s.Epsilon = noisy.Nearest(s.Grid)
	return s, nil
}

// Epsilon returns the ε at δ of a part of the cost (its total, or that of checks or answers),
// and the order it is had at. For a cost that is ex post it is that of epsilonExPost, whatever
// the conversion. For DataIndependent and Gaussian noise, unless the conversion is the classic
// one, it is that of the Gaussian trade-off exactly, and the order is 0, as none enters.
func (c Cost) Epsilon(part rdp.Grid, conversion Conversion, delta float64) (eps, order float64, err error) {
	if c.ExPost {
		return epsilonExPost(part, delta)
	}
	if c.gaussian && conversion == Improved {
		eps, err = independentEpsilon(part, delta)
		return eps, 0, err
	}
	return conversion.Epsilon(part, delta)
}

// epsilonExPost returns ε such that, except with probability δ, the privacy loss
// of what was released is at most ε, for a cost that depends on what was released
// (Cost.ExPost): the least of total(λ) + log(K/δ)/(λ−1) over the K orders of the
// curve, and that order. The orders must have been fixed in advance; each has a
// share δ/K of the probability.
//
// Theorem: with c_i the Rényi divergence of step i given the past and L_i its
// privacy loss, E[exp((λ−1)Σ(L_i − c_i))] ≤ 1, as each factor has mean at most 1
// given the past; then Markov's inequality and a union bound.
// It is not an (ε, δ) guarantee: the ε is part of what is random.
func epsilonExPost(curve rdp.Grid, delta float64) (eps, order float64, err error) {
	if err := cmp.Or(checkDelta(delta), checkOrders(curve.Orders)); err != nil {
		return 0, 0, err
	}
	if len(curve.Values) != len(curve.Orders) {
		return 0, 0, fault.New("curve", "%d values are not one for each of %d orders", len(curve.Values), len(curve.Orders))
	}
	eps = math.Inf(1)
	for i, a := range curve.Orders {
		x := curve.Values[i] + (xmath.Log(float64(len(curve.Orders)))-xmath.Log(delta))/(a-1)*(1+8*u)
		if x *= 1 + 4*u; x < eps {
			eps, order = x, a
		}
	}
	return eps, order, nil
}

// releaseGrid returns the largest power of two that is at most 2^−12 of
// log(1/δ)/(λ − 1).
func releaseGrid(order, delta float64) float64 {
	_, exp := math.Frexp(-xmath.Log(delta) / (order - 1)) // in [2^(exp−1), 2^exp)
	return math.Ldexp(1, exp-13)
}

// epsilonAt converts a Rényi cost at one order into ε.
func (c Conversion) epsilonAt(order, cost, delta float64) (float64, error) {
	eps, _, err := c.Epsilon(rdp.Grid{Orders: []float64{order}, Values: []float64{cost}}, delta)
	return eps, err
}

// Epsilon converts a curve into ε at δ, and tells the order.
func (c Conversion) Epsilon(curve rdp.Curve, delta float64) (eps, order float64, err error) {
	if c == Classic {
		return rdp.EpsilonClassic(curve, delta)
	}
	return rdp.Epsilon(curve, delta)
}

// The noisy maximum itself, drawn exactly: no draw depends on how a float64 rounds.

// noisyArgmax returns the index of the largest count after adding scale times an
// independent draw to each. The draws are exact, and so is the law of the answer.
func noisyArgmax(votes []int64, scale float64, draw func(rand.Source) *random.Real, src rand.Source) int {
	var best random.Sum
	at := -1
	for i, n := range votes {
		// A count above 2^53 goes in as two numbers: nothing is rounded.
		high := n &^ (1<<32 - 1)
		z := random.Sum{Fixed: []float64{float64(high), float64(n - high)}, Noise: []random.Term{{Scale: scale, Z: draw(src)}}}
		if at < 0 || best.Less(z) {
			best, at = z, i
		}
	}
	return at
}

// Data-independent costs.
//
// The data-independent costs, λ/σ² for an answer and λ/(2σ1²) for a check, hold for all neighbours in both
// directions; Q checks and A answers are μ-GDP with μ² = Q/σ1² + 2A/σ2², whatever is answered in the light of what
// (each step of μ_t² leaves the trade-off of what is left of μ²), so that their ε is that of one Gaussian, exactly:
// 2.543 (640 checks with σ1 = 150, 286 answers with σ2 = 40, δ = 1e-5).
