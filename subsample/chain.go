// Theorem 2.14 of Dong, Roth and Su 2022: the tests between data sets that differ in several
// records, from those of one record at a time.

package subsample

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// A chain D_0, D_1, …, D_k changes one record at each link. If every test S at link i has
// P_{i−1}(S) ≤ g_i(P_i(S)), g_i growing, then P_0(S) ≤ g_1(g_2(…g_k(P_k(S))…)). g_i is the
// roc of the link's dominating pair in the direction of the chain: the largest true-positive
// rate for each false-positive rate, a concave polygon. It assumes nothing else: the proof is
// good for whatever has a profile (proof below).

// A kink is a corner of a roc: a false-positive rate and a true-positive one.
type kink struct{ x, y float64 }

// A roc is a concave polygon from (0, y₀) to (1, 1) that never falls, by its corners in
// ascending order. With outward = 1 each corner is rounded to the left and up, so that the
// polygon lies above what it stands for, with −1 to the right and down.
type roc struct {
	kinks   []kink
	outward float64
}

// maxKinks bounds a roc; beyond, sides are left out, and those next to them are prolonged
// (outward), or corners are cut (inward).
const maxKinks = 4096

// nudge moves a corner outward by n roundings of its coordinates.
func (r roc) nudge(k kink, n float64) kink {
	e := n * xmath.U * r.outward
	return kink{min(1, k.x*(1-e)), min(1, k.y*(1+e))}
}

// A link is a profile that several links in a row have.
type link struct {
	p     profiles.Profile
	times int
}

// chain returns the discrete profile of a chain of links, the one next to P first. outward is
// 1 for a profile above that of the chain, −1 for one below the largest that chains of such
// links have.
func chain(links []link, outward float64) (profiles.Profile, error) {
	var r roc
	for i, l := range links {
		s := rocOf(l.p, outward).power(l.times)
		if i > 0 {
			s = r.after(s)
		}
		r = s
	}
	if outward > 0 && r.kinks[0].y == 1 {
		if p := pureLinks(links); p != nil {
			return p, nil
		}
	}
	return r.profile()
}

// pureLinks returns the profile of a chain of links that have the largest loss of these and nothing else, nil where there is none.
// It says what it says in logarithms, where the rates of a roc underflow (losses of some 600 together).
func pureLinks(links []link) profiles.Profile {
	most, times := 0.0, 0
	for _, l := range links {
		s := l.p.Support()
		if s.LogPInf > math.Inf(-1) || s.LogQInf > math.Inf(-1) {
			return nil
		}
		most = max(most, max(s.Max, -s.Min)+s.LossErr)
		times += l.times
	}
	if math.IsInf(most, 1) || times > maxKinks {
		return nil
	}
	p, err := pureChain(xmath.Up(most, 1), times)
	if err != nil {
		return nil
	}
	return p
}

// power returns g∘g∘…∘g, k times.
func (r roc) power(k int) roc {
	var out roc
	for square := r; ; square = square.after(square) {
		if k&1 == 1 {
			if out.kinks == nil {
				out = square
			} else {
				out = out.after(square)
			}
		}
		if k >>= 1; k == 0 {
			return out
		}
	}
}

// after returns x ↦ r(s(x)), whose corners are the images of those of s and the preimages of
// those of r.
func (r roc) after(s roc) roc {
	var out []kink
	i := 0 // side of r
	for n, k := range s.kinks {
		if n > 0 {
			from := s.kinks[n-1]
			for ; i < len(r.kinks) && r.kinks[i].x < k.y; i++ {
				c := r.kinks[i]
				if c.x <= from.y {
					continue
				}
				// A sum and a product of positive terms: 6 roundings. Inward, a rate that underflows must
				// not become 0, which makes an infinite loss of it.
				x := max(math.SmallestNonzeroFloat64, from.x+(c.x-from.y)*((k.x-from.x)/(k.y-from.y)))
				out = append(out, s.nudge(kink{x, c.y}, 8))
			}
		}
		out = append(out, s.nudge(kink{k.x, r.at(k.y)}, 8))
	}
	return roc{out, r.outward}.clean()
}

// at returns the roc at a false-positive rate, to 6 roundings.
func (r roc) at(x float64) float64 {
	i := sort.Search(len(r.kinks), func(i int) bool { return r.kinks[i].x > x })
	switch {
	case i == 0: // inward polygons may begin right of 0
		return 0
	case i == len(r.kinks):
		return r.kinks[i-1].y
	}
	a, b := r.kinks[i-1], r.kinks[i]
	return a.y + (x-a.x)*((b.y-a.y)/(b.x-a.x))
}

// clean returns the least concave polygon above the corners, with at most maxKinks of them.
// Of what is concave, corners rounded inward stay below it, and their hull does, too. Outward, what rounding says to lie on a side
// may lie above it: the sides are moved to the left until all corners are below them (cover).
func (r roc) clean() roc {
	r.flush()
	slices.SortFunc(r.kinks, func(a, b kink) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
	})
	var out, left []kink
	for _, k := range r.kinks {
		if n := len(out); n > 0 && k.y <= out[n-1].y {
			continue // it never falls
		}
		if n := len(out); n > 0 && k.x == out[n-1].x {
			out = out[:n-1]
		}
		for n := len(out); n >= 2; n = len(out) {
			a, b := out[n-2], out[n-1]
			// Scaled, so that neither product underflows.
			if (b.y-a.y)*rocScale*((k.x-b.x)*rocScale) > (k.y-b.y)*rocScale*((b.x-a.x)*rocScale) {
				break
			}
			out, left = out[:n-1], append(left, b)
		}
		out = append(out, k)
	}
	if r.kinks = out; r.outward > 0 {
		r.cover(left)
	}
	if len(r.kinks) <= maxKinks {
		return r
	}
	for len(r.kinks) > maxKinks {
		r.kinks = r.thinned()
	}
	return r.clean()
}

// cover moves all corners to the left by the part of their rates that puts those left out on or below a side. The side's rate
// at the height of a corner has 6 roundings.
func (r roc) cover(left []kink) {
	most := 0.0
	for _, k := range left {
		i, _ := slices.BinarySearchFunc(r.kinks, k.y, func(a kink, y float64) int { return cmp.Compare(a.y, y) })
		if i == 0 || i == len(r.kinks) {
			continue // at a height where the polygon begins or has ended, left of it
		}
		a, b := r.kinks[i-1], r.kinks[i]
		x := a.x + (k.y-a.y)*((b.x-a.x)/(b.y-a.y))
		most = max(most, x*(1+8*xmath.U)/k.x-1)
	}
	if most > 0 {
		for i := range r.kinks {
			r.kinks[i].x *= 1 - most - 4*xmath.U
		}
	}
}

// Rates below rocLeast are moved to the safe side: their neighbours would be too near to where
// numbers lose digits for a few of the last to be rounded outward. Differences of rates are at least
// an ulp of that, and rocScale times them, squared, far from underflow and overflow.
const (
	rocLeast = 0x1p-900
	rocScale = 0x1p511
)

// flush rounds the corners near underflow, outward or inward.
func (r roc) flush() {
	for i, k := range r.kinks {
		if r.outward > 0 {
			if k.x < rocLeast {
				k.x = 0
			}
			if k.y > 0 && k.y < rocLeast {
				k.y = rocLeast
			}
		} else {
			if k.x > 0 && k.x < rocLeast {
				k.x = rocLeast
			}
			if k.y < rocLeast {
				k.y = 0
			}
		}
		r.kinks[i] = k
	}
}

// thinned leaves out about every third corner.
func (r roc) thinned() []kink {
	ks := r.kinks
	out := []kink{ks[0]}
	i := 1
	for ; i+2 < len(ks)-1; i += 3 {
		a, b, c, d := ks[i-1], ks[i], ks[i+1], ks[i+2]
		if r.outward < 0 {
			out = append(out, b, d)
			continue
		}
		// The side from b to c is left out: those from a to b and from c to d are prolonged until
		// they meet, a little further on the first, which lies above the second there. Where that
		// is ill-conditioned, the corner of the box does.
		corner := kink{b.x, c.y}
		up, along := (b.y-a.y)/(b.x-a.x), (d.y-c.y)/(d.x-c.x)
		if t := ((c.y - b.y) - along*(c.x-b.x)) / (up - along) * (1 + 1e-9); up > along*(1+1e-6) && t >= 0 && b.x+t < c.x {
			corner = r.nudge(kink{b.x + t, b.y + up*t}, 16)
		}
		out = append(out, corner, d)
	}
	return append(out, ks[i:]...)
}

// profile returns the pair of discrete distributions whose roc this is: a side is an outcome,
// its slope the likelihood ratio. Every roc ends at (1, 1), and a polygon rounded inward before it: without that corner
// the pair would lack mass.
func (r roc) profile() (profiles.Profile, error) {
	if r.outward < 0 {
		r.kinks = append(slices.Clone(r.kinks), kink{1, 1})
		r = r.clean()
	}
	logP, logQ := math.Inf(-1), math.Inf(-1)
	last := kink{}
	var atoms []profiles.Atom
	most := 0.0
	for _, k := range r.kinks {
		dx, dy := k.x-last.x, k.y-last.y
		switch {
		case dx == 0:
			logP = xmath.Log(dy)
		case dy > 0:
			l := xmath.Log(dy) - xmath.Log(dx)
			atoms = append(atoms, profiles.Atom{Loss: l, LogP: xmath.Log(dy), LogQ: xmath.Log(dx)})
			most = max(most, math.Abs(xmath.Log(dx)), math.Abs(xmath.Log(dy)))
		}
		last = k
	}
	if rest := 1 - last.x; rest > 0 {
		logQ = xmath.Log(rest)
	}
	// The corners are what they are: differences round once, logarithms once more.
	return profiles.NewDiscrete(atoms, logP, logQ, 4*xmath.U, 6*xmath.U*(1+most))
}

// The roc of a profile, as a polygon above it, or, for discrete ones, below it, too.

// rocOf returns the roc of p: of a discrete profile its own, of any other a polygon of
// tangents above it, so that outward must be 1.
func rocOf(p profiles.Profile, outward float64) roc {
	if d, ok := p.(*profiles.Discrete); ok {
		return rocOfDiscrete(d, outward)
	}
	return rocOfTangents(p)
}

// rocOfDiscrete has a corner after each atom, the largest loss first. Masses have errors,
// and an error of a loss is one of P against Q.
func rocOfDiscrete(d *profiles.Discrete, outward float64) roc {
	r := roc{outward: outward}
	s := d.Support()
	at := func(t profiles.Tails) {
		e := 1.01*t.Err + s.LossErr + 4*xmath.U
		// Next to (1, 1) the rest is known better than the sum.
		x, y := math.Exp(t.Q), math.Exp(t.P)
		r.kinks = append(r.kinks, kink{min(1, x*(1-outward*e)), min(1, y*(1+outward*e))})
	}
	at(d.Tails(math.Inf(1), 0))
	atoms := d.Atoms()
	for i := len(atoms) - 1; i >= 0; i-- {
		at(d.Tails(math.Nextafter(atoms[i].Loss, math.Inf(-1)), 0))
	}
	if outward > 0 {
		r.close(atoms)
	}
	r.kinks[0].x = 0
	return r.clean()
}

// close ends a polygon that lies above at (x, 1), where the last outcome that P has ends.
func (r *roc) close(atoms []profiles.Atom) {
	if n := len(r.kinks) - 1; len(atoms) > 0 {
		r.kinks[n].y = 1
	} else {
		r.kinks = append(r.kinks, kink{1, 1})
	}
}

// A point of a roc with its tangent, whose slope is e^eps: rates rounded to the left and up,
// and what is left of P.
type tangentPoint struct{ eps, x, y, left float64 }

// Constants that only steer.
const (
	firstTangents = 64
	mostTangents  = 1500
	tangentFloor  = -700 // of log P(L > ε) at the last tangent
	tangentRest   = -45  // of log P(L ≤ ε) at the first
	tangentWidth  = 1e-6 // how far above the roc a corner may be, relative to its root
)

// rocOfTangents returns the polygon of the tangents at finitely many slopes: the roc lies
// below each of them. Cells between slopes are halved where the corner is far above the roc.
func rocOfTangents(p profiles.Profile) roc {
	s := p.Support()
	point := func(eps float64) tangentPoint {
		t := p.Tails(eps, s.LossErr)
		e := 1.01*t.Err + 4*xmath.U
		return tangentPoint{eps: eps, x: math.Exp(t.Q) * (1 - e), y: min(1, math.Exp(t.P)*(1+e)), left: math.Exp(t.PC) * (1 + 1.01*t.ErrC + 4*xmath.U)}
	}
	lo, hi := tangentRange(p, s)
	ps := []tangentPoint{}
	for i := range firstTangents + 1 {
		ps = append(ps, point(lo+(hi-lo)*float64(i)/firstTangents))
	}
	if !math.IsNaN(s.Spike) && s.Spike > lo && s.Spike < hi {
		ps = inserted(ps, point(s.Spike))
	}
	for _, a := range s.Atoms {
		// Both sides of an atom, so that no cell has it and more.
		w := s.LossErr + 8*xmath.U*(1+math.Abs(a))
		for _, eps := range []float64{a - w, a + w} {
			if eps > lo && eps < hi {
				ps = inserted(ps, point(eps))
			}
		}
	}
	for before := 0; len(ps) < mostTangents && len(ps) != before; {
		before = len(ps)
		out := ps[:1:1]
		for _, b := range ps[1:] {
			a := out[len(out)-1]
			if mid := a.eps + (b.eps-a.eps)/2; mid > a.eps && mid < b.eps && b.eps-a.eps > smallCell*(1+math.Abs(a.eps)) && excess(b, a) > tangentWidth {
				out = append(out, point(mid))
			}
			out = append(out, b)
		}
		ps = out
	}
	r := roc{outward: 1}
	top := ps[len(ps)-1]
	r.kinks = append(r.kinks, kink{0, max(0, math.Nextafter(top.y-math.Exp(top.eps)*top.x, 1)+4*xmath.U*top.y)})
	if top.x == 0 || !(r.kinks[0].y < top.y) {
		r.kinks[0].y = top.y
	}
	r.kinks = append(r.kinks, kink{top.x, top.y})
	for i := len(ps) - 1; i > 0; i-- {
		r.kinks = append(r.kinks, corners(ps[i], ps[i-1])...)
	}
	// Beyond the last tangent point at its slope, until P has nothing left, rounded down: e^{−ε} may be above all numbers.
	end := ps[0]
	rest := 0.0
	if t := p.Tails(end.eps, s.LossErr); t.PC > math.Inf(-1) {
		rest = max(0, math.Exp(t.PC-end.eps)*(1-1.01*t.ErrC-(8+2*math.Abs(t.PC)+2*math.Abs(end.eps))*xmath.U))
	}
	r.kinks = append(r.kinks, kink{end.x, end.y}, kink{min(1, end.x+rest), 1}, kink{1, 1})
	return r.clean()
}

// tangentRange returns slopes, as losses, beyond which next to nothing is.
func tangentRange(p profiles.Profile, s profiles.Support) (lo, hi float64) {
	reach := func(sign, end float64, enough func(eps float64) bool) float64 {
		if !math.IsInf(end, 0) {
			return end
		}
		x := sign
		for !enough(x) && math.Abs(x) < 1e6 {
			x *= 1.5
		}
		return x
	}
	hi = reach(1, s.Max, func(eps float64) bool {
		t := p.Tails(eps, 0)
		return t.P <= max(tangentFloor, s.LogPInf+1e-6)
	})
	lo = reach(-1, s.Min, func(eps float64) bool { return p.Tails(eps, 0).PC <= tangentRest })
	pad := s.LossErr + 8*xmath.U*(1+max(math.Abs(lo), math.Abs(hi)))
	return lo - pad, hi + pad
}

// inserted returns ascending points with one more, unless there is one of its slope.
func inserted(ps []tangentPoint, q tangentPoint) []tangentPoint {
	i, found := slices.BinarySearchFunc(ps, q.eps, func(p tangentPoint, eps float64) int { return cmp.Compare(p.eps, eps) })
	if found {
		return ps
	}
	return slices.Insert(ps, i, q)
}

// smallCell is the width of a cell whose tangents are too much alike for their crossing.
const smallCell = 1e-9

// corners returns where the tangents of b, at the larger slope, and of a cross, or, in a small
// cell and where numbers end, where that of b is as high as a: beyond, the roc is no higher up to a.
//
// From (b.x, b.y) the crossing is t to the right, (y_a − y_b) − e^{ε_a}(x_a − x_b) over e^{ε_b} − e^{ε_a}.
// Rounding t up, the corner goes on along the tangent at b, which is above that at a there.
func corners(b, a tangentPoint) []kink {
	dx, dy := max(0, a.x-b.x), max(0, a.y-b.y)
	if dx == 0 && dy == 0 {
		return []kink{{a.x, a.y}}
	}
	low, high := math.Exp(a.eps), math.Exp(b.eps)
	box := []kink{{min(a.x, (b.x+dy/high*(1-(4+2*math.Abs(b.eps))*xmath.U))*(1-4*xmath.U)), a.y}, {a.x, a.y}}
	if math.IsInf(high, 1) || high == 0 {
		box[0].x = b.x
		return box
	}
	if b.eps-a.eps <= smallCell*(1+math.Abs(a.eps)) {
		return box
	}
	gap := low * math.Expm1(b.eps-a.eps)
	noise := 16 * xmath.U * (a.y + b.y + low*(a.x+b.x))
	t := (dy - low*dx + noise) / gap * (1 + 8*xmath.U)
	if !(t < dx) { // also where nothing is known of t
		return box
	}
	t = max(t, 0)
	x, y := b.x+t, b.y+t*high
	return []kink{{x * (1 - 4*xmath.U), min(1, y*(1+8*xmath.U))}}
}

// excess is how far the corner of a cell is above the chord, for what the roc has there.
func excess(b, a tangentPoint) float64 {
	c := corners(b, a)[0]
	dx, dy := a.x-b.x, a.y-b.y
	if !(dx > 0) || !(dy > 0) {
		return 0
	}
	chord := b.y + (c.x-b.x)/dx*dy
	return (c.y - chord) / math.Sqrt(c.y*min(1, 1-b.x+1e-12))
}

// Theorem 3: chains.
//
// Let g(x) be the largest probability of a test under P among those of probability x under Q, in one direction (the
// ROC of the dominating pair): P(S) ≤ g(Q(S)). For data sets D_0, D_1, …, D_k, each a neighbour of the next in that
// direction, P_0(S) ≤ g(P_1(S)) ≤ g(g(P_2(S))) ≤ … as g grows: k records have the ROC g∘g∘…∘g (Dong, Roth and Su
// 2022, Theorem 2.14). Removals iterate the bound of removals, additions that of additions. Under substitute one
// record of a person may be replaced in one order of a declared pair and another record in the other: the links are
// the larger profile of both orders.
//
//   - Population. Under add-remove a chain of removals goes through n, n − 1, …, n − k + 1 records while the
//     batch stays: link i has the profile at population n − i, which is worse. With three records, a batch of one,
//     and the question whether it is one of two given ones, the iterate of the first profile would certify δ(0) =
//     5/9; the truth is 2/3, and so is the certificate. population is the size of the larger data set.
//   - Tight. A symmetric ROC is that of some noise on a number, and shifts of that noise by whole numbers attain
//     the iterates (Awan and Vadhan 2023). So pure and approximate are exact as classes: for ε = 1, two
//     records have δ(0) = 1 − 1/e = 0.632121, where 2ε would say 0.761594. Gaussian and Laplace pairs are shifts,
//     whose iterates are known.
//   - A whole run. The same iterate of the composed curve of a plan is a row of compare, "group privacy of one
//     record's curve", and the answer of epsilon --group-black-box (Plan.GroupEpsilon; group-black-box in
//     requests): an upper bound that knows nothing else of the plan. Under add-remove it is left out for samples
//     of a fixed size.
//   - Rounding. A polygon above g is kept by its corners, each rounded to the left and up, and their concave
//     hull is taken: each of these only raises g. Corners that rounding says lie on a side of the hull may be
//     above it, so that all rates move to the left by the largest part that one of them needs. Of profiles that
//     are not discrete the polygon is that of tangents. Beyond 4096 corners, sides are left out and their
//     neighbours prolonged. Where rates underflow and nothing is left of a chain, that of pure links with its
//     largest loss stands for it, whose rates are logarithms: a pair is dominated by the pure one of its largest
//     loss. Over Gaussian noise, whose losses have no largest, it is the Gaussian pair of known places: given
//     where in the batch the person's records are, at most min(k, m) places without replacement and m otherwise,
//     each moves the sum by 2 sensitivities (1 under zero-out), and hockey-stick divergences are jointly convex.
