// A sketch of a bounded loss: a few hundred bins of losses in place of thousands of atoms, and of
// pieces, of which a certified sum has nodes in proportion to the line that it is on.

package transform

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// sketchBins is how many bins a law with more atoms than twice that is put in. A bin of width w loses a
// variance of at most w²/4, where a law whose masses go down to e^−700 has a range of 75 deviations: a
// few thousandths of K at the most, where a search needs hundredths.
const sketchBins = 256 // steers: accuracy for time

// A mixedSketch has the bins of a law as P sees it, for θ ≥ −½, and as Q sees the reversed one.
type mixedSketch struct {
	plainSketch
	pInf, qInf float64
	sides      [2][]bin
}

// A bin stands for atoms of neighbouring losses: their mass, mean loss, and sum of p·ex(−L).
type bin struct{ logP, p, loss, kappa float64 }

// newMixedSketch returns nil for laws of which every atom may as well be summed, and for pieces that
// are too long for a rule.
func newMixedSketch(m *Mixed) Sketch {
	if len(m.pieces) == 0 && len(m.atoms) <= 2*sketchBins {
		return nil
	}
	r := newRule(m, 0, 0, true)
	if err := r.rough(); err != nil || len(r.nodes) == 0 {
		return nil
	}
	s := &mixedSketch{plainSketch: plainSketch{m}, pInf: m.pInf, qInf: m.qInf}
	for side := range s.sides {
		list := make([]bin, len(r.nodes))
		for i, n := range r.nodes {
			list[i] = bin{logP: n.logP, loss: n.l}
			if side == 1 {
				list[i] = bin{logP: n.logP - n.l, loss: -n.l}
			}
		}
		s.sides[side] = binned(list)
	}
	return s
}

// binned puts atoms in bins of equal width, few of them each in its own.
func binned(list []bin) (out []bin) {
	slices.SortFunc(list, func(a, b bin) int { return cmp.Compare(a.loss, b.loss) })
	first := list[0].loss
	width := (list[len(list)-1].loss - first) / sketchBins
	for i := 0; i < len(list); {
		end, top := list[i].loss, list[i].logP
		if len(list) > 2*sketchBins && width > 0 {
			end = first + width*(math.Floor((list[i].loss-first)/width)+1)
		}
		j := i + 1
		for ; j < len(list) && list[j].loss < end; j++ {
			top = max(top, list[j].logP)
		}
		mass, mean, kappa := 0.0, 0.0, 0.0
		for _, a := range list[i:j] {
			w := math.Exp(a.logP - top)
			mass, mean = mass+w, mean+w*a.loss
			if a.loss > -30 {
				kappa += math.Exp(a.logP) * ex(-a.loss)
			} else {
				kappa += math.Exp(a.logP - a.loss)
			}
		}
		b := bin{logP: top + xmath.Log(mass), loss: mean / mass, kappa: kappa}
		b.p = math.Exp(b.logP)
		out = append(out, b)
		i = j
	}
	return out
}

// Real implements Sketch, as roughReal does of nodes.
func (r *mixedSketch) Real(s float64) (k, slope float64) {
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return math.Inf(1), 0
	}
	if s < -0.5 {
		k, slope = realOf(r.sides[1], -1-s, r.qInf, r.pInf)
		return k, -slope
	}
	return realOf(r.sides[0], s, r.pInf, r.qInf)
}

// realOf returns K(θ) and K'(θ) for θ ≥ −½.
func realOf(bins []bin, theta, pInf, qInf float64) (k, slope float64) {
	d, m1 := -pInf+theta*(qInf-pInf), qInf-pInf
	top := math.Inf(-1)
	for i := range bins {
		b := &bins[i]
		v := theta * b.loss
		top = max(top, b.logP+v)
		if v <= 30 {
			_, second, growth := tiltedTerms(b.p, v)
			d += second + theta*b.kappa
			m1 += b.loss*growth + b.kappa
		} else {
			w := math.Exp(b.logP + v)
			d, m1 = d+w+theta*b.kappa, m1+w*b.loss+b.kappa
		}
	}
	if d > -0.5 && d < 1e3 {
		return math.Log1p(d), m1 / (1 + d)
	}
	sum, mean := 0.0, 0.0
	for i := range bins {
		w := math.Exp(bins[i].logP + theta*bins[i].loss - top)
		sum, mean = sum+w, mean+w*bins[i].loss
	}
	if math.IsNaN(sum) || math.IsInf(top, 0) || sum == 0 {
		return math.Inf(1), 0
	}
	return top + xmath.Log(sum), mean / sum
}
