// §6 from a table: an upper profile a little above that of gaussian_ww.go, at a fraction
// of its cost.

package copies

import (
	"math"
	"sync"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// GaussianWWTable is GaussianWW with its shares found at a few losses only, for composition,
// which asks for the tails at thousands.
//
// Written out, its bound for α ≥ 1 is
//
//	h(α) = min Σ_{j,u} w_{ju} h_u(α_{ju}),  w_{ju} = π_j p_u^(j), j, u ≥ 1,
//
// h_u the profile of N(uθ, 1) against N(0, 1), over all α_j ≥ α and α_{ju} with
// Σ_j π_j(α_j − α) ≤ (α − 1)π_0 (GaussianWW) and, for every i,
// p_0^(j) + Σ_{u≤i} p_u^(j) α_{ju} ≤ α_j Pr[U_j ≤ i]: mass moves from fewer copies to
// more (GaussianWR). Every choice of them bounds the divergence, and so do smaller
// α_{ju}, as h_u falls. The conditions are linear in all α together: what meets them
// at two nodes
// meets them on the straight line between, α_{ju} = a_{ju} + c_{ju}α. So
//
//	h̃(α) = Σ w_{ju} h_u(a_{ju} + c_{ju}α)
//
// is a bound, convex between nodes, and its tails are closed forms:
//
//	Q(L > log α) = −h̃'(α) = Σ w_{ju} c_{ju} Q_u(L > log α_{ju}),
//	P(L > log α) = h̃(α) + αQ = Σ w_{ju} (P_u(L > log α_{ju}) − a_{ju} Q_u(L > log α_{ju})).
//
// Across a node it is convex because the shares there are the best: h has a slope
// there, between those of h̃ ≥ h. What rounding leaves of that is bounded
// (segment.mLo, mHi) and part of the error: the convex hull of h̃ is a bound, too,
// and its tails are as close as the two slopes at a node. h is a minimum and missed
// by the fourth power of the nodes' distance only; where the middle between two
// nodes would be off by more than nodeTol they are made denser. What composes loses
// less than 1e-4 of ε by it: 4e-6 to 8.3e-5 at the settings of BenchmarkSchemes, 10 to
// 10,000 runs, against a table with nodeTol = farTol = 1e-5.
//
// LogDelta is GaussianWW's own.
type GaussianWWTable struct {
	*GaussianWW
	start   float64 // the threshold of whole at ε = 0
	largest float64 // loss of a node
	classes int     // numbers of slots that are kept apart; all larger ones are one class
	weights [][]weight
	large   bool // too many weights to keep for every node

	best *GaussianWW // with p_0 less by shareSlack, for the search

	ratio *xmath.TailRatio

	mu     sync.Mutex
	parts  map[int][]segment // by the base interval; empty: no table there
	ends   map[int]node
	spans  []span // to build a segment in
	shares []spanShare
}

// A weight is w_{ju}, summed over the slots of a class.
type weight struct{ log, err, plain float64 }

// A node holds log α_{ju}, by class and u − 1, at one loss; +Inf is what weighs too
// little for first to look at.
type node struct {
	t, eps, logKappa float64
	log              [][]float64
	logValue         float64 // log h̃
	logQ             float64

	// By how much the slopes Q_j of those with a share differ from κ, relatively,
	// and by how much, over α, the shares' sum is off.
	uneven, rest float64
	ok           bool
}

const (
	nodeSpacing = 1 // of thresholds, in units of the noise
	nodeDepth   = 9 // halvings at most
	nodeTol     = 3e-3
	// Where h is below e^nodeFar the middle may be off by farTol.
	nodeFar    = -20
	farTol     = 1.2e-2
	nodeEnd    = 60 // threshold beyond which the shares are found for every loss: Φ̄(60) < 1e-784
	maxWeights = 1 << 14
	// Terms below e^−nearby of the sum count as an error.
	nearby = 24
	// The shares are those of a π_0 less by this, so that no rounding of weights or
	// of the search makes them more than there is.
	shareSlack = 1e-10
)

// NewGaussianWWTable returns p with a table.
func NewGaussianWWTable(p *GaussianWW) *GaussianWWTable {
	less := *p
	less.logNone -= shareSlack
	t := &GaussianWWTable{GaussianWW: p, best: &less, ratio: xmath.Ratios(), parts: map[int][]segment{}, ends: map[int]node{}}
	n := len(p.item)
	for t.classes < min(n, 24) && p.above[t.classes] > p.above[0]-60 {
		t.classes++
	}
	for j := range n {
		k := min(j, t.classes)
		if k == len(t.weights) {
			t.weights = append(t.weights, nil)
		}
		c := p.item[j]
		for u := 1; u <= c.Last(); u++ {
			if u > len(t.weights[k]) {
				t.weights[k] = append(t.weights[k], weight{log: math.Inf(-1)})
			}
			w := &t.weights[k][u-1]
			l := p.logPi[j] + c.LogP[u]
			if math.IsInf(l, -1) {
				continue
			}
			w.log = xmath.LogAdd(w.log, l)
			w.err = max(w.err, p.piErr[j]+c.Err[u]) + 4*xmath.U*(1+math.Abs(w.log))
		}
	}
	t.start, _, _ = p.whole.threshold(0, 0)
	t.largest = t.at(nodeEnd)
	sum := 0
	for _, ws := range t.weights {
		sum += len(ws)
		for u := range ws {
			ws[u].plain = math.Exp(ws[u].log)
		}
	}
	t.large = sum > maxWeights
	return t
}

// at is the loss at which the pair that attains most has the threshold x.
func (t *GaussianWWTable) at(x float64) float64 {
	if x == t.start {
		return 0
	}
	s := newLogSum()
	w := t.whole
	s.add(w.LogNone, 0)
	for u := 1; u <= w.Last(); u++ {
		s.add(w.LogP[u]+w.Exponent(u, x), 0)
	}
	return max(0, s.now())
}

// node finds the shares at the loss of threshold x.
func (t *GaussianWWTable) node(x float64) node {
	eps := t.at(x)
	s, logP, logQ, _ := t.best.share(eps, 0)
	v := node{t: x, eps: eps, logKappa: s.logKappa, logQ: logQ, ok: true}
	sum := newLogSum()
	for k, ws := range t.weights {
		v.log = append(v.log, make([]float64, len(ws)))
		for u := range ws {
			v.log[k][u] = math.Inf(1)
		}
	}
	lowest := func(k, u int, l float64) { v.log[k][u-1] = min(v.log[k][u-1], l) }
	for j := range s.n {
		c := t.item[j]
		k := min(j, t.classes)
		logAlpha, _, i, size := c.average(s.t[j])
		if !s.active[j] {
			logAlpha = eps
		} else if d := logAlpha - eps; d > 0 {
			w := t.logPi[j] + d + xmath.Log1mExp(-d)
			sum.add(w, t.piErr[j]+(size+4*xmath.U*(1+logAlpha))/d)
			q, _, _, _ := c.slope(s.t[j])
			v.uneven = max(v.uneven, math.Abs(q-s.logKappa))
		}
		for u := 1; u <= c.Last(); u++ {
			if u <= i {
				lowest(k, u, c.Exponent(u, s.t[j]))
			} else {
				lowest(k, u, logAlpha)
			}
		}
	}
	for k := range v.log {
		for u, l := range v.log[k] {
			if math.IsInf(l, 1) {
				continue
			}
			// Classes with the same shares up to rounding have the same.
			for i := range k {
				if u >= len(v.log[i]) {
					continue
				}
				d := math.Abs(v.log[i][u] - v.log[k][u])
				if d == 0 || !(d < 1e-11*(1+math.Abs(l))) {
					continue
				}
				m := min(v.log[i][u], v.log[k][u])
				v.log[i][u], v.log[k][u] = m, m
				s := float64(u+1) * t.whole.theta
				v.uneven = max(v.uneven, (1+max(0, s/2+m/s))*d/s)
				v.rest += d * math.Exp(xmath.LogAdd(t.weights[i][u].log, t.weights[k][u].log)+m-eps)
			}
		}
	}
	if eps > 0 {
		// The shares' sum must be what there is, up to the slack.
		left := t.best.logNone + xmath.Log1mExp(-eps)
		off, err := math.Expm1(sum.now()-left), t.noneErr+64*xmath.U
		if sum.s > 0 {
			err += sum.e / sum.s
		}
		v.ok = off+err < shareSlack/2
		v.rest += math.Exp(left) * (math.Abs(off) + err)
	}
	v.logValue = t.value(func(k, u int) float64 { return v.log[k][u] })
	// One class for many numbers of slots must not cost more than straight lines do.
	v.ok = v.ok && v.logValue <= xmath.LogSub(logP, eps+logQ)+nodeTol
	return v
}

// value is log Σ w_{ju} h_u(α_{ju}) with log α_{ju} = at(class, u − 1), for choices
// that no error of a millionth matters to.
func (t *GaussianWWTable) value(at func(k, u int) float64) float64 {
	sum := 0.0
	for k, ws := range t.weights {
		for u := range ws {
			w := ws[u].plain
			if !(w > 1e-17*sum) {
				continue
			}
			l := at(k, u)
			if math.IsInf(l, 1) {
				continue
			}
			s := float64(u+1) * t.whole.theta
			x := s/2 + l/s
			if !(x < fastReach && l < 600) {
				return t.logValue(at)
			}
			f := xmath.NormalDensity(x) * math.Exp(l)
			if x < s {
				sum += w * (1 - f*(t.ratio.At(s-x)+t.ratio.At(x)))
			} else {
				sum += w * f * (t.ratio.At(x-s) - t.ratio.At(x))
			}
		}
	}
	if sum < 1e-280 {
		return t.logValue(at)
	}
	return xmath.Log(sum)
}

func (t *GaussianWWTable) logValue(at func(k, u int) float64) float64 {
	h := newLogSum()
	for k, ws := range t.weights {
		for u := range ws {
			w, l := ws[u].log, at(k, u)
			if math.IsInf(l, 1) || h.s > 0 && w < h.now()-40 {
				continue
			}
			s := float64(u+1) * t.whole.theta
			x := s/2 + l/s
			h.add(w+xmath.LogSub(xmath.LogNormalTail(x-s), l+xmath.LogNormalTail(x)), 0)
		}
	}
	return h.now()
}

// nodes finds several nodes at the same time.
func (t *GaussianWWTable) nodes(xs ...float64) []node {
	out := make([]node, len(xs))
	parallel.Do(len(xs), func(i int) { out[i] = t.node(xs[i]) })
	return out
}

// find returns the segment of ε ≥ 0 and the error of the slopes at its ends.
func (t *GaussianWWTable) find(eps float64) (g *segment, m float64, ok bool) {
	x, _, ok := t.whole.threshold(eps, 0)
	if t.large || !ok || !(x < nodeEnd-2) {
		return g, 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	k := max(0, int((x-t.start)/nodeSpacing))
	for range 3 { // rounding may have hit a neighbour
		p := t.part(k)
		if len(p) == 0 {
			return g, 0, false
		}
		if eps < p[0].lo.eps && k > 0 {
			k--
			continue
		}
		if eps > p[len(p)-1].hi.eps {
			k++
			continue
		}
		i := 0
		for i < len(p)-1 && eps >= p[i].hi.eps {
			i++
		}
		m = p[i].mLo
		if i > 0 {
			m += p[i-1].mHi
		} else if before := t.part(k - 1); len(before) > 0 {
			m += before[len(before)-1].mHi
		}
		right := p[i].mHi
		if i+1 < len(p) {
			right += p[i+1].mLo
		} else if after := t.part(k + 1); len(after) > 0 {
			right += after[0].mLo
		}
		return &p[i], max(m, right), true
	}
	return g, 0, false
}

// up returns the tails for ε ≥ 0.
func (t *GaussianWWTable) up(eps, tol float64) (logP, logQ, err float64) {
	g, m, ok := t.find(eps)
	if !ok || tol > 1e-6 || !(m < 1e-6) {
		return t.GaussianWW.up(eps, tol)
	}
	d := eps - g.lo.eps
	lambda := math.Expm1(d) / g.growth
	// d moves by tol at most.
	dLambda := (tol + xmath.U*(math.Abs(eps)+2*math.Abs(d))) * math.Exp(d) / g.growth * (1 + 1e-6)
	if dLambda < 1e-10 { // less than a hundredth of what a density moves by
		if logP, logQ, err, ok := t.plainUp(g.values, lambda, dLambda); ok {
			return logP, logQ, err + m
		}
	}
	ps, qs := newLogSum(), newLogSum()
	n := 0
	for i := range g.spans {
		c := &g.spans[i]
		s := float64(c.u) * t.whole.theta
		grown := 1 + lambda*c.rise
		l := c.log + xmath.Log(grown)
		x := s/2 + l/s
		dx := (relative(dLambda*math.Abs(c.rise)/grown)+4*xmath.U*(1+math.Abs(l)))/s + xmath.U*2*x
		y := x - s
		lq, lp := xmath.LogNormalTail(x), xmath.LogNormalTail(y)
		eq := c.err + normalErr(lq, x, dx)
		ep := c.err + normalErr(lp, y, dx+xmath.U*(2*s+math.Abs(y)))
		a := c.logA + lq
		if c.rise < 0 {
			qs.subtract(c.logW+c.logC+lq, eq+8*xmath.U*(1+math.Abs(c.logC)))
			ps.add(c.logW+lp, ep)
			ps.subtract(c.logW+a, eq+8*xmath.U*(1+math.Abs(c.logA)))
			n++
			continue
		}
		qs.add(c.logW+c.logC+lq, eq+8*xmath.U*(1+xmath.FiniteAbs(c.logC)))
		if c.negative {
			ps.add(c.logW+lp, ep)
			ps.add(c.logW+a, eq+8*xmath.U*(1+math.Abs(c.logA)))
		} else {
			// P_u ≥ α_{ju}Q_u ≥ a_{ju}Q_u; a_{ju} is good to a rounding of α_{ju}.
			r := math.Exp(a - lp)
			e := (ep + r*(eq+8*xmath.U*(1+xmath.FiniteAbs(c.logA))) + 8*xmath.U) / (1 - r)
			ps.add(c.logW+lp+math.Log1p(-r), e)
		}
		n++
	}
	ps.add(t.logGiven, 0)
	logP, e1 := ps.value(n)
	logQ, e2 := qs.value(n)
	return logP, logQ, max(e1, e2) + m + math.Exp(-nearby)*(1+1e-9)
}

// Support implements profiles.Profile. At a node h̃ has a kink, an atom of up to
// 1e-3 of the tail that is not listed: a loss known to a few roundings of the
// largest node may count on the wrong side of it.
func (t *GaussianWWTable) Support() profiles.Support {
	s := t.GaussianWW.Support()
	s.LossErr = max(s.LossErr, 16*xmath.U*(1+t.largest))
	return s
}

func (t *GaussianWWTable) Tails(eps, tol float64) profiles.Tails { return reflected(t.up, eps, tol) }

// LogDelta implements profiles.LogDeltaer.
func (t *GaussianWWTable) LogDelta(eps float64) (logDelta, err float64) {
	return profiles.LogDelta(t.GaussianWW, eps)
}
