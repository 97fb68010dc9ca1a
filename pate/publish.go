// Theorem (a bound that may be published): S_β = max_d e^{−βd}·F(d), F(d) a bound on the cost at
// every data set within d changes, is at least the cost and log S_β moves by at most β between
// neighbours; with Gaussian noise and a margin it is an upper bound that is wrong with a
// probability fixed in advance. It assumes that all its parameters were fixed without the votes.

package pate

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The proof. F(d) = Σ_r F_r(d), where F_r(d) is R* of the largest q within d moves, which is had
// by moving d votes from the first class to the second as long as the first stays in front (a
// vote that leaves the first class narrows every gap, and the terms of q̃, a sum of functions
// convex in the gaps, grow most where the gap is least), and the data-independent cost beyond.
// With a check, it is the largest cost of check and answer as one law over statistics within d
// and their neighbours, in [0, N]. One teacher moves every query by one, and all within d of a
// neighbour is within d + 1 of D, so that F(D′, d) ≤ F(D, d+1) and S_β(D′) ≤ e^β·S_β(D). Of
// log S_β + s·Z, Z normal, the Rényi divergence is λβ²/(2s²); and S_β ≤ e^{log S_β + sZ + zs} with
// probability Φ(z).

// A Publication fixes how a bound on the cost is published. Every field must be chosen without
// looking at the votes.
type Publication struct {
	Order      float64 // λ
	Beta       float64 // β, the smoothness
	Noise      float64 // s, the standard deviation of the noise on the logarithm
	Confidence float64 // the probability that the bound holds, in [0.5, 1)
}

func (p Publication) check() error {
	return cmp.Or(checkOrder("order", p.Order), checkRange("beta", p.Beta, 1e-6, 100),
		checkRange("noise", p.Noise, 1e-6, 100), checkRange("confidence", p.Confidence, 0.5, 1-1e-9))
}

// cost is the Rényi cost of publishing. What is computed of log S_β is good to eta, which is
// therefore added to β at both data sets.
func (p Publication) cost(eta float64) float64 {
	b := (p.Beta + 2*eta) / p.Noise
	return p.Order * b * b / 2 * (1 + 8*u)
}

// margin is z·s, Φ(z) the confidence, rounded up.
func (p Publication) margin() float64 {
	z := logTailInv(math.Log1p(-p.Confidence))
	return z*p.Noise*(1+8*u) + 16*u*(1+z)*p.Noise
}

// expUp returns e^x rounded up, for a sum x of three terms with the error of a logarithm.
func expUp(x float64) float64 { return xmath.Up(math.Exp(x+8*u*(1+math.Abs(x))), 8) }

// A Published is an upper bound on a cost, which may be published.
type Published struct {
	Publication
	Delta float64

	// Epsilon may be published with the parameters: except with probability 1 − Confidence over
	// the noise, the labels and this number together are (Epsilon, Delta)-private at the data
	// set that voted, in both directions. RDP is the Rényi cost at the order that it is made of.
	// It holds for one draw: several, or a choice among them, cost again and lose the confidence.
	Epsilon, RDP float64

	// NoiseCost is the Rényi cost of the publication, a part of RDP.
	NoiseCost float64

	// Private is NOT SAFE TO PUBLISH: every field is a function of the votes. It is no part of the
	// JSON of a Published.
	Private struct {
		Cost, Smooth float64 // F(0) and S_β
		Distance     int     // where S_β is reached
		Median       float64 // the ε at the median of the noise
	} `json:"-"`
}

// maxPublished bounds the number of teachers for which tables are made.
const maxPublished = 100_000

// Publish returns an upper bound on the cost of labelling, with noise from src; nil is the
// operating system's. It is for every aggregator but that of NewInteractive that does not round, and
// charges a check and its answer as one law, whatever the ledger's price: Best.
//
// Theorem: publish.go. Relation: one training example changed, both directions.
// Conditions: the parameters and δ are fixed in advance, every row has the votes of all
// teachers, and the scores and votes of a query do not depend on earlier answers. The noise is an
// exact draw, and what leaves is a multiple of a power of two that the parameters determine.
func (l *Ledger) Publish(ctx context.Context, p Publication, delta float64, src rand.Source) (Published, error) {
	out := Published{Publication: p, Delta: delta}
	if err := cmp.Or(checkDelta(delta), p.check(), l.publishable()); err != nil {
		return out, err
	}
	l.knowing.Lock()
	if l.far == nil || l.far.order != p.Order {
		f, err := newFar(l, p.Order)
		if err != nil {
			l.knowing.Unlock()
			return out, err
		}
		l.far = f
	}
	f := l.far
	l.knowing.Unlock()
	sum, err := f.within(ctx, l, p.Beta)
	if err != nil {
		return out, err
	}
	smooth, distance := discounted(sum, p.Beta)
	step := math.Ldexp(1, int(math.Floor(math.Log2(p.Noise)))-10)
	y := random.Sum{Fixed: []float64{xmath.Log(smooth)}, Noise: []random.Term{{Scale: p.Noise, Z: random.Normal(random.Source(src))}}}.Nearest(step)
	upper := expUp(y + step/2 + p.margin())
	if !(upper < f.total) {
		upper = f.total // what holds at every data set
	}
	out.Private.Cost, out.Private.Smooth, out.Private.Distance = sum[0], smooth, distance
	out.NoiseCost = p.cost(f.eta)
	out.RDP = xmath.Up(upper+p.cost(f.eta), 2)
	if out.Epsilon, err = Improved.epsilonAt(p.Order, out.RDP, delta); err != nil {
		return out, err
	}
	out.Private.Median, err = p.median(f, smooth, delta)
	return out, err
}

// publishable refuses what has no smooth bound.
func (l *Ledger) publishable() error {
	if a, ok := l.aggregator.(interactive); ok && !a.rounded {
		return fault.New("rounded", "false is not in [true]: a smooth bound needs a statistic that the mechanism itself rounds")
	}
	if n := l.votes.Short(); n > 0 {
		return fault.New("votes", "%d rows have fewer than %d votes; a smooth bound needs the vote of every teacher", n, l.votes.Teachers())
	}
	if n := l.votes.Teachers(); n > maxPublished {
		return fault.New("teachers", "%d is not in [1, %d] for a smooth bound", n, maxPublished)
	}
	return nil
}

func newFar(l *Ledger, order float64) (*far, error) {
	// A sum over queries rounds differently for a neighbour.
	n := l.votes.Teachers()
	f := &far{order: order, bound: l.q.answer.bound(n), ind: l.q.answer.RDP(order), eta: 1e-11 + 2*u*float64(l.votes.Queries())}
	unanimous := make([]int64, l.votes.Classes())
	unanimous[0] = n
	// Below −1000 R* is not worth a table: all of that is priced as q = e^−1000.
	least := max(f.bound(unanimous), -1000)
	for x := math.Floor(least*8)/8 - 0.125; x < 0; x += farStep(x) {
		f.logQ = append(f.logQ, x)
	}
	f.logQ = append(f.logQ, 0)
	f.cost = make([]float64, len(f.logQ))
	one := []rate{{}}
	for k, x := range f.logQ {
		if x > -0.5 { // q > 0.6: no more is gained
			f.cost[k] = f.ind
			continue
		}
		l.bestAnswer(x, []float64{order}, one)
		f.cost[k] = min(f.ind, max(one[0].answer[0], one[0].answer[1], leastCost))
		if k > 0 {
			f.cost[k] = max(f.cost[k], f.cost[k-1]) // R* rises; its accuracy must not hide that
		}
	}
	f.total = float64(l.votes.Queries()) * f.ind
	if l.q.check != nil {
		if err := f.addChecks(l.q.confident, n); err != nil {
			return nil, err
		}
		f.total = float64(l.votes.Queries()) * xmath.Up(f.ind+l.q.check(order).ind*(1+6*u), 1)
		if l.most > 0 {
			answers := min(float64(l.most), float64(l.votes.Queries()))
			f.total = float64(l.votes.Queries())*l.q.check(order).ind*(1+6*u) + answers*f.ind
		}
	}
	f.total = xmath.Up(f.total, 4)
	return f, nil
}

// within returns F at every distance that S_β, or that of a larger β, may be reached at.
func (f *far) within(ctx context.Context, l *Ledger, beta float64) ([]float64, error) {
	rows, err := l.tallies(ctx, func(int) float64 { return 1 })
	if err != nil {
		return nil, err
	}
	total := func(most int, progress func(done, total int)) ([]float64, error) {
		sum := make([]float64, most+1)
		err := sumOver(ctx, rows, sum, progress, func(t tally) ([]float64, error) {
			statistic := 0
			if f.checks != nil {
				statistic = int(l.q.statistic[t.first])
			}
			return f.row(slices.Clone(t.votes), statistic, most), nil
		})
		for d := range sum {
			sum[d] = min(f.total, sum[d]*(1+u*float64(l.votes.Queries()+80)))
		}
		return sum, err
	}
	at0, err := total(0, nil)
	if err != nil {
		return nil, err
	}
	// Beyond this distance nothing is discounted to more than F(0).
	most := l.votes.Teachers()
	if at0[0] > 0 {
		most = int64(min(float64(most), math.Ceil(xmath.Log(f.total/at0[0])/beta)+1))
	}
	return total(int(most), l.progress)
}

// discounted returns S_β and where it is reached.
func discounted(sum []float64, beta float64) (s float64, distance int) {
	for d, x := range sum {
		if x *= math.Exp(-beta * float64(d)); x > s {
			s, distance = x, d
		}
	}
	return s * (1 + u*(8+4*beta*float64(distance))), distance
}
