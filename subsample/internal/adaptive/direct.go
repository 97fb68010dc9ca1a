// §13, single steps: of a function that is even about α = 1 and level near it, near is the worst at α ≥ 1.

package adaptive

// level returns the masses of a function D that is at least G everywhere, for one step with P-mass pInf at +∞: in terms of
// ν(dy) = β^½γ(dβ) its density is even, falls with |y|, and is constant up to the cell of node k.
//
// Above node k, c·β^½ is replaced by the least falling one, and the constant m is the least for which D is at least G at the nodes
// 0..k, and D(0) at least 1. For α < 1 nothing else is to be looked at: an even ν has D(α) = D(0)(1 − α) + αD(1/α), and G has 1 for D(0).
func (f *stair) level(k int, pInf float64) []float64 {
	low, top := f.low, f.top
	g := make([]float64, top+1)
	f.fill(g)
	n := make([]float64, top+2)
	mass, value, first, below := 0.0, 0.0, 0.0, 0.0 // of the part above node k and of its mirror image, which has D(0) too; and what is below the lowest node
	for j := top; j > k; j-- {
		i := j + low
		n[j] = max(n[j+1], f.c[j]/f.falls[i]*(1+f.rounding))
		d := n[j] * f.falls[i]
		value += mass * (f.beta[min(i+1, low+top)] - f.beta[i])
		mass += d
		first += d * f.beta[i]
		if j <= low {
			first += d
		} else {
			below += d
		}
	}
	value += mass * (f.beta[low+k+1] - f.beta[low+k])
	height := f.evenly(g, k, n[k+1], mass, value, first)
	d := make([]float64, low+top+1)
	atZero := 0.0 // D(0), but for what is below
	for i := range d {
		j := i - low
		if j < 0 {
			j = -j
		}
		m := height
		switch {
		case j > top:
			m = 0
		case j > k:
			m = n[j]
		}
		atZero += f.put(d, i, m)
	}
	f.density = 0
	// At +∞ D counts as D(0). What the cell at the top has above the last node has its mean. The mirror image of what is above e^Y, with
	// Y that of the lowest node, is at α ≥ 1 at most h_near'(e^Y) of its D(0).
	far := f.of.wide.near(float64(low) * f.ladder.step)
	f.inf += (pInf*atZero + f.overTop(n[top]) + (far.value+far.err)*below) * (1 + f.rounding)
	return d
}

// evenly returns the least constant up to node k, below a part with these sums, least or more.
func (f *stair) evenly(g []float64, k int, least, mass, value, first float64) float64 {
	height := least
	sum, at := 0.0, 0.0
	sumZero := f.falls[f.low] // of falls·β over the nodes −k..k: over the positive ones, falls + falls·β
	for j := k; j >= 1; j-- {
		i := j + f.low
		sum += f.falls[i]
		sumZero += f.falls[i] + f.falls[i]*f.beta[i]
		at += sum * (f.beta[i] - f.beta[i-1])
		above := value + mass*(f.beta[k+f.low]-f.beta[i-1])
		height = max(height, (g[j-1]*(1+f.rounding)-above*(1-f.rounding))/at)
	}
	return max(height, (1+f.rounding-first*(1-f.rounding))/sumZero) * (1 + 2*f.rounding)
}

// Proof (docs/theory/subsampling.md §13): Theorem L, and its steps.
//
// *Proof.* The density is a mixture of indicators of |y| < a with a ≥ A. For one of them `α^{−½}(E_near − E_c)[D](α) =
// M_c(x−a) − M_c(x+a)`, x = log α ≥ 0. If x ≥ a both arguments are on the right, where M_c falls. Else take z' = a − x,
// z = a + x ≥ A. ∎ What holds for s ≥ t holds for the mirror image: `∫_{−z'}^{z} f = ∫_{z'}^{z} f ≥ 0`. The same check
// shows it, from partial sums: for z in a part, with the right up to where the part *begins* (the sum that counts falls
// from there) and the least left up to where it ends. G itself for D is the case A = 0, which is false (§11): two steps
// of the README's noise then have less at α = 1 than an adversary.
//
// A step (`direct.go`): above the node of A, cβ^½ is replaced by the least falling one; below, by the least constant for
// which D ≥ G at the nodes α ≥ 1 and D(0) ≥ 1. Then D ≥ G for α < 1, too: an even ν has `D(α) = D(0)(1 − α) + αD(1/α)`.
// What the mirror image has below the lowest node e^{−Y} adds at most `near'(e^Y)` times its D(0). The first thousand
// steps are taken so where there are at most 8,000, and 0.8 ≤ θ ≤ 1.9; where that gains nothing, blocks alone are the
// answer.
