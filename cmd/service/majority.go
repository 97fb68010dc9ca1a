package service

import (
	"context"
	"fmt"
	"math"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// This file finds the noise function of a private majority and certifies it.

// MajorityRequest describes the mechanisms, the budget and which noise function is asked
// for: optimal, subsampling, double or constant.
type MajorityRequest struct {
	Mechanisms  int      `json:"mechanisms" help:"number {K} of mechanisms"`
	Epsilon     float64  `json:"epsilon" help:"{ε} of every mechanism"`
	Allowance   float64  `json:"allowance" help:"{m}: the answer may cost m times ε"`
	DeltaEach   float64  `json:"delta-each,omitempty" help:"{Δ} of every mechanism"`
	OutputDelta *float64 `json:"output-delta,omitempty" help:"{δ} of the answer (default 1 − (1−Δ)^m)"`
	Gamma       string   `json:"gamma,omitempty" one:"optimal,subsampling,double,constant" preset:"optimal" help:"noise {function}: optimal, subsampling, double or constant"`
	Objective   string   `json:"objective,omitempty" one:"error,disagreement,common-p" preset:"error" help:"what optimal means: error (of votes above ½), disagreement or common-p"`
	PriorMean   *float64 `json:"prior-mean,omitempty" preset:"0.75" help:"{mean} vote probability of the objective"`
	// Prior, in place of the objective, has the error minimised on vectors of vote probabilities drawn from it.
	Prior    []float64 `json:"prior,omitempty" help:"{low,high}: minimise the error itself, averaged over vote probabilities drawn uniformly from between them"`
	Samples  *int      `json:"samples,omitempty" with:"prior" help:"{number} of vectors drawn for --prior, the same every time (default 4000)"`
	Monotone *bool     `json:"monotone,omitempty" preset:"true" help:"let clearer majorities be answered at least as truthfully"`
	Disjoint bool      `json:"disjoint-shards,omitempty" help:"the mechanisms run on disjoint shards of the records"`

	// What each mechanism is private for where they are unlike, or the plan of each of
	// them, in place of epsilon and delta-each; epsilon is then the unit of the allowance.
	VoterEpsilons []float64 `json:"voter-epsilons,omitempty" help:"{ε} of each mechanism, if they are unlike; --epsilon is then the unit of the allowance"`
	VoterDeltas   []float64 `json:"voter-deltas,omitempty" help:"{Δ} of each of them"`
	Plan          PlanText  `json:"plan,omitempty" not:"voter-epsilons" with:"output-delta" help:"plan {file} of each mechanism, a training run (- reads standard input)"`
	Classes       int       `json:"classes,omitempty" help:"{number} of labels that are voted for (default 2)"`
	// Answers, if any, are priced at delta: those for two labels as one mechanism, whatever
	// families are chosen in the light of earlier answers (darrm/repeated.go, Theorem 7); those for
	// more by composing the bound of one answer.
	Answers int      `json:"answers,omitempty" with:"delta" help:"price so {many} answers at --delta: of two labels as one mechanism, of more by composing the bound of one"`
	Delta   Decimals `json:"delta,omitempty" with:"answers" in:"(0, 1)" help:"{δ} of all those answers, several with commas between them"`
	Caps
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
	// Attained is how much of max-f is attained for certain; less where the voters are
	// known by a plan, or are many kinds.
	Attained float64 `json:"attained-f"`
	// So many answers of the majority cost between the two at delta, if asked for.
	EpsilonLower *float64 `json:"epsilon-lower,omitempty"`
	EpsilonUpper *float64 `json:"epsilon-upper,omitempty"`
	// Error is the expected error of the answer (chosen) and of the other noise
	// functions that keep the same budget.
	Error map[string]float64 `json:"error"`

	// Families are those noise functions, Proof what the certificate is by.
	Families []MajorityFamily `json:"-"`
	Proof    string           `json:"-"`
	Answers  int              `json:"-"`
	Params   darrm.Params     `json:"-"`
}

// MajorityFamily is a noise function with a name.
type MajorityFamily struct {
	Name  string
	Gamma darrm.Gamma
}

// special reports that the closed forms are not proved for the request.
func (q MajorityRequest) special() bool {
	return q.VoterEpsilons != nil || q.Plan != nil || q.Classes > 2
}

// voters returns the mechanisms that the request's plan describes.
func (q MajorityRequest) voters(ctx context.Context) ([]darrm.Voters, error) {
	plan, err := q.Plan.parse(ctx)
	if err != nil {
		return nil, err
	}
	a := plan.Accountant()
	if err := a.AddPlan(ctx, plan); err != nil {
		return nil, err
	}
	last, err := a.Epsilon(ctx, voterLeast)
	if err != nil {
		return nil, err
	}
	if !(last.Upper < 600) {
		return nil, fault.New("plan", "costs more than ε = 600 at δ = %g", voterLeast)
	}
	var epsilons, deltas []float64
	for i := range voterPoints {
		epsilons = append(epsilons, max(last.Upper, 1e-6)*float64(i)/(voterPoints-1))
	}
	points, err := a.DeltaCurve(ctx, epsilons)
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		deltas = append(deltas, p.Upper)
	}
	v, err := darrm.Voters{Count: q.Mechanisms}.WithCurve(a.Relation(), epsilons, deltas)
	return []darrm.Voters{v}, err
}

// The curve of a plan that is a voter has so many points, up to the ε of so small a δ.
const (
	voterPoints = 40
	voterLeast  = 1e-12
)

// shape reports which keys do not go together.
func (q MajorityRequest) shape() error {
	switch {
	case q.VoterDeltas != nil && len(q.VoterDeltas) != len(q.VoterEpsilons):
		return shape("%s: must have as many entries as %s", "voter-deltas", "voter-epsilons")
	case q.Prior != nil && len(q.Prior) != 2:
		return fault.New("prior", "has %d entries, must have two: the least and the largest vote probability", len(q.Prior))
	case q.Prior != nil && (q.Classes > 2 || q.Objective != "" && q.Objective != "error" || q.Disjoint):
		return shape("%s: is for two labels and the objective error, without disjoint-shards", "prior")
	case q.Answers < 0:
		return fault.New("answers", "%d is below 0", q.Answers)
	case q.special() && (q.Gamma == "subsampling" || q.Gamma == "double" || q.Disjoint):
		return fault.New("gamma", "%q is not optimal or constant, which voters, a plan or many classes take", q.Gamma)
	}
	return nil
}

// mostSampled bounds the vectors of probabilities that are drawn, times the square of their length: some ten seconds, which no limit of
// time ends.
const mostSampled = 1e10

func (q MajorityRequest) parse() (darrm.Params, darrm.Objective, error) {
	p := darrm.Params{Mechanisms: q.Mechanisms, Epsilon: q.Epsilon, Delta: q.DeltaEach, Allowance: q.Allowance, Classes: q.Classes}
	if q.VoterEpsilons != nil {
		p.Voters = darrm.Group(q.VoterEpsilons, q.VoterDeltas)
		for _, v := range p.Voters {
			p.Delta = max(p.Delta, v.Delta)
		}
	}
	if q.OutputDelta == nil {
		p = p.WithDefaultDelta()
	} else {
		p.OutputDelta = *q.OutputDelta
	}
	if err := p.Check(); err != nil {
		return p, nil, renamed(err, "delta", "delta-each")
	}
	switch {
	case q.Prior != nil:
		o := darrm.TrueError{Low: q.Prior[0], High: q.Prior[1], Samples: 4000, Seed: 1}
		if q.Samples != nil {
			o.Samples = *q.Samples
		}
		if most := int(min(1e6, mostSampled/float64(q.Mechanisms*q.Mechanisms))); o.Samples > most {
			return p, nil, fault.New("samples", "%d of %d mechanisms take too long, most are %d", o.Samples, q.Mechanisms, most)
		}
		return p, o, nil
	case q.Objective == "disagreement":
		return p, darrm.FewestDisagreements{Mean: *q.PriorMean}, nil
	case q.Objective == "common-p":
		return p, darrm.CommonUniform{}, nil
	}
	return p, darrm.Surrogate{Mean: *q.PriorMean}, nil
}

// majority returns the noise function of a private majority.
func (s *Service) majority(ctx context.Context, q MajorityRequest) (*MajorityAnswer, error) {
	p, o, err := q.parse()
	if err != nil {
		return nil, err
	}
	if q.Plan != nil {
		if p.Voters, err = q.voters(ctx); err != nil {
			return nil, err
		}
		if err := p.Check(); err != nil {
			return nil, renamed(err, "delta", "delta-each")
		}
	}
	a, err := q.answer(ctx, p, o)
	if err == nil && q.Answers > 0 {
		err = a.price(ctx, q.Answers, q.Delta.float())
	}
	return a, err
}

// price computes what so many answers cost.
func (a *MajorityAnswer) price(ctx context.Context, answers int, delta float64) error {
	a.Answers = answers
	count := int64(1)
	if a.Params.Classes > 2 {
		count, answers = int64(answers), 1 // composed
	}
	m, err := a.Params.Mechanism(ctx, profiles.AddRemove, a.Gamma, answers, delta)
	if err != nil {
		return err
	}
	total := accountant.New(profiles.AddRemove)
	if err := total.AddBounds(m, count); err != nil {
		return err
	}
	iv, err := total.Epsilon(ctx, delta)
	a.EpsilonLower, a.EpsilonUpper = &iv.Lower, &iv.Upper
	return err
}

// answer computes the noise function asked for and those to compare it with.
func (q MajorityRequest) answer(ctx context.Context, p darrm.Params, o darrm.Objective) (*MajorityAnswer, error) {
	a := &MajorityAnswer{Error: map[string]float64{}, Proof: "computed over all corner multisets", Params: p}
	allowance := int(math.Floor(p.Allowance))
	// What the subsampling families are proved to need (darrm/gamma.go, Theorem 2).
	needs := func(t int) float64 { return -math.Expm1(float64(t) * math.Log1p(-p.Delta)) }
	known := []struct {
		MajorityFamily
		votes int
	}{
		{MajorityFamily{"subsampling", noiseFunction(darrm.Subsampling(p.Mechanisms, allowance))}, (allowance + 1) / 2},
		{MajorityFamily{"double", noiseFunction(darrm.DoubleSubsampling(p.Mechanisms, allowance))}, min(allowance, (p.Mechanisms+1)/2)},
	}
	best, bestCert, err := darrm.BestConstant(ctx, p)
	if err != nil {
		return nil, err
	}
	fixed, err := darrm.Constant(p.Mechanisms, best)
	if err != nil {
		return nil, err
	}
	cert := bestCert
	switch {
	case q.Disjoint:
		cert, err = a.disjoint(ctx)
	case q.Gamma == "constant":
		a.Gamma = fixed
	case q.Gamma == "optimal":
		cert, err = a.optimal(ctx, o, *q.Monotone)
	}
	a.Families = []MajorityFamily{{Name: "chosen"}}
	for _, f := range known {
		proved := !q.special() && p.OutputDelta >= needs(f.votes)
		if proved {
			a.Families = append(a.Families, f.MajorityFamily)
		}
		if q.Gamma == f.Name && !q.Disjoint {
			cert, err = a.byTheorem(ctx, f.MajorityFamily, proved)
		}
	}
	if err != nil {
		return nil, err
	}
	a.MaxF, a.BudgetF, a.Certified = cert.MaxF, cert.BudgetF, cert.Certified
	a.Attained = min(cert.Attained, cert.MaxF)
	sampled, ok := o.(darrm.TrueError)
	if !ok {
		if a.Objective, _, err = p.Value(o, a.Gamma); err != nil {
			return nil, err
		}
	}
	a.Families[0].Gamma = a.Gamma
	a.Families = append(a.Families, MajorityFamily{"constant", fixed})
	for _, fam := range a.Families {
		if ok {
			if a.Error[fam.Name], err = sampled.Average(fam.Gamma); err != nil {
				return nil, err
			}
			a.Objective = 1 - a.Error["chosen"]
			continue
		}
		// Means of ½ or less have no error objective; the uniform prior stands in.
		mean := *q.PriorMean
		if p.Classes > 2 {
			v, best, err := p.Value(o, fam.Gamma)
			if err != nil {
				return nil, err
			}
			a.Error[fam.Name] = (best - v) / 2
			continue
		}
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
func (a *MajorityAnswer) byTheorem(ctx context.Context, f MajorityFamily, ok bool) (cert darrm.Certificate, err error) {
	if !ok {
		return cert, fault.New("output-delta", "%v is below what gamma %s is proved to need", a.Params.OutputDelta, f.Name)
	}
	a.Gamma, a.Proof = f.Gamma, "Theorem 2 of darrm/gamma.go, for the exact sampler"
	if cert, err = darrm.Certify(ctx, a.Params, f.Gamma); err != nil {
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

// noiseFunction is nil on an error, which is none once Params.Check has been passed.
func noiseFunction(g darrm.Gamma, _ error) darrm.Gamma { return g }
