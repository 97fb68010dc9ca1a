package choice

// Theorem 2 (Dong, Durfee and Rogers 2020, Section 4, in another form):
// the exact adaptive composition of exponential mechanisms, enclosed.
//
// W_k(α), the largest hockey-stick divergence at α of k mechanisms whose losses have a
// range of length ε, each chosen after the answers before it, satisfies
//
//	W_k(e^a) = sup over t in [0, ε] of p·W_{k−1}(e^{a−t}) + (1−p)·W_{k−1}(e^{a−t+ε}),
//	p = (e^ε − e^t)/(e^ε − 1),  W_0(α) = (1 − α)₊.
//
// It is convex in α, falls, and is symmetric: W(α) = 1 − α + αW(1/α). Both enclosures
// hold values at a = i·h, i ≥ 0, h = ε/m.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// tiny is where a value of the upper recursion stays: what is smaller counts as the
// probability of an infinite loss, that of the lower one as 0.
const tiny = 1e-290

// What a node of a recursion takes of a limit of work, measured: one of the upper recursion looks at unions of cells, one
// of the lower recursion at a few turns.
const (
	perUpperNode = 25
	perLowerNode = 1
)

// A grid is the set of losses of a recursion with what depends on t = c·h alone.
type grid struct {
	m int
	h float64
	// Of t = c·h, c = 0..m: e^t, e^t − 1, and the probabilities p and 1 − p.
	y, z, p, r []float64
	span       float64 // e^ε − 1
}

func newGrid(epsilon float64, m int) *grid {
	g := &grid{m: m, h: epsilon / float64(m), span: math.Expm1(epsilon)}
	for c := range m + 1 {
		t := epsilon * float64(c) / float64(m)
		g.y, g.z = append(g.y, math.Exp(t)), append(g.z, math.Expm1(t))
		g.p = append(g.p, math.Exp(t-epsilon)*math.Expm1(epsilon-t)/-math.Expm1(-epsilon))
		g.r = append(g.r, math.Expm1(t)/g.span)
	}
	return g
}

// A line holds values at all nodes that a step of a recursion reads: of index i ≥ −m at
// i + m, the negative ones by symmetry.
type line struct {
	m           int
	at          []float64
	gain, alpha []float64 // 1 − α and α at −i·h, i = 0..m
}

func (g *grid) newLine() *line {
	l := &line{m: g.m, at: make([]float64, 2*g.m+1)}
	for i := range g.m + 1 {
		x := -g.h * float64(i)
		l.gain, l.alpha = append(l.gain, -math.Expm1(x)), append(l.alpha, math.Exp(x))
	}
	return l
}

// set makes the line of the values at nodes 0, 1, …; beyond them it is beyond. At −a it is
// part·(1 − α) + α times what mirrored is at a, which is after beyond its nodes.
func (l *line) set(w []float64, beyond float64, mirrored []float64, after, part float64) {
	l.at = l.at[:0]
	for i := l.m; i > 0; i-- {
		v := after
		if i < len(mirrored) {
			v = mirrored[i]
		}
		l.at = append(l.at, part*l.gain[i]+l.alpha[i]*v)
	}
	l.at = append(l.at, w...)
	for range 2 * l.m {
		l.at = append(l.at, beyond)
	}
}

// upper returns values of at least W_{j+k} at the nodes, for w of at least W_j (nil: W_0);
// the last one holds everywhere beyond.
//
// Between nodes the chord in α is above the convex W. In a cell of t both terms are then
// linear in 1/e^t, and their mixture is A + By + C/y in y = e^t (bound). A union of cells
// has such a chord too, which is above those of its cells: whole unions are left out when
// theirs is below what another cell has.
func (g *grid) upper(ctx context.Context, k int64, w []float64) ([]float64, error) {
	if w == nil {
		w = []float64{0}
	}
	l := g.newLine()
	// Each step rounds a dozen times: products, sums, p and r of three roundings each, and
	// the reflection of two. Each of e^t, e^ε and α, of a rounded number of at most ε, is off by ε units more.
	round := 1 + (32+4*g.h*float64(g.m))*xmath.U
	for range k {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		beyond := 0.0
		if w[len(w)-1] > 0 { // cut: the last value stands for all beyond
			beyond = w[len(w)-1]
		}
		l.set(w, beyond, w, beyond, 1)
		top := len(w) - 1 + g.m
		if err := parallel.Spend(ctx, perUpperNode*float64(top+1)); err != nil {
			return nil, err
		}
		next := make([]float64, 0, top+1)
		hint := g.m / 2
		for i := 0; i <= top; i++ {
			var v float64
			v, hint = g.largest(l.at[i:], hint)
			v *= round
			if v < tiny && v > 0 {
				v = tiny
			}
			if i > 0 {
				v = min(v, next[i-1]) // W falls
			}
			next = append(next, v)
			if v <= tiny {
				break
			}
		}
		w = next
	}
	return w, nil
}

// largest returns an upper bound of the supremum over t of the mixture at a node, whose
// neighbours w[m−c] and w[2m−c] hold the values at a − c·h and a − c·h + ε; and the cell
// where it is, or nearly. hint is a cell where it may be.
func (g *grid) largest(w []float64, hint int) (best float64, cell int) {
	cell = hint
	best = g.bound(w, hint, hint+1)
	type union struct{ from, to int }
	var stack [64]union
	stack[0] = union{0, g.m}
	for n := 1; n > 0; {
		n--
		u := stack[n]
		v := g.bound(w, u.from, u.to)
		if v <= best {
			continue
		}
		if u.to == u.from+1 {
			best, cell = v, u.from
			continue
		}
		middle := (u.from + u.to) / 2
		stack[n], stack[n+1] = union{u.from, middle}, union{middle, u.to}
		if hint < middle { // the half of the hint is on top
			stack[n], stack[n+1] = stack[n+1], stack[n]
		}
		n += 2
	}
	return best, cell
}

// bound returns an upper bound of the mixture for t from c0·h to c1·h.
//
// With D = 1/y0 − 1/y1 and λ = (1/y − 1/y1)/D the values are at most u1 + (u0 − u1)λ and
// v1 + (v0 − v1)λ, and the mixture over e^ε − 1 is A + By + C/y. For C ≥ 0 it is convex, for
// B ≥ 0 > C it rises: the ends count. For both below 0 it is concave, with its maximum at
// √(C/B); its tangent at any ŷ is above it, so that ŷ need not be exact.
func (g *grid) bound(w []float64, c0, c1 int) float64 {
	m := g.m
	u0, u1, v0, v1 := w[m-c0], w[m-c1], w[2*m-c0], w[2*m-c1]
	v := max(g.p[c0]*u0+g.r[c0]*v0, g.p[c1]*u1+g.r[c1]*v1)
	y0, y1, width := g.y[c0], g.y[c1], g.z[c1]-g.z[c0]
	d := width / (y0 * y1)
	bu, bv := (u0-u1)/d, (v0-v1)/d
	au, av := u1-bu/y1, v1-bv/y1
	b, c := av-au, (1+g.span)*bu-bv
	if b < 0 && c < 0 {
		if y := math.Sqrt(c / b); y > y0 && y < y1 {
			z := min(max(y-1, g.z[c0]), g.z[c1])
			y = 1 + z
			s := min(max(y0*(g.z[c1]-z)/(y*width), 0), 1)
			f := ((g.span-z)*(u1+(u0-u1)*s) + z*(v1+(v0-v1)*s)) / g.span
			v = max(v, f+math.Abs(b-c/(y*y))*width/g.span)
		}
	}
	// B and C round by some units of their terms, which moves B·y + C/y over the cell by
	// these times the lengths of the cell in y and in 1/y.
	return v + 16*xmath.U*((math.Abs(au)+math.Abs(av))*width-((1+g.span)*bu+bv)*d)/g.span
}

// A turn is a pair that an adversary may choose at a step: the losses down·h, with the
// probability p under P, and −up·h with r = 1 − p.
type turn struct {
	down, up int
	p, r     float64
}

// nearStrides are the strides of a climb among turns. It looks two steps ahead, as values at odd and at even
// nodes differ a little.
var nearStrides = []int{-2, -1, 1, 2}

// turns returns those of two candidates of the exponential mechanism: down + up = m.
func (g *grid) turns() []turn {
	out := make([]turn, g.m+1)
	for c := range out {
		out[c] = turn{down: c, up: g.m - c, p: g.p[c], r: g.r[c]}
	}
	return out
}

// lower returns what adversaries with these turns, none of more than m cells, reach at the nodes: w, at
// most the largest divergence, and the slope there of the divergence that is reached, as
// q = e^a·Q(L > a). The losses of these adversaries are nodes, so that nothing is between nodes.
// The reverse of a turn must be one that an adversary may choose.
func (g *grid) lower(ctx context.Context, turns []turn, strides []int, k int64) (w, q []float64, err error) {
	w, q = []float64{0}, []float64{0}
	below := []float64{1}
	lw, lq, lb := g.newLine(), g.newLine(), g.newLine()
	for range k {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		lw.set(w, 0, w, 0, 1)
		// Slopes q = e^a·Q(L > a) and below = P(L ≤ a): at −a the adversary is the reverse of the one at a,
		// so that e^{−a}·Q(L > −a) becomes e^{−a}·P(L < a), and P(L ≤ −a) becomes Q(L ≥ a). Where a loss has
		// mass at a, any slope between the two one-sided ones is that of a line below, so that P(L ≤ a)
		// serves, and Q(L > a). No term is a difference: where w is near 1 they are tiny.
		lq.set(q, 0, below, 1, 0)
		lb.set(below, 1, q, 0, 0)
		top := len(w) - 1 + g.m
		if err := parallel.Spend(ctx, perLowerNode*float64(top+1)); err != nil {
			return nil, nil, err
		}
		nextW, nextQ, nextB := make([]float64, 0, top+1), make([]float64, 0, top+1), make([]float64, 0, top+1)
		c := len(turns) / 2
		for i := 0; i <= top; i++ {
			mix := func(l *line, c int) float64 {
				t := &turns[c]
				return t.p*l.at[i+g.m-t.down] + t.r*l.at[i+g.m+t.up]
			}
			// Any turn serves: a climb in strides from where the last node had the best.
			best := mix(lw, c)
			for at := c; ; {
				for _, step := range strides {
					if d := at + step; d >= 0 && d < len(turns) {
						if v := mix(lw, d); v > best {
							best, c = v, d
						}
					}
				}
				if c == at {
					break
				}
				at = c
			}
			if i > 0 && best < tiny {
				break
			}
			nextW, nextQ, nextB = append(nextW, best), append(nextQ, mix(lq, c)), append(nextB, mix(lb, c))
		}
		w, q, below = nextW, nextQ, nextB
	}
	// Each step has relative errors of a dozen roundings, and of exponentials of up to ε; a line that is
	// steeper and starts lower is below.
	slack := (64 + 4*g.h*float64(g.m)) * xmath.U * float64(k+2)
	for i := range w {
		w[i] *= 1 - slack
		q[i] *= 1 + slack
	}
	return w, q, nil
}

// orResponse replaces what adversaries reach at the nodes, w with the slopes q, by what k randomized responses of
// a loss do where that is more: their losses need not be nodes. Either is a line below the largest divergence, and so is
// any choice of them.
//
// j of the k answers lose with the probability P_j, and L_j = (k − 2j)·loss. All terms are positive, P_j is of some k
// roundings, and 1 + (e^x − 1) of one of P_j, which counts as much.
func (g *grid) orResponse(w, q []float64, loss float64, k int64) {
	mass := make([]float64, k/2+1) // of those with L_j ≥ 0; the first is 2^−k or more, of at most some hundred runs
	mass[0] = math.Exp(-float64(k) * math.Log1p(math.Exp(-loss)))
	for j := 1; j < len(mass); j++ {
		mass[j] = mass[j-1] * float64(k-int64(j)+1) / float64(j) * math.Exp(-loss)
	}
	slack := 64 * xmath.U * float64(k+2)
	for i := range w {
		a := float64(i) * g.h
		reached, slope, total := 0.0, 0.0, 0.0
		for j, p := range mass {
			x := a - float64(k-2*int64(j))*loss
			if !(x < 0) {
				break
			}
			e := math.Expm1(x)
			reached, slope, total = reached-p*e, slope+p*(1+e), total+p
		}
		// The node is known to 2 u of itself, which moves a loss.
		if reached = reached*(1-slack) - (slope+total)*4*xmath.U*(1+a); reached > w[i] {
			w[i], q[i] = reached, slope*(1+slack)+total*4*xmath.U*(1+a)
		}
	}
}

// nodes returns the losses of the first n nodes.
func (g *grid) nodes(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) * g.h
	}
	return x
}

// Proof of Theorem 2.
//
// The adversary's value is defined backwards: after an outcome of ratio r the remaining steps have to beat e^a/r, so
// that V_j = sup over pairs of the Q-mean of r·V_{j−1}(e^a/r). V_{j−1} is convex (a supremum of hockey-stick
// divergences), hence so is r·V(α/r), its perspective; by the argument of Theorem 1 the two-point laws are the
// worst. ∎ (Dong, Durfee and Rogers 2020, who state the optimum for fixed lists of mechanisms; here its adaptive
// form.)
//
// Enclosed. Values are held at a = i·ε/m. Above: between nodes the chord in e^a is above the convex W. For t in a
// cell the recursion of chords is A + By + C/y in y = e^t, with its maximum at an end or at √(C/B); unions of cells
// have such chords too, above those of their cells, and are left out whole where theirs is below what is reached
// elsewhere. Below: adversaries with t on the grid have all losses on nodes; the tangents of what they reach are
// below W. W is symmetric, W(−a) = 1 − e^{−a} + e^{−a}W(a), which halves the work. The width falls with 1/m². More
// than some 200 runs are several blocks, each of which dominates its runs: for 10⁶ runs of ε = 0.1 that is within
// 0.5 % of a concrete attack.
//
// Cells are at most the accuracy asked for times k·ε, as δ falls to 0 within a few of them where ε(δ) is near k·ε.
// Slopes are carried as sums of probabilities on either side, so that they keep their digits where W is near 1.
//
// In a plan all runs of one ε are one block, wherever they stand. The order of runs of different ε matters to an
// adversary (ε = 0.5 then 1.5: δ(0) = 0.3677965; 1.5 then 0.5: 0.3583574); the product of the blocks, 0.370933099,
// is above every order and every interleaving, with other mechanisms too (Vadhan and Zhang, STOC 2023).
//
// Beside other mechanisms, from below. A plan has no order (cli.md): its upper
// end holds for each, so that the attack takes the worst. Everything else runs first, on the pair of data sets and
// with the questions of its own attack, and shows a loss L. The block runs last, on the same two data sets: scores
// are arbitrary functions of them, and are chosen after L is seen, for what is left of ε. What is reached is E[W_k(ε
// − L)], the composition of the other mechanisms with the profile W_k: the upper end itself. So is one run of
// permute-and-flip, where the scores are the choice, of a threshold (how many of the person's partitions are new,
// which is a matter of how keys are made of records) and of select-partitions (how many other persons have the key).
// Of two blocks only one comes last. On the other one the attack is fixed: randomized response on ε/2, two
// candidates, at every run; a gap remains, and the note below the answer names that block.
