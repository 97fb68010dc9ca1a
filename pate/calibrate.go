package pate

// Parameters for a budget, found on votes that are no secret: synthetic ones, or those of a public data set. The search
// proves nothing; the ε of what it found is that of the ledger.

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

// A Target is a budget for labelling and what is known of the mechanism in advance.
type Target struct {
	Epsilon, Delta float64
	// Report says which ε meets the budget: Joint or Worst at the votes of the search, or DataIndependent at every data set. "" is
	// Worst.
	Report Report
	// Independent bounds the ε at every data set; 0 is four times Epsilon. Without such a bound the least ε at some votes is that
	// of next to no noise, which other votes would pay for.
	Independent float64
	// Check asks for that of NewConfident, with this Threshold and Sigma1 where they are not 0; without it the mechanism is that of NewGNMax.
	Check             bool
	Threshold, Sigma1 float64
	// MaxAnswers, if not 0, is the number of answers after which no query is answered any more. It needs Check.
	MaxAnswers int
	// Progress is called with the number of mechanisms tried.
	Progress func(done, total int)
}

// searchedRows is how many different histograms the search looks at; the answer is found with all of them.
const searchedRows = 16

// triedPairs is how many pairs of T and σ1 a search tries.
const triedPairs = 18

// Calibrate returns the ledger, at v, of the mechanism with the most correct answers expected on v among those tried whose ε at v is at
// most that of the target, and at every data set at most Independent: of some T and σ1 the least σ2 that both allow.
//
// The votes v must be public: what it returns depends on them. On the private votes a report but DataIndependent is another number, which
// Account tells after labelling.
func (t Target) Calibrate(ctx context.Context, v *ballots.Votes) (*Ledger, error) {
	if v == nil {
		return nil, fault.New("votes", "is missing")
	}
	if t.Independent == 0 {
		t.Independent = 4 * t.Epsilon
	}
	if t.Report = cmp.Or(t.Report, Worst); t.Report == DataIndependent {
		t.Independent = t.Epsilon
	}
	err := cmp.Or(checkRange("epsilon", t.Epsilon, 1e-3, 1000), checkDelta(t.Delta), checkRange("independent", t.Independent, 1e-3, 4000))
	switch {
	case err != nil:
	case t.Report != Joint && t.Report != Worst && t.Report != DataIndependent:
		err = fault.New("report", "%v is not in [joint, worst, independent]", t.Report)
	case !t.Check && (t.MaxAnswers != 0 || t.Threshold != 0 || t.Sigma1 != 0):
		err = fault.New("mechanism", "gnmax has no threshold, sigma1 and max-answers; confident has")
	case t.MaxAnswers < 0:
		err = fault.New("max-answers", "%d is not in [1, ∞)", t.MaxAnswers)
	case t.Threshold != 0:
		err = checkThreshold(t.Threshold)
	}
	if err == nil && t.Sigma1 != 0 {
		err = checkSigma("sigma1", t.Sigma1)
	}
	if err != nil {
		return nil, err
	}
	s := &calibration{Target: t, all: v, n: float64(v.Teachers()), halvings: 3, accuracy: searchAccuracy}
	if s.mu, err = rdp.MuWithin(t.Independent, t.Delta); err != nil {
		return nil, err
	}
	best := 1 + 2*-xmath.Log(t.Delta)/t.Epsilon
	for _, share := range []float64{0.3, 0.45, 0.6, 0.8, 1.1} {
		s.orders = append(s.orders, 1.001+share*(best-1))
	}
	if s.few, err = thinned(v); err != nil {
		return nil, err
	}
	found, err := s.search(ctx)
	if err != nil {
		return nil, err
	}
	// With all votes, from next to what was found, and at last with more orders.
	s.few, s.halvings, s.accuracy = v, 6, priceAccuracy
	final, err := s.least(ctx, found.threshold, found.sigma1)
	switch {
	case err != nil:
	case final.aggregator == nil:
		err = s.infeasible()
	default:
		for share := 0.2; share < 2; share *= 1.15 {
			s.orders = append(s.orders, 1.001+share*(best-1))
		}
		slices.Sort(s.orders)
		s.orders = slices.Compact(s.orders)
		return s.ledger(ctx, final.aggregator)
	}
	return nil, err
}

// Aggregator returns the mechanism that labelled.
func (l *Ledger) Aggregator() Aggregator { return l.aggregator }

// Expected returns the expected number of answers, and of those that are the plurality's, at least.
func (l *Ledger) Expected() (answers, correct float64) {
	for i, q := range l.q.logQ {
		pass := 1.0
		if l.q.check != nil {
			pass = math.Exp(l.q.logPass[i])
		}
		answers += pass
		correct += pass * -math.Expm1(q)
	}
	if most := float64(l.most); most > 0 && answers > most {
		return most, correct * most / answers
	}
	return answers, correct
}

type calibration struct {
	Target
	all, few *ballots.Votes
	n        float64
	mu       float64 // of Gaussian noise that costs Independent
	orders   []float64
	halvings int
	accuracy float64 // of R*
}

// A tried is a mechanism that meets the target.
type tried struct {
	aggregator                 Aggregator
	threshold, sigma1, sigma2  float64
	epsilon, independent, good float64
}

func (s *calibration) infeasible() error {
	return fault.New("epsilon", "%v is not reached by %d queries with any noise for answers; take more noise for the check (sigma1), fewer queries or a larger epsilon", s.Epsilon, s.all.Queries())
}

// search tries pairs of T and σ1: a coarse grid, then steps around the best.
func (s *calibration) search(ctx context.Context) (best tried, err error) {
	thresholds, sigmas := []float64{math.Round(0.5 * s.n), math.Round(0.7 * s.n), math.Round(0.9 * s.n)}, []float64{0.2 * s.n, 0.6 * s.n, 1.5 * s.n}
	if s.Threshold != 0 {
		thresholds = []float64{s.Threshold}
	}
	if s.Sigma1 != 0 {
		sigmas = []float64{s.Sigma1}
	}
	if !s.Check {
		thresholds, sigmas = []float64{0}, []float64{0}
	}
	done := 0
	try := func(threshold, sigma1 float64) error {
		if done++; s.Progress != nil {
			s.Progress(min(done, triedPairs), triedPairs)
		}
		x, err := s.least(ctx, threshold, sigma1)
		if err == nil && x.aggregator != nil && (best.aggregator == nil || x.good > best.good) {
			best = x
		}
		return err
	}
	for _, t := range thresholds {
		for _, sigma := range sigmas {
			if err := try(t, sigma); err != nil {
				return best, err
			}
		}
	}
	if best.aggregator == nil {
		return best, s.infeasible()
	}
	for step := 0.1; s.Check && step > 0.02 && done < triedPairs; {
		before, at := best.good, best
		for _, d := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			t, sigma := min(max(1, math.Round(at.threshold+d[0]*step*s.n)), s.n), significant(at.sigma1*math.Exp(d[1]*6*step), 3)
			if s.Threshold != 0 && d[0] != 0 || s.Sigma1 != 0 && d[1] != 0 {
				continue
			}
			if err := try(t, sigma); err != nil {
				return best, err
			}
		}
		if !(best.good > before*(1+1e-6)) {
			step /= 2
		}
	}
	return best, nil
}

// least returns the mechanism of the least σ2 that the target allows; none if there is none. It goes up from the least for every data
// set: more noise may cost more at these votes, as it hides who is ahead, so that what is allowed need not be all above some σ2.
func (s *calibration) least(ctx context.Context, threshold, sigma1 float64) (best tried, err error) {
	rest, answers := s.mu*s.mu, float64(s.all.Queries())
	if s.Check {
		rest -= answers / (sigma1 * sigma1)
		if s.MaxAnswers > 0 {
			answers = min(answers, float64(s.MaxAnswers))
		}
	}
	if !(rest > 0) {
		return tried{}, nil
	}
	meets := func(sigma2 float64) (bool, error) {
		x, err := s.at(ctx, threshold, sigma1, sigma2)
		if err != nil || x.epsilon > s.Epsilon || x.independent > s.Independent {
			return false, err
		}
		best = x
		return true, nil
	}
	lo, hi := 0.0, significant(math.Sqrt(2*answers/rest)*(1+1e-4), 5)
	for {
		ok, err := meets(hi)
		if err != nil {
			return best, err
		}
		if ok {
			break
		}
		if lo, hi = hi, significant(1.25*hi, 5); hi > 1e4*s.n {
			return tried{}, nil
		}
	}
	for k := 0; k < s.halvings && lo > 0; k++ {
		mid := significant(math.Sqrt(lo*hi), 5)
		if ok, err := meets(mid); err != nil {
			return best, err
		} else if ok {
			hi = mid
		} else {
			lo = mid
		}
	}
	return best, nil
}

// significant rounds to so many significant digits.
func significant(x float64, n int) float64 {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	return x
}

func (s *calibration) ledger(ctx context.Context, a Aggregator) (*Ledger, error) {
	return Account(ctx, s.few, a, Options{Orders: s.orders, MaxAnswers: s.MaxAnswers})
}

// at returns the cost of a mechanism and what it answers.
func (s *calibration) at(ctx context.Context, threshold, sigma1, sigma2 float64) (tried, error) {
	x := tried{threshold: threshold, sigma1: sigma1, sigma2: sigma2, aggregator: gnMax{sigma: sigma2}}
	if s.Check {
		x.aggregator = confident{threshold: threshold, sigma1: sigma1, sigma2: sigma2}
	}
	l, err := s.ledger(ctx, x.aggregator)
	if err != nil {
		return x, err
	}
	l.accuracy = s.accuracy
	_, x.good = l.Expected()
	c, err := l.Cost(ctx, DataIndependent, nil)
	if err != nil {
		return x, err
	}
	if x.independent, _, err = c.Epsilon(c.Total, Improved, s.Delta); err != nil {
		return x, err
	}
	x.epsilon = x.independent
	if s.Report != DataIndependent {
		if c, err = l.Cost(ctx, s.Report, nil); err != nil {
			return x, err
		}
		eps, _, err := c.Epsilon(c.Total, Improved, s.Delta)
		if err != nil {
			return x, err
		}
		x.epsilon = min(eps, x.epsilon)
	}
	return x, nil
}

// thinned returns votes with at most searchedRows different rows: each is replaced by one with about the same gap
// between the two classes in front.
func thinned(v *ballots.Votes) (*ballots.Votes, error) {
	n := v.Queries()
	gap := make([]int64, n)
	different := map[string]bool{}
	for i := range gap {
		row := slices.Clone(v.Row(i))
		slices.SortFunc(row, func(a, b int64) int { return cmp.Compare(b, a) })
		gap[i] = row[0] - row[1]
		different[histogramKey(v.Row(i))] = true
	}
	if len(different) <= searchedRows {
		return v, nil
	}
	order := xmath.Order(n, func(a, b int) int { return cmp.Compare(gap[a], gap[b]) })
	rows := make([][]int64, n)
	for k, i := range order {
		bucket := k * searchedRows / n
		middle := (2*bucket + 1) * n / (2 * searchedRows)
		rows[i] = v.Row(order[middle])
	}
	return ballots.NewVotes(rows, v.Teachers())
}

// Tune returns the order, β and noise with which Publish tells the least ε at the median of its noise, among those tried, and that ε. As
// for Calibrate the ledger's votes must be public: a Publication is fixed without the private ones.
func (l *Ledger) Tune(ctx context.Context, delta, confidence float64) (best Publication, median float64, err error) {
	if err := cmp.Or(checkDelta(delta), checkRange("confidence", confidence, 0.5, 1-1e-9), l.publishable()); err != nil {
		return best, 0, err
	}
	betas := []float64{0.007, 0.01, 0.014, 0.02, 0.028, 0.04, 0.056, 0.08, 0.11}
	median = math.Inf(1)
	for _, order := range []float64{4, 6, 9, 12, 16, 22, 32, 48} {
		f, err := newFar(l, order)
		if err != nil {
			return best, 0, err
		}
		sum, err := f.within(ctx, l, betas[0])
		if err != nil {
			return best, 0, err
		}
		for _, beta := range betas {
			smooth, _ := discounted(sum, beta)
			for noise := beta; noise < 40*beta; noise *= 1.1 {
				p := Publication{Order: order, Beta: beta, Noise: significant(noise, 2), Confidence: confidence}
				eps, err := p.median(f, smooth, delta)
				if err != nil {
					return best, 0, err
				}
				if eps < median {
					best, median = p, eps
				}
			}
		}
	}
	return best, median, nil
}

// median returns the ε that Publish tells where its noise is 0.
func (p Publication) median(f *far, smooth, delta float64) (float64, error) {
	upper := min(f.total, smooth*math.Exp(p.margin()))
	return Improved.epsilonAt(p.Order, xmath.Up(upper+p.cost(f.eta), 2), delta)
}
