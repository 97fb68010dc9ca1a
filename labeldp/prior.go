// Priors on labels, checked when they are made; and the ranges of what is accepted.

package labeldp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// Limits on what is accepted. Below minEpsilon outputs are a million label
// ranges wide; above maxEpsilon the smallest probabilities fall under the
// resolution of the exact sampler, and a randomizer of maxEpsilon differs from
// it by less than 1e-12. More than MaxLabels labels should be coarsened first,
// see [NewRounder].
const (
	minEpsilon = 1e-6
	maxEpsilon = 28
	MaxLabels  = 500
)

// maxMagnitude bounds labels and their range, so that squares stay finite.
const maxMagnitude = 1e100

// A Prior is a distribution on finitely many labels, ascending and distinct.
// Its zero value is not valid; use [NewPrior].
type Prior struct {
	labels, probs []float64

	known *known
}

func newPrior(labels, probs []float64) Prior { return Prior{labels, probs, &known{}} }

// A known is the optimum of a prior for the ε that was last asked for. A report
// needs it up to three times, and it takes seconds for hundreds of labels.
type known struct {
	lock  sync.Mutex
	eps   float64 // 0: none
	found any     // an optimum
}

// NewPrior returns the prior proportional to the weights, non-negative and at least one
// of them positive; weights nil is the uniform prior on the distinct labels. Labels may
// come in any order; the weights of duplicates are added up.
func NewPrior(labels, weights []float64) (Prior, error) {
	if weights == nil {
		return uniform(labels)
	}
	if len(labels) != len(weights) {
		return Prior{}, fault.New("weights", "has %d entries, must have as many as labels (%d)", len(weights), len(labels))
	}
	ys, at, err := normalizeLabels(labels)
	if err != nil {
		return Prior{}, err
	}
	top := 0.0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return Prior{}, fault.New(fmt.Sprintf("weights[%d]", i), "%v is not in [0, ∞)", w)
		}
		top = max(top, w)
	}
	if top == 0 {
		return Prior{}, fault.New("weights", "all are 0, at least one must be above 0")
	}
	sums := make([]xmath.Sum, len(ys))
	var total xmath.Sum
	for i, w := range weights {
		sums[at[i]].Add(w / top)
		total.Add(w / top)
	}
	ps := make([]float64, len(ys))
	for i := range ps {
		ps[i] = sums[i].Value() / total.Value()
	}
	return newPrior(ys, ps), nil
}

// uniform returns the uniform prior on the distinct labels.
func uniform(labels []float64) (Prior, error) {
	ys, _, err := normalizeLabels(labels)
	if err != nil {
		return Prior{}, err
	}
	return newPrior(ys, slices.Repeat([]float64{1 / float64(len(ys))}, len(ys))), nil
}

// Labels returns the labels, ascending. The slice must not be modified.
func (p Prior) Labels() []float64 { return p.labels }

// Probs returns the probabilities, in the order of Labels. The slice must not
// be modified.
func (p Prior) Probs() []float64 { return p.probs }

// mix returns (1−γ)p + γ·uniform. A floor under the prior costs no privacy and
// keeps the variance of labels that a noisy histogram has lost from growing by
// up to e^ε.
func (p Prior) mix(gamma float64) (Prior, error) {
	if !(gamma >= 0 && gamma <= 1) {
		return Prior{}, fault.New("floor", "%v is not in [0, 1]", gamma)
	}
	if err := p.check(); err != nil {
		return Prior{}, err
	}
	ps := make([]float64, len(p.probs))
	for i, x := range p.probs {
		ps[i] = (1-gamma)*x + gamma/float64(len(ps))
	}
	return newPrior(p.labels, ps), nil
}

func (p Prior) check() error {
	if len(p.labels) == 0 {
		return fault.New("prior", "is empty, must have at least one label")
	}
	return nil
}

// normalizeLabels returns the distinct labels ascending, and for each input the
// index of its label.
func normalizeLabels(labels []float64) (ys []float64, at []int, err error) {
	if len(labels) == 0 {
		return nil, nil, fault.New("labels", "is empty, must have at least one label")
	}
	for i, y := range labels {
		if !(math.Abs(y) <= maxMagnitude) {
			return nil, nil, fault.New(fmt.Sprintf("labels[%d]", i), "%v is not in [-1e100, 1e100]", y)
		}
	}
	at = make([]int, len(labels))
	for _, i := range xmath.Order(len(labels), func(i, j int) int { return cmp.Compare(labels[i], labels[j]) }) {
		y := labels[i] + 0 // −0 becomes 0
		if n := len(ys); n == 0 || y != ys[n-1] {
			ys = append(ys, y)
		}
		at[i] = len(ys) - 1
	}
	if len(ys) > MaxLabels {
		return nil, nil, fault.New("labels", "%d distinct labels is not in [1, %d]: round the labels to fewer first (NewRounder)", len(ys), MaxLabels)
	}
	if r := ys[len(ys)-1] - ys[0]; len(ys) > 1 && r < 1/maxMagnitude {
		return nil, nil, fault.New("labels", "range %v is not in [1e-100, 2e100]", r)
	}
	return ys, at, nil
}

func checkEpsilon(eps float64) error {
	if !(eps >= minEpsilon && eps <= maxEpsilon) {
		return fault.New("epsilon", "%v is not in [%v, %v]", eps, float64(minEpsilon), float64(maxEpsilon))
	}
	return nil
}

// Everything that can be compared at one ε.

// Methods returns everything that can be compared at one ε on a prior: the
// optimal unbiased randomizer and its certificate, then the baselines of
// arXiv:2312.05659 and [RPWithPrior], unbiased ones first. Discrete noise is left out if the
// labels have no common step. Once ctx is done, the error is that of ctx.
func Methods(ctx context.Context, p Prior, eps float64) ([]Method, Certificate, error) {
	opt, cert, err := OptimalUnbiased(ctx, p, eps)
	if err != nil {
		return nil, cert, err
	}
	ms := []Method{opt}
	add := func(m Method, e error) {
		if err == nil && e == nil {
			ms = append(ms, m)
		} else if err == nil {
			err = e
		}
	}
	ys := p.labels
	add(DebiasedRR(ys, eps))
	add(TwoPoint(ys, eps))
	add(NewAdditive(ys, eps, Noise{}))
	add(NewAdditive(ys, eps, Noise{Staircase: true}))
	step, lattice := latticeStep(ys)
	if lattice {
		add(NewAdditive(ys, eps, Noise{Discrete: true, Step: step}))
		add(NewAdditive(ys, eps, Noise{Discrete: true, Step: step, Staircase: true}))
	}
	add(NewAdditive(ys, eps, Noise{Clipped: true}))
	if lattice {
		add(NewAdditive(ys, eps, Noise{Discrete: true, Step: step, Clipped: true}))
	}
	add(RandomizedResponse(ys, eps))
	add(RROnBins(p, eps))
	add(RPWithPrior(p, eps, 0))
	if err != nil {
		return nil, cert, err
	}
	return ms, cert, nil
}
