// Randomized response for classes that favours the likely ones: RRTop-k and RRWithPrior
// of Ghazi et al.

package labeldp

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
)

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
func RRWithPrior(p Prior, eps float64, top int) (*Randomizer, error) {
	if err := cmp.Or(p.check(), checkEpsilon("epsilon", eps)); err != nil {
		return nil, err
	}
	k := len(p.labels)
	if top < 0 || top > k {
		return nil, fault.New("top", "%d is not in [0, %d]", top, k)
	}
	order := make([]int, k)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.probs[j], p.probs[i]) })
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
		return newRandomizer(name, p.labels, eps, []Atom{{Output: p.labels[order[0]], Weight: 1}}), nil
	case k:
		return onePerLabel(name, p.labels, eps, p.labels), nil
	}
	c, share := 1/(e1+float64(top)), 1/float64(top)
	var atoms []Atom
	for _, j := range order[:top] {
		alone := interval(k, j, j+1)
		rest := slices.Clone(alone)
		for _, i := range order[top:] {
			rest[i] = true
		}
		atoms = append(atoms, Atom{p.labels[j], c * (1 - share), alone}, Atom{p.labels[j], c * share, rest})
	}
	return newRandomizer(name, p.labels, eps, atoms), nil
}
