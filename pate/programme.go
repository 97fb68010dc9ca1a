// Theorem (the neighbour programme): V_Q(t) = (1−t)₊, V_r(t) = max over neighbours of
// Σ p·V_{r+1}(t·q/p) bounds δ(log t) of all queries together, for every teacher and whatever
// its votes become. It takes the laws of the queries and returns ε at a δ, as an interval.

package pate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// The proof. For fixed neighbours of every query, unrolling Σ p·V(t·q/p) gives
// Σ P·(1 − t·Q/P)₊ over all outputs, which is δ(log t); the maximum at each step is at least
// that. V is convex and does not rise, so that a chord between grid points, linear in t, is
// above it; left of the grid V is at most 1, right of it at most its last value. The grid is
// uniform in log t, where t·q/p is a shift that is the same at every point: one pass gives δ at
// every ε. A neighbour whose own δ is below another's everywhere can be left out (Blackwell):
// Σp·V(tq/p) is a mixture of such δ, as V is a mixture of (1−t/s)₊.

// programmePoints is the number of points of the grid, and programmeWork the number of products, about a nanosecond
// each, above which there is no programme where the context has no limit of work, whose unit is perTerm of them.
const (
	programmePoints = 4096
	programmeWork   = 4e10
	perTerm         = 40
)

// programmeFloor is the smallest δ the programme is for: what it adds for rounding is absolute.
const programmeFloor = 1e-10

// ExactEpsilon returns ε at δ of all queries at the data set that voted, in both directions:
// from it to its neighbours, and back. Upper is the neighbour programme's, or that of the exact
// Rényi divergences where that is smaller (or where there are too many queries for the
// programme); the lower end is attained by one neighbour of every query, the worst at the order where
// the Rényi bound is best, composed by package fourier. A ledger with a check is taken with
// every query and its check as one law, without a transcript; a limit on answers leaves the upper end.
//
// Relation: one training example changed, so that one teacher's votes move. Condition: the
// scores and votes of a query, and those of its neighbours, do not depend on earlier answers: queries are
// composed in another order than they were asked. It depends on the votes, and may
// not be published.
func (l *Ledger) ExactEpsilon(ctx context.Context, delta float64) (forward, reverse [2]float64, err error) {
	if err := checkDelta(delta); err != nil {
		return forward, reverse, err
	}
	if l.price != Exact {
		return forward, reverse, fault.New("price", "%v is not exact, which ExactEpsilon needs", l.price)
	}
	cost, err := l.Cost(ctx, Joint, nil)
	if err != nil {
		return forward, reverse, err
	}
	steps := make([]step, len(l.kinds))
	known := true
	for k, i := range l.kinds {
		if ctx.Err() != nil {
			return forward, reverse, ctx.Err()
		}
		answers, _, joint, ok := l.laws(i)
		if known = known && ok; !ok {
			break
		}
		if l.q.check != nil {
			answers = joint
		}
		steps[k].pairs = answers
	}
	for _, k := range l.kindOf {
		steps[k].count++
	}
	for d, out := range []*[2]float64{&forward, &reverse} {
		curve := cost.Forward
		if d == 1 {
			curve = cost.Reverse
		}
		eps, order, err := Improved.Epsilon(curve, delta)
		if err != nil {
			return forward, reverse, err
		}
		out[1] = eps
		if !known || math.IsInf(eps, 1) {
			continue
		}
		far, _, err := Improved.Epsilon(curve, max(delta*1e-3, 1e-300))
		if err != nil {
			return forward, reverse, err
		}
		mine := directed(steps, d == 1)
		if out[0], err = lowerEpsilon(ctx, mine, max(order, 1.5), delta); err != nil {
			return forward, reverse, err
		}
		if delta < programmeFloor || far == 0 {
			continue
		}
		// In any order it is a bound for neighbours that are fixed beforehand; that the dearest queries come last leaves the maximum the
		// least to choose between.
		dear := func(s step) (v float64) {
			for _, x := range s.pairs {
				v = max(v, x.upper(max(order, 1.5)))
			}
			return v
		}
		slices.SortStableFunc(mine, func(a, b step) int { return cmp.Compare(dear(b), dear(a)) })
		p := newProgramme(mine, far)
		most := programmeWork
		if _, left := parallel.Work(ctx); !math.IsInf(left, 1) {
			most = left * perTerm / float64(2-d) // of both directions
		}
		if p.work() > most {
			continue
		}
		parallel.Spend(ctx, p.work()/perTerm)
		if err := p.run(ctx); err != nil {
			return forward, reverse, err
		}
		out[1] = min(out[1], p.epsilon(delta))
		out[0] = min(out[0], out[1])
	}
	if l.most > 0 {
		forward[0], reverse[0] = 0, 0 // the mechanism stops, and tells less
	}
	return forward, reverse, nil
}

// A step is a number of queries with the same laws.
type step struct {
	pairs []pair
	count int64
}

func directed(steps []step, reverse bool) []step {
	out := slices.Clone(steps)
	if reverse {
		for k := range out {
			out[k].pairs = slices.Clone(out[k].pairs)
			for i, x := range out[k].pairs {
				out[k].pairs[i] = x.reversed()
			}
		}
	}
	return out
}

// lowerWidth is the relative width of the composition of which the lower end is told: a fifth of the preset one, so that what many
// different laws cost at that end stays below the distance to the upper one, of a per cent.
const lowerWidth = 2e-4

// lowerEpsilon composes, for every query, the neighbour that is worst at the order.
func lowerEpsilon(ctx context.Context, steps []step, order, delta float64) (float64, error) {
	sum := fourier.New(fourier.Options{Relative: lowerWidth})
	for _, s := range steps {
		worst, at := -1.0, 0
		for i, x := range s.pairs {
			if v, _ := x.renyi(order); v > worst {
				worst, at = v, i
			}
		}
		x := s.pairs[at]
		atoms := make([]profiles.Atom, len(x.p))
		massErr := 0.0
		for i := range atoms {
			atoms[i] = profiles.Atom{Loss: x.p[i] - x.q[i], LogP: x.p[i], LogQ: x.q[i]}
			massErr = max(massErr, x.err[i]*(1+1e-9))
		}
		p, err := profiles.NewDiscrete(atoms, math.Inf(-1), math.Inf(-1), massErr, 2*massErr)
		if err != nil {
			return 0, err
		}
		if err := sum.Add(p, s.count); err != nil {
			return 0, err
		}
	}
	r, err := sum.Epsilon(ctx, delta)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return r.Lower, err
}

// A programme is the grid and the queries' neighbours as shifts on it.
type programme struct {
	step, first float64 // of log t
	value       []float64
	queries     []shifted
	slack       float64 // what rounding and neighbours left out can add, absolutely
}

type shifted struct {
	neighbours [][]shift
	count      int64
}

// A shift takes weight·V at a grid point by places further on, between two points: left of
// the first of them and right of the second.
type shift struct {
	places      int
	left, right float64
}

// newProgramme places the grid from −far to far.
func newProgramme(steps []step, far float64) *programme {
	p := &programme{step: 2 * far / (programmePoints - 1), first: -far}
	for _, s := range steps {
		keep := undominated(s.pairs)
		q := shifted{count: s.count}
		for _, x := range keep {
			var out []shift
			for i := range x.p {
				// Towards a smaller t, where V is larger, by the error of the ratio.
				by := (x.q[i] - x.p[i] - 2*x.err[i] - 8*u*math.Abs(x.p[i])) / p.step
				places := math.Floor(by)
				left := 1 - math.Expm1((by-places)*p.step)/math.Expm1(p.step) + 1e-13
				left = min(1, max(0, left))
				w := math.Exp(x.p[i]+x.err[i]) * (1 + 8*u)
				places = max(-2*programmePoints, min(2*programmePoints, places))
				out = append(out, shift{int(places), w * left, w * (1 - left) * (1 + 2*u)})
			}
			q.neighbours = append(q.neighbours, out)
			p.slack = max(p.slack, float64(len(out)))
		}
		p.queries = append(p.queries, q)
	}
	// A neighbour is left out if its δ, a sum of as many terms, is not above another's by
	// more than their rounding and the errors of p and q; every sum rounds relative to V ≤ 1.
	n, unknown := 0.0, 0.0
	for _, s := range steps {
		n += float64(s.count)
		worst := 0.0
		for _, x := range s.pairs {
			e := 0.0
			for i, p := range x.p {
				e += math.Exp(p) * math.Expm1(2*x.err[i])
			}
			worst = max(worst, e)
		}
		unknown += 2 * worst * float64(s.count)
	}
	// The points of the grid themselves round by far·2u, where V = 1 − t has a slope of 1.
	p.slack = 16*u*(p.slack+4)*n + unknown*(1+1e-9) + 4*u*far
	return p
}

func (p *programme) work() (n float64) {
	for _, q := range p.queries {
		for _, x := range q.neighbours {
			n += float64(len(x)) * float64(q.count) * programmePoints
		}
	}
	return n
}

// run fills value with V_0 on the grid. The first of the queries is the last to be asked.
func (p *programme) run(ctx context.Context) error {
	n := programmePoints
	now, next, sum := make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range now {
		now[k] = max(0, -math.Expm1(p.first+float64(k)*p.step)*(1+4*u))
	}
	for _, q := range p.queries {
		for range q.count {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			clear(next)
			for _, x := range q.neighbours {
				clear(sum)
				for _, s := range x {
					s.add(sum, now)
				}
				for k, v := range sum {
					if v > next[k] {
						next[k] = v
					}
				}
			}
			for k, v := range next {
				next[k] = min(1, v)
			}
			now, next = next, now
		}
	}
	p.value = now
	return nil
}

// add adds the shifted values: 1 left of the grid, the last value right of it.
func (s shift) add(sum, v []float64) {
	n := len(v)
	last := v[n-1]
	// Inside, from a to b, both points are on the grid.
	a, b := min(n, max(0, -s.places)), max(0, min(n, n-1-s.places))
	b = max(a, b)
	for k := range a {
		right := 1.0
		if k+s.places+1 >= 0 {
			right = v[min(n-1, k+s.places+1)]
		}
		sum[k] += s.left + s.right*right
	}
	if a < b {
		from, to := v[a+s.places:b+s.places], v[a+s.places+1:b+s.places+1]
		out := sum[a:b]
		for k := range out {
			out[k] += s.left*from[k] + s.right*to[k]
		}
	}
	for k := b; k < n; k++ {
		sum[k] += s.left*v[min(n-1, max(0, k+s.places))] + s.right*last
	}
}

// epsilon returns the least ε ≥ 0 at which the bound is at most delta, or +Inf.
func (p *programme) epsilon(delta float64) float64 {
	at := func(k int) float64 { return p.value[k] + p.slack }
	k := sort.Search(len(p.value), func(k int) bool { return at(k) <= delta })
	if k == len(p.value) {
		return math.Inf(1)
	}
	x := p.first + float64(k)*p.step
	if k > 0 {
		// On the chord to the point before, linear in t.
		f := (at(k-1) - delta) / (at(k-1) - at(k))
		x += math.Log1p((1 - f) * math.Expm1(-p.step))
	}
	return max(0, x+8*u*(math.Abs(p.first)+math.Abs(x))+1e-12*p.step)
}

// undominated leaves out pairs whose δ, as a function of ε, is at most another's everywhere: at
// all of the breakpoints of both, between which it is linear in e^ε.
func undominated(in []pair) []pair {
	var breaks []float64
	for _, x := range in {
		for i := range x.p {
			breaks = append(breaks, x.p[i]-x.q[i])
		}
	}
	slices.Sort(breaks)
	breaks = slices.Compact(breaks)
	value := make([][]float64, len(in))
	for k, x := range in {
		value[k] = make([]float64, len(breaks))
		p, q := make([]float64, len(x.p)), make([]float64, len(x.p))
		for i := range p {
			p[i], q[i] = math.Exp(x.p[i]), math.Exp(x.q[i])
		}
		for j, b := range breaks {
			a := math.Exp(b)
			for i := range p {
				value[k][j] += max(0, p[i]-a*q[i])
			}
		}
	}
	var out []pair
	gone := make([]bool, len(in))
	for k, x := range in {
		for j := range in {
			if j == k || gone[j] {
				continue
			}
			if below(value[k], value[j]) {
				gone[k] = true
				break
			}
		}
		if !gone[k] {
			out = append(out, x)
		}
	}
	return out
}

func below(a, b []float64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
