// Suprema of ratios of power series with non-negative coefficients, over neighbouring
// arguments, by branch and bound; rounded up.

package selection

import (
	"math"

	"github.com/dpaccountant/accountant/internal/queue"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// series is a power series Σ c_k x^k with non-negative coefficients: f', f or
// Σ Pr[K > k] x^k of a law.
type series []float64

// at returns log of the sum at x = e^lx and the mean of k under the weights
// c_k x^k.
func (s series) at(lx float64) (logSum, mean float64) {
	from := 0
	for from < len(s)-1 && s[from] == 0 {
		from++
	}
	// Powers relative to the first term that is not zero, by recursion: after k
	// steps they are off by k·u(1+|lx|), relatively. Coefficients are at most the
	// length of the series, so what is left out at the end is below 1e-28 of the sum.
	sum, first, power, x := 0.0, 0.0, 1.0, math.Exp(lx)
	for k := from; k < len(s) && (power > 1e-290 || sum < 1e-250); k++ {
		t := s[k] * power
		sum += t
		first += float64(k) * t
		power *= x
	}
	return float64(from)*lx + xmath.Log(sum), first / sum
}

// ratio bounds from above sup log s(1−u)/s(1−u') over the region of ε-close
// (u, u'): u' ≤ min(e^ε u, 1 − e^−ε(1−u)). slack bounds the relative error of a
// sum.
//
// On the second branch the ratio increases in 1−u, because the mean of k under
// the weights c_k x^k increases in x; its supremum is at the kink, which the
// first branch contains. There u' = 1−y, u = e^−ε(1−y) for y in [1/(1+e^ε), 1],
// and branch and bound with the mean-value theorem finds the supremum: on a
// cell, the derivative M(x)/x·e^−ε − M(y)/y is enclosed by the values of the
// increasing function M at the ends.
func (s series) ratio(eps, slack float64) float64 {
	if eps == 0 {
		return 0
	}
	if eps > 600 {
		return math.Inf(1)
	}
	e := math.Exp(-eps)
	point := func(y float64) (p seriesPoint) {
		p.y = y
		p.x = 1 - e*(1-y)
		p.hx, p.mx = s.at(math.Log1p(-e * (1 - y)))
		p.hy, p.my = s.at(xmath.Log(y))
		return p
	}
	const tol = 1e-13
	best := 0.0
	q := queue.New(func(x, y cell) bool { return x.bound > y.bound })
	push := func(a, b seriesPoint) {
		best = max(best, a.hx-a.hy, b.hx-b.hy)
		lo := a.mx/b.x*e - b.my/a.y
		hi := b.mx/a.x*e - a.my/b.y
		// From either end, and the two ends of the cell by monotony.
		w := b.y - a.y
		rise := max(0, hi, -lo)
		bound := min((a.hx-a.hy+b.hx-b.hy+w*rise)/2, b.hx-a.hy)
		q.Add(cell{a, b, bound})
	}
	push(point(e/(1+e)), point(1))
	// Whenever it stops, the largest bound left is proved; long series get fewer
	// steps, so that the whole search stays within a second or two.
	for range max(100, 20_000_000/len(s)) {
		c := q.First()
		if c.bound <= best+tol*max(1, best)+slack {
			break
		}
		q.Take()
		mid := (c.a.y + c.b.y) / 2
		if c.b.y > 4*c.a.y {
			mid = math.Sqrt(c.a.y * c.b.y)
		}
		m := point(mid)
		push(c.a, m)
		push(m, c.b)
	}
	return xmath.RoundUp(max(best, q.First().bound)+4*slack, 8)
}

type seriesPoint struct{ x, y, hx, mx, hy, my float64 }

type cell struct {
	a, b  seriesPoint
	bound float64
}
