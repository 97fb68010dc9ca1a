package shuffler

// One bit by randomized response, where all users report: the price over all values of the others (Lemmas D and E).

import (
	"context"
	"math"
	"sort"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A binary is the law of the number of ones among so many others who hold a one and a zero, and of the victim's message.
type binary struct {
	lie   float64 // 1/(E + 1)
	truth float64
	ones  counts // of those who hold a one
	zeros counts
	last  float64 // the threshold of the last price, where the next one is looked for
}

// counts is a binomial law between two cuts.
type counts struct {
	lo   int64
	mass []float64
	tail []float64 // from the index up
	lost float64   // at most what is cut
	err  float64   // relative, of each mass
}

// newCounts returns Bin(n, p) up to so many standard deviations from its mean. A mass is a product of ratios of neighbours, from the mode on:
// 4 u for each.
func newCounts(n int64, p, q, width float64) counts {
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*q)
	lo := max(0, int64(mean-width*(sd+1)))
	hi := min(n, int64(mean+width*(sd+1))+1)
	c := counts{lo: lo, mass: make([]float64, hi-lo+1), tail: make([]float64, hi-lo+2)}
	mode := min(hi, max(lo, int64(mean)))
	log, err := xmath.LogBinomial(mode, n, p, q)
	c.mass[mode-lo] = math.Exp(log)
	c.err = err + u*(8+4*float64(hi-lo))
	odds := p / q
	for i := mode; i < hi; i++ {
		c.mass[i+1-lo] = c.mass[i-lo] * (float64(n-i) / float64(i+1) * odds)
	}
	for i := mode; i > lo; i-- {
		c.mass[i-1-lo] = c.mass[i-lo] * (float64(i) / float64(n-i+1) / odds)
	}
	for i := len(c.mass) - 1; i >= 0; i-- {
		c.tail[i] = c.tail[i+1] + c.mass[i]
	}
	c.err += u * float64(len(c.mass))
	_, above := xmath.BinomialTail(hi+1, n, p, q)
	_, below := xmath.BinomialTail(n-lo+1, n, q, p)
	c.lost = (above + below) * (1 + 4*u)
	return c
}

func newBinary(epsilon float64, ones, zeros int64, width float64) *binary {
	b := newOnes(epsilon, ones, width)
	b.zeros = newCounts(zeros, b.lie, b.truth, width)
	return b
}

// newOnes returns a law without the others who hold a zero.
func newOnes(epsilon float64, ones int64, width float64) *binary {
	b := &binary{lie: 1 / (math.Exp(epsilon) + 1), truth: 1 / (1 + math.Exp(-epsilon)), last: math.NaN()}
	b.ones = newCounts(ones, b.truth, b.lie, width)
	return b
}

// masses returns f(k−1) and f(k), f the law of the number of ones among the others.
func (b *binary) masses(k int64) (before, at float64) {
	ones, zeros := b.ones.mass, b.zeros.mass
	i := k - b.zeros.lo - b.ones.lo // of ones, for the first of zeros
	from, to := max(0, i-int64(len(ones))+1), min(int64(len(zeros))-1, i-1)
	if j := from - 1; j >= 0 && j < int64(len(zeros)) && i-j == int64(len(ones)) {
		before += zeros[j] * ones[i-j-1]
	}
	if j := to + 1; j >= from && j < int64(len(zeros)) && i == j {
		at += zeros[j] * ones[0]
	}
	if to < from {
		return before, at
	}
	// Sums of two each, as one would wait for the last.
	part := ones[i-to-1 : i-from+1] // of to, reversed: ones[i−j−1] and ones[i−j]
	x := part[len(part)-1]
	for n, m := range zeros[from : to+1] {
		y := part[len(part)-2-n]
		at += m * x
		before += m * y
		x = y
	}
	return before, at
}

// atLeast returns Pr[N ≥ k] less what is cut.
func (b *binary) atLeast(k int64) (p float64) {
	for j, m := range b.zeros.mass {
		i := k - b.zeros.lo - int64(j) - b.ones.lo
		switch {
		case i <= 0:
			p += m * b.ones.tail[0]
		case i < int64(len(b.ones.tail)):
			p += m * b.ones.tail[i]
		}
	}
	return p
}

// price returns δ(α) of a victim with a one against one with a zero, 1 ≤ α: Lemma E,
//
//	δ = (truth − α·lie)·f(t−1) − (α−1)·Pr[N ≥ t]
//
// for the first t with (truth − α·lie)·f(t−1) > (α·truth − lie)·f(t). Each t is a test, so that its probabilities are a line below δ.
func (b *binary) price(alpha float64) value {
	c1, c0 := b.truth-alpha*b.lie, alpha*b.truth-b.lie
	err := b.ones.err + b.zeros.err + u*float64(len(b.zeros.mass)+16)
	lost := (b.ones.lost + b.zeros.lost) * (1 + err)
	if !(c1 > 4*u) {
		return value{above: max(0, c1) + 8*u}
	}
	t := b.threshold(c1, c0)
	before, _ := b.masses(t)
	tail := b.atLeast(t)
	// A term whose sign is misjudged for rounding is at most err of itself; f has no two such terms next to the threshold but for its ends.
	v := value{above: c1*(before*(1+6*err)+lost)*(1+8*u) - (alpha-1)*tail*(1-err)*(1-8*u)}
	v.above += 4 * u * alpha * lost
	p := (tail + b.truth*before) * (1 - err - 8*u)
	q := (tail*(1+err) + b.lie*before*(1+err) + lost) * (1 + 8*u)
	v.below, v.slope = p-alpha*q, alpha*q
	if !(v.below > 0) {
		v.below, v.slope = 0, 0
	}
	return v
}

// maxAtoms bounds the atoms of an attack.
const maxAtoms = 4000

// pair returns the profile of the victim's one against a zero, false if that takes too long. Numbers of ones that are next to each other count
// together where there are many: the adversary does not look at them apart.
func (b *binary) pair() (*profiles.Discrete, bool, error) {
	size := len(b.ones.mass) + len(b.zeros.mass)
	err := 2*(b.ones.err+b.zeros.err) + u*float64(len(b.zeros.mass)+16)
	if lost := b.ones.lost + b.zeros.lost; float64(size)*float64(len(b.zeros.mass)) > 1e7 || lost > err {
		return nil, false, nil
	}
	group := 1 + size/maxAtoms
	atoms := make([]profiles.Atom, 0, size/group+2)
	var p, q float64
	lo := b.ones.lo + b.zeros.lo
	for k := lo; k <= lo+int64(size); k++ {
		before, at := b.masses(k)
		p += b.truth*before + b.lie*at
		q += b.lie*before + b.truth*at
		if (k-lo+1)%int64(group) == 0 || k == lo+int64(size) {
			if p > 0 && q > 0 {
				atoms = append(atoms, profiles.Atom{Loss: xmath.Log(p / q), LogP: xmath.Log(p), LogQ: xmath.Log(q)})
			}
			p, q = 0, 0
		}
	}
	d, problem := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), err, 2*err)
	return d, true, problem
}

// threshold returns the first t at which the victim's one is worth more than α.
func (b *binary) threshold(c1, c0 float64) int64 {
	worth := func(t int64) bool { // monotone, as f is log-concave; where f is cut, beyond the mean
		before, at := b.masses(t)
		if before == 0 && at == 0 {
			return t > b.middle()
		}
		return c1*before > c0*at
	}
	lo := b.ones.lo + b.zeros.lo                                                          // not worth it
	hi := b.ones.lo + b.zeros.lo + int64(len(b.ones.mass)) + int64(len(b.zeros.mass)) + 1 // worth it
	if !math.IsNaN(b.last) {
		at, step := min(hi-1, max(lo+1, int64(b.last))), int64(1)
		if worth(at) {
			for hi = at; hi-step > lo && worth(hi-step); step *= 4 {
				hi -= step
			}
			lo = max(lo, hi-step)
		} else {
			for lo = at; lo+step < hi && !worth(lo+step); step *= 4 {
				lo += step
			}
			hi = min(hi, lo+step)
		}
	}
	hi = lo + int64(sort.Search(int(hi-lo), func(n int) bool { return n > 0 && worth(lo+int64(n)) }))
	b.last = float64(hi)
	return hi
}

func (b *binary) middle() int64 {
	return b.ones.lo + b.zeros.lo + int64(len(b.ones.mass)+len(b.zeros.mass))/2
}

// A cover is a set of laws of which one is at most as safe as each number of ones among the others: showing the bits of all but n − D
// users leaves no more to hide behind (Lemma D).
type cover struct {
	parts []*binary
	// The best attack that was seen, in both orders: a zero against a one among so many ones is a one against a zero among as many zeros.
	orders         [2]*binary
	others         [2]int64 // who hold a one and a zero in it
	epsilon, width float64
}

// turn makes the second order of the attack.
func (c *cover) turn() { c.orders[1] = newBinary(c.epsilon, c.others[1], c.others[0], c.width) }

// newCover covers [0, others] by intervals [m, m + D]: of the others, m ones and others − D − m zeros are left. An interval is as wide as it can
// be with each δ(α) within a factor of 1 + slack of the best attack seen there.
func newCover(ctx context.Context, epsilon float64, others int64, alphas, slack []float64, width float64) (*cover, error) {
	c := &cover{epsilon: epsilon, width: width}
	best := make([]float64, len(alphas))
	try := func(b *binary, ones int64) {
		for i, alpha := range alphas {
			v := b.price(alpha).below
			if i == 0 && (c.orders[0] == nil || v > best[0]) {
				c.orders[0], c.others = b, [2]int64{ones, others - ones}
			}
			best[i] = max(best[i], v)
		}
	}
	few := int64(8)
	if others <= 200 {
		few = others
	}
	for i := int64(0); i <= min(others, few); i++ {
		try(newBinary(epsilon, others-i, i, width), others-i)
	}
	d := int64(float64(others) * slack[0] / 2)
	offset := math.NaN() // of the threshold from the middle
	for hi := others; hi >= 0; {
		zeros := newCounts(others-hi, 1/(math.Exp(epsilon)+1), 1/(1+math.Exp(-epsilon)), width)
		for d = min(d, hi); ; d = d * 3 / 4 {
			b := newOnes(epsilon, hi-d, width)
			b.zeros = zeros
			b.last = math.Round(b.mean() + offset)
			if err := parallel.Spend(ctx, float64(len(b.ones.mass)+len(alphas)*len(b.zeros.mass))/8+10); err != nil {
				return nil, err
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ok := true
			for i, alpha := range alphas {
				ok = ok && b.price(alpha).above <= best[i]*(1+slack[i])
			}
			if ok || d == 0 {
				if d == 0 {
					try(b, hi)
				}
				offset = b.last - b.mean()
				c.parts = append(c.parts, b)
				break
			}
		}
		hi -= d + 1
		d += max(1, d/5)
	}
	return c, nil
}

// mean is the mean number of ones among the others, about.
func (b *binary) mean() float64 {
	return float64(b.ones.lo) + float64(len(b.ones.mass))/2 + float64(b.zeros.lo) + float64(len(b.zeros.mass))/2
}

// price returns δ(α) over all values of the others.
func (c *cover) price(ctx context.Context, alpha float64) (above float64, err error) {
	for _, b := range c.parts {
		if err := parallel.Spend(ctx, float64(len(b.zeros.mass))/8+2); err != nil {
			return 0, err
		}
		above = max(above, b.price(alpha).above)
	}
	return min(1, above), ctx.Err()
}
