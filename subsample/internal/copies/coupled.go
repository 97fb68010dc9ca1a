// §4 to §6: the coupling of copies, shared out among the numbers of slots, for noise on a number; as a law on points.

package copies

import (
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A Noise is additive noise of scale 1, symmetric and log-concave: docs/theory/subsampling.md has Corollary 1 for it.
type Noise int

// The noises whose likelihood ratios are known.
const (
	GaussianNoise Noise = iota
	LaplaceNoise
)

// ratio returns the logarithm of the likelihood ratio of the shift s > 0 at the output t ≥ 0.
func (n Noise) ratio(s, t float64) float64 {
	if n == LaplaceNoise {
		return min(s, 2*t-s)
	}
	return s * (t - s/2)
}

// alone bounds δ of the shift s at the loss x from above.
func (n Noise) alone(s, x float64) float64 {
	if n == LaplaceNoise {
		return laplaceDelta(s, x)
	}
	t := s/2 + x/s
	return n.delta(s, t, xmath.LogNormalTail(t))
}

// delta bounds δ of the shift s at the loss of the output t, as ratio has it, from above; logTail is log Φ̄(t).
func (n Noise) delta(s, t, logTail float64) float64 {
	if n == LaplaceNoise {
		return laplaceDelta(s, n.ratio(s, t))
	}
	near, far := 0.5*math.Erfc((t-s)/math.Sqrt2), math.Exp(s*(t-s/2)+logTail)
	return max(0, near-far) + 8*xmath.U*(4+t*t+s*t)*(near+far)
}

func laplaceDelta(s, x float64) float64 { return -math.Expm1(min(0, (x-s)/2)) * (1 + 4*xmath.U) }

// nodes lists outputs from the loss 0 of one copy up to where all of so many copies have shown themselves. Chords between
// them are above δ by (d·t)²/8 of it where their distance is d, for Gaussian noise, and by d²/8 for Laplace noise.
func (n Noise) nodes(theta float64, most int) (ts []float64) {
	const fine = 0.005
	all := float64(most) * theta
	if n == LaplaceNoise { // losses have kinks at the centres
		for t := theta / 2; t < all; t += max(fine, t/200) {
			ts = append(ts, t)
		}
		for u := range most {
			ts = append(ts, float64(u+1)*theta)
		}
		slices.Sort(ts)
		return slices.Compact(ts)
	}
	for t := theta / 2; t < all+37; {
		ts = append(ts, t)
		switch {
		case t < 6:
			t += fine
		case t < 12:
			t += 4 * fine
		default:
			t += 16 * fine
		}
	}
	return ts
}

// A Curve is a function of α = e^x that is convex and falls, from above, by its values at x = 0 and more.
type Curve struct{ X, H []float64 }

// Profile is the law above the curve: symmetric, as substitution is.
func (c Curve) Profile() (profiles.Profile, error) { return profiles.NewChords(c.X, c.H, c.H) }

// at joins the values by chords; the last one counts beyond.
func (c Curve) at(x float64) float64 {
	i := sort.SearchFloat64s(c.X, x)
	if i == len(c.X) {
		return c.H[i-1]
	}
	share := leftShare(c.X, i, x)
	return share*c.H[max(0, i-1)] + (1-share)*c.H[i]
}

// leftShare is what the point before i weighs in a chord to i at x, linear in e^x.
func leftShare(xs []float64, i int, x float64) float64 {
	if i == 0 || xs[i] == x {
		return 0
	}
	return math.Expm1(x-xs[i]) / math.Expm1(xs[i-1]-xs[i])
}

// add appends a value, unless the loss is no larger than those that are known.
func (c *Curve) add(x, h float64) {
	if n := len(c.X); n == 0 || x > c.X[n-1] {
		c.X, c.H = append(c.X, x), append(c.H, min(1, h))
	}
}

// Convex leaves out what is above chords.
func (c Curve) Convex() (out Curve) {
	for _, i := range xmath.LowerHull(c.X, c.H) {
		out.X, out.H = append(out.X, c.X[i]), append(out.H, c.H[i])
	}
	return out
}

// leastMass is the logarithm of the masses that plain numbers keep: what is below is given away.
const leastMass = -705

// inFull is how many laws are looked at at all outputs; the others, which are for rare numbers of slots, at a fourth.
const inFull = 12

// Coupled returns R of §4 for each law of the copies, of which one moves noise of scale 1 by theta.
func Coupled(n Noise, theta float64, laws ...Law) []Curve {
	theta *= 1 + 4*xmath.U // so that products with a number of copies are no less than they are
	items := make([]coupled, len(laws))
	most := 0
	for j, law := range laws {
		items[j] = newCoupled(law)
		most = max(most, len(items[j].p)-1)
	}
	row := copyRow{theta: theta, ratio: make([]float64, most+1), less: make([]float64, most+1), delta: make([]float64, most+1)}
	const fine = 0.03
	for x := 0.0; x < 710 && most > 0; x += fine * max(theta, x/3) {
		deltas := make([]float64, most+1)
		for u := 1; u <= most; u++ {
			deltas[u] = n.alone(float64(u)*theta, x)
		}
		row.losses, row.alone = append(row.losses, x), append(row.alone, deltas)
	}
	for j := range items {
		items[j].out.add(0, items[j].apart(row, 0, 0, items[j].rest)) // at α = 1 all are alone
	}
	for k, t := range n.nodes(theta, most) {
		row.t = t
		tail := xmath.LogNormalTail(row.t)
		for u := 1; u <= most; u++ {
			s := float64(u) * theta
			row.ratio[u], row.delta[u] = n.ratio(s, row.t), n.delta(s, row.t, tail)
			row.less[u] = math.Expm1(row.ratio[u])
		}
		for j := range items {
			if j < inFull || k%4 == 0 {
				items[j].add(row)
			}
		}
	}
	out := make([]Curve, len(laws))
	for j, c := range items {
		if most := len(c.logP) - 1; n == LaplaceNoise && c.out.H[len(c.out.H)-1] > 0 && math.IsInf(laws[j].LogAbove[most+1], -1) {
			c.out.add(float64(most)*theta, 0) // no output loses more
		}
		out[j] = c.out.Convex()
	}
	return out
}

// A copyRow is what all laws share at the output t: by the number of copies the logarithms of the ratios and δ_u; and δ_u
// at some losses, between which chords are above it.
type copyRow struct {
	t, theta    float64
	ratio, less []float64 // log r_u, and r_u − 1
	delta       []float64
	losses      []float64
	alone       [][]float64
}

// A coupled is a law in plain numbers, and its curve as far as it is known.
type coupled struct {
	logP, p, after []float64 // of Pr[U = u] and Pr[U ≥ u]
	rest           float64   // given away
	worst          float64   // relative error of p
	out            Curve
}

func newCoupled(law Law) (c coupled) {
	last := 0
	for u, l := range law.LogP {
		if l > leastMass {
			last = u
			c.worst = max(c.worst, law.Err[u]+xmath.U*(4-l))
		}
	}
	c.worst += float64(last+64) * xmath.U
	c.logP, c.p, c.after = law.LogP, make([]float64, last+1), make([]float64, last+2)
	for u := last; u >= 0; u-- {
		c.p[u] = math.Exp(law.LogP[u])
		c.after[u] = c.after[u+1] + c.p[u]
	}
	c.rest = math.Exp(law.LogAbove[last+1]) * (1 + 1e-9)
	return c
}

// add takes the output of the row for the threshold of the first copies. Any choice of shares is a bound, so that it may be
// any; α is raised by what rounding and the errors of the law may take from it.
func (c *coupled) add(row copyRow) {
	if n := len(c.out.H); n > 0 && c.out.H[n-1] < 2*c.rest+1e-306 {
		return
	}
	m, a, e, h, last := c.p[0], 0.0, 0.0, c.rest, 0 // a is Σ p(r − 1), and e in units of rounding
	log, most, big := 0.0, 0.0, false               // of the sum with p_0, where a is no number; −log m at most
	for u := 1; u < len(c.p); u++ {
		if c.p[u] == 0 {
			continue
		}
		l := row.ratio[u]
		s := float64(u) * row.theta
		if l > 600 && !big {
			log, most, big = xmath.Log(a+m), -xmath.Log(m), true
			e /= a + m
		}
		if big {
			if m > 0 && !(l > log+most) && !(l > log-xmath.Log(m)) {
				break
			}
			if c.logP[u]+l > log-40 { // fewer than 1e9 of the others are no more than e takes
				log = xmath.LogAdd(log, c.logP[u]+l)
			}
			e = max(e, s*(row.t+s))
		} else {
			r := row.less[u]
			if m > 0 && !(r*m > a) {
				break
			}
			a += c.p[u] * r
			e += c.p[u] * (1 + r) * s * (row.t + s)
		}
		m += c.p[u]
		h += c.p[u] * row.delta[u]
		last = u
	}
	x := math.Log1p((a*(1+4*c.worst) + 8*xmath.U*e) / m)
	if big {
		x = log - xmath.Log(m) + 4*c.worst + 8*xmath.U*(e+math.Abs(log))
	}
	if last > 0 && x > 0 { // else no copy is likelier than none
		c.out.add(x, c.apart(row, last, x, h))
	}
}

// apart adds to h the copies beyond the last that share the threshold.
func (c *coupled) apart(row copyRow, last int, x, h float64) float64 {
	if i := sort.SearchFloat64s(row.losses, x); i < len(row.losses) {
		left, right, share := row.alone[max(0, i-1)], row.alone[i], leftShare(row.losses, i, x)
		for last+1 < len(c.p) && c.after[last+1] > 1e-20*h {
			last++
			h += c.p[last] * (share*left[last] + (1-share)*right[last])
		}
	}
	return (h + c.after[last+1]) * (1 + c.worst)
}

// A Shared is a first stage: no slot holds the record with probability None, and at most Slots[i] do with Weights[i], given
// which the second stage has the curve of that index. With what is left all is given away.
type Shared struct {
	None    float64
	Slots   []int
	Weights []float64
	Curves  []Curve
	Rest    float64
}

// Staged returns the stages of which the first draws slots with replacement; drawn is the law of the second where j of them
// hold the record.
func Staged(n Noise, theta float64, population, subset int64, drawn func(j int) Law) Shared {
	s := FirstStage(population, subset, 0)
	var laws []Law
	for _, j := range s.Slots {
		laws = append(laws, drawn(j))
	}
	s.Curves = Coupled(n, theta, laws...)
	return s
}

// FirstStage returns a stage that draws slots with replacement, without curves. Numbers of slots that are rarer than rare
// together are given away. Large numbers that are next to each other count as the largest of them: where fewer slots change,
// drop each position of a sample by a coin of its own.
func FirstStage(population, subset int64, rare float64) Shared {
	pi, errs, last := Slots(population, subset)
	s := Shared{None: math.Exp(pi[0]), Rest: math.Exp(last) * (1 + 1e-9)}
	for j := len(pi) - 1; j > 0; j-- {
		if math.IsInf(pi[j], -1) {
			continue
		}
		up := math.Exp(pi[j]) * (1 + errs[j] - xmath.U*pi[j] + 4*xmath.U)
		n := len(s.Slots)
		switch {
		case n == 0 && s.Rest+up <= rare || pi[j] <= leastMass:
			s.Rest += up
		case n > 0 && j > s.Slots[n-1]-s.Slots[n-1]/32:
			s.Weights[n-1] += up
		default:
			s.Slots, s.Weights = append(s.Slots, j), append(s.Weights, up)
		}
	}
	slices.Reverse(s.Slots)
	slices.Reverse(s.Weights)
	return s
}

// Curve is the bound of §6: the mass (α − 1)·None is shared among the numbers of slots, so that all that have a share have
// the same slope. Any choice is a bound.
func (s Shared) Curve() Curve {
	n := len(s.Curves)
	slopes := make([][]float64, n) // log(−dH/dα) after each node but the last
	var all []float64
	for j, c := range s.Curves {
		for k := 1; k < len(c.X); k++ {
			v := xmath.Log(max(0, c.H[k-1]-c.H[k])) - c.X[k] - xmath.Log1mExp(c.X[k-1]-c.X[k])
			slopes[j] = append(slopes[j], v)
			all = append(all, v)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	all = append(all, math.Inf(-1))
	node, x := make([]int, n), make([]float64, n)
	var out Curve
	out.add(0, s.value(x, 0))
	next := math.Inf(1)
	for _, slope := range all {
		if slope > next {
			continue // as close to the one before as outputs of Gaussian noise are
		}
		next = slope - 3e-3*max(1, -slope)
		top := 0.0
		for j, c := range s.Curves {
			for node[j] < len(slopes[j]) && slopes[j][node[j]] >= slope {
				node[j]++
			}
			x[j] = c.X[node[j]]
			top = max(top, x[j])
		}
		if at := s.common(x, top); at > 0 {
			out.add(at, s.value(x, at))
		}
	}
	return out
}

// AddRemove is the bound of §8. Removing a record is in Curve; added, it has the public choice of the number of slots, if
// there is one, at a rate that is rounded up.
func (s Shared) AddRemove() (profiles.Profile, error) {
	rate := s.Rest
	for _, w := range s.Weights {
		rate += w
	}
	rate = min(1, rate*(1+1e-11))
	remove, none := s.Curve(), make([]float64, len(s.Curves))
	add := make([]float64, len(remove.X))
	for i, x := range remove.X {
		more := math.Expm1(x) * (1 - rate)
		if left := rate - more + 1e-12*(rate+more); left > 0 { // 1 − α·None, at least
			other := max(0, x+xmath.Log(rate/left)) * (1 - 1e-11)
			add[i] = min(1, left/rate*s.value(none, other)*(1+1e-11))
		}
	}
	return profiles.NewChords(remove.X, remove.H, add)
}

// common returns log α for which Σ π_j(α_j − α)₊ is (α − 1)·None, rounded up. In numbers that are less by 1, or divided by
// the largest α_j where that is large.
func (s Shared) common(x []float64, top float64) float64 {
	number, none := func(x float64) float64 { return math.Expm1(x) }, 0.0
	if top > 30 {
		number, none = func(x float64) float64 { return math.Exp(x - top) }, s.None*math.Exp(-top)
	}
	least := math.Inf(-1)
	for {
		num, den := none, s.None
		for j, x := range x {
			if v := number(x); v > least {
				num, den = num+s.Weights[j]*v, den+s.Weights[j]
			}
		}
		next := num / den
		if !(next > least) || den == s.None {
			break
		}
		least = next
	}
	if top > 30 {
		return (top + xmath.Log(least)) + 1e-11*(1+top)
	}
	return math.Log1p(least * (1 + 1e-11))
}

// value is Σ π_j h_j(α_j), of which none is below e^x.
func (s Shared) value(share []float64, x float64) float64 {
	sum := s.Rest
	for j, c := range s.Curves {
		sum += s.Weights[j] * c.at(max(x, share[j]))
	}
	return sum * (1 + 1e-11)
}

// Theory (docs/theory/subsampling.md §6), as computed.
//
// *As computed.* A choice of thresholds, of shares and of what goes with them bounds h whether it is the best or not, so
// only the value is rounded up, and α by what rounding takes from the constraints. R of each law is taken at common
// outputs T, where α = max_i A_i(T) is explicit; the shares are those of nodes with one slope; chords join the points,
// above h. Outputs are 0.005 apart up to 6, so that chords are above h by 1.1e-4 of it at most there. The paper's 1,000
// runs have 10.844 (best shares: 10.843).

// Proof (docs/theory/subsampling.md §3): Corollary 1 for other noise.
//
// *Proof.* Let Y have density f and `R_u = f(Y − d_u)/f(Y)`; the left side is `E (Σ w_u R_u − q)₊`, a convex function of
// a sum. R_u grows in Y where `d_u > 0` and falls where `d_u < 0`, f being log-concave, and −Y has the law of Y: with
// |d_u| for d_u each R_u keeps its law, and all of them grow together. No joint law of given ones makes a convex
// function of the sum larger (Lorentz). Now all centres are on one side, the sum grows in Y, the best test is a half
// line, `{y > t}`, and its value `Σ w_u F̄(t − d_u) − qF̄(t)` grows in each d_u. ∎

// Proof (docs/theory/subsampling.md §3): Theorem C.
//
// With σ = 1, `dN(c)/dN(0) = exp(⟨c,g⟩ − |c|²/2)` at g. So `D_F = E F(X,Y)` where X and Y are sums of log-normal
// variables `W_i`, `V_j` whose exponents are jointly Gaussian with the Gram matrix K of the centres. Move K along the
// segment to K̃. Gaussian integration by parts gives `d/dt E F = ½ Σ_{a,b} (K̃−K)_{ab} E[Z_a Z_b F_{ab}]`, with Z the
// variables and F_ab the second derivative for the sides of a and b. Homogeneity gives `F_xx = κy²`, `F_xy = −κxy`,
// `F_yy = κx²` with κ ≥ 0. In terms of the shares `a_i = W_i/X`, `b_j = V_j/Y` the sum is κX²Y² times
// `Σ aa'Δ^PP − 2Σ abΔ^PQ + Σ bb'Δ^QQ`, non-negative under (K). Shares sum to 1 on each side, so writing inner products
// by squared distances turns the bracket into `Σ ab ΔD²^PQ − ½Σ aa'ΔD²^PP − ½Σ bb'ΔD²^QQ`, non-negative under (D).
// Non-smooth F by mollifying. ∎
