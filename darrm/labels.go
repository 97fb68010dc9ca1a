// Votes for one of many labels: the families that can be worst when the label of an absolute
// majority is told with probability γ, and one drawn uniformly otherwise.

package darrm

import (
	"context"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// purified returns the problem of ε-DP mechanisms that is decided in place of one of
// (ε, Δ)-DP mechanisms with many labels: with c = 1 − (1−Δ)^K, P − e^B·P' is at most
// c + (1−c)(P₀ − e^B·P₀') for some ε-DP ones (Theorem 6).
func (p Params) purified() Params {
	if c := p.labelLoss(); c > 0 {
		p.OutputDelta = max(0, (p.OutputDelta-c)/(1-c)*(1-16*xmath.U))
		p.Delta = 0
	}
	return p
}

// A labelTable finds the worst families of K ε-DP mechanisms that vote for one of C labels.
//
// An extreme mechanism draws one of two symbols, with probabilities a and b on one data set
// and b and a on the other, and votes for a label that the symbol decides. Only this counts
// of a family, for each label: the number s of mechanisms that always vote for it, and the
// numbers i and j of those that do so on the first and on the second symbol only. What the
// answer's law has to do with the label is A(s, i, j) = E[γ(votes); votes ≥ n], and the
// privacy condition is a sum over labels. The numbers belong to a family if and only if
// Σs + Σi = K, Σi = Σj = M and i + j ≤ M at each label. So the worst family is a shortest
// path: labels are added one by one, with the sums so far as the state (Theorem 6,
// below).
type labelTable struct {
	k, labels int
	all       bool // sets of labels, not single ones only: δ > 0
	s         float64
	a         coin
}

func newLabelTable(p Params, s float64) *labelTable {
	return &labelTable{k: p.Mechanisms, labels: p.Classes, all: p.OutputDelta > 0, s: s, a: newCornerTable(1, p.Epsilon, 0, true).a}
}

// tableError and underflow: P and P' are computed to an absolute error, of the relative
// error of the tables (see cornerTable.tableError) in sums of sizes of at most 2, and of the
// additions of at most 2·maxLabels of them.
func (t *labelTable) tableError() float64 { return 0 }
func (t *labelTable) underflow() float64 {
	return float64(4*(12*t.k+12)+4*maxLabels) * xmath.U
}

// means returns A: entry [i][j][s].
func (t *labelTable) means(g Gamma) [][][]float64 {
	told := make([]float64, t.k+1)
	for l := half(t.k); l <= t.k; l++ {
		told[l] = g[l]
	}
	return tossed(told, t.a, coin{t.a.q, t.a.p})
}

// A share is what one label has of a family.
type share struct{ s, i, j int }

// A layer is the best value of so many labels, for each sum of their shares, and the share
// of the last label there.
type layer struct {
	value []float64
	last  []share
}

// visit implements worlds: it gives the worst family of each number M and of each size of
// the set of labels, for the s of the table.
func (t *labelTable) visit(ctx context.Context, g Gamma, f func(*run)) error {
	a := t.means(g)
	sizes := 1
	if t.all {
		sizes = t.labels - 1
	}
	for m := 0; m <= t.k && ctx.Err() == nil; m++ {
		// In the set a label adds s·A − A', outside it takes as much.
		in := t.layers(ctx, a, m, sizes, 1)
		out := t.layers(ctx, a, m, t.labels-1, -1)
		if ctx.Err() != nil {
			break
		}
		for size := 1; size <= sizes; size++ {
			t.join(a, in, out, m, size, f)
		}
	}
	return ctx.Err()
}

func (t *labelTable) at(m int, c share) int { return (c.s*(m+1)+c.i)*(m+1) + c.j }

// layers returns the best sums of 0..count labels with M = m.
func (t *labelTable) layers(ctx context.Context, a [][][]float64, m, count int, sign float64) []layer {
	n := (t.k - m + 1) * (m + 1) * (m + 1)
	empty := func() layer { return layer{slices.Repeat([]float64{math.Inf(-1)}, n), make([]share, n)} }
	out := []layer{empty()}
	out[0].value[0] = 0
	for range count {
		if ctx.Err() != nil {
			return nil
		}
		prev := out[len(out)-1]
		next := empty()
		t.each(m, share{t.k - m, m, m}, func(c share) {
			gain := sign * (t.s*a[c.i][c.j][c.s] - a[c.j][c.i][c.s])
			t.each(m, share{t.k - m - c.s, m - c.i, m - c.j}, func(rest share) {
				v := prev.value[t.at(m, rest)] + gain
				if x := t.at(m, share{rest.s + c.s, rest.i + c.i, rest.j + c.j}); v > next.value[x] {
					next.value[x], next.last[x] = v, c
				}
			})
		})
		out = append(out, next)
	}
	return out
}

// each calls f with every share up to most; that of one label has i + j ≤ M, and the
// calls for sums ignore it.
func (t *labelTable) each(m int, most share, f func(share)) {
	whole := most == share{t.k - m, m, m}
	for s := 0; s <= most.s; s++ {
		for i := 0; i <= most.i; i++ {
			for j := 0; j <= most.j && (!whole || i+j <= m); j++ {
				f(share{s, i, j})
			}
		}
	}
}

// join finds the best division of the shares between the labels of a set and the others.
func (t *labelTable) join(a [][][]float64, in, out []layer, m, size int, f func(*run)) {
	w := float64(size) / float64(t.labels)
	best, from, to := math.Inf(-1), share{}, share{}
	rest := t.labels - size
	for s := 0; s <= t.k-m; s++ {
		for i := 0; i <= m; i++ {
			for j := 0; j <= m; j++ {
				x, y := share{s, i, j}, share{t.k - m - s, m - i, m - j}
				if v := (1-w)*in[size].value[t.at(m, x)] + w*out[rest].value[t.at(m, y)]; v > best {
					best, from, to = v, x, y
				}
			}
		}
	}
	if math.IsInf(best, -1) {
		return
	}
	r := run{}
	r.base[0] = size
	p, q := xmath.Sum{}, xmath.Sum{}
	p.Add(w)
	q.Add(w)
	n := 1
	trace := func(ls []layer, labels int, at share, weight float64) {
		for ; labels > 0; labels-- {
			c := ls[labels].last[t.at(m, at)]
			at = share{at.s - c.s, at.i - c.i, at.j - c.j}
			p.Add(weight * a[c.i][c.j][c.s])
			q.Add(weight * a[c.j][c.i][c.s])
			if c.s+c.i+c.j >= half(t.k) {
				sign := 1
				if weight < 0 {
					sign = 2
				}
				r.base[n], r.base[n+1], r.base[n+2], r.base[n+3] = sign, c.s, c.i, c.j
				n += 4
			}
		}
	}
	trace(in, size, from, 1-w)
	trace(out, rest, to, -w)
	r.P, r.Q = []float64{p.Value()}, []float64{q.Value()}
	f(&r)
}

// row implements worlds. At most three labels can have a majority: their shares sum to
// K + M ≤ 2K, and each has at least n > K/2.
func (t *labelTable) row(c counts, s float64) ([]float64, float64) {
	w := float64(c[0]) / float64(t.labels)
	x := make([]float64, free(t.k))
	for n := 1; n+3 < len(c) && c[n] > 0; n += 4 {
		weight := 1 - w
		if c[n] == 2 {
			weight = -w
		}
		on, off := t.law(c[n+1], c[n+2], c[n+3]), t.law(c[n+1], c[n+3], c[n+2])
		for j := range x {
			if l := half(t.k) + j; l < len(on) {
				x[j] += 2 * weight * (s*on[l] - off[l])
			}
		}
	}
	return x, w
}

// law is that of the votes of s, i and j mechanisms for a label.
func (t *labelTable) law(s, i, j int) []float64 {
	return poissonBinomial(slices.Concat(slices.Repeat([]coin{{1, 0}}, s), slices.Repeat([]coin{t.a}, i), slices.Repeat([]coin{{t.a.q, t.a.p}}, j)))
}

// Many labels.
//
// Theorem 6 (many labels). K mechanisms vote for one of C labels; the label of an absolute majority of l votes
// is told with probability γ(l), otherwise a uniform one. With A_c = E[γ(n_c); n_c ≥ n], Pr[answer ∈ S] = |S|/C + (1
// − |S|/C) Σ_{c∈S} A_c − |S|/C Σ_{c∉S} A_c. For ε-DP mechanisms the worst family over all sets S is found exactly.
// Proof. A pair of ε-DP laws is a post-processing of randomized response (Kairouz, Oh and Viswanath), and the
// condition affine in it: an extreme mechanism maps each of the two symbols to a label, x and y. A_c depends only on
// how many have x = y = c, x = c ≠ y and y = c ≠ x: s, i and j. Such numbers with Σs + Σi = K, Σi = Σj = M, belong
// to a directed graph without loops, and so to a family, if and only if i + j ≤ M at each label. The condition is a
// sum over labels, so a shortest path over the sums finds its maximum. For δ = 0 single labels suffice. With (ε, Δ),
// mechanism i is with probability 1 − Δ an ε-DP one, so P − e^B P' ≤ c + (1−c)(P₀ − e^B P₀'), c = 1 − (1−Δ)^K. ∎ The
// last step is not tight; the gap is returned. K is at most 21.
