// What a noise function is judged by when the votes are for one of many labels.

package darrm

import "github.com/dpaccountant/accountant/internal/fault"

// Value returns the objective of g for the problem's number of classes, and that of the
// noise-free majority. For more than two classes Σ c_l γ(l) is twice what the probability of
// the right answer, with votes of Mean for it, has beyond one drawn uniformly.
func (p Params) Value(o Objective, g Gamma) (value, best float64, err error) {
	if o, err = p.forLabels(o); err != nil {
		return 0, 0, err
	}
	return Value(o, g)
}

// labelAccuracy is the surrogate objective for many labels: a mechanism votes for the right
// label with probability mean and for every other one alike. Σ c_l γ(l) is twice what the
// probability of the right answer has beyond 1/C.
type labelAccuracy struct {
	mean   float64
	labels int
}

func (o labelAccuracy) check() error {
	if !(o.mean > 1/float64(o.labels) && o.mean <= 1) {
		return fault.New("prior-mean", "%v is not in (1/%d, 1]", o.mean, o.labels)
	}
	return nil
}

func (o labelAccuracy) weights(k int) ([]float64, error) {
	wrong := (1 - o.mean) / float64(o.labels-1)
	a, b := binomial(k, coin{o.mean, 1 - o.mean}), binomial(k, coin{wrong, 1 - wrong})
	c := make([]float64, free(k))
	for j := range c {
		c[j] = 2 * (1 - 1/float64(o.labels)) * (a[half(k)+j] - b[half(k)+j])
	}
	return c, o.check()
}

// forLabels returns the objective of the problem's labels.
func (p Params) forLabels(o Objective) (Objective, error) {
	if p.Classes <= 2 {
		return o, nil
	}
	s, ok := o.(Surrogate)
	if !ok {
		return nil, fault.New("objective", "must be error (Surrogate) for %d classes", p.Classes)
	}
	return labelAccuracy{s.Mean, p.Classes}, nil
}
