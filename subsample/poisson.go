// Theorem 11 of Zhu, Dong and Wang 2022: a profile under Poisson sampling, add-remove.

package subsample

import (
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// PoissonProfile returns the profile of the remove direction of base under Poisson
// sampling with the given rate: the pair (rate·P + (1−rate)·Q, Q). The add
// direction is its Reverse.
//
// Theorem 11 of Zhu, Dong and Wang (AISTATS 2022): when (P, Q) dominates the
// remove direction of a mechanism, the result dominates the remove direction
// of the Poisson-subsampled mechanism. Relation: add-remove.
func PoissonProfile(base profiles.Profile, rate float64) (profiles.Profile, error) {
	if err := noiserange.CheckRate(rate); err != nil {
		return nil, err
	}
	switch rate {
	case 0:
		return profiles.Identical(), nil
	case 1:
		return base, nil
	}
	if d, ok := base.(*profiles.Discrete); ok {
		return poissonDiscrete(d, rate)
	}
	return newPoisson(base, rate), nil
}

func newPoisson(base profiles.Profile, rate float64) poisson {
	return poisson{base: base, rate: rate, logRate: xmath.Log(rate), log1m: math.Log1p(-rate)}
}

type poisson struct {
	base           profiles.Profile
	rate           float64
	logRate, log1m float64 // log(rate), log(1 − rate)
}

// nearest returns that of ascending losses which is next to y, +Inf if there is none.
func nearest(losses []float64, y float64) float64 {
	n := len(losses)
	if n == 0 {
		return math.Inf(1)
	}
	i := sort.SearchFloat64s(losses, y)
	if i == n || i > 0 && y-losses[i-1] < losses[i]-y {
		i--
	}
	return losses[i]
}

// forward maps a base loss to the sampled loss, log(1 − rate + rate·e^l).
func forward(l, rate float64) float64 {
	switch {
	case math.IsInf(l, -1):
		return math.Log1p(-rate)
	case math.IsInf(l, 1):
		if rate == 0 {
			return 0
		}
		return l
	case l < 30:
		if x := rate * math.Expm1(l); x > -0.5 {
			return math.Log1p(x)
		}
		// Near −1 the rounding of x counts 1/(1+x) times; the sum below is within 8 u of
		// itself, because its size is at least log 2.
	}
	return xmath.LogAdd(math.Log1p(-rate), xmath.Log(rate)+l)
}

// forwardErr bounds what an error of base losses up to most does to the sampled
// loss: dε/dl = rate·e^l/(1 − rate + rate·e^l) grows with l.
func forwardErr(lossErr, most, rate float64) float64 {
	if lossErr == 0 || math.IsInf(most, 0) {
		return lossErr
	}
	return lossErr * min(1, math.Exp(xmath.Log(rate)+most-forward(most, rate)+lossErr)*(1+1e-12))
}

// inverse maps a sampled loss ε > log(1−rate) to the base loss
// log((e^ε − 1 + rate)/rate), with a bound on the absolute error of the result.
func (p poisson) inverse(eps, tol float64) (y, dy float64) {
	return inversePoisson(eps, tol, p.rate, p.logRate, p.log1m)
}

func inversePoisson(eps, tol, rate, logRate, log1m float64) (y, dy float64) {
	var num float64 // (e^ε − 1 + rate)/rate = e^y
	switch {
	case eps > 0 && eps <= 36-logRate && eps-logRate > 600:
		// e^y leaves float64, or nearly: rate is no part of e^ε − 1 + rate, unless ε is less than its
		// last digits are of 1.
		return inverseTiny(eps, tol, rate, logRate)
	case eps > 36-logRate:
		// The map is within e^-36 of a shift.
		y = eps - logRate + math.Log1p(-math.Exp(log1m-eps))
		return y, 2*xmath.U*(math.Abs(eps)+math.Abs(logRate)+math.Abs(y)) + tol*(1+1e-12)
	case eps >= -0.5 && (eps > log1m/2 || rate <= 0.5):
		r := math.Expm1(eps) / rate
		y = math.Log1p(r)
		num = 1 + r
		// r carries 3 u relative; dy = dr/(1+r).
		dy = 3*xmath.U*math.Abs(r)/num + 2*xmath.U*math.Abs(y)
	default:
		t := eps - log1m
		y = xmath.Log(math.Expm1(t)) + log1m - logRate
		num = math.Exp(y)
		// t has absolute error u(|ε|+2|log(1−rate)|), expm1(t) ≥ t.
		dt := xmath.U * (math.Abs(t) + 2*math.Abs(log1m))
		dy = dt*math.Exp(t)/math.Expm1(t) + 2*xmath.U*(2+math.Abs(y)+math.Abs(log1m)+math.Abs(logRate))
	}
	if !(num > 0) {
		return math.Inf(-1), 0
	}
	if tol > 0 {
		// dy/dε = e^ε/(e^ε − 1 + rate) falls with ε: take it at ε − tol.
		e := math.Exp(min(eps, 700))
		if below := num - tol*e/rate; below > 0 {
			dy += tol * e / (rate * below)
		} else {
			dy = 1e300 // the edge may lie between
		}
	}
	return y, dy
}

// inverseTiny is inversePoisson for ε > 0 and rates so small that e^ε/rate may be above all float64:
// y = log(1 − e^−ε + rate·e^−ε) + ε − log(rate).
func inverseTiny(eps, tol, rate, logRate float64) (y, dy float64) {
	rest := rate*math.Exp(-eps) - math.Expm1(-eps) // to 3 u
	y = eps + xmath.Log(rest) - logRate
	dy = 2 * xmath.U * (2 + math.Abs(eps) + math.Abs(logRate) + math.Abs(xmath.Log(rest)) + math.Abs(y))
	if tol > 0 {
		// dy/dε = 1/rest falls with ε.
		if below := rate*math.Exp(tol-eps) - math.Expm1(tol-eps); below > 0 && tol < eps {
			dy += tol / below * (1 + 1e-12)
		} else {
			dy = 1e300 // the edge may lie between
		}
	}
	return y, dy
}

// snap returns y and its error dy such that at the image of an atom the inverse map
// does not fall on the wrong side; y − dy must not reach below least, y + dy not
// above most.
func (p *poisson) snap(eps, y, dy float64) (at, err, least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	a := nearest(p.base.Support().Atoms, y)
	if off := math.Abs(y - a); off <= 8*dy+8*xmath.U*math.Abs(a) && !math.IsInf(a, 1) {
		if eps < forward(a, p.rate) {
			y = math.Nextafter(a, math.Inf(-1))
			most = y
		} else {
			y, least = a, a
		}
		dy += off
	}
	return y, dy, least, most
}

// Cost implements hook.Costly.
func (p poisson) Cost() float64 { return hook.Cost(p.base) }

// Tails implements Profile: with y = log((e^ε − 1 + rate)/rate) the tails are
// (1−rate)·Q + rate·P and Q of the base at y; sums of positive terms only.
func (p poisson) Tails(eps, tol float64) profiles.Tails {
	inf := math.Inf(-1)
	if eps < p.log1m {
		return profiles.Tails{P: 0, Q: 0, PC: inf, QC: inf}
	}
	if eps == p.log1m {
		// Only the outcomes that P cannot produce lie here.
		s := p.base.Support()
		return profiles.Tails{P: xmath.Log1mExp(p.log1m + s.LogQInf), Q: xmath.Log1mExp(s.LogQInf),
			PC: p.log1m + s.LogQInf, QC: s.LogQInf, Err: 4 * xmath.U, ErrC: 4 * xmath.U}
	}
	y, dy := p.inverse(eps, 0)
	if math.IsInf(y, -1) {
		return p.Tails(p.log1m, 0)
	}
	y, dy, least, most := p.snap(eps, y, dy)
	if tol > 0 {
		_, both := p.inverse(eps, tol)
		dy += both
	}
	// Where y is ill-conditioned (near the edge), the error of the mixture is far
	// below that of its worse part: measure it at both ends of y ± dy, between
	// which the tails are monotone.
	spread := profiles.Tails{}
	if dy > 64*xmath.U*max(1, math.Abs(y)) {
		lo, hi := p.base.Tails(max(least, y-dy), 0), p.base.Tails(min(most, y+dy), 0)
		spread.Err = max(fall(p.mix(lo.P, lo.Q), p.mix(hi.P, hi.Q)), fall(lo.Q, hi.Q))
		spread.ErrC = max(fall(p.mix(hi.PC, hi.QC), p.mix(lo.PC, lo.QC)), fall(hi.QC, lo.QC))
		dy = 0
	}
	b := p.base.Tails(y, dy)
	return profiles.Tails{
		P: p.mix(b.P, b.Q), Q: b.Q,
		PC: p.mix(b.PC, b.QC), QC: b.QC,
		Err:  spread.Err + b.Err + 4*xmath.U*(1+xmath.FiniteAbs(b.Q)+math.Abs(p.logRate)),
		ErrC: spread.ErrC + b.ErrC + 4*xmath.U*(1+xmath.FiniteAbs(b.QC)+math.Abs(p.logRate)),
	}
}

// fall returns a − b ≥ 0 for logarithms that may both be −Inf.
func fall(a, b float64) float64 {
	if a == b {
		return 0
	}
	return a - b
}

// mix returns log(rate·e^a + (1−rate)·e^b).
func (p poisson) mix(a, b float64) float64 {
	return min(0, xmath.LogAdd(p.logRate+a, p.log1m+b))
}

// Support implements Profile.
func (p poisson) Support() profiles.Support {
	b := p.base.Support()
	s := profiles.Support{
		Min: forward(b.Min, p.rate), Max: forward(b.Max, p.rate),
		LogPInf: p.logRate + b.LogPInf, LogQInf: math.Inf(-1), Spike: math.NaN(),
	}
	lossErr := forwardErr(b.LossErr, b.Max, p.rate)
	s.LossErr = lossErr
	for _, a := range b.Atoms {
		f := forward(a, p.rate)
		s.Atoms = append(s.Atoms, f)
		s.LossErr = max(s.LossErr, lossErr+8*xmath.U*math.Abs(f))
	}
	if !math.IsInf(b.LogQInf, -1) {
		s.Min = p.log1m
		s.Atoms = append([]float64{p.log1m}, s.Atoms...)
	}
	if math.IsInf(b.Min, -1) {
		s.Spike = s.Min // next to the atom, if there is one
	}
	if s.Min == p.log1m || s.Spike == s.Min {
		// Next to the end log(1−rate) the inverse map is exact for a loss moved by a
		// few roundings of that end, and not closer.
		s.LossErr = max(s.LossErr, b.LossErr+16*xmath.U*math.Abs(p.log1m))
	}
	s.Min = xmath.Down(s.Min, 4)
	s.Max = xmath.Up(s.Max, 4)
	return s
}

// poissonDiscrete maps every atom; an atom of Q at −∞ becomes one at
// log(1−rate).
func poissonDiscrete(d *profiles.Discrete, rate float64) (*profiles.Discrete, error) {
	logRate, log1m := xmath.Log(rate), math.Log1p(-rate)
	sup := d.Support()
	atoms := make([]profiles.Atom, 0, len(d.Atoms())+1)
	big := 0.0
	for _, a := range d.Atoms() {
		f := forward(a.Loss, rate)
		big = max(big, math.Abs(f))
		atoms = append(atoms, profiles.Atom{Loss: f, LogP: xmath.LogAdd(logRate+a.LogP, log1m+a.LogQ), LogQ: a.LogQ})
	}
	if !math.IsInf(sup.LogQInf, -1) {
		atoms = append(atoms, profiles.Atom{Loss: log1m, LogP: log1m + sup.LogQInf, LogQ: sup.LogQInf})
		big = max(big, math.Abs(log1m))
	}
	massErr := d.MassErr() + 4*xmath.U*(1+math.Abs(logRate))
	return profiles.NewDiscrete(atoms, logRate+sup.LogPInf, math.Inf(-1), massErr, forwardErr(sup.LossErr, sup.Max, rate)+8*xmath.U*big)
}

// LogDelta implements hook.LogDeltaer: with h(α) = δ(log α),
// h(α) = rate·h_base((α − 1 + rate)/rate) for α > 1 − rate, and 1 − α below.
func (p poisson) LogDelta(eps float64) (logDelta, err float64) {
	if eps <= p.log1m {
		v := xmath.Log1mExp(eps)
		return v, 4 * xmath.U * (1 + math.Abs(v))
	}
	y, dy := p.inverse(eps, 0)
	if math.IsInf(y, -1) {
		return p.logRate, 2 * xmath.U * (1 + math.Abs(p.logRate))
	}
	d, err := profiles.LogDelta(p.base, y)
	if math.IsInf(d, -1) {
		return d, err
	}
	// −dδ/dy = e^y Q(L > y).
	t := p.base.Tails(y, dy)
	slope := math.Exp(min(700, y+t.Q+t.Err-d))
	return p.logRate + d, err + 2*slope*dy + 2*xmath.U*(math.Abs(p.logRate)+math.Abs(d))
}

// Differences of tails of sampled profiles, which keep their digits where tails agree.

// LogTailDifference implements hook.TailDifferencer:
// (1−rate)·Q + rate·P − Q = rate·(P − Q).
func (p poisson) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	d, ok := p.base.(hook.TailDifferencer)
	if !ok {
		return 0, math.Inf(1)
	}
	if !(eps > p.log1m) {
		return 0, math.Inf(1)
	}
	y, dy := p.inverse(eps, 0)
	y, dy, _, _ = p.snap(eps, y, dy)
	if tol > 0 {
		_, both := p.inverse(eps, tol)
		dy += both
	}
	if math.IsInf(y, 0) || !(dy < 1) {
		return 0, math.Inf(1)
	}
	logDiff, err = d.LogTailDifference(y, dy)
	logDiff += p.logRate
	return logDiff, err + 2*xmath.U*(math.Abs(logDiff)+math.Abs(p.logRate))
}

// Transforms of sampled profiles, for the contour engine.

// A poissonTransformer is a base whose Poisson-sampled pair has a transform.
type poissonTransformer interface {
	// PoissonTransform returns the transform of (rate·P + (1−rate)·Q, Q), rateErr the
	// relative error of the rate; nil if there is none.
	PoissonTransform(rate, rateErr float64) transform.Transform
}

// Transform implements hook.Transformer.
func (p poisson) Transform() transform.Transform { return p.transform(0) }

func (p poisson) transform(rateErr float64) transform.Transform {
	if b, ok := p.base.(poissonTransformer); ok {
		return b.PoissonTransform(p.rate, rateErr)
	}
	return nil
}

// Transform implements hook.Transformer; see inexact for the error of the rate.
func (r rounded) Transform() transform.Transform {
	if p, ok := r.Profile.(poisson); ok {
		return p.transform(2 * xmath.U)
	}
	return nil
}

// An envelopeTransformer is a base whose envelope has a transform; it is its own reverse.
type envelopeTransformer interface {
	EnvelopeTransform(rate float64) transform.Transform
}

// Transform implements hook.Transformer.
func (e envelope) Transform() transform.Transform {
	up := e.Up.(poisson)
	if b, ok := up.base.(envelopeTransformer); ok {
		return b.EnvelopeTransform(up.rate)
	}
	return nil
}
