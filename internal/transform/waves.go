// What is left of a product of many finite laws at frequencies where no one of them falls (docs/theory/contour.md, Theorem 9).
//
// It assumes lines of finite laws. It returns one sum of waves for all of them, and bounds of it at equidistant frequencies.

package transform

import (
	"math"
	"slices"
)

// Waves bound the modulus of a product. With r = |M(θ+it)|²/M(θ)² of a factor, log|M(θ+it)/M(θ)| ≤ (r−1)/2, and r is a sum of waves
// at the differences of the losses, in which the waves of all factors may be put together:
//
//	Σ c·r ≤ rest + Σ weight·cos(t·diff).
type Waves struct {
	diff, weight []float64
	rest, counts float64
	far          float64 // the largest difference
}

// A Waver is a Line whose modulus is that of a few waves.
type Waver interface {
	// Waves adds those of count factors, for frequencies up to tMax, and reports whether it did. Factors whose waves would take
	// too much memory count as their largest modulus, that at 0.
	Waves(w *Waves, count, tMax float64) bool
}

const (
	leastNode = 1e-6    // steers: nodes with a smaller share of M(θ) are counted with their moduli
	leastWave = 1e-9    // steers: so are waves, beside 1
	mostPairs = 1 << 21 // steers: bounds the memory of waves: some 64 MB while they are collected
)

// Waves implements Waver. With the masses u over M(θ) of the nodes kept, m their sum, and e what all others and all errors may add,
// |M(θ+it)|/M(θ) ≤ |Σ u e^{itl}| + e, the square of which is at most |Σ u e^{itl}|² + 2me + e².
func (v *mixedLine) Waves(w *Waves, count, tMax float64) bool {
	k, _, err := v.real()
	if len(v.pieceSizes) > 0 || math.IsInf(err, 1) {
		return false
	}
	whole := math.Exp(k-err-v.scale) * (1 - 1e-12)
	small := (v.wrong+v.slips*tMax+v.skip0)/whole + 1e-12
	var u, l []float64
	mass := 0.0
	for i, x := range v.weight {
		if x /= whole; x < leastNode {
			small += x
			continue
		}
		u, l, mass = append(u, x), append(l, v.loss[i]), mass+x
	}
	w.counts += count
	if len(w.diff)+len(u)*(len(u)-1)/2 > mostPairs {
		w.rest += count // |M(θ+it)| ≤ M(θ)
		return true
	}
	rest := small * (2*mass + small)
	for i, x := range u {
		rest += x * x
		for j, y := range u[:i] {
			if 2*x*y < leastWave {
				rest += 2 * x * y
				continue
			}
			w.diff, w.weight = append(w.diff, l[i]-l[j]), append(w.weight, 2*x*y*count)
			w.far = max(w.far, math.Abs(l[i]-l[j]))
		}
	}
	w.rest += count * rest * (1 + 1e-9)
	return true
}

// Terms returns about what the bounds at n frequencies cost, in terms of a direct sum.
func (w *Waves) Terms(n int) float64 { return gridTerms(len(w.diff), n/wavesOver) }

// Bounds returns upper bounds of log |∏ M/M(θ)| at the frequencies kh, k < n, nil where the grid for them would be too long.
func (w *Waves) Bounds(h float64, n int) []float64 {
	m := gridLength(n) / wavesOver
	if m > mostGrid {
		return nil
	}
	f, err, ok := grid(w.diff, w.weight, h*float64(m)/(2*math.Pi), n, m, wavesHalf, 1)
	if !ok {
		return nil
	}
	out := make([]float64, n)
	for k := range out {
		// Differences and frequencies round, by 4u of the phase; a bound by pairs of moduli in any case.
		phase := 4 * u * float64(k) * h * w.far * w.counts
		out[k] = min(0, (w.rest+real(f[k])+2*err[k]+phase-w.counts)/2+1e-9*w.counts)
	}
	return out
}

// A bound needs half the digits of a column: the grid of waves is coarser, and the half-width of its kernel about half.
const (
	wavesOver = gridOver / 2
	wavesHalf = gridHalf/2 + 1
)

// waveLine is a sketch of the line of a finite law: what its waves are, and not what bounds them.
type waveLine struct{ loss, weight []float64 }

// SketchWaves returns a sketch of the line of a finite law at theta, nil for another transform.
func SketchWaves(t Transform, theta float64) SketchLine {
	var l waveLine // with logarithms of weights
	switch t := t.(type) {
	case *Mixed:
		if len(t.pieces) > 0 {
			return nil
		}
		for _, a := range t.atoms {
			if a.Reversed {
				l.add(-a.Loss, a.LogMass-theta*a.Loss)
			} else {
				l.add(a.Loss, a.LogMass+(1+theta)*a.Loss)
			}
		}
	default:
		return nil
	}
	top := slices.Max(l.weight)
	kept := waveLine{}
	for i, x := range l.weight {
		if w := math.Exp(x - top); w > negligibleShare {
			kept.add(l.loss[i], w)
		}
	}
	return kept
}

func (l *waveLine) add(loss, weight float64) {
	l.loss, l.weight = append(l.loss, loss), append(l.weight, weight)
}

// Fall implements SketchLine.
func (l waveLine) Fall(t float64) float64 {
	re, _, _ := oscillate(l.loss, l.weight, t, 1, math.MaxInt64)
	return re[1]
}

// Table implements SketchLine.
func (l waveLine) Table(h float64, n int, _ float64, most int64) (re, im []float64, terms int64) {
	return oscillate(l.loss, l.weight, h, n, most)
}

// Nodes implements SketchLine.
func (l waveLine) Nodes(_, _ float64) float64 { return float64(len(l.loss)) }
