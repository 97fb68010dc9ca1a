package service

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// This file accounts for the labels that an ensemble of teachers gave (PATE). The votes
// are private: of what it returns, only the data-independent ε may be published.

// Ballots are votes.
type Ballots struct {
	Votes    [][]int64 `json:"votes"`            // a row for each query, a column for each class
	Labels   bool      `json:"labels,omitempty"` // or a row for each teacher, a column for each query
	Classes  int       `json:"classes,omitempty" help:"{number} of classes, for --format labels"`
	Teachers int64     `json:"teachers,omitempty" help:"{number} of teachers, if some abstain"`

	// Table stands for Votes where a front end has read them.
	Table *ballots.Votes `json:"-"`
}

// read returns the votes, of the first queries if so many are to be looked at.
func (q Ballots) read(queries *int) (v *ballots.Votes, err error) {
	switch v = q.Table; {
	case v != nil:
	case q.Labels:
		v, err = ballots.FromLabels(q.Votes, q.Classes)
	default:
		v, err = ballots.NewVotes(q.Votes, q.Teachers)
	}
	if err == nil && queries != nil {
		v, err = v.First(*queries)
	}
	return v, err
}

// PateMechanism says what answers votes: a mechanism with its parameters. Parameters that it does not have are refused.
type PateMechanism struct {
	Ballots
	Mechanism  string      `json:"mechanism" one:"gnmax,confident,interactive,lnmax" help:"gnmax, confident, interactive or lnmax"`
	Threshold  *float64    `json:"threshold,omitempty" of:"mechanism=confident!,interactive!" help:"threshold {T} of the check, in votes"`
	Sigma1     *float64    `json:"sigma1,omitempty" of:"mechanism=confident!,interactive!" help:"standard {deviation} of the check's noise, in votes"`
	Sigma2     *float64    `json:"sigma2,omitempty" of:"mechanism=gnmax!,confident!,interactive!" help:"standard {deviation} of the answers' noise, in votes"`
	Gamma      *float64    `json:"gamma,omitempty" of:"mechanism=lnmax!" help:"inverse {scale} of lnmax's noise"`
	Baseline   [][]float64 `json:"baseline,omitempty" of:"mechanism=interactive!"` // the student's scores
	Rounded    *bool       `json:"rounded,omitempty" of:"mechanism=interactive" help:"interactive rounds its statistic to a whole number, which smooth needs"`
	MaxAnswers *int        `json:"max-answers,omitempty" in:"[1, inf)" help:"the {number} of answers after which no query is answered any more, fixed in advance"`

	// Scores stand for Baseline where a front end has read them.
	Scores *ballots.Scores `json:"-" instead:"baseline"`
}

// PateVotes says what was run, and which queries are charged for an answer.
type PateVotes struct {
	PateMechanism
	Queries      *int     `json:"queries,omitempty" help:"look at the first {K} queries only"`
	BaselineKind string   `json:"baseline-kind,omitempty" of:"mechanism=interactive" one:"probs,votes" preset:"probs" help:"what the scores are: probs, or votes (already multiplied by the number of teachers)"`
	Answered     []bool   `json:"answered,omitempty"` // of each query
	Delta        Decimals `json:"delta" in:"(0, 1)" help:"{δ}; for what it cost several with commas between them"`
	Conversion   string   `json:"conversion,omitempty" one:"cks,classic" preset:"cks" help:"from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper"`
	Report       string   `json:"report,omitempty" one:"joint,expected,realised,worst,independent" help:"joint, expected (not a bound), realised, worst or independent (default: realised with --answered; without, joint if there is a check and else worst)"`
	Price        string   `json:"price,omitempty" one:"best,exact,theorem6" help:"bound by which a query is priced: best (from q alone), exact (its law), or theorem6 (the paper's)"`
}

// PateRequest asks for the cost of votes, at some Rényi orders.
type PateRequest struct {
	PateVotes
	Orders []float64 `json:"orders,omitempty"` // 1.5, 2, …, 100 if there are none
	// Caps are not those of a publication: one that ends early would tell of the votes.
	Caps
}

// PateAnswer is the ε of the votes by the report that was asked for.
type PateAnswer struct {
	Delta       float64   `json:"delta"`
	Report      string    `json:"report"`
	Bound       bool      `json:"bound"`
	Guarantee   string    `json:"guarantee"`
	Epsilon     float64   `json:"epsilon"`
	Order       float64   `json:"order"`
	Orders      []float64 `json:"orders"`
	RDP         []float64 `json:"rdp"`
	Independent float64   `json:"data-independent-epsilon"`
	Threshold   []float64 `json:"threshold-rdp"`
	Answer      []float64 `json:"answer-rdp"`
	Answered    float64   `json:"answered"`
	Price       string    `json:"price"`
	// Forward and Reverse are the Rényi totals of the two directions; the second is absent for
	// theorem6.
	Forward []float64 `json:"forward-rdp"`
	Reverse []float64 `json:"reverse-rdp,omitempty"`
	// Exact is, for the price exact, ε at this data set to within an interval: no order enters.
	Exact *PateExact `json:"exact-epsilon,omitempty" py:"exact,mapping"`

	// Head is the line of the report, Lines those of all that are known.
	Head  PateLine   `json:"-"`
	Lines []PateLine `json:"-"`
	Run   *PateRun   `json:"-"`
}

// PateExact is ε from the data set that voted to its neighbours, and back.
type PateExact struct {
	// Adversary says what the interval holds against: fixed-beforehand, votes that do not depend on earlier outputs.
	Adversary string       `json:"adversary"`
	Forward   PateInterval `json:"forward"`
	Reverse   PateInterval `json:"reverse"`
}

// A PateInterval holds the true value.
type PateInterval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// A PateLine is one report. Its order is 0 where none enters.
type PateLine struct {
	Cost           pate.Cost
	Epsilon, Order float64
	Check, Label   float64 // cost of checks and answers at that order
}

// Guarantee says what holds.
func (x PateLine) Guarantee() string {
	switch {
	case x.Cost.ExPost:
		return "ex post"
	case x.Cost.Report == pate.DataIndependent:
		return "an upper bound at every data set"
	case x.Cost.Report == pate.ExpectedNotABound:
		return "none"
	case len(x.Cost.Reverse.Values) == 0:
		return "an upper bound at this data set, to its neighbours and not back"
	}
	return "an upper bound at this data set"
}

// A PateRun is what was run, as it was understood.
type PateRun struct {
	Votes      *ballots.Votes
	Mechanism  string
	Aggregator pate.Aggregator
	Report     pate.Report
	Answered   []bool // nil if it was not told
	Notes      []string
	Ledger     *pate.Ledger

	conversion pate.Conversion
}

// shape checks the parameters of the mechanism.
func (q PateMechanism) shape() error {
	_, err := q.aggregator(1)
	return err
}

// aggregator returns the mechanism. Whether the student is reinforced, above a confidence, costs nothing.
func (q PateMechanism) aggregator(confidence float64) (a pate.Aggregator, err error) {
	switch q.Mechanism {
	case "gnmax":
		a, err = pate.NewGNMax(*q.Sigma2)
	case "lnmax":
		a, err = pate.NewLNMax(*q.Gamma)
	case "confident":
		a, err = pate.NewConfident(*q.Threshold, *q.Sigma1, *q.Sigma2)
	case "interactive":
		a, err = pate.NewInteractive(*q.Threshold, confidence, *q.Sigma1, *q.Sigma2, orZero(q.Rounded))
	}
	return a, err
}

// run reads the votes and what goes with them, and prices every query at the orders.
func (q PateVotes) run(ctx context.Context, orders []float64) (*PateRun, error) {
	a, err := q.aggregator(1)
	if err != nil {
		return nil, err
	}
	r := &PateRun{Mechanism: q.Mechanism, Aggregator: a, Report: pate.Worst, Answered: q.Answered, conversion: pate.Improved}
	if q.Conversion == "classic" {
		r.conversion = pate.Classic
	}
	price := pate.Price(q.Price)
	switch {
	case q.Report != "":
		r.Report = pate.Report(q.Report)
	case q.Answered != nil:
		r.Report = pate.Realised
	case price != pate.Theorem6 && hasCheck(a):
		r.Report = pate.Joint
	}
	if r.Votes, err = q.read(q.Queries); err != nil {
		return nil, err
	}
	if n := r.Votes.Short(); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %d queries have fewer than %d votes", n, r.Votes.Queries(), r.Votes.Teachers()))
	}
	scores := q.Scores
	if q.Baseline != nil {
		if scores, err = ballots.NewScores(q.Baseline, r.Votes.Teachers(), q.BaselineKind == "votes"); err != nil {
			return nil, err
		}
	}
	if scores != nil && q.Queries != nil {
		if scores, err = scores.First(*q.Queries); err != nil {
			return nil, err
		}
	}
	if n := len(r.Answered); r.Answered != nil && n != r.Votes.Queries() {
		return nil, fault.New("answered", "%d are not one for each of %d queries", n, r.Votes.Queries())
	}
	r.Ledger, err = pate.Account(ctx, r.Votes, r.Aggregator, pate.Options{Orders: orders, Price: price, Scores: scores, MaxAnswers: orZero(q.MaxAnswers),
		Progress: progress(ctx)})
	return r, err
}

// orZero is what x points to, or zero.
func orZero[T any](x *T) (v T) {
	if x != nil {
		v = *x
	}
	return v
}

// transcript returns what a report takes of the answered queries.
func (r *PateRun) transcript(report pate.Report) []bool {
	if report == pate.Realised {
		return r.Answered
	}
	return nil
}

// EpsilonOf converts a part of a cost into ε.
func (r *PateRun) EpsilonOf(c pate.Cost, part rdp.Grid, delta float64) (eps, order float64, err error) {
	return c.Epsilon(part, r.conversion, delta)
}

// hasCheck reports whether the aggregator compares votes with a threshold before it answers.
func hasCheck(a pate.Aggregator) bool {
	_, sigma1, _ := a.Parameters()
	return sigma1 > 0
}

// Running returns the cost of the first queries, at several numbers of them.
func (r *PateRun) Running(ctx context.Context, report pate.Report, cuts []int) ([]pate.Cost, error) {
	return r.Ledger.Running(ctx, report, r.transcript(report), cuts)
}

func (r *PateRun) line(ctx context.Context, report pate.Report, delta float64) (PateLine, error) {
	c, err := r.Ledger.Cost(ctx, report, r.transcript(report))
	if err != nil {
		return PateLine{}, err
	}
	x := PateLine{Cost: c}
	if x.Epsilon, x.Order, err = r.EpsilonOf(c, c.Total, delta); err != nil {
		return PateLine{}, err
	}
	switch x.Order {
	case 0:
	case 1: // ε = 0 follows from the total variation distance
		x.Check, x.Label = c.Threshold.Values[0], c.Answer.Values[0]
	default:
		x.Check, x.Label = c.Threshold.RDP(x.Order), c.Answer.RDP(x.Order)
	}
	return x, nil
}

// pate returns what labelling by votes cost. Where no orders are asked for and the best of the
// default ones is the last, it goes on to larger ones.
func (s *Service) pate(ctx context.Context, q PateRequest) (PateAnswer, error) {
	own := q.Orders
	for {
		a, err := q.once(ctx)
		if err != nil || own != nil {
			return a, err
		}
		last := a.Orders[len(a.Orders)-1]
		if a.Order < last || last >= 6400 {
			return a, nil
		}
		// From the order before on, so that the best is not the first.
		from := a.Orders[len(a.Orders)-2]
		q.Orders = nil
		for k := range 48 {
			q.Orders = append(q.Orders, from*math.Pow(8, float64(k)/47))
		}
	}
}

// once is pate at the orders of the request.
func (q PateRequest) once(ctx context.Context) (PateAnswer, error) {
	r, err := q.run(ctx, q.Orders)
	if err != nil {
		return PateAnswer{}, err
	}
	if r.Report == pate.Realised && r.Answered == nil {
		return PateAnswer{}, shape("missing %s, which the realised report needs", "answered")
	}
	delta := q.Delta.float()
	out := PateAnswer{Delta: delta, Run: r, Price: "best"}
	if q.Price != "" {
		out.Price = q.Price
	}
	for _, report := range r.reports(out.Price) {
		x, err := r.line(ctx, report, delta)
		if err != nil {
			return PateAnswer{}, err
		}
		out.Lines = append(out.Lines, x)
		if report == pate.DataIndependent {
			out.Independent = x.Epsilon
		}
	}
	for i, x := range out.Lines {
		if x.Cost.Bound() && x.Epsilon > out.Independent {
			// What holds at every data set holds at this one.
			x = PateLine{Cost: x.Cost, Epsilon: out.Independent}
			out.Lines[i] = x
		}
		if x.Cost.Report == r.Report {
			out.Head = x
		}
	}
	c := out.Head.Cost
	out.Report, out.Bound, out.Guarantee, out.Epsilon, out.Order = string(c.Report), c.Bound(), out.Head.Guarantee(), out.Head.Epsilon, out.Head.Order
	out.Orders, out.RDP, out.Threshold, out.Answer, out.Answered = c.Total.Orders, c.Total.Values, c.Threshold.Values, c.Answer.Values, c.Answered
	out.Forward, out.Reverse = c.Forward.Values, c.Reverse.Values
	if out.Price == string(pate.Exact) {
		f, b, err := r.Ledger.ExactEpsilon(ctx, delta)
		if err != nil {
			return PateAnswer{}, err
		}
		out.Exact = &PateExact{"fixed-beforehand", PateInterval{f[0], min(f[1], out.Independent)}, PateInterval{b[0], min(b[1], out.Independent)}}
	}
	return out, nil
}

// reports lists what is worth a line.
func (r *PateRun) reports(price string) []pate.Report {
	if !hasCheck(r.Aggregator) {
		if r.Report == pate.DataIndependent {
			return []pate.Report{pate.Worst, pate.DataIndependent}
		}
		// Every query is answered, for certain: the reports are one.
		return []pate.Report{r.Report, pate.DataIndependent}
	}
	out := []pate.Report{pate.Worst, pate.ExpectedNotABound, pate.DataIndependent}
	if price != string(pate.Theorem6) || r.Report == pate.Joint { // where it is asked for, it says why it has no price
		out = append([]pate.Report{pate.Joint}, out...)
	}
	if r.Answered != nil {
		out = append([]pate.Report{pate.Realised}, out...)
	}
	return out
}

// What follows publishes an upper bound on the cost of votes. It assumes that order, β, the noise,
// the confidence and δ were fixed without a look at the votes.

// PatePublishRequest asks for a bound on ε that may be published.
type PatePublishRequest struct {
	PateVotes
	Order      float64  `json:"order" help:"Rényi order {λ}"`
	Beta       float64  `json:"beta" help:"smoothness {β}, about one over the distance at which votes still agree"`
	Noise      float64  `json:"noise" help:"standard deviation {s} of the noise on the logarithm of the cost"`
	Confidence *float64 `json:"confidence,omitempty" preset:"0.95" help:"the {probability} that the bound holds"`
	Seed       *uint64  `json:"seed,omitempty" help:"{seed} of the noise, for tests: a known seed gives no privacy"`
	Private    bool     `json:"private,omitempty" help:"print also what depends on the private votes and must not be published"`
}

// PatePublishAnswer is an upper bound on ε, wrong with a probability that was fixed in advance.
// All but Private, which is nil unless it was asked for, may be published.
type PatePublishAnswer struct {
	Epsilon    float64               `json:"published-epsilon" py:"epsilon"`
	Delta      float64               `json:"delta"`
	Confidence float64               `json:"confidence"`
	Order      float64               `json:"order"`
	Beta       float64               `json:"beta"`
	Noise      float64               `json:"noise"`
	RDP        float64               `json:"published-rdp"`
	NoiseCost  float64               `json:"noise-rdp"`
	Statement  string                `json:"statement"`
	Private    *PatePublishedPrivate `json:"not-safe-to-publish,omitempty" py:"private,mapping"`

	Run *PateRun `json:"-"`
}

// PatePublishedPrivate depends on the private votes.
type PatePublishedPrivate struct {
	Cost     float64 `json:"rdp"`
	Smooth   float64 `json:"smooth-bound"`
	Distance int     `json:"distance"`
	Median   float64 `json:"median-epsilon"`
}

// What a published bound promises, and what it does not when its noise can be known.
const (
	pateStatement = "except with probability 1 − confidence over the noise, the labels and this number together are (published-epsilon, delta)-private at the data set that voted; all parameters were fixed before the votes were looked at"
	pateSeeded    = "not to be published: the noise is that of a known seed"
)

// shape reports what a bound that may be published does not depend on.
func (q PatePublishRequest) shape() error {
	extra := given(&q, "answered", "report", "price")
	if q.Conversion == "classic" {
		extra = append(extra, "conversion")
	}
	if len(extra) > 0 {
		return shape("%s is of no use to a bound that may be published", extra[0])
	}
	return q.published()
}

// published checks a request of which one number may be published.
func (q PateVotes) published() error {
	if len(q.Delta) > 1 {
		return fault.New("delta", "%d values are more than the one that is published at", len(q.Delta))
	}
	return q.shape()
}

// seeded is the operating system's randomness, or for tests that of a seed.
func seeded(seed *uint64) rand.Source {
	if seed == nil {
		return nil
	}
	return rand.NewPCG(*seed, 0)
}

// patePublish returns an upper bound on the cost of votes that may be published. Every call
// publishes anew.
func (s *Service) patePublish(ctx context.Context, q PatePublishRequest) (*PatePublishAnswer, error) {
	r, err := q.run(ctx, []float64{q.Order})
	if err != nil {
		return nil, renamed(err, "orders[0]", "order")
	}
	p := pate.Publication{Order: q.Order, Beta: q.Beta, Noise: q.Noise, Confidence: *q.Confidence}
	x, err := r.Ledger.Publish(ctx, p, q.Delta.float(), seeded(q.Seed))
	if err != nil {
		return nil, renamed(err, "orders[0]", "order")
	}
	out := &PatePublishAnswer{Epsilon: x.Epsilon, Delta: q.Delta.float(), Confidence: p.Confidence, Order: p.Order, Beta: p.Beta, Noise: p.Noise, RDP: x.RDP,
		NoiseCost: x.NoiseCost, Statement: pateStatement, Run: r}
	if q.Seed != nil {
		out.Statement = pateSeeded
	}
	if y := x.Private; q.Private {
		out.Private = &PatePublishedPrivate{Cost: y.Cost, Smooth: y.Smooth, Distance: y.Distance, Median: y.Median}
	}
	return out, nil
}

// What follows sanitizes the cost of votes, so that it may be published, as an estimate.
// It assumes that order, β, σ and δ were fixed without a look at the votes.

// PateSmoothRequest asks for a sanitized ε.
type PateSmoothRequest struct {
	PateVotes
	Order    float64  `json:"order" help:"Rényi order {λ}"`
	Beta     float64  `json:"beta" help:"smoothness {β}, about 0.2/λ"`
	Sigma    *float64 `json:"sigma-ss,omitempty" or:"optimise" not:"optimise" help:"noise scale {σ}, in units of the smooth sensitivity"`
	Optimise bool     `json:"optimise,omitempty" with:"private" help:"choose the noise scale from the votes instead; publishes nothing"`
	GNSS     string   `json:"gnss,omitempty" one:"exact,paper" preset:"exact" help:"cost of the noise: exact, or paper (Theorem 23 as printed; publishes nothing)"`
	Seed     *uint64  `json:"seed,omitempty" help:"{seed} of the noise, for tests: a known seed gives no privacy"`
	Private  bool     `json:"private,omitempty" help:"print also what depends on the private votes and must not be published"`
}

// PateSmoothAnswer is a sanitized ε, or why there is none. All but Private, which is nil unless
// it was asked for, and a σ that was optimised may be published.
type PateSmoothAnswer struct {
	Delta   float64       `json:"delta"`
	Order   float64       `json:"order"`
	Beta    float64       `json:"beta"`
	Sigma   float64       `json:"sigma-ss"`
	GNSS    string        `json:"gnss"`
	Report  string        `json:"report"`
	Epsilon *float64      `json:"sanitized-epsilon" py:"epsilon"`
	Why     string        `json:"why-none,omitempty"`
	Private *PatePrivates `json:"not-safe-to-publish,omitempty" py:"private,mapping"`
	IsBound bool          `json:"sanitized-epsilon-is-a-bound"` // never: the noise is symmetric

	Run *PateRun `json:"-"`
}

// PatePrivates depend on the private votes.
type PatePrivates struct {
	Cost     float64 `json:"rdp"`
	GNSSCost float64 `json:"gnss-rdp"`
	Bound    bool    `json:"bound"`
	Fixed    float64 `json:"fixed-epsilon"`
	Smooth   float64 `json:"smooth-sensitivity"`
	Distance int     `json:"distance"`
	StdDev   float64 `json:"noise-standard-deviation"`
}

// shape checks that there is one δ.
func (q PateSmoothRequest) shape() error {
	return q.published()
}

// pateSmooth sanitizes the cost of votes. Every call publishes anew.
func (s *Service) pateSmooth(ctx context.Context, q PateSmoothRequest) (*PateSmoothAnswer, error) {
	if q.Price != "" && q.Price != string(pate.Theorem6) {
		return nil, OneOf("price", q.Price, string(pate.Theorem6))
	}
	q.Price = string(pate.Theorem6)
	r, err := q.run(ctx, []float64{q.Order})
	if err != nil {
		return nil, renamed(err, "orders[0]", "order")
	}
	sens, err := r.Ledger.NewSensitivity(ctx, q.Order, r.Report, r.transcript(r.Report))
	if err != nil {
		return nil, renamed(err, "orders[0]", "order")
	}
	out, err := q.answer(r, sens)
	return out, renamed(err, "rounds[0]", "", "orders[0]", "order")
}

func (q PateSmoothRequest) answer(r *PateRun, s *pate.Sensitivity) (*PateSmoothAnswer, error) {
	ss, distance, err := s.Smooth(q.Beta)
	if err != nil {
		return nil, err
	}
	out := &PateSmoothAnswer{Delta: q.Delta.float(), Order: q.Order, Beta: q.Beta, GNSS: q.GNSS, Report: string(r.Report), Run: r, Sigma: orZero(q.Sigma)}
	p, noise := new(PatePrivates), pate.GNSS{Order: q.Order, Beta: q.Beta}
	if q.Private {
		out.Private = p
	}
	p.Cost, p.Smooth, p.Distance = s.Cost, ss, distance
	if q.Optimise {
		choose := noise.OptimalSigma
		if q.GNSS == "paper" {
			choose = noise.PrintedSigma
		}
		if ss == 0 {
			return nil, fault.New("optimise", "the smooth sensitivity is 0, so that no noise is needed: publish the data-independent ε")
		}
		if out.Sigma, err = choose(ss); err != nil {
			return nil, err
		}
	}
	p.StdDev = ss * out.Sigma
	proved := true
	if q.GNSS == "paper" {
		out.Why = "the cost of the noise is Theorem 23 as printed"
		p.GNSSCost, proved, err = noise.PrintedNotABound(out.Sigma)
	} else {
		p.GNSSCost, err = noise.RDP(out.Sigma)
	}
	if err != nil {
		return nil, err
	}
	p.Bound = proved && s.Bound
	fixed := rdp.Grid{Orders: []float64{q.Order}, Values: []float64{p.Cost + p.GNSSCost}}
	if p.Fixed, _, err = r.conversion.Epsilon(fixed, q.Delta.float()); err != nil {
		return nil, err
	}
	switch {
	case out.Why != "":
	case q.Optimise:
		out.Why = "the noise scale was chosen by looking at the votes"
	case !s.Bound && r.Report == pate.Realised:
		out.Why = "which queries were answered is random, so that their cost is no bound: leave answered out"
	case !s.Bound:
		out.Why = "the expected cost is not a bound"
	default:
		z, err := pate.Sanitize(q.Delta.float(), r.conversion, seeded(q.Seed), pate.Round{Sensitivity: s, Beta: q.Beta, Sigma: out.Sigma})
		if err != nil {
			return nil, err
		}
		out.Epsilon = &z.Epsilon
	}
	return out, nil
}

// What follows finds parameters for a budget on votes that are no secret.

// PateCalibrateRequest asks for the mechanism that answers best within a budget, and perhaps for the parameters of its publication.
type PateCalibrateRequest struct {
	Ballots
	Queries   *int     `json:"queries,omitempty" help:"look at the first {K} queries only"`
	Mechanism string   `json:"mechanism" one:"gnmax,confident" help:"gnmax or confident"`
	Epsilon   Decimals `json:"epsilon" in:"[0.001, 1000]" help:"target {ε}, several with commas between them"`
	Delta     Decimals `json:"delta" in:"(0, 1)" help:"{δ} of the target, several with commas between them"`
	// At every data set.
	Independent *float64 `json:"independent-epsilon,omitempty" in:"[0.001, 4000]" help:"bound of the {ε} at every data set (default: four times epsilon)"`
	Threshold   *float64 `json:"threshold,omitempty" of:"mechanism=confident" in:"(0, inf)" help:"threshold {T} of the check, in votes (default: searched)"`
	Sigma1      *float64 `json:"sigma1,omitempty" of:"mechanism=confident" in:"(0, inf)" help:"standard {deviation} of the check's noise, in votes (default: searched)"`
	MaxAnswers  *int     `json:"max-answers,omitempty" of:"mechanism=confident" in:"[1, inf)" help:"the {number} of answers after which no query is answered any more, fixed in advance"`
	Report      string   `json:"report,omitempty" one:"joint,worst,independent" help:"which ε meets the target: joint or worst at these votes, or independent at every data set (default: joint if there is a check and else worst)"`
	Publish     bool     `json:"publish,omitempty" help:"search order, beta and noise of publish, too"`
	Confidence  *float64 `json:"confidence,omitempty" preset:"0.95" help:"the {probability} that the published bound holds"`

	Caps
}

// PateCalibration is a mechanism within the budget at the votes that were looked at.
type PateCalibration struct {
	Mechanism   string   `json:"mechanism"`
	Threshold   *float64 `json:"threshold,omitempty"`
	Sigma1      *float64 `json:"sigma1,omitempty"`
	Sigma2      float64  `json:"sigma2"`
	Delta       float64  `json:"delta"`
	Report      string   `json:"report"`
	Epsilon     float64  `json:"epsilon"`
	Independent float64  `json:"data-independent-epsilon" py:"independent_epsilon"`
	Answered    float64  `json:"expected-answers"`
	Correct     float64  `json:"expected-correct"`
	Queries     int      `json:"queries"`
	// Publish has the parameters with the least median of the published ε.
	Publish *PatePublishParameters `json:"publish,omitempty"`
	// Condition says what must hold of the votes.
	Condition string `json:"condition"`
}

// PatePublishParameters are fixed before the private votes are looked at.
type PatePublishParameters struct {
	Order      float64 `json:"order"`
	Beta       float64 `json:"beta"`
	Noise      float64 `json:"noise"`
	Confidence float64 `json:"confidence"`
	Median     float64 `json:"median-epsilon"`
}

const pateCalibrated = "the votes must be synthetic or public: parameters that depend on private votes tell of them. On the private votes another ε than the data-independent one is another number"

// pateCalibrate returns the mechanism that answers best within a budget.
func (s *Service) pateCalibrate(ctx context.Context, q PateCalibrateRequest) (*PateCalibration, error) {
	votes, err := q.read(q.Queries)
	if err != nil {
		return nil, err
	}
	delta := q.Delta.float()
	t := pate.Target{Epsilon: q.Epsilon.float(), Delta: delta, Report: pate.Worst, Check: q.Mechanism == "confident",
		Progress: progress(ctx)}
	if t.Check {
		t.Report = pate.Joint
	}
	if q.Report != "" {
		t.Report = pate.Report(q.Report)
	}
	t.Independent, t.Threshold, t.Sigma1, t.MaxAnswers = orZero(q.Independent), orZero(q.Threshold), orZero(q.Sigma1), orZero(q.MaxAnswers)
	l, err := t.Calibrate(ctx, votes)
	if err != nil {
		return nil, err
	}
	out := &PateCalibration{Mechanism: q.Mechanism, Delta: delta, Report: string(t.Report), Queries: votes.Queries(), Condition: pateCalibrated}
	out.Answered, out.Correct = l.Expected()
	r := &PateRun{Ledger: l, conversion: pate.Improved}
	at, err := r.line(ctx, t.Report, delta)
	if err != nil {
		return nil, err
	}
	every, err := r.line(ctx, pate.DataIndependent, delta)
	if err != nil {
		return nil, err
	}
	out.Epsilon, out.Independent = min(at.Epsilon, every.Epsilon), every.Epsilon
	threshold, sigma1, sigma2 := l.Aggregator().Parameters()
	if out.Sigma2 = sigma2; t.Check {
		out.Threshold, out.Sigma1 = &threshold, &sigma1
	}
	if !q.Publish {
		return out, nil
	}
	p, median, err := l.Tune(ctx, delta, *q.Confidence)
	if err != nil {
		return nil, err
	}
	out.Publish = &PatePublishParameters{Order: p.Order, Beta: p.Beta, Noise: p.Noise, Confidence: p.Confidence, Median: median}
	return out, nil
}
