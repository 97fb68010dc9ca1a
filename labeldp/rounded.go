// Unbiased rounding to few labels in front of a randomizer; it costs nothing.

package labeldp

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/profiles"
)

// Rounded puts unbiased randomized rounding in front of a randomizer: a label
// between two of the randomizer's labels is rounded to one of them, such that
// its mean is kept. Bias 0 stays bias 0, and the privacy is that of the
// randomizer. arXiv:2312.05659, unbiased randomized rounding. It is for
// continuous labels, and for more labels than a solver takes.
type Rounded struct{ r *Randomizer }

// NewRounder returns r for all labels between its least and its largest.
// Design r for the prior that [Prior.Rounded] gives.
func NewRounder(r *Randomizer) Rounded { return Rounded{r} }

// Name implements profiles.Mechanism.
func (u Rounded) Name() string { return "rounded-" + u.r.name }

// Pair implements profiles.Mechanism: a mixture of rows is no easier to tell apart
// than the rows.
func (u Rounded) Pair(rel profiles.Relation) (profiles.Profile, error) { return u.r.Pair(rel) }

// neighbours returns the indices around y and the weight of the upper one.
func neighbours(labels []float64, y float64) (i, j int, up float64, err error) {
	n := len(labels)
	if !(y >= labels[0] && y <= labels[n-1]) {
		return 0, 0, 0, fault.New("label", "%v is not in [%v, %v]", y, labels[0], labels[n-1])
	}
	j, ok := slices.BinarySearch(labels, y)
	if ok {
		return j, j, 0, nil
	}
	return j - 1, j, (y - labels[j-1]) / (labels[j] - labels[j-1]), nil
}

// Moments implements Method.
func (u Rounded) Moments(y float64) (bias, mse float64, err error) {
	i, j, up, err := neighbours(u.r.labels, y)
	if err != nil {
		return 0, 0, err
	}
	for _, x := range []struct {
		label, weight float64
	}{{u.r.labels[i], 1 - up}, {u.r.labels[j], up}} {
		b, v, err := u.r.Moments(x.label)
		if err != nil {
			return 0, 0, err
		}
		d := x.label - y
		bias += x.weight * (b + d)
		mse += x.weight * (v + 2*b*d + d*d)
	}
	return bias, mse, nil
}

// Sample implements Method.
func (u Rounded) Sample(y float64, src rand.Source) (float64, error) {
	i, err := u.Round(y, src)
	if err != nil {
		return 0, err
	}
	return u.r.outputs[u.r.SampleIndex(i, src)], nil
}

// Round draws the index of the label that y is rounded to. It is the first half
// of Sample, and private only together with the second.
func (u Rounded) Round(y float64, src rand.Source) (int, error) {
	i, j, up, err := neighbours(u.r.labels, y)
	if err == nil && i != j && random.Coin(random.Source(src), up) {
		i = j
	}
	return i, err
}

// Rounded returns the law of a label of p after unbiased randomized rounding
// to support, which must reach from the least to the largest label.
func (p Prior) Rounded(support []float64) (Prior, error) {
	if err := p.check(); err != nil {
		return Prior{}, err
	}
	ys, _, err := normalizeLabels(support)
	if err != nil {
		return Prior{}, err
	}
	weights := make([]float64, len(ys))
	for n, y := range p.labels {
		i, j, up, err := neighbours(ys, y)
		if err != nil {
			return Prior{}, err
		}
		weights[i] += p.probs[n] * (1 - up)
		weights[j] += p.probs[n] * up
	}
	for i, w := range weights {
		weights[i] = math.Max(w, 0)
	}
	return NewPrior(ys, weights)
}
