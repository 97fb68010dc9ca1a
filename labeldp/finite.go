// Randomizers in closed form: randomized response, debiased and on bins, and the two-
// point mechanism.

package labeldp

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

func setUp(labels []float64, eps float64) ([]float64, error) {
	ys, _, err := normalizeLabels(labels)
	return ys, cmp.Or(err, checkEpsilon(eps))
}

// RandomizedResponse returns ε-DP randomized response: the label itself with
// probability e^ε/(e^ε + k − 1), otherwise another one, uniformly. It is biased.
// arXiv:2312.05659, Definition 21.
func RandomizedResponse(labels []float64, eps float64) (Randomizer, error) {
	ys, err := setUp(labels, eps)
	if err != nil {
		return nil, err
	}
	return onePerLabel("randomized-response", ys, eps, ys), nil
}

// DebiasedRR returns randomized response with its outputs moved so that each
// label is the mean of what it is turned into. It is the optimal unbiased
// randomizer for two labels, and for every prior without zeros above a finite
// ε. arXiv:2312.05659, Definition 23.
func DebiasedRR(labels []float64, eps float64) (Randomizer, error) {
	ys, err := setUp(labels, eps)
	if err != nil {
		return nil, err
	}
	e1 := math.Expm1(eps)
	out := make([]float64, len(ys))
	for i, y := range ys {
		var s xmath.Sum
		s.Add(y)
		for _, z := range ys {
			s.Add((y - z) / e1)
		}
		out[i] = s.Value()
	}
	return onePerLabel("debiased-rr", ys, eps, out), nil
}

func onePerLabel(name string, ys []float64, eps float64, out []float64) *randomizer {
	k := len(ys)
	if k == 1 {
		return identity(name, ys, eps)
	}
	atoms := make([]atom, k)
	for i := range ys {
		atoms[i] = atom{out[i], 1 / (float64(k) + math.Expm1(eps)), interval(k, i, i+1)}
	}
	return newRandomizer(name, ys, eps, atoms)
}

// minimalRange returns the outputs lo and hi such that an ε-DP unbiased
// randomizer exists on a set of outputs if and only if the set reaches down to
// lo and up to hi: R/(e^ε − 1) beyond the labels, for a label range R.
//
// (The largest output U of such a randomizer has U − y_1 ≤ e^ε (U − y_k), which
// is a sharp form of Proposition 7 of arXiv:2312.05659.) A grid that ends exactly
// there admits the two-point mechanism alone; a useful one extends beyond.
func minimalRange(ys []float64, eps float64) (lo, hi float64) {
	lo, hi = ys[0], ys[len(ys)-1]
	margin := (hi - lo) / math.Expm1(eps)
	return lo - margin, hi + margin
}

// TwoPoint returns the unbiased randomizer with only two outputs, the ends of
// minimalRange: unbiased rounding to the extreme labels, then debiased
// randomized response on these two. It is nearly optimal for small ε, whatever
// the prior. (From the proof of Proposition 7 of arXiv:2312.05659.)
func TwoPoint(labels []float64, eps float64) (Randomizer, error) {
	const name = "two-point"
	ys, err := setUp(labels, eps)
	if err != nil {
		return nil, err
	}
	k := len(ys)
	if k == 1 {
		return identity(name, ys, eps), nil
	}
	lo, hi := minimalRange(ys, eps)
	var atoms []atom
	// Weights fall along the labels at lo as 1/(e^ε + 1) is shared out in
	// proportion to the gaps between them.
	for j := 1; j < k; j++ {
		c := (ys[j] - ys[j-1]) / (ys[k-1] - ys[0]) / (1 + math.Exp(eps))
		atoms = append(atoms, atom{lo, c, interval(k, 0, j)}, atom{hi, c, interval(k, j, k)})
	}
	return newRandomizer(name, ys, eps, atoms), nil
}

// RROnBins returns randomized response on bins of neighbouring labels, each bin
// with its best output: the ε-DP randomizer of least half-loss under the prior
// when bias is allowed (Ghazi et al., ICLR 2023), found by dynamic programming
// over the bins. It is biased, and cannot be debiased: labels of one bin share
// one output law. arXiv:2312.05659, Definition 22.
func RROnBins(p Prior, eps float64) (Randomizer, error) {
	const name = "rr-on-bins"
	if err := cmp.Or(p.check(), checkEpsilon(eps)); err != nil {
		return nil, err
	}
	ys, k, e1 := p.labels, len(p.labels), math.Expm1(eps)
	if k == 1 {
		return identity(name, ys, eps), nil
	}
	// Centred and scaled labels, so that the cost S₂ − S₁²/W does not cancel.
	var mean xmath.Sum
	for i, y := range ys {
		mean.Add(p.probs[i] * y)
	}
	m0, sc := mean.Value(), ys[k-1]-ys[0]
	cumP, cumM, cumQ := make([]float64, k+1), make([]float64, k+1), make([]float64, k+1)
	for i, y := range ys {
		x := (y - m0) / sc
		cumP[i+1], cumM[i+1], cumQ[i+1] = cumP[i]+p.probs[i], cumM[i]+p.probs[i]*x, cumQ[i]+p.probs[i]*x*x
	}
	bin := func(i, j int) (value, cost float64) {
		w := 1 + e1*(cumP[j]-cumP[i])
		s1 := cumM[k] + e1*(cumM[j]-cumM[i])
		s2 := cumQ[k] + e1*(cumQ[j]-cumQ[i])
		return s1 / w, (s2 - s1*s1/w) / 2
	}
	// best[d][j]: the least cost of labels 0..j−1 in d bins, from[d][j] its last cut.
	best := make([][]float64, k+1)
	from := make([][]int, k+1)
	for d := range best {
		best[d], from[d] = slices.Repeat([]float64{math.Inf(1)}, k+1), make([]int, k+1)
	}
	best[0][0] = 0
	bestD, bestLoss := 0, math.Inf(1)
	for d := 1; d <= k; d++ {
		for j := d; j <= k; j++ {
			for i := d - 1; i < j; i++ {
				if _, c := bin(i, j); best[d-1][i]+c < best[d][j] {
					best[d][j], from[d][j] = best[d-1][i]+c, i
				}
			}
		}
		if g := best[d][k] / (float64(d) + e1); g < bestLoss {
			bestD, bestLoss = d, g
		}
	}
	var atoms []atom
	for d, j := bestD, k; d > 0; d, j = d-1, from[d][j] {
		i := from[d][j]
		v, _ := bin(i, j)
		a := atom{Output: m0 + sc*v, Weight: 1 / (float64(bestD) + e1), Up: interval(k, i, j)}
		if bestD == 1 {
			a.Weight, a.Up = 1, nil
		}
		atoms = append(atoms, a)
	}
	return newRandomizer(name, ys, eps, atoms), nil
}

// Randomized response for classes that favours the likely ones: RRTop-k and RRWithPrior
// of Ghazi et al.

// RRWithPrior returns randomized response on the top most likely labels of the prior: one
// of them is kept with probability e^ε/(e^ε + top − 1) and otherwise exchanged for another
// one of them; a label that is none of them becomes one of them, uniformly (RRTop-k). With
// top 0 it is the number for which the label is kept most often, and no ε-DP randomizer
// keeps labels more often: Ghazi, Golowich, Kumar, Manurangsi and Zhang, "Deep Learning
// with Label Differential Privacy" (NeurIPS 2021), Algorithms 2 and 3, Theorem 3.
//
// It is for classes, whose labels are mere numbers of theirs: its half-loss says nothing,
// and it is biased.
//
// ε-DP under replacement of one label: the column of an output j is e^ε c for j, c for the
// other top labels and 1/top for the rest, with c = 1/(e^ε + top − 1). That is
// 1 − 1/top of the staircase column of {j}, and 1/top of that of j and the rest.
func RRWithPrior(p Prior, eps float64, top int) (Randomizer, error) {
	if err := cmp.Or(p.check(), checkEpsilon(eps)); err != nil {
		return nil, err
	}
	k := len(p.labels)
	if top < 0 || top > k {
		return nil, fault.New("top", "%d is not in [0, %d]", top, k)
	}
	order := xmath.Order(k, func(i, j int) int { return cmp.Compare(p.probs[j], p.probs[i]) })
	e1 := math.Expm1(eps)
	name := "rr-top-k"
	if top == 0 {
		name = "rr-with-prior"
		sum, best := 0.0, -1.0
		for n, i := range order {
			// The share kept, e^ε/(e^ε + n)·Σ p, but for a factor.
			sum += p.probs[i]
			if kept := sum / (1 + e1 + float64(n)); kept > best {
				best, top = kept, n+1
			}
		}
	}
	switch top {
	case 1:
		return newRandomizer(name, p.labels, eps, []atom{{Output: p.labels[order[0]], Weight: 1}}), nil
	case k:
		return onePerLabel(name, p.labels, eps, p.labels), nil
	}
	c, share := 1/(e1+float64(top)), 1/float64(top)
	var atoms []atom
	for _, j := range order[:top] {
		alone := interval(k, j, j+1)
		rest := slices.Clone(alone)
		for _, i := range order[top:] {
			rest[i] = true
		}
		atoms = append(atoms, atom{p.labels[j], c * (1 - share), alone}, atom{p.labels[j], c * share, rest})
	}
	return newRandomizer(name, p.labels, eps, atoms), nil
}

// The best randomizer of classes.
//
// RRWithPrior (Ghazi, Golowich, Kumar, Manurangsi and Zhang, NeurIPS 2021) is for labels that are names:
// randomized response on the most likely classes, as many of them as keep most labels unchanged. No ε-DP randomizer
// keeps more (Theorem 3 there; TestRRWithPrior compares with a linear program over all of them). As staircase
// columns: output j is 1 − 1/k of the column of {j} and 1/k of that of j and the classes that are no output.
