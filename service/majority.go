package service

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file finds the noise function of a private majority and certifies it.

// MajorityRequest describes the mechanisms, the budget and which noise function is asked
// for: optimal, subsampling, double or constant.
type MajorityRequest struct {
	Mechanisms  int      `json:"mechanisms"`
	Epsilon     float64  `json:"epsilon"`
	Allowance   float64  `json:"allowance"`
	DeltaEach   float64  `json:"delta-each,omitempty"`
	OutputDelta *float64 `json:"output-delta,omitempty"`
	Gamma       string   `json:"gamma,omitempty"`
	Objective   string   `json:"objective,omitempty"` // error, disagreement or common-p
	PriorMean   *float64 `json:"prior-mean,omitempty"`
	Monotone    *bool    `json:"monotone,omitempty"`
	Disjoint    bool     `json:"disjoint-shards,omitempty"`
}

// MajorityAnswer is a noise function with its certificate.
type MajorityAnswer struct {
	Gamma     darrm.Gamma `json:"gamma"`
	Objective float64     `json:"objective"`
	// Gap is how far the objective may be below the largest one, for the optimal gamma.
	Gap       *float64 `json:"gap,omitempty"`
	MaxF      float64  `json:"max-f"`
	BudgetF   float64  `json:"budget-f"`
	Certified bool     `json:"certified"`
	// Error is the expected error of the answer (chosen) and of the other noise
	// functions that keep the same budget.
	Error map[string]float64 `json:"error"`

	// Families are those noise functions, Proof what the certificate is by.
	Families []MajorityFamily `json:"-"`
	Proof    string           `json:"-"`
	Params   darrm.Params     `json:"-"`
}

// MajorityFamily is a noise function with a name.
type MajorityFamily struct {
	Name  string
	Gamma darrm.Gamma
}

func (q MajorityRequest) mean() float64 {
	if q.PriorMean == nil {
		return 0.75
	}
	return *q.PriorMean
}

func (q MajorityRequest) monotone() bool { return q.Monotone == nil || *q.Monotone }

func (q MajorityRequest) parse() (darrm.Params, darrm.Objective, error) {
	p := darrm.Params{Mechanisms: q.Mechanisms, Epsilon: q.Epsilon, Delta: q.DeltaEach, Allowance: q.Allowance}
	if q.OutputDelta == nil {
		p = p.WithDefaultDelta()
	} else {
		p.OutputDelta = *q.OutputDelta
	}
	if err := p.Check(); err != nil {
		return p, nil, q.fault(err)
	}
	switch q.Gamma {
	case "", "optimal", "subsampling", "double", "constant":
	default:
		return p, nil, oneOf("gamma", q.Gamma, "optimal", "subsampling", "double", "constant")
	}
	switch q.Objective {
	case "error", "":
		return p, darrm.Surrogate{Mean: q.mean()}, nil
	case "disagreement":
		return p, darrm.FewestDisagreements{Mean: q.mean()}, nil
	case "common-p":
		return p, darrm.CommonUniform{}, nil
	}
	return p, nil, oneOf("objective", q.Objective, "error", "disagreement", "common-p")
}

func (q MajorityRequest) fault(err error) error {
	return fieldFault(err, "", map[string]string{"delta": "delta-each"})
}

// Check reports what is wrong with the request.
func (q MajorityRequest) Check() error {
	_, _, err := q.parse()
	return err
}

// Majority returns the noise function of a private majority.
func (s *Service) Majority(ctx context.Context, q MajorityRequest) (*MajorityAnswer, error) {
	p, o, err := q.parse()
	if err != nil {
		return nil, err
	}
	a, err := q.answer(ctx, p, o)
	return a, fieldFault(err, "", nil)
}

// answer computes the noise function asked for and those to compare it with.
func (q MajorityRequest) answer(ctx context.Context, p darrm.Params, o darrm.Objective) (*MajorityAnswer, error) {
	a := &MajorityAnswer{Error: map[string]float64{}, Proof: "computed over all corner multisets", Params: p}
	allowance := int(math.Floor(p.Allowance))
	// What the subsampling families are proved to need (docs/darrm.md, Theorem 2).
	needs := func(t int) float64 { return -math.Expm1(float64(t) * math.Log1p(-p.Delta)) }
	sub, double := floats(darrm.Subsampling(p.Mechanisms, allowance)), floats(darrm.DoubleSubsampling(p.Mechanisms, allowance))
	double2 := min(allowance, (p.Mechanisms+1)/2)
	subOK, doubleOK := p.OutputDelta >= needs((allowance+1)/2), p.OutputDelta >= needs(double2)
	best, bestCert, err := darrm.BestConstant(ctx, p)
	if err != nil {
		return nil, err
	}
	fixed, err := darrm.Constant(p.Mechanisms, best)
	if err != nil {
		return nil, err
	}
	var cert darrm.Certificate
	switch {
	case q.Disjoint:
		cert, err = a.disjoint(ctx)
	case q.Gamma == "subsampling":
		cert, err = a.byTheorem(ctx, q.Gamma, sub, subOK)
	case q.Gamma == "double":
		cert, err = a.byTheorem(ctx, q.Gamma, double, doubleOK)
	case q.Gamma == "constant":
		a.Gamma, cert = fixed, bestCert
	default:
		cert, err = a.optimal(ctx, o, q.monotone())
	}
	if err != nil {
		return nil, err
	}
	a.MaxF, a.BudgetF, a.Certified = cert.MaxF, cert.BudgetF, cert.Certified
	if a.Objective, _, err = darrm.Value(o, a.Gamma); err != nil {
		return nil, err
	}
	a.Families = []MajorityFamily{{"chosen", a.Gamma}}
	if subOK {
		a.Families = append(a.Families, MajorityFamily{"subsampling", sub})
	}
	if doubleOK {
		a.Families = append(a.Families, MajorityFamily{"double", double})
	}
	a.Families = append(a.Families, MajorityFamily{"constant", fixed})
	for _, fam := range a.Families {
		// Means of ½ or less have no error objective; the uniform prior stands in.
		mean := q.mean()
		if mean <= 0.5 {
			mean = 0.75
		}
		if a.Error[fam.Name], err = darrm.ExpectedError(fam.Gamma, mean); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// disjoint takes the noise-free majority of mechanisms on disjoint shards: one vote
// moves, so that it is as private as one mechanism.
func (a *MajorityAnswer) disjoint(ctx context.Context) (cert darrm.Certificate, err error) {
	if a.Gamma, err = darrm.Constant(a.Params.Mechanisms, 1); err != nil {
		return cert, err
	}
	a.Proof = "parallel composition: the noise-free majority costs what one mechanism costs"
	one := a.Params
	one.Mechanisms, one.Allowance = 1, 1
	if cert, err = darrm.Certify(ctx, one, darrm.Gamma{1, 1}); err != nil {
		return cert, err
	}
	cert.BudgetF = a.Params.BudgetF()
	cert.Certified, cert.MaxF = true, min(cert.MaxF, cert.BudgetF)
	return cert, nil
}

// byTheorem takes a noise function that is proved, where the budget is enough for that.
func (a *MajorityAnswer) byTheorem(ctx context.Context, name string, g darrm.Gamma, ok bool) (cert darrm.Certificate, err error) {
	if !ok {
		return cert, fault.New("output-delta", "%v is below what gamma %s is proved to need", a.Params.OutputDelta, name)
	}
	a.Gamma, a.Proof = g, "Theorem 2 of docs/darrm.md, for the exact sampler"
	if cert, err = darrm.Certify(ctx, a.Params, g); err != nil {
		return cert, err
	}
	// The floats printed round the exact noise function.
	cert.Certified, cert.MaxF = true, min(cert.MaxF, cert.BudgetF)
	return cert, nil
}

// optimal takes the noise function of the largest objective.
func (a *MajorityAnswer) optimal(ctx context.Context, o darrm.Objective, monotone bool) (darrm.Certificate, error) {
	r, err := darrm.Optimize(ctx, a.Params, o, darrm.Options{Free: !monotone, Progress: func(round int, excess float64) {
		report(ctx, Progress{Note: fmt.Sprintf("round %d, worst constraint %.2g above the budget", round, max(excess, 0))})
	}})
	if err != nil {
		return darrm.Certificate{}, err
	}
	a.Gamma, a.Gap = r.Gamma, &r.Gap
	return r.Certificate, nil
}

// floats is a noise function in floating point.
func floats(exact []*big.Rat, err error) darrm.Gamma {
	if err != nil {
		return nil // Params.Check has been passed
	}
	return darrm.Float64s(exact)
}
