package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/rdp"
)

// This file answers for ε at some δ, and for δ at some ε: by the Fourier accountant or by
// Rényi accounting.

// RDPAccountant is the accountant of Rényi differential privacy, which a question may name.
const RDPAccountant = "rdp"

// Method names the accountant that answers: fourier, the default, or rdp for a looser
// upper bound by Rényi accounting. Transform, if given, lets lattices alone answer, with
// the Fourier transform of that library: a second opinion on the first.
type Method struct {
	Accountant string `json:"accountant,omitempty" one:"fourier,rdp" preset:"fourier" help:"{method}: fourier, or rdp for a looser upper bound by Rényi accounting"`
	Transform  string `json:"transform,omitempty" of:"accountant=fourier" one:"gonum,go-dsp" help:"answer by lattices alone, with the Fourier transform of this {library}: gonum or go-dsp, which check each other"`
}

// The libraries of Method.Transform.
const (
	GonumTransform = "gonum"
	GoDSPTransform = "go-dsp"
)

// EpsilonRequest asks for ε at one or several δ.
type EpsilonRequest struct {
	Plan  PlanText `json:"plan"`
	Delta Decimals `json:"delta" in:"[0, 1)" help:"one or several {δ}, with commas between them"`
	// GroupBlackBox asks for an upper bound that knows the plan by the curve of one record alone.
	GroupBlackBox bool `json:"group-black-box,omitempty" of:"accountant=fourier" not:"transform" help:"for persons with several records: a looser upper bound, from the privacy curve of one record alone"`
	Narrowing
	Limits
	Method
	// Certificate asks for the certificate of the answer, at one δ.
	Certificate bool `json:"certificate,omitempty" of:"accountant=fourier" not:"group-black-box"`
}

// DeltaRequest asks for δ at one or several ε.
type DeltaRequest struct {
	Plan    PlanText `json:"plan"`
	Epsilon Decimals `json:"epsilon" in:"[0, inf)" help:"one or several {ε}, with commas between them"`
	Narrowing
	Limits
	Method
}

// Intervals are certified: of ε at each δ, or of δ at each ε.
type Intervals[At any] struct {
	Unit
	Results     []At        `json:"results"`
	Matrix      []MatrixRun `json:"matrix,omitempty"`
	Certificate string      `json:"certificate,omitempty"` // the text of docs/reference/certificates.md, if it was asked for
	// Method is "rdp" or GroupMethod where the upper ends are all that is proved; lower ends are 0 there.
	Method string `json:"method,omitempty"`
}

// EpsilonAnswer has ε at each δ, DeltaAnswer δ at each ε.
type (
	EpsilonAnswer = Intervals[EpsilonAt]
	DeltaAnswer   = Intervals[DeltaAt]
)

// Upper is an upper bound alone.
type Upper struct {
	Upper Number `json:"upper"`
}

// shape reports whether the keys go together.
func (q EpsilonRequest) shape() error {
	if q.Certificate && len(q.Delta) > 1 {
		return fault.New("certificate", "is set beside %d δ, must be asked for one", len(q.Delta))
	}
	return nil
}

// epsilon returns ε at each δ: certified intervals by the Fourier accountant, or upper bounds.
func (s *Service) epsilon(ctx context.Context, q EpsilonRequest) (out EpsilonAnswer, err error) {
	at := q.Delta.floats()
	switch {
	case q.GroupBlackBox:
		return q.group(ctx)
	case q.Accountant == RDPAccountant:
		return bounded(ctx, q.Plan, at, rdp.Epsilon, func(delta Number, b Bounds, of Basis) EpsilonAt { return EpsilonAt{delta, b, of} })
	}
	q.Limits.transform = q.Transform
	out, err = intervals(ctx, q.Plan, q.Limits, q.Narrowing, at, epsilons)
	if err == nil && q.Certificate {
		out.Certificate, err = s.certify(ctx, q, out.Results[0])
	}
	return out, err
}

// delta returns δ at each ε, as epsilon does.
func (s *Service) delta(ctx context.Context, q DeltaRequest) (DeltaAnswer, error) {
	at := q.Epsilon.floats()
	if q.Accountant == RDPAccountant {
		return bounded(ctx, q.Plan, at, rdp.Delta, func(epsilon Number, b Bounds, of Basis) DeltaAt { return DeltaAt{epsilon, b, of} })
	}
	q.Limits.transform = q.Transform
	return intervals(ctx, q.Plan, q.Limits, q.Narrowing, at, deltas)
}

// epsilons asks an accountant for ε at each δ.
func epsilons(ctx context.Context, acct *accountant.Accountant, at []float64) (found []EpsilonAt, err error) {
	points, err := acct.EpsilonCurve(ctx, at)
	for _, p := range points {
		found = append(found, epsilonAt(p.At, p.Interval))
	}
	return found, err
}

// deltas asks an accountant for δ at each ε.
func deltas(ctx context.Context, acct *accountant.Accountant, at []float64) (found []DeltaAt, err error) {
	points, err := acct.DeltaCurve(ctx, at)
	for _, p := range points {
		found = append(found, deltaAt(p.At, p.Interval))
	}
	return found, err
}

// intervals asks an accountant of the plan at each number.
func intervals[At any](ctx context.Context, text PlanText, l Limits, n Narrowing, at []float64, ask func(context.Context, *accountant.Accountant, []float64) ([]At, error)) (out Intervals[At], err error) {
	p, acct, err := l.account(ctx, text, n)
	if err != nil {
		return out, err
	}
	out.Unit = unitOf(p)
	if out.Results, err = ask(ctx, acct, at); err != nil {
		return out, err
	}
	// The wider answer of a request whose time is up is none. The end may not have been told yet.
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		return out, context.DeadlineExceeded
	}
	for _, s := range placed(p.Steps, "steps", 1) {
		if r, ok := s.Mechanism.(matrix.Run); ok {
			m := MatrixRun{Step: s.path, Name: s.Name}
			if err := m.describe(ctx, r); err != nil {
				return out, err
			}
			out.Matrix = append(out.Matrix, m)
		}
	}
	return out, nil
}

// bounded asks the Rényi curve of a plan for a bound at each place.
func bounded[At any](ctx context.Context, text PlanText, at []float64, ask func(rdp.Curve, float64) (float64, float64, error), of func(Number, Bounds, Basis) At) (out Intervals[At], err error) {
	out.Method = RDPAccountant
	plan, err := text.parse(ctx)
	if err != nil {
		return out, err
	}
	out.Neighbors = plan.Neighbors.String()
	curve, err := plan.RDP()
	if err != nil {
		return out, err
	}
	for _, x := range at {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		bound, order, err := ask(curve, x)
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, of(Number(x), boundsOf(0, bound, bound), Basis{Engine: RDPAccountant, Order: Number(order)}))
	}
	return out, nil
}

// OneOf returns the error for a word that is none of the words that a key may have.
func OneOf(key, word string, words ...string) error {
	more := ""
	if best := nearest.Word(word, words); best != "" {
		more = fmt.Sprintf("; did you mean %q?", best)
	}
	return fault.NotOneOf(key, decimal.Show(word), Listing(words, "or"), more)
}

// Listing joins words by commas, the last one by a word.
func Listing(words []string, by string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + by + " " + words[last]
}

// GroupMethod is the name of the bound for persons from the curve of one record.
const GroupMethod = "group privacy of one record's curve"

// group returns upper bounds of ε for persons, from the curve of one record of a plan.
func (q EpsilonRequest) group(ctx context.Context) (out EpsilonAnswer, err error) {
	if err := q.Delta.check("delta", openUnit); err != nil {
		return out, err
	}
	plan, opts, err := q.planned(ctx, q.Plan, q.Narrowing)
	if err != nil {
		return out, err
	}
	out = EpsilonAnswer{Unit: unitOf(plan), Method: GroupMethod}
	for _, delta := range q.Delta.floats() {
		eps, err := plan.GroupEpsilon(ctx, delta, opts...)
		if err != nil {
			return out, err
		}
		out.Results = append(out.Results, epsilonAt(delta, accountant.Interval{Range: accountant.Range{Estimate: eps, Upper: eps}}))
	}
	return out, nil
}

// Certificates: a text with which another program can prove an interval of ε anew. Its form is
// docs/reference/certificates.md; verify/ has a program that reads it. It assumes an answer of the Fourier
// accountant at one δ.

// certifiedTo is by how much of an end, or of .001 if that is more, the ends of a certificate are outside of the answer's. Few runs on rare samples have
// losses that are proved to nine digits in minutes, and to six in a second.
const certifiedTo = 1e-6

// certify returns the certificate of an answer. An end that the recursion over data configurations has found is not claimed: the certificate is
// that of the same question without it, whose upper end follows from the steps one by one. Neither are the last digits of a search's
// upper end, which would take a checker's laws too many losses: it is that of a coarser question. Where no accuracy was asked for, both
// ends are told to certifiedTo only.
func (s *Service) certify(ctx context.Context, q EpsilonRequest, r EpsilonAt) (string, error) {
	head, runs, err := plan.Runs(q.Plan)
	if err != nil {
		return "", err
	}
	text := strings.Join(runs, " ")
	searched := strings.Contains(text, " selection ")
	given := q.Accuracy != ""
	if searched {
		q.Accuracy = "1e-2"
	}
	if searched || r.TheoryGap && q.Recursion != "0" && strings.Contains(text, "-replacement ") {
		q.Recursion, q.Certificate = "0", false
		again, err := s.epsilon(ctx, q)
		if err != nil {
			return "", err
		}
		r = again.Results[0]
	}
	if lower, upper := r.Epsilon.Lower, r.Epsilon.Upper; !given && lower < upper {
		r.Epsilon.Upper = upper + certifiedTo*max(upper, 1e-3)
		if lower > 0 {
			r.Epsilon.Lower = max(0, lower-certifiedTo*max(lower, 1e-3))
		}
	}
	adapts := slices.ContainsFunc(runs, func(run string) bool { return strings.Contains(run, " adaptive units ") })
	if r.TheoryGap || adapts { // what an analyst reaches is not checked
		r.lowerDirection = "none"
	}
	v := Version()
	hex := func(x Number) string { return decimal.Hex(float64(x)) }
	part := func(x Number) string { return hex(max(0, x)) } // of the width; a difference of ends that cross is nothing
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("accountant certificate 3")
	line("version %s", printable(strings.Join(strings.Fields(v.Version+" "+v.Revision), " ")))
	line("neighbors %s", head.Neighbors)
	line("records-per-person %d", head.Records())
	for _, run := range runs {
		line("step %s", run)
	}
	line("delta %s", hex(r.Delta))
	line("lower %s", hex(r.Epsilon.Lower))
	line("upper %s", hex(r.Epsilon.Upper))
	line("direction %s", r.lowerDirection)
	line("engine %s", strings.ReplaceAll(r.Engine, " ", "-"))
	line("contour theta %s period %s frequencies %d", decimal.Hex(r.theta), decimal.Hex(r.period), r.frequencies)
	e := r.ErrorBudget
	line("budget discretization %s quadrature %s truncation %s aliasing %s round-off %s theory-gap %s",
		part(e.Discretization), part(e.Quadrature), part(e.Truncation), part(e.Aliasing), part(e.RoundOff), part(e.TheoryGap))
	line("sha256 %x", sha256.Sum256([]byte(b.String())))
	return b.String(), nil
}

// printable replaces what is not printable ASCII, which a certificate has no other character of, by question marks.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// What follows has what is known of the matrix mechanisms of a plan: what their prices are
// made of. It assumes a plan that can be read, and returns nothing for one without them.

// A MatrixRun is a matrix mechanism of a plan.
type MatrixRun struct {
	Step string `json:"step"` // its place
	Name string `json:"name,omitempty"`
	// Sensitivity holds that of the matrix under the schema, and EffectiveNoise is the
	// noise multiplier over its upper end, rounded; without secret sampling.
	Sensitivity    *Ends   `json:"sensitivity,omitempty"`
	EffectiveNoise *Number `json:"effective-noise-multiplier,omitempty"`
	// Blocks are those of the group that costs most, with cyclic Poisson sampling.
	Blocks     []MatrixBlock `json:"blocks,omitempty"`
	WorstGroup *int          `json:"worst-group,omitempty"`
}

// A MatrixBlock is a number of columns of the same norm.
type MatrixBlock struct {
	Norm           Ends   `json:"norm"`
	EffectiveNoise Number `json:"effective-noise-multiplier"`
	Count          int64  `json:"count"`
}

func (m *MatrixRun) describe(ctx context.Context, r matrix.Run) error {
	bounds := func(s matrix.Sensitivity) (Ends, Number) {
		return Ends{Lower: Number(s.Lower), Upper: Number(s.Upper)}, Number(r.NoiseMultiplier() / s.Upper)
	}
	if !r.Config().Participation.Secret() {
		s, err := r.Sensitivity(ctx)
		if err != nil {
			return err
		}
		b, noise := bounds(s)
		m.Sensitivity, m.EffectiveNoise = &b, &noise
		return nil
	}
	blocks, group, err := r.Blocks(ctx)
	if err != nil || blocks == nil {
		return err
	}
	m.WorstGroup = &group
	for _, x := range blocks {
		b, noise := bounds(x.Norm)
		m.Blocks = append(m.Blocks, MatrixBlock{Norm: b, EffectiveNoise: noise, Count: x.Count})
	}
	return nil
}

// What follows compares the methods of accounting for a plan.

// CompareRequest asks for the ε of a plan at a δ by every method.
type CompareRequest struct {
	Plan  PlanText `json:"plan"`
	Delta Decimals `json:"delta" in:"(0, 1)" help:"one or several {δ} to compare at, with commas between them"`
	Narrowing
	Limits
}

// CompareAnswer has a line for each method.
type CompareAnswer struct {
	Unit
	Delta   Number     `json:"delta"`
	Methods []Compared `json:"methods" py:",return"`
}

// Compared is the ε by one method; Epsilon is nil where it does not apply, and Lower
// where it has no lower end.
type Compared struct {
	Method  string  `json:"method"`
	Kind    string  `json:"kind"`
	Lower   *Number `json:"lower,omitempty"`
	Epsilon *Number `json:"epsilon,omitempty"`
	Theorem string  `json:"theorem"`
	Note    string  `json:"note,omitempty"`
	// Of is the kind as the library has it.
	Of accountant.Kind `json:"-"`
}

// compare returns the ε of a plan by the methods of the literature.
func (s *Service) compare(ctx context.Context, q CompareRequest) (out CompareAnswer, err error) {
	delta := q.Delta.float()
	plan, opts, err := q.planned(ctx, q.Plan, q.Narrowing)
	if err != nil {
		return out, err
	}
	rows, err := plan.Compare(ctx, delta, opts...)
	if err != nil {
		return out, err
	}
	out = CompareAnswer{Unit: unitOf(plan), Delta: Number(delta)}
	for _, r := range rows {
		c := Compared{Method: r.Method, Kind: string(r.Kind), Theorem: r.Theorem, Note: r.Note, Of: r.Kind}
		eps, lower := Number(r.Epsilon), Number(r.Lower)
		if r.Kind != accountant.NotApplicable {
			c.Epsilon = &eps
		}
		if r.Kind == accountant.Certified {
			c.Lower = &lower
		}
		out.Methods = append(out.Methods, c)
	}
	return out, nil
}

// What follows answers what a plan lets the best attacker do.

// RiskRequest asks for a risk at false-positive rates and priors.
type RiskRequest struct {
	Plan           PlanText `json:"plan"`
	FalsePositives Decimals `json:"false-positives,omitempty" in:"[1e-290, 1)" preset:"0.001,0.01,0.1" help:"false-positive {rates}, with commas between them"`
	Priors         Decimals `json:"priors,omitempty" in:"[1e-290, 1)" preset:"0.5,0.1,0.01" help:"prior {probabilities}, with commas between them"`
	Limits
}

// RiskAnswer says what the best attacker can do.
type RiskAnswer struct {
	Unit
	Advantage    RiskValue   `json:"advantage"`
	TruePositive []RiskRate  `json:"true-positive-rate"`
	Bayes        []RiskPrior `json:"bayes-success"`
	TheoryGap    bool        `json:"theory-gap,omitempty"`
	Warnings     []string    `json:"warnings,omitempty"`
}

// RiskValue is a certified measure of an attack.
type RiskValue struct {
	Bounds
	WorstDirection string `json:"worst-direction"`
}

// RiskRate is the true-positive rate at a false-positive rate.
type RiskRate struct {
	FalsePositive Number `json:"false-positive-rate" py:"at"`
	RiskValue
}

// RiskPrior is the probability to guess right at a prior.
type RiskPrior struct {
	Prior Number `json:"prior" py:"at"`
	RiskValue
}

// risk returns a risk whose ends are at least what guessing without the release
// attains: a certified lower end can be a little below.
func (s *Service) risk(ctx context.Context, q RiskRequest) (out RiskAnswer, err error) {
	plan, acct, err := q.account(ctx, q.Plan, Narrowing{})
	if err != nil {
		return out, err
	}
	risk, err := acct.Risk(ctx, q.FalsePositives.floats(), q.Priors.floats())
	if err != nil {
		return out, err
	}
	out = RiskAnswer{Unit: unitOf(plan), TheoryGap: risk.TheoryGap}
	seen := map[string]bool{}
	value := func(v accountant.RiskValue, guess float64) RiskValue {
		for _, w := range v.Warnings {
			if reason := fourier.Reason(w); !seen[reason] {
				seen[reason] = true
				out.Warnings = append(out.Warnings, w)
			}
		}
		return RiskValue{boundsOf(max(v.Lower, guess), max(v.Estimate, guess), max(v.Upper, guess)), v.Direction}
	}
	out.Advantage = value(risk.Advantage, 0)
	for _, v := range risk.TruePositive {
		out.TruePositive = append(out.TruePositive, RiskRate{Number(v.At), value(v, v.At)})
	}
	for _, v := range risk.Bayes {
		out.Bayes = append(out.Bayes, RiskPrior{Number(v.At), value(v, max(v.At, 1-v.At))})
	}
	return out, nil
}

// What follows answers how much Gaussian differential privacy a plan has.

// GDPRequest asks for μ at a tolerance, 1e-10 if left out.
type GDPRequest struct {
	Plan      PlanText `json:"plan"`
	Tolerance Decimals `json:"tolerance,omitempty" in:"[0, 1)" preset:"1e-10" help:"{τ}, what the power of a test may be more than under μ-GDP; several with commas between them"`
	Limits
}

// GDPAnswer has the least μ for which no test has more power than under μ-GDP, plus the
// tolerance.
type GDPAnswer struct {
	Unit
	Tolerance Number `json:"tolerance"`
	Mu        Bounds `json:"mu" py:"*"`
	// Regret is the most by which μ-GDP overstates δ.
	Regret   Upper    `json:"regret"`
	Warnings []string `json:"warnings,omitempty"`
}

// gdp returns μ at a tolerance.
func (s *Service) gdp(ctx context.Context, q GDPRequest) (GDPAnswer, error) {
	tolerance := q.Tolerance.float()
	p, acct, err := q.account(ctx, q.Plan, Narrowing{})
	if err != nil {
		return GDPAnswer{}, err
	}
	g, err := acct.GDP(ctx, tolerance)
	return GDPAnswer{Unit: unitOf(p), Tolerance: Number(tolerance), Mu: rangeOf(g.Mu), Regret: Upper{Number(g.Regret)}, Warnings: g.Warnings}, err
}

// What follows turns a quantity of a plan until a budget of Gaussian differential privacy is met.

// GDPSolveRequest asks for the value of a quantity at which a plan is μ-GDP at the
// tolerance, 1e-10 if left out; or, for Gaussian noise on the whole data set, ρ-zCDP.
type GDPSolveRequest struct {
	Plan      PlanText `json:"plan"`
	Mu        Decimals `json:"mu,omitempty" or:"zcdp" in:"(0, 2000]" help:"{μ} of the budget, several with commas between them"`
	ZCDP      Decimals `json:"zcdp,omitempty" not:"mu,tolerance" in:"(0, 2e6]" help:"{ρ} of the budget, in place of --mu"`
	Tolerance Decimal  `json:"tolerance,omitempty" in:"[0, 1)" help:"{τ}, as of gdp (default 1e-10)"`
	Solve     string   `json:"solve" one:"noise-multiplier,count,rate,batch" help:"quantity to turn: noise-multiplier, count, rate or batch"`
	Step      string   `json:"step,omitempty" help:"{name} or place of the step to turn, such as steps[0] (default: all that have the quantity)"`
	Examples  Decimal  `json:"examples,omitempty" in:"whole [1, 2^53]" help:"{size} of the data set, to turn the batch of Poisson sampling"`
	Limits
}

// GDPSolution has the value, and the μ that is proved of it.
type GDPSolution struct {
	Unit
	Solve     string  `json:"solve"`
	Value     Number  `json:"value" py:",return"`
	Budget    Number  `json:"budget-mu"`
	Tolerance Number  `json:"tolerance"`
	Mu        Bounds  `json:"mu"`
	Settings  []GDPAt `json:"settings,omitempty"`
	// Warnings say that a limit ended the search early.
	Warnings []string `json:"warnings,omitempty"`
}

// GDPAt is the value at one step.
type GDPAt struct {
	Step  string `json:"step"`
	Name  string `json:"name,omitempty"`
	Value Number `json:"value"`
	// Quantity is "epsilon" where the mechanism has that in the place of what was turned.
	Quantity string `json:"quantity,omitempty"`
}

// goal returns the budget and what to turn.
func (q GDPSolveRequest) goal() (g accountant.Goal, mu, tolerance float64, err error) {
	g.Solve, g.Step, g.Examples = cmp.Or(accountant.Quantity(q.Solve), accountant.NoiseMultiplier), q.Step, q.Examples.whole()
	if q.ZCDP != nil {
		mu, err = accountant.MuOfZCDP(q.ZCDP.float())
		return g, mu, 0, err
	}
	if tolerance = 1e-10; q.Tolerance != "" {
		tolerance = q.Tolerance.float()
	}
	return g, q.Mu.float(), tolerance, nil
}

// gdpSolve returns the value at which a plan meets the budget.
func (s *Service) gdpSolve(ctx context.Context, q GDPSolveRequest) (GDPSolution, error) {
	g, mu, tolerance, err := q.goal()
	if err != nil {
		return GDPSolution{}, err
	}
	p, opts, err := q.planned(ctx, q.Plan, Narrowing{})
	if err != nil {
		return GDPSolution{}, err
	}
	if q.ZCDP != nil {
		if _, err := p.SquaredMu(); err != nil {
			return GDPSolution{}, fault.New("zcdp", "is a budget for Gaussian noise on the whole data set (no ρ below the unsampled one exists for a sampled plan; give a budget at ε and δ): %w", err)
		}
	}
	c, err := accountant.CalibrateGDP(ctx, p, g, mu, tolerance, opts...)
	if err != nil {
		return GDPSolution{}, err
	}
	out := GDPSolution{Unit: unitOf(p), Solve: q.Solve, Value: Number(c.Value), Budget: Number(mu), Tolerance: Number(tolerance), Mu: rangeOf(c.Meets.Range), Warnings: c.Meets.Warnings}
	for _, x := range c.Settings {
		out.Settings = append(out.Settings, GDPAt{Step: x.Path, Name: x.Name, Value: Number(x.Value), Quantity: quantityOf(x)})
	}
	return out, nil
}
