package accountant

// A plan by the methods of the literature, each a formula over single runs, beside the certified
// interval. It assumes a plan that the accountant takes; a method that has nothing for a plan
// returns a row that says why, and only rows of the kinds Certified and UpperBound are proved.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/subsample"
)

// A Kind says what the number of a comparison is worth.
type Kind string

// The kinds of a Comparison.
const (
	Certified     Kind = "certified"      // an interval, proved at both ends
	UpperBound    Kind = "upper bound"    // proved from above
	Approximate   Kind = "approximate"    // no bound: the truth may be larger
	NotApplicable Kind = "not applicable" // no number; the note says why
)

// A Comparison is the ε of a plan by one method of accounting.
type Comparison struct {
	Method  string
	Theorem string
	Kind    Kind
	// Epsilon is the upper bound, or the approximation.
	Epsilon float64
	// Lower is the proved lower end of a Certified row.
	Lower float64
	Note  string
}

// Compare returns the ε at δ that the methods of the literature give for a
// plan, from the oldest to the Fourier accountant, whose interval is the
// measure of the others. δ is in (0, 1).
//
// For basic and advanced composition each run is known by the (ε, δ) of its own
// alone, from its certified privacy profile. For persons with several records there is a
// row that knows the plan by the curve of one record alone.
func (p *Plan) Compare(ctx context.Context, delta float64, opts ...Options) ([]Comparison, error) {
	if !(delta > 0 && delta < 1) {
		return nil, fault.New("delta", "%v is not in (0, 1)", delta)
	}
	a := p.Accountant(opts...)
	ctx, stop := a.opts.within(ctx)
	defer stop()
	if err := a.AddPlan(ctx, p); err != nil {
		return nil, err
	}
	truth, err := a.Epsilon(ctx, delta)
	if err != nil {
		return nil, err
	}
	totals := []*Accountant{a}
	switch {
	case a.together != nil:
		totals = []*Accountant{a.together}
	case a.ways != nil:
		totals = a.ways
	}
	var c comparer
	basic := Comparison{Method: "basic composition", Kind: UpperBound, Theorem: "Dwork, Kenthapadi, McSherry, Mironov and Naor, EUROCRYPT 2006, Theorem 1"}
	var rows []Comparison
	for i, w := range totals {
		runs, err := w.single(ctx, delta)
		if err != nil {
			return nil, err
		}
		c = comparer{p: p, delta: delta, opts: opts}
		for _, r := range runs {
			c.add(r)
		}
		advanced := Comparison{Method: "advanced composition", Kind: UpperBound, Theorem: "Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.3 (optimal for equal runs)"}
		if len(c.parts) != 1 {
			advanced.Theorem = "Dwork, Rothblum and Vadhan, FOCS 2010, Theorem III.3, as in Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.5"
		}
		for j, row := range []Comparison{basic.by(ctx, c.basic), advanced.by(ctx, c.advanced)} {
			if i == 0 {
				rows = append(rows, row)
			} else if rows[j].Kind == UpperBound && !(row.Epsilon <= rows[j].Epsilon && row.Kind == UpperBound) { // the worst way, or one of which nothing is known
				rows[j] = row
			}
		}
	}
	curve, err := p.RDP()
	rows = append(rows,
		Comparison{Method: "RDP, classic conversion", Kind: UpperBound, Theorem: "Mironov, CSF 2017, Proposition 3"}.by(ctx, c.renyi(curve, err, rdp.EpsilonClassic)),
		Comparison{Method: "RDP, improved conversion", Kind: UpperBound, Theorem: "Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12"}.by(ctx, c.renyi(curve, err, rdp.Epsilon)),
		Comparison{Method: "zCDP", Kind: UpperBound, Theorem: "Bun and Steinke, TCC 2016, Propositions 1.3, 1.4 and 1.6, Lemma 1.7"}.by(ctx, c.zcdp),
		Comparison{Method: "GDP central limit", Kind: Approximate, Theorem: "Dong, Roth and Su, JRSS-B 2022, Theorem 3.4; Bu, Dong, Long and Su, HDSR 2020, Corollary 4"}.by(ctx, c.clt))
	if p.Records() > 1 {
		rows = append(rows, Comparison{Method: "group privacy of one record's curve", Kind: UpperBound, Theorem: "Dong, Roth and Su, JRSS-B 2022, Theorem 2.14"}.by(ctx, c.group))
	}
	if err := ctx.Err(); err != nil && context.Cause(ctx) != fourier.ErrTimeLimit {
		return nil, err
	}
	for i := range rows {
		if rows[i].Kind == Approximate && rows[i].Epsilon < truth.Lower {
			rows[i].Note = strings.TrimPrefix(rows[i].Note+"; below the truth here", "; ")
		}
	}
	note := ""
	if truth.Gap != nil {
		note = "theory leaves a gap between attack and proof"
	}
	return append(rows, Comparison{Method: "Fourier accountant", Kind: Certified, Epsilon: truth.Upper, Lower: truth.Lower, Note: note,
		Theorem: "numerical composition of dominating pairs (Zhu, Dong and Wang, AISTATS 2022, Theorem 10)"}), nil
}

// A comparer holds the runs of a plan, equal ones together.
type comparer struct {
	p     *Plan
	delta float64
	opts  []Options
	parts []*part
	runs  float64
}

type part struct {
	m     profiles.Bounds
	count int64
	acct  *Accountant // one run
}

func (c *comparer) add(r run) {
	c.runs += float64(r.count)
	for _, q := range c.parts {
		if profiles.Equal(q.m.Directions[0].Upper, r.m.Directions[0].Upper) && profiles.Equal(q.m.Directions[1].Upper, r.m.Directions[1].Upper) {
			q.count += r.count
			return
		}
	}
	q := &part{m: *r.m, count: r.count}
	if r.list && q.m.TheoryGap() {
		// The upper bound of each run is what is asked for; the attacks hold together.
		for d := range q.m.Directions {
			q.m.Directions[d].Lower = nil
		}
	}
	c.parts = append(c.parts, q)
}

// epsilon returns the certified ε of one run of a part, at least 0.
func (c *comparer) epsilon(ctx context.Context, q *part, delta float64) (float64, error) {
	if q.acct == nil {
		q.acct = c.p.Accountant(c.opts...)
		if err := q.acct.AddBounds(q.m, 1); err != nil {
			return 0, err
		}
	}
	iv, err := q.acct.Epsilon(ctx, delta)
	return max(0, iv.Upper), err
}

// shares are the parts of δ that are spent on the runs themselves; each gives a
// bound, and the smallest counts.
var shares = []float64{0, 0.1, 0.5, 0.9}

// roundUpSum makes a float64 sum of n positive terms an upper bound.
func roundUpSum(x, n float64) float64 { return x * (1 + (n+8)*0x1p-52) }

// A formula returns the ε of a method and a note; the error says why there is none.
type formula func(ctx context.Context) (eps float64, note string, err error)

// by returns the row with what a formula says.
func (row Comparison) by(ctx context.Context, f formula) Comparison {
	var err error
	if row.Epsilon, row.Note, err = f(ctx); err != nil {
		row.Kind, row.Epsilon, row.Note = NotApplicable, 0, err.Error()
	}
	return row
}

func (c *comparer) basic(ctx context.Context) (eps float64, note string, err error) {
	eps = math.Inf(1)
	// δ on the runs, in equal parts, rounded down.
	for _, d := range []float64{0, c.delta / c.runs * (1 - 0x1p-50)} {
		sum := 0.0
		for _, q := range c.parts {
			e, err := c.epsilon(ctx, q, d)
			if err != nil {
				return 0, "", err
			}
			sum += float64(q.count) * e
		}
		eps = min(eps, roundUpSum(sum, float64(len(c.parts))))
	}
	if math.IsInf(eps, 1) {
		return 0, "", errors.New("some run has no finite ε at δ over the number of runs")
	}
	return eps, "", nil
}

// errRecords is why a formula is not for persons with several records.
var errRecords = errors.New("the formula is about single records")

// advanced is the optimal composition of equal (ε₀, δ₀), which is that of
// randomized responses, or a bound for different ones: by Hoeffding's inequality
// the sum of losses of mean ε·tanh(ε/2) in [−ε, ε] exceeds
// Σ ε·tanh(ε/2) + √(2 log(1/δ̃) Σ ε²) with probability at most δ̃.
func (c *comparer) advanced(ctx context.Context) (eps float64, note string, err error) {
	eps = math.Inf(1)
	for _, share := range shares {
		d := share * c.delta / c.runs * (1 - 0x1p-50)
		mean, squares, first := 0.0, 0.0, 0.0
		for _, q := range c.parts {
			e, err := c.epsilon(ctx, q, d)
			if err != nil {
				return 0, "", err
			}
			first = e
			mean += float64(q.count) * e * math.Tanh(e/2)
			squares += float64(q.count) * e * e
		}
		if math.IsInf(squares, 1) {
			continue
		}
		// Σδᵢ + δ̃ ≤ δ.
		rest := (1 - share) * c.delta * (1 - 0x1p-50)
		total := roundUpSum(mean+math.Sqrt(-2*xmath.Log(rest)*squares), float64(len(c.parts)))
		if len(c.parts) == 1 {
			b, err := profiles.NewApproximate(first, d)
			if err != nil {
				return 0, "", err
			}
			iv, err := c.together(ctx, c.p.Neighbors, b, c.parts[0].count)
			if err != nil {
				return 0, "", err
			}
			total = max(0, iv.Upper)
		}
		eps = min(eps, total)
	}
	if math.IsInf(eps, 1) {
		return 0, "", errors.New("no share of δ gives every run a finite ε")
	}
	return eps, "", nil
}

// together returns ε of so many runs of a mechanism.
func (c *comparer) together(ctx context.Context, r profiles.Relation, m profiles.Mechanism, count int64) (Interval, error) {
	a := New(r, c.opts...)
	if err := a.Add(ctx, Step{Mechanism: m}, count); err != nil {
		return Interval{}, err
	}
	return a.Epsilon(ctx, c.delta)
}

// renyi reads the Rényi curve of the plan, unless there is an error in its place, by a conversion.
func (c *comparer) renyi(curve rdp.Curve, none error, read func(rdp.Curve, float64) (float64, float64, error)) formula {
	return func(context.Context) (eps float64, note string, err error) {
		if none != nil {
			return 0, "", none
		}
		eps, order, err := read(curve, c.delta)
		if err == nil && math.IsInf(eps, 1) {
			err = errors.New("no order has a finite Rényi divergence")
		}
		return eps, "order " + strings.TrimPrefix(strings.Replace(fmt.Sprintf("%.4g", order), "Inf", "∞", 1), "+"), err
	}
}

// group knows the plan by the curve of one record alone.
func (c *comparer) group(ctx context.Context) (eps float64, note string, err error) {
	eps, err = groupEpsilon(ctx, c.p, c.delta, c.opts)
	if err == nil && math.IsInf(eps, 1) {
		err = errors.New("the curve of one record leaves no finite ε at this δ")
	}
	return eps, "knows the plan by its curve alone", err
}

// eachBase calls f for every run of a base mechanism, with its number.
func (c *comparer) eachBase(ctx context.Context, f func(s Step, count int64) error) error {
	return eachRun(ctx, c.p.Steps, 1, c.p.Neighbors, func(s Step, n int64) error {
		if s.Selection != nil {
			return errors.New("a private selection is no base mechanism")
		}
		return f(s, n)
	})
}

// zcdp adds up ρ. Poisson sampling does not lower it: conditioned on the sample
// the pair is that of the mechanism itself, and Rényi divergences are jointly
// quasi-convex.
func (c *comparer) zcdp(ctx context.Context) (eps float64, note string, err error) {
	rho, terms := 0.0, 0.0
	sampled := false
	if c.p.Records() > 1 {
		return 0, "", errRecords
	}
	err = c.eachBase(ctx, func(s Step, n int64) error {
		terms++
		r, ok := math.Inf(1), false
		_, poisson := subsample.AsPoisson(s.Sampling)
		if pair, err := s.Mechanism.Pair(c.p.Neighbors); err == nil && (s.Sampling == nil || poisson) {
			if e, is := pair.(profiles.Exponential); is {
				// Cesar and Rogers, ALT 2021, Lemma 3.
				r, ok = e.Epsilon()*e.Epsilon()/8, true
				sampled = sampled || poisson
			}
			sigma := math.NaN()
			if g, is := pair.(profiles.Gaussian); is {
				sigma = g.NoiseMultiplier()
			} else if b, is := s.Mechanism.(profiles.NoiseScaler); is && b.Name() == "discrete-gaussian" {
				// Canonne, Kamath and Steinke, NeurIPS 2020, Theorem 4.
				sigma = b.NoiseMultiplier()
				if c.p.Neighbors == profiles.Substitute {
					sigma /= 2
				}
			}
			if sigma > 0 {
				r, ok = 1/(2*sigma*sigma), true
				sampled = sampled || poisson
			}
		}
		if f, is := subsample.AsFixedSize(s.Sampling); is {
			// Given the draws, what differs is as many places of the batch as the record has; at order ∞ it is all of them.
			if pair, err := s.Mechanism.Pair(profiles.Substitute); err == nil {
				if g, gaussian := pair.(profiles.Gaussian); gaussian {
					mu := float64(f.MostCopies()) / g.NoiseMultiplier()
					r, ok, sampled = mu*mu/2, true, true
				}
			}
		}
		a := c.p.Accountant(c.opts...)
		if err := a.Add(ctx, Step{Mechanism: s.Mechanism, Sampling: s.Sampling}, 1); err != nil {
			return err
		}
		if iv, err := a.Epsilon(ctx, 0); err == nil && !math.IsInf(iv.Upper, 1) {
			e := max(0, iv.Upper)
			r, ok = min(r, e*e/2), true
		}
		if !ok {
			if s.Sampling != nil && !poisson {
				return fmt.Errorf("no formula for %s on %s samples", s.Mechanism.Name(), s.Sampling.Name())
			}
			return fmt.Errorf("%s has no ρ: neither Gaussian nor of finite pure ε", s.Mechanism.Name())
		}
		rho += float64(n) * r
		return nil
	})
	rho = roundUpSum(rho, terms)
	note = fmt.Sprintf("ρ = %.4g", rho)
	if sampled {
		note += "; no gain from sampling"
	}
	return roundUpSum(rho+2*math.Sqrt(-rho*xmath.Log(c.delta)), 4), note, err
}

// clt is the Gaussian that the sum of losses tends to.
func (c *comparer) clt(ctx context.Context) (eps float64, note string, err error) {
	mean, variance := 0.0, 0.0
	if c.p.Records() > 1 {
		return 0, "", errRecords
	}
	err = c.eachBase(ctx, func(s Step, n int64) error {
		m, v, err := c.moments(s)
		mean, variance = mean+float64(n)*m, variance+float64(n)*v
		return err
	})
	if err != nil {
		return 0, "", err
	}
	mu := 0.0
	if variance > 0 {
		mu = 2 * mean / math.Sqrt(variance)
	}
	if mu == 0 {
		return 0, "no bound", nil
	}
	g, err := profiles.NewGaussianMechanism(1 / mu)
	if err != nil {
		return 0, "", fmt.Errorf("μ = %.4g is out of range", mu)
	}
	iv, err := c.together(ctx, profiles.AddRemove, g, 1)
	return max(0, iv.Estimate), fmt.Sprintf("no bound; μ = %.4g", mu), err
}

// moments returns the mean and the variance of the loss of one run under P; of a small one on a Poisson sample, what they tend to.
func (c *comparer) moments(s Step) (mean, variance float64, err error) {
	pair, err := s.Mechanism.Pair(c.p.Neighbors)
	if err != nil {
		return 0, 0, err
	}
	if g, gaussian := pair.(profiles.Gaussian); s.Sampling != nil {
		q, poisson := subsample.AsPoisson(s.Sampling)
		if !poisson || !gaussian || c.p.Neighbors == profiles.Substitute {
			return 0, 0, fmt.Errorf("no formula for %s on %s samples under %v", s.Mechanism.Name(), s.Sampling.Name(), c.p.Neighbors)
		}
		variance = q.Rate() * q.Rate() * math.Expm1(1/(g.NoiseMultiplier()*g.NoiseMultiplier()))
		return variance / 2, variance, nil
	}
	square := 0.0 // the mean of the squared loss
	switch pair := pair.(type) {
	case profiles.Gaussian:
		variance = 1 / (pair.NoiseMultiplier() * pair.NoiseMultiplier())
		return variance / 2, variance, nil
	case profiles.Laplace:
		mean, square = laplaceMoments(1 / pair.NoiseMultiplier())
	case *profiles.Discrete:
		if pair.Support().LogPInf > -700 { // an infinite loss has no mean
			return 0, 0, fmt.Errorf("%s has an unlimited loss", s.Mechanism.Name())
		}
		for _, a := range pair.Atoms() {
			w := math.Exp(a.LogP)
			mean, square = mean+w*a.Loss, square+w*a.Loss*a.Loss
		}
	default:
		return 0, 0, fmt.Errorf("no formula for %s", s.Mechanism.Name())
	}
	return mean, square - mean*mean, nil
}

// laplaceMoments returns the mean and the mean square of the loss of Laplace
// noise with largest loss m.
func laplaceMoments(m float64) (mean, square float64) {
	if m < 1e-3 {
		return m * m / 2 * (1 - m/3), m * m * (1 - m/3) // + O(m⁴)
	}
	e := math.Exp(-m)
	// Atoms of ½ at m and ½e^{−m} at −m; between them ½∫₀^m (m−2y)² e^{−y} dy.
	return m + math.Expm1(-m), m*m*(1+e)/2 + (m*m-4*m+8-e*(m*m+4*m+8))/2
}
