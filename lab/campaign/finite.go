package campaign

// Lists of outcomes, exactly: what a mechanism with finitely many losses does on two data sets,
// composed by counting. Numbers are of oracle.Prec bits; masses are sums and products of
// positive terms, so that each is right to almost all of them.

import (
	"math/big"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// An outcome has probability p on one data set and q on its neighbour.
type outcome struct{ p, q *big.Float }

// mostOutcomes bounds the lists that are composed.
const mostOutcomes = 3000

var one = oracle.F(1)

// outcomesOf returns the outcomes of a mechanism, of records of one person; false if they are
// infinitely many or not known here.
func outcomesOf(m *node, neighbors string, records int64) ([]outcome, bool) {
	z := oracle.New()
	switch {
	case m.is("discrete-laplace"):
		s := m.whole("sensitivity", 1) * records
		scale := oracle.Mul(oracle.F(m.number("noise-multiplier")), oracle.F(float64(m.whole("sensitivity", 1))))
		if neighbors == "substitute" {
			s *= 2
		}
		return geometric(s, scale), s <= 40
	case records > 1:
		return nil, false
	case m.is("pure", "approximate"):
		// The worst mechanism of the guarantee: it gives all away with probability δ, and
		// answers truly with odds e^ε otherwise.
		d := oracle.F(m.number("delta"))
		e := oracle.Exp(oracle.F(m.number("epsilon")))
		lo := oracle.Div(oracle.Sub(one, d), oracle.Add(one, e))
		hi := oracle.Mul(lo, e)
		return []outcome{{d, z}, {hi, lo}, {lo, hi}, {z, d}}, true
	case m.is("finite"):
		var out []outcome
		p, q := m.list("p"), m.list("q")
		for i := range p {
			out = append(out, outcome{oracle.F(p[i]), oracle.F(q[i])})
		}
		return out, true
	case m.is("randomized-response"):
		k := float64(m.whole("categories", 2))
		each := oracle.Div(oracle.F(m.number("probability")), oracle.F(k))
		lies := oracle.Scale(each, k-1)
		truth := oracle.Sub(one, lies)
		if neighbors == "zero-out" { // an empty place answers at random
			return []outcome{{truth, oracle.Div(one, oracle.F(k))}, {lies, oracle.Div(oracle.F(k-1), oracle.F(k))}}, true
		}
		rest := oracle.Scale(each, k-2)
		return []outcome{{truth, each}, {each, truth}, {rest, rest}}, true
	}
	return nil, false
}

// geometric returns the outcomes of two-sided geometric noise of a scale, shifted by s: the
// whole numbers up to 0, those from s on, and each between.
func geometric(s int64, scale *big.Float) []outcome {
	a := oracle.Exp(oracle.Neg(oracle.Div(one, scale)))
	pow := func(k int64) *big.Float { return oracle.Exp(oracle.Neg(oracle.Div(oracle.F(float64(k)), scale))) }
	tail := oracle.Div(one, oracle.Add(one, a)) // of the numbers up to 0
	each := oracle.Div(oracle.Sub(one, a), oracle.Add(one, a))
	far := oracle.Mul(tail, pow(s))
	out := []outcome{{tail, far}, {far, tail}}
	for x := int64(1); x < s; x++ {
		out = append(out, outcome{oracle.Mul(each, pow(s-x)), oracle.Mul(each, pow(x))})
	}
	return out
}

// sampledOutcomes mixes the first law with the second: the record takes part with some rate.
func sampledOutcomes(list []outcome, rate float64) []outcome {
	r := oracle.F(rate)
	c := oracle.Sub(one, r)
	var out []outcome
	for _, o := range list {
		out = append(out, outcome{oracle.Add(oracle.Mul(r, o.p), oracle.Mul(c, o.q)), o.q})
	}
	return out
}

// power returns the outcomes of n independent runs, by how often each outcome comes.
func power(list []outcome, n int64) ([]outcome, bool) {
	kept := slices.DeleteFunc(slices.Clone(list), func(o outcome) bool { return o.p.Sign() == 0 && o.q.Sign() == 0 })
	// C(n + m − 1, m − 1) ways.
	if new(big.Int).Binomial(n+int64(len(kept))-1, int64(len(kept))-1).Cmp(big.NewInt(mostOutcomes)) > 0 {
		return nil, false
	}
	out := []outcome{}
	var place func(i int, left int64, ways, p, q *big.Float)
	place = func(i int, left int64, ways, p, q *big.Float) {
		if i == len(kept)-1 {
			p, q = oracle.Mul(p, raisedTo(kept[i].p, left)), oracle.Mul(q, raisedTo(kept[i].q, left))
			out = append(out, outcome{oracle.Mul(ways, p), oracle.Mul(ways, q)})
			return
		}
		choose := big.NewInt(1) // of the left ones k
		for k := range left + 1 {
			place(i+1, left-k, oracle.Mul(ways, oracle.New().SetInt(choose)), oracle.Mul(p, raisedTo(kept[i].p, k)), oracle.Mul(q, raisedTo(kept[i].q, k)))
			choose.Mul(choose, big.NewInt(left-k))
			choose.Quo(choose, big.NewInt(k+1))
		}
	}
	place(0, n, one, one, one)
	return out, true
}

// raisedTo returns x^n.
func raisedTo(x *big.Float, n int64) *big.Float {
	y := oracle.F(1)
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y = oracle.Mul(y, x)
		}
		x = oracle.Mul(x, x)
	}
	return y
}

// times returns the outcomes of both.
func times(a, b []outcome) ([]outcome, bool) {
	if len(a)*len(b) > mostOutcomes {
		return nil, false
	}
	var out []outcome
	for _, x := range a {
		for _, y := range b {
			out = append(out, outcome{oracle.Mul(x.p, y.p), oracle.Mul(x.q, y.q)})
		}
	}
	return out, true
}

// reversed swaps the data sets.
func reversed(list []outcome) []outcome {
	var out []outcome
	for _, o := range list {
		out = append(out, outcome{o.q, o.p})
	}
	return out
}

// positive returns p − e·q, or 0 if it is not above that. A difference below 2^−280 of p is a tie
// that rounding has missed: e is e^ε of a float64 ε, and what is no tie differs by far more.
func positive(p, e, q *big.Float) *big.Float {
	d := oracle.Sub(p, oracle.Mul(e, q))
	if d.Sign() <= 0 || d.MantExp(nil) < p.MantExp(nil)-280 {
		return oracle.New()
	}
	return d
}

// withOutcomes returns δ of outcomes beside an independent mechanism of a curve: an outcome moves the
// loss by log p/q. A nil curve is of a mechanism that shows nothing.
func withOutcomes(list []outcome, c curve) curve {
	if c == nil {
		return func(eps *big.Float) *big.Float {
			e, sum := oracle.Exp(eps), oracle.New()
			for _, o := range list {
				sum = oracle.Add(sum, positive(o.p, e, o.q))
			}
			return sum
		}
	}
	loss := make([]*big.Float, len(list))
	for i, o := range list {
		if o.p.Sign() > 0 && o.q.Sign() > 0 {
			loss[i] = oracle.Sub(oracle.Log(o.p), oracle.Log(o.q))
		}
	}
	return func(eps *big.Float) *big.Float {
		sum := oracle.New()
		for i, o := range list {
			switch {
			case loss[i] != nil:
				sum = oracle.Add(sum, oracle.Mul(o.p, c(oracle.Sub(eps, loss[i]))))
			case o.p.Sign() > 0:
				sum = oracle.Add(sum, o.p)
			}
		}
		return sum
	}
}
