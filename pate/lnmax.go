// LNMax, the Laplace noisy maximum: an answer, the probability that it is not the
// plurality (rounded up), and its costs.

package pate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

type lnMax struct{ gamma float64 }

// NewLNMax returns the noisy maximum with independent Laplace noise of scale 1/gamma: the
// aggregator of Papernot et al., "Semi-supervised knowledge transfer for deep learning from
// private training data" (ICLR 2017), kept for comparison. Each query is 2·gamma
// differentially private.
//
// Its RDP is min(ε, ε²λ/2), ε = 2γ; the tight curve rdp.Pure(2γ) is slightly lower. Its
// LogQ is their Lemma 4, Σ (2 + γΔ)/4·e^{−γΔ} over the other classes. Its DependentRDP is
// their Theorem 3, where q ≤ 1/(e^ε + 1).
func NewLNMax(gamma float64) (NoisyMax, error) {
	if err := checkRange("gamma", gamma, 1e-9, 100); err != nil {
		return nil, err
	}
	return lnMax{gamma}, nil
}

func (l lnMax) String() string { return fmt.Sprintf("lnmax(gamma=%v)", l.gamma) }

// scale is rounded up: more noise costs less.
func (l lnMax) scale() float64 { return xmath.Up(1/l.gamma, 1) }

func (l lnMax) Parameters() (threshold, sigma1, scale float64) { return 0, 0, l.scale() }

func (l lnMax) Label(votes []int64, _ int64, _ []float64, src rand.Source) (Answer, error) {
	return labelMax(votes, l.scale(), random.Laplace, src)
}

func (l lnMax) RDP(order float64) float64 {
	e := 2 * l.gamma
	return xmath.Up(min(e, e*e*order/2), 3)
}

func (l lnMax) LogQ(votes []int64) (float64, error) { return logQ(l, votes) }

func (l lnMax) DependentRDP(logQ, order float64) (float64, error) {
	return dependentRDP(l, logQ, order)
}

func (l lnMax) bound(int64) func(votes []int64) float64 { return l.logQ }

func (l lnMax) logQ(votes []int64) float64 {
	top := argmax(votes)
	terms := make([]float64, 0, len(votes))
	for i, n := range votes {
		if i != top {
			x := l.gamma * float64(votes[top]-n)
			terms = append(terms, xmath.Log((2+x)/4)-x)
		}
	}
	s := xmath.LogSum(terms)
	return min(0, s+u*(16+4*math.Abs(s)))
}

func (l lnMax) theorem6(order float64) func(logQ float64) float64 {
	return func(logQ float64) float64 { return l.upper(logQ, order) }
}

func (l lnMax) fromQ(logQ, _ float64) func(order float64) [2]float64 {
	return func(order float64) [2]float64 { return l.best(logQ, order) }
}

func (l lnMax) laws(h histogram) (winner, bool) { return newLaplaceLaw(h, l.gamma) }

// upper returns the cost at one order of a query whose answer differs
// from the plurality with probability at most e^logQ, at most min(ε, ε²λ/2). It
// bounds D_λ(M(D) ‖ M(D')) for the D that cast the votes.
//
// Theorem: Papernot et al. 2017, Theorem 3, which is Theorem 6 of PATE 2018 at
// infinite orders. Condition: q ≤ 1/(e^ε + 1); beyond it the cap is returned.
func (l lnMax) upper(logQ, order float64) float64 {
	ind := l.RDP(order)
	e := 2 * l.gamma
	// −log(e^ε + 1), lowered by its rounding error.
	limit := -e - math.Log1p(math.Exp(-e))
	limit += 4 * u * limit
	if !(logQ <= limit) {
		return ind
	}
	if math.IsInf(logQ, -1) {
		return 0
	}
	n := order - 1
	c := logQ + e
	a, ea := logSurvivors(order, logQ, c, u*(math.Abs(c)))
	b := logQ + n*e
	v, err := logSumExp(a, ea, b, u*(math.Abs(b)+2*n*e))
	return min(ind, (max(0, v+err)+underflow)/n*(1+2*u)+underflow)
}

// Theorem (the law of the Laplace noisy maximum, without quadrature): between neighbouring
// counts every factor of the density is a polynomial in y = 1 − e^{−(t−l)} with positive
// coefficients, or a power of 1 − y. It returns logarithms of probabilities with their errors.

// With a_j = γn_j, on a piece [l, l+ℓ] of the line without a count inside, a class with a_j ≤ l
// stays below t with probability (1−w) + wy, w = ½e^{a_j−l}, and one above with ½e^{l−a_j}/(1−y);
// the class's own density is ½e^{∓(l−a_i)}(1−y)^{±1}, and dt = dy/(1−y). ∫y^i(1−y)^{−K}dy =
// Σ_j C(K+j−1, j)·Y^{i+j+1}/(i+j+1). All terms are positive, so that the relative error is that
// of the number of operations. Pieces are at most log 2 long, Y ≤ ½, but for the last, where K = 0
// and Y = 1.

// maxPieces bounds the pieces of one law.
const maxPieces = 4096

type laplaceLaw struct {
	h     histogram
	gamma float64
}

func newLaplaceLaw(h histogram, gamma float64) (winner, bool) {
	if span := gamma * float64(h.value[0]-h.value[len(h.value)-1]+2); !(span/math.Ln2+2*float64(len(h.value)+2) < maxPieces) || h.classes() > 300 {
		return nil, false
	}
	return laplaceLaw{h, gamma}, true
}

func (x laplaceLaw) law(m move, counts []int64) (logs, errs []float64) {
	class := map[int64]int{}
	for i, v := range x.h.value {
		class[v] += x.h.class[i]
	}
	if m.from >= 0 {
		class[m.from]--
		class[m.from-1]++
	}
	if m.to >= 0 {
		class[m.to]--
		class[m.to+1]++
	}
	var value []int64 // ascending
	for v, n := range class {
		if n > 0 {
			value = append(value, v)
		}
	}
	slices.Sort(value)
	top := x.h.value[0]
	a, many := make([]float64, len(value)), make([]int, len(value))
	for i, v := range value {
		a[i], many[i] = x.gamma*float64(v-top), class[v]
	}
	out, err := laplaceLogs(a, many)
	for _, v := range counts {
		i, _ := slices.BinarySearch(value, v)
		logs, errs = append(logs, out[i]), append(errs, err)
	}
	return logs, errs
}

// laplaceLogs returns the log of the probability that a class at each of the places a, which
// ascend and have many classes each, has the largest sum of its place and Laplace noise of scale
// 1, and a bound on its absolute error.
func laplaceLogs(a []float64, many []int) (out []float64, err float64) {
	m := 0
	logScale := 0.0
	for i, n := range many {
		m += n
		logScale += float64(n) * (a[0] - a[i] - math.Ln2)
	}
	out = slices.Repeat([]float64{logScale - xmath.Log(float64(m))}, len(a)) // left of all
	pieces := 0
	for k := range a {
		last := k == len(a)-1
		parts := 1
		if !last {
			parts = int(math.Ceil((a[k+1] - a[k]) / math.Ln2 * (1 + 1e-12)))
		}
		for part := range parts {
			l, end := a[k], 1.0
			if !last {
				width := (a[k+1] - a[k]) / float64(parts)
				l += float64(part) * width
				end = -math.Expm1(-width)
			}
			addPiece(out, a, many, k, l, end)
			pieces++
		}
	}
	far := math.Abs(a[0]) + math.Abs(a[len(a)-1])
	return out, u * (float64(m)*(16+8*far) + 600 + float64(pieces))
}

// addPiece adds the piece from l on, right of places 0 … k, to the logarithms.
func addPiece(out, a []float64, many []int, k int, l, end float64) {
	above := 0
	logScale := 0.0
	for i := k + 1; i < len(a); i++ {
		above += many[i]
		logScale += float64(many[i]) * (l - a[i] - math.Ln2)
	}
	// polynomial is the product over the classes below, one of those at skip left out.
	polynomial := func(skip int) []float64 {
		p := []float64{1}
		for i := 0; i <= k; i++ {
			w := math.Exp(a[i]-l) / 2
			n := many[i]
			if i == skip {
				n--
			}
			for range n {
				p = append(p, 0)
				for j := len(p) - 1; j > 0; j-- {
					p[j] = p[j]*(1-w) + p[j-1]*w
				}
				p[0] *= 1 - w
			}
		}
		return p
	}
	integral := func(p []float64, power int) (s float64) {
		for i, c := range p {
			if c > 0 {
				s += c * powerIntegral(i, power, end)
			}
		}
		return s
	}
	for i := range out {
		var add float64
		if i <= k {
			add = logScale + a[i] - l - math.Ln2 + xmath.Log(integral(polynomial(i), above))
		} else {
			add = logScale + xmath.Log(integral(polynomial(-1), above+1))
		}
		out[i] = xmath.LogAdd(out[i], add)
	}
}

// powerIntegral returns ∫_0^end y^i(1−y)^{−power} dy, power ≥ 0, end ≤ ½ unless the power is 0.
func powerIntegral(i, power int, end float64) float64 {
	c := math.Pow(end, float64(i+1)) // C(K+j−1, j)·end^{i+j+1}
	s := c / float64(i+1)
	if power == 0 {
		return s
	}
	for j := 1; ; j++ {
		ratio := float64(power+j-1) / float64(j) * end
		c *= ratio
		t := c / float64(i+j+1)
		s += t
		if ratio < 0.9 && t < 1e-18*s {
			return s
		}
	}
}

// The best bound from q and the law.
//
// For LNMax the likelihood ratio is within e^{±2γ}, S of twotails.go is convex in it and in how much of q is at which
// end: all of q is at one end. Between counts the density of the law is a polynomial with positive coefficients in
// 1 − e^{−t}, times a power, so that it needs no quadrature.
