package campaign

// Plans whose cost is known in closed form: any finite mechanisms that are composed by counting,
// beside one of
//
//   - Gaussian noise of any scales and counts: N(μ, 1) against N(0, 1), μ² the sum of squares;
//   - up to eight runs of equal Laplace noise (laplace.go);
//   - one run of Gaussian or Laplace noise on a Poisson sample.
//
// Nothing here is shared with the accountant but the formulas of the papers.

import (
	"math"
	"math/big"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// A curve is δ(ε) of one direction.
type curve func(eps *big.Float) *big.Float

// A truth is the privacy profile of a plan in two directions, each the reverse of the other.
type truth [2]curve

// at returns the larger δ(ε) of the two directions to some hundred bits.
func (t truth) at(eps float64) *big.Float {
	x := oracle.F(math.Abs(eps))
	d := t[0](x)
	if other := t[1](x); d.Cmp(other) < 0 {
		d = other
	}
	if eps >= 0 {
		return d
	}
	// Below 0 a pair has 1 − e^ε + e^ε·δ(−ε) of its reverse.
	e := oracle.Exp(oracle.Neg(x))
	less := oracle.Sub(one, e)
	if x.MantExp(nil) < -200 { // |ε| to sixty digits, of which the difference has none
		less = x
	}
	return oracle.Add(less, oracle.Mul(e, d))
}

// counted returns the outcomes of the steps that have finitely many together, and the other steps.
func (p plan) counted() (list []outcome, rest []step, ok bool) {
	steps, ok := p.flat()
	list = []outcome{{one, one}}
	for _, s := range steps {
		o, finite := outcomesOf(s.mechanism, p.neighbors, max(p.records, 1))
		switch {
		case !ok:
			return nil, nil, false
		case !finite:
			rest = append(rest, s)
			continue
		case s.sampling == nil:
		case !s.sampling.is("poisson") || p.neighbors == "substitute" || p.records > 1:
			return nil, nil, false
		default:
			o = sampledOutcomes(o, s.sampling.number("rate"))
		}
		if o, ok = power(o, s.count); ok {
			list, ok = times(list, o)
		}
	}
	return list, rest, ok
}

// mostBeside bounds the outcomes beside noise, each of which takes normal tails.
const mostBeside = 12

// truthOf returns the profile of a plan; false if it is not known here.
func truthOf(p plan) (truth, bool) {
	for i, s := range p.steps {
		switch {
		case s.partition != "":
			return worstBranch(p, i)
		case s.units > 0:
			return bestAnalyst(p)
		}
	}
	list, rest, ok := p.counted()
	records := max(p.records, 1)
	var noises []truth
	mu2 := oracle.New()
	var largest *big.Float // the loss of one run of Laplace noise
	var runs int64
	for _, s := range rest {
		if !ok {
			return truth{}, false
		}
		moved := float64(records)
		if p.neighbors == "substitute" {
			moved *= 2
		}
		sigma := s.mechanism.number("noise-multiplier")
		switch {
		case s.sampling.is("poisson") && s.count == 1 && noises == nil && records == 1:
			noises = make([]truth, 1)
			noises[0], ok = sampledOnce(s, p.neighbors)
		case s.sampling != nil:
			return truth{}, false
		case s.mechanism.is("gaussian"):
			x := oracle.Div(oracle.F(moved), oracle.F(sigma))
			mu2 = oracle.Add(mu2, oracle.Mul(oracle.F(float64(s.count)), oracle.Mul(x, x)))
		case s.mechanism.is("laplace"):
			m := quo(wide(moved), wide(sigma))
			ok = (largest == nil || largest.Cmp(m) == 0) && runs+s.count <= mostLaplace && sigma > 1e-3 && sigma < 1e6
			largest, runs = m, runs+s.count
		default:
			return truth{}, false
		}
	}
	if !ok {
		return truth{}, false
	}
	if mu2.Sign() > 0 {
		c := gaussianCurve(oracle.New().Sqrt(mu2))
		noises = append(noises, truth{c, c})
	}
	if runs > 0 {
		c := laplaceRuns(int(runs), largest)
		noises = append(noises, truth{c, c})
	}
	if len(noises) > 1 || len(noises) == 1 && len(list) > mostBeside {
		return truth{}, false
	}
	noises = append(noises, truth{}) // of a plan without noise
	return truth{withOutcomes(list, noises[0][0]), withOutcomes(reversed(list), noises[0][1])}, true
}

// worstBranch is the largest over the branches of the i-th step: one record is in one of them.
func worstBranch(p plan, i int) (truth, bool) {
	if p.records > 1 {
		return truth{}, false
	}
	var ways []truth
	for _, branch := range p.steps[i].steps {
		way := p.clone()
		way.steps[i] = step{count: p.steps[i].count, steps: []step{branch}}
		t, ok := truthOf(way)
		if !ok {
			return truth{}, false
		}
		ways = append(ways, t)
	}
	var out truth
	for d := range out {
		out[d] = func(eps *big.Float) *big.Float {
			largest := ways[0][d](eps)
			for _, t := range ways[1:] {
				if x := t[d](eps); x.Cmp(largest) > 0 {
					largest = x
				}
			}
			return largest
		}
	}
	return out, true
}

// mostGames bounds the transcripts of an analyst that are looked at.
const mostGames = 4000

// bestAnalyst is a plan of one menu of finite types, with every analyst tried: the best next type after every transcript.
func bestAnalyst(p plan) (truth, bool) {
	s := p.steps[0]
	if len(p.steps) > 1 || s.runs() > 1 {
		return truth{}, false
	}
	var types [2][]game
	games := 1.0
	for _, t := range s.steps {
		list, rest, ok := plan{neighbors: p.neighbors, records: p.records, steps: t.steps}.counted()
		if !ok || rest != nil {
			return truth{}, false
		}
		types[0] = append(types[0], game{t.cost, list})
		types[1] = append(types[1], game{t.cost, reversed(list)})
		games = max(games, math.Pow(float64(len(s.steps)*len(list)), float64(s.units/t.cost)))
	}
	if games > mostGames {
		return truth{}, false
	}
	var out truth
	for d := range out {
		out[d] = func(eps *big.Float) *big.Float { return price(types[d], s.units, oracle.Exp(eps)) }
	}
	return out, true
}

// A game is a type of a menu.
type game struct {
	cost int64
	list []outcome
}

// price is the hockey stick of the best analyst with so many units left, at t = e^ε times Q's density over P's so far.
func price(types []game, units int64, t *big.Float) *big.Float {
	most := positive(one, t, one)
	for _, g := range types {
		if g.cost > units {
			continue
		}
		sum := oracle.New()
		for _, o := range g.list {
			if o.p.Sign() > 0 {
				sum = oracle.Add(sum, oracle.Mul(o.p, price(types, units-g.cost, oracle.Div(oracle.Mul(t, o.q), o.p))))
			}
		}
		if sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return most
}

// gaussianCurve is N(μ, 1) against N(0, 1), both ways.
func gaussianCurve(mu *big.Float) curve {
	half := oracle.Scale(mu, 0.5)
	return func(eps *big.Float) *big.Float {
		x := oracle.Div(eps, mu)
		return oracle.Sub(oracle.NormalTail(oracle.Sub(x, half)), oracle.Mul(oracle.Exp(eps), oracle.NormalTail(oracle.Add(x, half))))
	}
}

// sampledOnce is one run of noise on a Poisson sample.
func sampledOnce(s step, neighbors string) (truth, bool) {
	sigma, q := s.mechanism.number("noise-multiplier"), s.sampling.number("rate")
	var base profiletest.Exact
	switch {
	case s.mechanism.is("gaussian") && neighbors == "substitute":
		x := profiletest.GaussianPlusMinus(sigma, q)
		return truth{curveOf(x), curveOf(profiletest.Reverse(x))}, sigma > 0.05
	case neighbors == "substitute":
		return truth{}, false
	case s.mechanism.is("gaussian"):
		base = profiletest.Gaussian(sigma)
	case s.mechanism.is("laplace"):
		base = profiletest.LaplaceOf(oracle.Div(one, oracle.F(sigma)))
	default:
		return truth{}, false
	}
	x := profiletest.Poisson(base, q)
	return truth{curveOf(x), curveOf(profiletest.Reverse(x))}, true
}

func curveOf(x profiletest.Exact) curve {
	return func(eps *big.Float) *big.Float { return x(eps).Delta(eps) }
}
