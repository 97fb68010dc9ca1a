package service

import (
	"context"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/labeldp"
)

// This file designs the randomizer of private labels that has the least loss.

// LabelRequest has the privacy of one label and the prior: a weight for each label.
type LabelRequest struct {
	Epsilon float64   `json:"epsilon"`
	Labels  []float64 `json:"labels"`
	Weights []float64 `json:"weights"`
	Grid    int       `json:"grid,omitempty"` // so many outputs, evenly spaced
	Bias    *float64  `json:"bias,omitempty"` // allowed, with a grid

	// Prior stands for Labels and Weights where a door has read one.
	Prior *labeldp.Prior `json:"-"`
}

// LabelAnswer is a randomizer with its certificate, and what other methods would lose.
type LabelAnswer struct {
	Epsilon       float64             `json:"epsilon"`
	Labels        []float64           `json:"labels"`
	Prior         []float64           `json:"prior"`
	Loss          map[string]float64  `json:"loss"`
	Bias          map[string]float64  `json:"max-bias"`
	Gap           float64             `json:"gap"`
	Certificate   labeldp.Certificate `json:"certificate"`
	Outputs       []float64           `json:"outputs"`
	Probabilities [][]float64         `json:"probabilities"`
	Tau           float64             `json:"tau"`
	WorstPair     [2]float64          `json:"worst-pair"`

	// Methods are the names of Loss and Bias, the randomizer's own first.
	Methods    []string            `json:"-"`
	Randomizer *labeldp.Randomizer `json:"-"`
}

// Check reports what is wrong with the request but for the prior.
func (q LabelRequest) Check() error {
	switch {
	case q.Bias != nil && q.Grid == 0:
		return fault.New("grid", "is 0, must be at least 2 with a bias")
	case q.Prior == nil && len(q.Labels) == 0:
		return fault.New("labels", "is missing; must be a list of two labels or more")
	case len(q.Labels) != len(q.Weights):
		return fault.New("weights", "%d are not one for each of %d labels", len(q.Weights), len(q.Labels))
	}
	return nil
}

// Label designs a randomizer.
func (s *Service) Label(ctx context.Context, q LabelRequest) (*LabelAnswer, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if q.Prior == nil {
		p, err := labeldp.NewPrior(q.Labels, q.Weights)
		if err != nil {
			return nil, fieldFault(err, "", nil)
		}
		q.Prior = &p
	}
	a, err := design(ctx, *q.Prior, q.Epsilon, q.Grid, q.Bias)
	return a, fieldFault(err, "", nil)
}

func design(ctx context.Context, p labeldp.Prior, eps float64, grid int, bias *float64) (*LabelAnswer, error) {
	methods, cert, err := labeldp.Methods(ctx, p, eps)
	if err != nil {
		return nil, err
	}
	chosen := methods[0].(*labeldp.Randomizer)
	if grid != 0 {
		outputs, err := labeldp.FeasibleGrid(p.Labels(), eps, grid)
		if err != nil {
			return nil, fieldFault(err, "", map[string]string{"n": "grid"})
		}
		if bias != nil {
			chosen, cert, err = labeldp.BiasLimited(ctx, p, eps, *bias, outputs)
		} else {
			chosen, cert, err = labeldp.OptimalUnbiasedGrid(ctx, p, eps, outputs)
		}
		if err != nil {
			return nil, err
		}
		methods = append([]labeldp.Method{chosen}, methods...)
	}
	r := &LabelAnswer{Epsilon: eps, Labels: p.Labels(), Prior: p.Probs(), Loss: map[string]float64{}, Bias: map[string]float64{},
		Gap: cert.RelGap, Certificate: cert, Outputs: chosen.Outputs(), Tau: chosen.Tau(), Randomizer: chosen}
	r.WorstPair[0], r.WorstPair[1] = chosen.WorstPair()
	for i := range p.Labels() {
		r.Probabilities = append(r.Probabilities, chosen.Row(i))
	}
	for _, m := range methods {
		name := LabelMethod(m)
		loss, err := labeldp.HalfLoss(m, p)
		if err != nil {
			return nil, err
		}
		worst := 0.0
		for _, y := range p.Labels() {
			b, _, err := m.Moments(y)
			if err != nil {
				return nil, err
			}
			worst = max(worst, math.Abs(b))
		}
		r.Loss[name], r.Bias[name] = loss, worst
		r.Methods = append(r.Methods, name)
	}
	return r, nil
}

// LabelMethod is the name of a method in answers.
func LabelMethod(m labeldp.Method) string {
	return strings.TrimSuffix(strings.Replace(m.Name(), "optimal-unbiased", "optimal", 1), "-unbiased")
}
