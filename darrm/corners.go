// The families of mechanisms that are worst for a noise function. It assumes independent
// mechanisms, all (ε, Δ)-private.

package darrm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// The privacy condition compares P = Pr[answer = 1] on D with P' on D'. Both are
// affine in the pair (p_i, p_i') of each mechanism, which ranges over a polygon,
// so that their extremes are attained with every pair at a corner of it, and
// only the number of mechanisms at each corner matters (Lemma 5.1 of the paper).
//
// The corners, with a = (e^ε + Δ)/(e^ε + 1) and b = 1 − a:
const (
	corner00   = iota // (0, 0)
	corner11          // (1, 1)
	corner0D          // (0, Δ)
	cornerD0          // (Δ, 0)
	corner1mD1        // (1−Δ, 1)
	corner11mD        // (1, 1−Δ)
	cornerAB          // (a, b)
	cornerBA          // (b, a)
	corners
)

// maxCorners bounds the corners of one problem, all groups of voters together.
const maxCorners = 64

// A counts says how many mechanisms are at each corner.
type counts [maxCorners]int

// A worlds enumerates the families of mechanisms that can decide the privacy of a noise
// function: mechanisms that are all alike (cornerTable), unlike ones (panelTable), or such
// with many labels (labelTable).
type worlds interface {
	// visit calls f with every family that can be worst for g. f must not keep the run.
	// Once ctx is done, the visit ends with its error.
	visit(ctx context.Context, g Gamma, f func(*run)) error
	// tableError and underflow bound the relative and the absolute error of what it
	// delivers.
	tableError() float64
	underflow() float64
	// row returns what s·P − P', doubled, gains from each γ(n), …, γ(K), and rest what P
	// and P' are where γ is 0.
	row(c counts, s float64) (coefficients []float64, rest float64)
}

// A cornerTable enumerates the corner multisets of K mechanisms.
type cornerTable struct {
	k           int
	delta       float64
	a, b, d, dc coin // the coins a, b, Δ and 1−Δ
	monotone    bool
}

func newCornerTable(k int, epsilon, delta float64, monotone bool) *cornerTable {
	// Each of the four numbers has a relative error below 8 u: exp costs 2 u, the
	// other operations 1 u each, at most five of them.
	e := math.Exp(-epsilon)
	a, b := (1+delta*e)/(1+e), (1-delta)*e/(1+e)
	return &cornerTable{k: k, delta: delta, monotone: monotone,
		a: coin{a, b}, b: coin{b, a}, d: coin{delta, 1 - delta}, dc: coin{1 - delta, delta}}
}

// pairs returns the probability of a 1 at each corner, on D and on D'.
func (t *cornerTable) pairs() [][2]coin {
	zero, one := coin{0, 1}, coin{1, 0}
	return [][2]coin{
		corner00: {zero, zero}, corner11: {one, one},
		corner0D: {zero, t.d}, cornerD0: {t.d, zero},
		corner1mD1: {t.dc, one}, corner11mD: {one, t.dc},
		cornerAB: {t.a, t.b}, cornerBA: {t.b, t.a},
	}
}

// A run is a line of multisets: entry i has base, with i mechanisms moved from
// one corner to another, and the probabilities P[i] on D and Q[i] on D'.
type run struct {
	base     counts
	from, to int
	P, Q     []float64
	least    *spread // of which Q are the minima, if not nil
}

func (r *run) counts(i int) counts {
	c := r.base
	c[r.from] -= i
	c[r.to] += i
	if r.least != nil {
		// Of the zeros and ones so far some are at (0, Δ) and (1, 1−Δ).
		x, y := r.least.coins(c[corner00], i, c[corner1mD1])
		c[corner00], c[corner0D] = c[corner00]-x, x
		c[corner11], c[corner11mD] = c[corner11]-y, y
	}
	return c
}

// tableError bounds the relative error of every P and Q that visit delivers
// for h = ½(1 ± γ) rounded to floats.
//
// An entry is h averaged over K coins. Averaging by one coin, q·x + p·y with
// all terms non-negative, costs two roundings and the relative error of p and q
// (8 u, newCornerTable); h costs one. Second-order terms and the roundings of
// what is computed from the entries are below the slack of 12 K + 12 against
// 10 K + 1.
func (t *cornerTable) tableError() float64 { return float64(12*t.k+12) * xmath.U }

// underflow bounds the additive error of the entries when Δ > 0: products of
// up to K factors Δ may fall below the normal numbers. Each of at most K steps
// loses at most 2^−1074 for each of two terms.
func (t *cornerTable) underflow() float64 {
	if t.delta == 0 {
		return 0 // Params.underflowSafe
	}
	return 1e-300
}

// visit calls f with every corner multiset that can decide the privacy of g.
// For a monotone g these are the multisets of three corners: Φ is then
// non-decreasing in every p_i, and only (Δ, 0), (1, 1−Δ) and (a, b) are
// maximal in p and minimal in p' (Theorem 3). For others all of
// them. f must not keep the run. Once ctx is done, the visit ends with its error.
func (t *cornerTable) visit(ctx context.Context, g Gamma, f func(*run)) error {
	h := answer(g)
	if t.monotone {
		t.visitThree(ctx, h, f)
	} else {
		t.visitAll(ctx, h, f)
	}
	return ctx.Err()
}

// answer returns Pr[answer = 1 | l ones]; 1 − γ is exact for γ ≥ ½.
func answer(g Gamma) []float64 {
	h := make([]float64, len(g))
	for l := range h {
		if h[l] = (1 + g[l]) / 2; l < half(len(g)-1) {
			h[l] = (1 - g[l]) / 2
		}
	}
	return h
}

// toss averages in place: v[j] becomes the value when one more coin is tossed.
func toss(v []float64, c coin) []float64 {
	tossInto(v[:len(v)-1], v, c)
	return v[:len(v)-1]
}

// tossInto is toss into out, which may be v and has one value less.
func tossInto(out, v []float64, c coin) {
	for j := range out {
		out[j] = c.q*v[j] + c.p*v[j+1]
	}
}

func (t *cornerTable) visitThree(ctx context.Context, h []float64, f func(*run)) {
	k := t.k
	low, high := cornerD0, corner11mD
	if t.delta == 0 {
		low, high = corner00, corner11
	}
	// On D: k1 coins Δ, k3 coins a, the other k2 ones; top[k1][k3] is the value at
	// k2 ones. On D': k2 coins 1−Δ, k3 coins b, the other k1 zeros.
	top, bottom := make([][]float64, k+1), make([][]float64, k+1)
	for i := range top {
		top[i], bottom[i] = make([]float64, k+1-i), make([]float64, k+1-i)
	}
	// A chunk of the coins that show Δ and 1−Δ goes to one core: the first of them
	// are tossed anew, at a cost that is small beside the rest. The values are the
	// same whatever the number of cores. Where Δ = 0 there is nothing to share: a
	// coin that always shows 0 leaves the values and drops the last, one that always
	// shows 1 drops the first.
	last, chunks := 0, 1
	if t.delta > 0 {
		last, chunks = k, min(32, k)
	}
	fill := func(c int) {
		v, w := append([]float64(nil), h...), append([]float64(nil), h...)
		buf := make([]float64, k+1)
		from, to := c*(last+1)/chunks, (c+1)*(last+1)/chunks
		for range from {
			v, w = toss(v, t.d), toss(w, t.dc)
		}
		for i := from; i < to && ctx.Err() == nil; i++ {
			t.tossRows(i, v, buf, t.a, top, true)
			t.tossRows(i, w, buf, t.b, bottom, false)
			if i < k {
				v, w = toss(v, t.d), toss(w, t.dc)
			}
		}
	}
	if parallel.Each(ctx, chunks, nil, fill) != nil {
		return
	}
	q := make([]float64, k+1)
	for k1 := 0; k1 <= k; k1++ {
		n := k + 1 - k1
		for k3 := range n {
			q[k3] = bottom[k-k1-k3][k3]
		}
		r := run{from: high, to: cornerAB, P: top[k1], Q: q[:n]}
		r.base[low], r.base[high] = k1, k-k1
		f(&r)
	}
}

// tossRows tosses the coins c after i of the others, whose values are v, and keeps in rows
// what the last value is after each of them, or the first.
func (t *cornerTable) tossRows(i int, v, buf []float64, c coin, rows [][]float64, last bool) {
	x := buf[:copy(buf, v)]
	for n := 0; ; n++ {
		end := i
		if t.delta == 0 {
			end = t.k - n
		}
		for j := i; j <= end; j++ {
			at := j - i
			if last {
				at = len(x) - 1 - at
			}
			rows[j][n] = x[at]
		}
		if n == t.k-i {
			return
		}
		x = toss(x, c)
	}
}

// visitAll gives the multisets of all corners but those that others of them cover: which
// mechanisms are at (0, Δ) and (1, 1−Δ) decides P' alone, so that of all such choices the
// one of least P' stands for the others. That leaves K⁵/120 of K⁷/5040.
func (t *cornerTable) visitAll(ctx context.Context, h []float64, f func(*run)) {
	k := t.k
	mixed := tossed(h, t.a, t.b)
	var on, off *spread
	var q []float64
	if t.delta > 0 {
		on, off, q = newSpread(k), newSpread(k), make([]float64, k+1)
	}
	for ab := 0; ab <= k; ab++ {
		for ba := 0; ab+ba <= k && ctx.Err() == nil; ba++ {
			n := k - ab - ba
			r := run{from: corner00, to: corner11, P: mixed[ab][ba], Q: mixed[ba][ab]}
			r.base = counts{corner00: n, cornerAB: ab, cornerBA: ba}
			if t.delta == 0 {
				f(&r)
				continue
			}
			on.fill(t, r.P)
			off.fill(t, r.Q)
			off.minima()
			r.least = off
			for d0 := 0; d0 <= n; d0++ {
				for dc1 := 0; d0+dc1 <= n; dc1++ {
					r.base[corner00], r.base[cornerD0], r.base[corner1mD1] = n-d0-dc1, d0, dc1
					r.P = on.at(d0, dc1)
					r.Q = q[:len(r.P)]
					for i := range r.Q {
						r.Q[i] = off.at(len(r.Q)-1-i, i)[dc1]
					}
					f(&r)
				}
			}
		}
	}
}

// tossed returns at [i][j] v with i coins a and j coins b tossed.
func tossed(v []float64, a, b coin) [][][]float64 {
	out := make([][][]float64, len(v))
	for i := range out {
		if i > 0 {
			v = toss(slices.Clone(v), a)
		}
		for w := v; ; w = toss(slices.Clone(w), b) {
			out[i] = append(out[i], w)
			if len(w) == 1 {
				break
			}
		}
	}
	return out
}

// A spread holds the values of x coins Δ, y coins 1−Δ and j ones for all x + y + j ≤ n.
type spread struct {
	n     int
	first []int // of x and y, at x(side)+y
	side  int
	store []float64
}

func newSpread(k int) *spread {
	return &spread{side: k + 1, first: make([]int, (k+1)*(k+1)), store: make([]float64, (k+3)*(k+2)*(k+1)/6)}
}

func (s *spread) at(x, y int) []float64 {
	from := s.first[x*s.side+y]
	return s.store[from : from+s.n+1-x-y]
}

// fill sets the values from those without coins.
func (s *spread) fill(t *cornerTable, v []float64) {
	s.n = len(v) - 1
	end := 0
	for x := 0; x <= s.n; x++ {
		for y := 0; x+y <= s.n; y++ {
			s.first[x*s.side+y] = end
			end += s.n + 1 - x - y
			row := s.at(x, y)
			switch {
			case y > 0:
				tossInto(row, s.at(x, y-1), t.dc)
			case x > 0:
				tossInto(row, s.at(x-1, y), t.d)
			default:
				copy(row, v)
			}
		}
	}
}

// minima puts in place of each value the least that is left when some of its x coins
// become zeros and some of its y coins ones.
func (s *spread) minima() {
	for x := 0; x <= s.n; x++ {
		for y := 0; x+y <= s.n; y++ {
			row := s.at(x, y)
			if x > 0 {
				for j, v := range s.at(x-1, y)[:len(row)] {
					row[j] = min(row[j], v)
				}
			}
			if y > 0 {
				for j, v := range s.at(x, y-1)[1:] {
					row[j] = min(row[j], v)
				}
			}
		}
	}
}

// coins returns which of x and y coins are left where the value after minima is attained.
func (s *spread) coins(x, y, j int) (int, int) {
	for v := s.at(x, y)[j]; ; {
		switch {
		case x > 0 && s.at(x-1, y)[j] == v:
			x--
		case y > 0 && s.at(x, y-1)[j+1] == v:
			y, j = y-1, j+1
		default:
			return x, y
		}
	}
}

func votes(pairs [][2]coin, c counts, side int) []coin {
	var out []coin
	for i, pair := range pairs {
		out = append(out, slices.Repeat([]coin{pair[side]}, c[i])...)
	}
	return out
}

// row implements worlds.
func (t *cornerTable) row(c counts, s float64) ([]float64, float64) {
	return binaryRow(t.pairs(), c, s), 0.5
}

// binaryRow returns the coefficients of x in s·Φ(p) − Φ(p').
func binaryRow(pairs [][2]coin, c counts, s float64) []float64 {
	a := differences(poissonBinomial(votes(pairs, c, 0)))
	b := differences(poissonBinomial(votes(pairs, c, 1)))
	for j := range a {
		a[j] = s*a[j] - b[j]
	}
	return a
}

// The law of the number of ones among independent votes, in products without
// cancellation.

// A coin shows 1 with probability p; q = 1 − p to full relative accuracy.
type coin struct{ p, q float64 }

// PoissonBinomial returns the law of the number of ones among independent
// votes that are 1 with the given probabilities. It is the product recurrence:
// every term is non-negative, so that each entry keeps its relative accuracy.
func PoissonBinomial(p []float64) ([]float64, error) {
	coins := make([]coin, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fault.New(fmt.Sprintf("p[%d]", i), "%v is not in [0, 1]", v)
		}
		coins[i] = coin{v, 1 - v}
	}
	return poissonBinomial(coins), nil
}

func poissonBinomial(coins []coin) []float64 {
	a := make([]float64, len(coins)+1)
	a[0] = 1
	for n, c := range coins {
		a[n+1] = c.p * a[n]
		for l := n; l > 0; l-- {
			a[l] = c.q*a[l] + c.p*a[l-1]
		}
		a[0] *= c.q
	}
	return a
}

// binomial returns the law of the number of ones among k votes.
func binomial(k int, c coin) []float64 { return poissonBinomial(slices.Repeat([]coin{c}, k)) }

// differences returns d_l = α_l − α_{K−l} for l = n..K.
func differences(a []float64) []float64 {
	k := len(a) - 1
	n := half(k)
	d := make([]float64, k+1-n)
	for j := range d {
		d[j] = a[n+j] - a[k-n-j]
	}
	return d
}

// Error returns |Pr[answer = 1] − Pr[majority = 1]|, the total variation
// distance of the released bit from the noise-free majority, when vote i is 1
// with probability p[i] (Definition 2.4 of the paper).
func Error(g Gamma, p []float64) (float64, error) {
	d, err := votesLaw(g, p)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for j, v := range differences(d) {
		e += (1 - g.right()[j]) * v
	}
	return math.Abs(e) / 2, nil
}

// Disagreement returns the probability that the released bit is not the
// majority of the votes, half of the probability of a tie included. It is never below Error, which is blind to mistakes
// that cancel: at p ≡ ½ Error is 0 for every noise function.
func Disagreement(g Gamma, p []float64) (float64, error) {
	a, err := votesLaw(g, p)
	if err != nil {
		return 0, err
	}
	e := 0.0
	for l, v := range a {
		e += v * (1 - g[l])
	}
	return e / 2, nil
}

func votesLaw(g Gamma, p []float64) ([]float64, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	if len(p) != len(g)-1 {
		return nil, fault.New("p", "has %d entries, must have one for each of the %d mechanisms", len(p), len(g)-1)
	}
	return PoissonBinomial(p)
}

// The model, and which families are worst.
//
// Let L be the number of ones among the votes, n = ⌊K/2⌋ + 1 the smallest majority, and γ: {0..K} → [0, 1] a
// noise function with γ(l) = γ(K−l). The mechanism answers with the majority 1{L ≥ n} with probability γ(L) and
// with a fair coin otherwise. An even K has ties, which have no majority: γ(K/2) = 0, the answer is a coin. Nothing
// below needs K odd, unless it says so. With s_l = ±1 for l ≥ n and l < n, α_l = Pr[L = l], and p the vector of vote
// probabilities,
//
//	Pr[answer = 1] = ½(1 + Φ(p)),  Φ(p) = Σ_l s_l γ(l) α_l = Σ_{l≥n} γ(l) d_l,  d_l = α_l − α_{K−l}.  (1)
//
// Its error is ½|Σ_{l≥n}(1−γ(l)) d_l|, the total variation distance of the answer from the majority. Errors that
// cancel do not count: at p ≡ ½ it is zero for every γ. The disagreement ½Σ_l α_l(1−γ(l)), the probability of
// not telling the majority, is never smaller.
//
// 2. When it is private.
//
// Lemma 3.4. The mechanism is (mε, δ)-DP for every family of such mechanisms if and only if, for all admissible
// p and p',
//
//	f = Φ(p) − e^{mε} Φ(p') ≤ R = e^{mε} − 1 + 2δ,  or equally  P − e^{mε} P' ≤ δ,  (2)
//
// P and P' being the probabilities of the answer 1. The condition on the answer 0 is the same under p → 1 − p.
//
// Lemma 5.1. f is affine in each pair (p_i, p_i'), which ranges over a polygon, and symmetric in the mechanisms.
// So its maximum is attained with every mechanism at a corner, and only the number at each corner matters. The
// corners are (0,0), (1,1), (0,Δ), (Δ,0), (1−Δ,1), (1,1−Δ), (a,b), (b,a) with a = (e^ε+Δ)/(e^ε+1), b = 1−a; for Δ =
// 0 four of them are left, whatever δ is.
//
// Theorem 3 (three corners). If γ is monotone, that is, does not fall from the middle outwards, the corners
// (Δ,0), (1,1−Δ) and (a,b) suffice. Proof. s_l γ(l) is then non-decreasing in l, so Φ is non-decreasing in every
// p_i, and f grows with p_i and falls with p_i'. Its maximum is therefore on the part of the polygon's boundary
// where p_i cannot grow at fixed p_i', which is the two edges through (a,b), with exactly these ends. ∎ There are
// C(K+2, 2) multisets instead of C(K+7, 7). For other γ the three corners can be too few.
//
// Theorem 4 (unlike mechanisms). If mechanism i is (ε_i, Δ_i)-DP, the condition (2) is decided at the corners of
// each one's own polygon, for monotone γ at (Δ_i, 0), (1, 1−Δ_i), (a_i, b_i). The majority of 2t − 1 sampled votes
// is (Σ of the t largest ε_i)-DP for Δ = 0, and no better. Proof. f is affine in each pair whatever the others
// are, and Φ monotone in each p_i. In Theorem 1's proof the t ones that can count have rates ε_i, at most the t
// largest together. ∎ Mechanisms that are alike are a group, of which only numbers at corners count. Where the
// groups make more than 2·10⁶ families, the closest in ε are taken as one with the larger ε and Δ, which is sound;
// Certificate.Attained takes the smaller ones and so is attained, and MaxF − Attained is the gap.
//
// Theorem 5 (mechanisms with a profile). If every one of a group has D‖D' profile at most δ(·), its pairs are
// those with p ≤ e^x p' + δ(x) for all real x and the same for (1−p, 1−p'). Any finite set of these tangents makes a
// polygon that contains them, so its corners bound f for monotone γ; the pairs (P(loss > x), Q(loss > x)) of the
// profile's own pair are inside and attain what they make of f. Proof. The first is the definition of a profile on
// events; a maximum over a larger set is larger; each test on the pair is a mechanism that it dominates. ∎ Up to 16
// tangents are placed where they cut off most. A training run is such a mechanism: its certified curve is the
// profile.
