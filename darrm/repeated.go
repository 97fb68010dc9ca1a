// Many answers as one mechanism: what the worst family does when it may be another at each
// answer, chosen knowing the answers so far.

package darrm

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// Limits of answers taken together: their number, and the work and the memory that the
// resolution of the recursion is chosen for.
const (
	maxAnswers    = 10000
	repeatedWork  = 4e8
	repeatedCells = 1 << 23
	mostCells     = 8192
	leastCells    = 400
)

// A choice is a family as the two laws of its answer: P(1) = y and Q(1) = x for the bound,
// p and q for the attack, and where a loss of either answer leads in cells.
type choice struct {
	x, y, p, q float64
	yes, no    step
}

// A step is a loss: by how much the cell falls, rounded so that less is left.
type step struct {
	loss float64
	// up reads the value at the cell i − loss/h, i − whole + part, for cells of the same
	// sign, and down at its negative, for those that change it.
	up, down shift
}

// A shift reads between two cells: value[i+whole]·(1−part) + value[i+whole+1]·part.
type shift struct {
	whole int
	part  float64
}

// Composition of answers, Theorem 7 below. Let W_t(λ) be the largest P(S) − λQ(S)
// over all ways to choose t families in turn, each knowing the answers before, and all events
// S. Then W_0(λ) = max(0, 1 − λ) and
//
//	W_{t+1}(λ) = max over families of p·W_t(λq/p) + (1−p)·W_t(λ(1−q)/(1−p)),
//
// where the corner points of the trade-off curve are families enough, W_t being convex. It
// is computed on a grid of log λ ≥ 0 with chords between its points, which a convex function
// is below; W(λ) = 1 − λ + λW(1/λ), because the families are closed under the exchange of the
// data sets, gives the other half.
type recursion struct {
	choices []choice
	n       int     // cells
	h       float64 // log λ of a cell
	largest float64 // loss of all answers together, rounded up; +Inf where an answer can give a record away
	small   []float64
	value   []float64
	policy  [][]uint16 // policy[t][i]: the choice at cell i with t answers left
}

// newRecursion returns the recursion after so many answers.
func newRecursion(ctx context.Context, h *hull, answers int, delta float64) (*recursion, error) {
	r := &recursion{}
	add := func(x, y, p, q float64) { r.choices = append(r.choices, choice{x: x, y: y, p: p, q: q}) }
	most, certain := 0.0, false
	for _, c := range h.points {
		if !(c.y > c.x) {
			continue
		}
		p, q := c.p*(1-2*h.rel), c.q*(1+2*h.rel)+h.abs
		q = min(q, p)
		add(c.x, c.y, p, q)
		add(1-c.y, 1-c.x, 1-q, 1-p)
		if c.x > 0 {
			most = max(most, xmath.Log(c.y/c.x))
		}
		most = max(most, xmath.Log((1-c.x)/(1-c.y)))
		certain = certain || c.x == 0
	}
	// Beyond the mean loss and a deviation that (Azuma) has less than δ·1e-9 to it nothing
	// is left to see; a smaller range would be no less sound.
	t := float64(answers)
	if r.largest = xmath.Up(t*(most+16*xmath.U*max(1, most)), 2); certain {
		r.largest = math.Inf(1)
	}
	far := min(t*most, t*most*math.Tanh(most/2)+most*math.Sqrt(2*t*(xmath.Log(1/delta)+20)), 600)
	r.n = int(min(mostCells, repeatedWork/t/float64(len(r.choices)), repeatedCells/t))
	r.n = max(r.n, leastCells)
	r.h = max(far, 1e-9) / float64(r.n)
	for i := range r.choices {
		c := &r.choices[i]
		c.yes, c.no = r.step(c.y, c.x), r.step(1-c.y, 1-c.x)
	}
	r.small = make([]float64, r.n+1)
	for i := range r.small {
		r.small[i] = math.Exp(-float64(i) * r.h)
	}
	return r, r.run(ctx, answers)
}

// step is the loss log y/x. W falls, so that it is read too far left: the loss is rounded up,
// and down where W is read at its negative.
func (r *recursion) step(y, x float64) step {
	s := step{loss: xmath.Log(y / x)}
	if math.IsInf(s.loss, 0) || math.IsNaN(s.loss) {
		return s
	}
	off := 16 * xmath.U * max(1, math.Abs(s.loss))
	s.down = r.shift(s.loss - off)
	s.loss += off
	s.up = r.shift(-s.loss)
	return s
}

func (r *recursion) shift(by float64) shift {
	cells := by / r.h
	whole := math.Floor(cells)
	// The share of the right cell: chords are straight in λ, not in its logarithm.
	part := math.Expm1((cells-whole)*r.h) / math.Expm1(r.h)
	return shift{int(whole), min(1, max(0, part*(1-1e-12)))}
}

// at is the value between cells.
func (r *recursion) at(i int, s shift) float64 {
	i += s.whole
	if i >= r.n {
		return r.value[r.n]
	}
	return r.value[i]*(1-s.part) + r.value[i+1]*s.part
}

// read is W at log λ = i·h − loss, i ≥ 0.
func (r *recursion) read(i int, s step, ratio float64) float64 {
	if float64(i)*r.h >= s.loss && i+s.up.whole >= 0 {
		return r.at(i, s.up)
	}
	// λ = e^{ih−loss} ≤ 1, and ratio is e^{−loss}, good to 4 u; the power of e in small errs by
	// the rounding of ih. A smaller λ has a larger W.
	l := ratio / r.small[i] * (1 - xmath.U*(8+4*float64(i)*r.h))
	// The reading at loss − ih is by i cells left of that at loss.
	j := r.value[0]
	if i <= s.down.whole {
		j = r.at(-i, s.down)
	}
	if l >= 1 { // within rounding
		return j
	}
	return (1-l)*(1+4*xmath.U) + l*j
}

// run computes W_answers on the grid, rounded up.
func (r *recursion) run(ctx context.Context, answers int) error {
	r.value = make([]float64, r.n+1) // W_0 is 0 for λ ≥ 1
	r.policy = [][]uint16{nil}
	for range answers {
		if err := ctx.Err(); err != nil {
			return err
		}
		next, policy := make([]float64, r.n+1), make([]uint16, r.n+1)
		for i := range next {
			for k := range r.choices {
				c := &r.choices[k]
				v := 0.0
				if c.y > 0 {
					yes := 1.0 // λ = 0
					if c.x > 0 {
						yes = r.read(i, c.yes, c.x/c.y)
					}
					v += c.y * yes
				}
				if c.y < 1 {
					v += (1 - c.y) * r.read(i, c.no, (1-c.x)/(1-c.y))
				}
				if v > next[i] {
					next[i], policy[i] = v, uint16(k)
				}
			}
			next[i] = min(1, next[i]*(1+64*xmath.U))
		}
		r.value = next
		r.policy = append(r.policy, policy)
	}
	return nil
}

// upper is the profile of W, which the chords are. Where W is above delta to the end of its range, of which no
// number has the λ, the largest loss of all answers is a better one.
func (r *recursion) upper(delta float64) (profiles.Profile, error) {
	if r.value[r.n] > delta {
		if m, err := profiles.NewPure(r.largest); err == nil { // not too large, nor infinite
			return m.Pair(profiles.Substitute) // of any relation
		}
	}
	eps := make([]float64, r.n+1)
	for i := range eps {
		eps[i] = float64(i) * r.h
	}
	return profiles.NewChords(eps, r.value, r.value)
}

// lower is the profile of one way to choose families: that of the recursion for the ε at
// which W is δ, which looks at the answers so far rounded to cells. Histories in the same
// cell are not told apart, so that the pair of laws of the last cell is one that is attained.
func (r *recursion) lower(answers int, delta float64) (*profiles.Discrete, error) {
	start := 0
	for start < r.n && r.value[start] > delta {
		start++
	}
	type mass struct{ p, q float64 }
	side := 2*r.n + 1
	now, next := make([]mass, side+2), make([]mass, side+2) // the last two are certain
	now[r.n+start] = mass{1, 1}
	for t := answers; t > 0; t-- {
		clear(next)
		next[side], next[side+1] = now[side], now[side+1]
		for cell, m := range now[:side] {
			if m.p == 0 && m.q == 0 {
				continue
			}
			i := cell - r.n
			c := r.choices[r.policy[t][max(i, -i)]]
			p, q, yes, no := c.p, c.q, c.yes.loss, c.no.loss
			if i < 0 { // the mirror image
				p, q, yes, no = 1-c.q, 1-c.p, -no, -yes
			}
			move := func(p, q, loss float64) {
				to := side
				switch {
				case p == 0 && q == 0:
					return
				case p == 0:
					to = side + 1
				case q > 0:
					to = r.n + int(math.Round(min(float64(r.n), max(-float64(r.n), float64(i)-loss/r.h))))
				}
				next[to].p += m.p * p
				next[to].q += m.q * q
			}
			move(p, q, yes)
			move(1-p, 1-q, no)
		}
		now, next = next, now
	}
	var atoms []profiles.Atom
	pInf, qInf := math.Inf(-1), math.Inf(-1)
	most := 0.0
	for cell, m := range now {
		// What is too small for a ratio counts as 1e-290, which takes from the other law's advantage: a loss
		// is infinite only where one law has exactly nothing.
		p, q := max(m.p, 1e-290), max(m.q, 1e-290)
		switch {
		case cell == side:
			pInf = xmath.Log(m.p)
		case cell == side+1:
			qInf = xmath.Log(m.q)
		case m.p == p || m.q == q: // else nothing, or too little: it is left out of both
			lp, lq := xmath.Log(p), xmath.Log(q)
			atoms = append(atoms, profiles.Atom{Loss: lp - lq, LogP: lp, LogQ: lq})
			most = max(most, math.Abs(lp), math.Abs(lq))
		}
	}
	// Two products and a sum for each answer.
	e := float64(4*answers+8) * xmath.U
	return profiles.NewDiscrete(atoms, pInf, qInf, e, 2*e+4*xmath.U*most)
}

// checkAnswers returns an error unless so many answers can be taken together.
func checkAnswers(answers int, delta float64) error {
	if answers < 1 || answers > maxAnswers {
		return fault.New("answers", "%d is not in [1, %d]", answers, maxAnswers)
	}
	if !(delta >= 1e-100 && delta < 1) {
		return fault.New("delta", "%v is not in [1e-100, 1)", delta)
	}
	return nil
}

// Many answers.
//
// Theorem 7 (many answers). The largest P(S) − λQ(S) over all ways to choose t families in turn, each knowing
// the answers so far, satisfies W_0 = max(0, 1−λ), W_{t+1}(λ) = max over families of pW_t(λq/p) +
// (1−p)W_t(λ(1−q)/(1−p)). Proof. Condition on the first answer: the rest is the same problem with P weighed by p
// and Q by q. W_t is a supremum of affine functions, hence convex, and the maximum is at a vertex of the region of
// (q, p). ∎ W is computed on a grid of log λ; chords lie above a convex function, so that the result is a bound, a
// profile, and composes with other steps. The attack is the choice that the recursion makes, with the history
// rounded to cells: histories in one cell are not told apart, so its pair of laws is attained. Where δ is reached
// beyond every λ that a float64 has (many answers of a large ε), the upper end is the largest loss of all answers
// together: pure differential privacy composes by sums, adaptively.
