package campaign

// Sums of Laplace losses, exactly. One run has, with m the largest loss, under the first data
// set the law e^{−m/2}·e^{L/2}·(½δ_m + ½δ_{−m} + ¼·dL on [−m, m]). The exponential factors of k
// runs multiply to e^{(L−km)/2}, and what remains is a k-fold convolution of atoms and uniform
// pieces: a spline with knots at whole multiples of m. δ(ε) is its integral against
// 1 − e^{ε−L}, in closed form. Terms cancel, by about k·log₂(1/m) bits: hence the many bits.

import (
	"math/big"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

const (
	splineBits  = 1500
	mostLaplace = 8 // runs
)

func wide(x float64) *big.Float { return new(big.Float).SetPrec(splineBits).SetFloat64(x) }

func mul(a, b *big.Float) *big.Float { return wide(0).Mul(a, b) }
func add(a, b *big.Float) *big.Float { return wide(0).Add(a, b) }
func sub(a, b *big.Float) *big.Float { return wide(0).Sub(a, b) }
func quo(a, b *big.Float) *big.Float { return wide(0).Quo(a, b) }

// wideExp returns e^x: halved until it is small, a series, squared again.
func wideExp(x *big.Float) *big.Float {
	halvings := max(x.MantExp(nil)+40, 0)
	y := wide(0).SetMantExp(wide(0).Set(x), -halvings)
	sum, term := wide(1), wide(1)
	for n := 1; term.Sign() != 0 && term.MantExp(nil) > -splineBits; n++ {
		term = quo(mul(term, y), wide(float64(n)))
		sum = add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum
}

// A piece is coefficient·(L − knot·m)₊^{order−1}/(order−1)!, or an atom there for order 0.
type piece struct {
	order, knot int
	coefficient *big.Float
}

// pieces returns the k-fold convolution, in units that leave m out of the knots.
func pieces(k int) []piece {
	sum := map[[2]int]*big.Float{}
	choose := func(n, r int) *big.Float {
		return wide(0).SetInt(new(big.Int).Binomial(int64(n), int64(r)))
	}
	for up := 0; up <= k; up++ {
		for down := 0; up+down <= k; down++ {
			r := k - up - down
			ways := mul(choose(k, up), choose(k-up, down))
			c := wide(0).SetMantExp(ways, -(up+down)-2*r) // ½ for an atom, ¼ for a piece
			for t := 0; t <= r; t++ {
				at := [2]int{r, up - down - r + 2*t}
				x := mul(c, choose(r, t))
				if t%2 == 1 {
					x.Neg(x)
				}
				if r == 0 && t > 0 {
					break
				}
				if sum[at] == nil {
					sum[at] = wide(0)
				}
				sum[at] = add(sum[at], x)
			}
		}
	}
	var out []piece
	for order := 0; order <= k; order++ {
		for knot := -k; knot <= k; knot++ {
			if c := sum[[2]int{order, knot}]; c != nil {
				out = append(out, piece{order, knot, c})
			}
		}
	}
	return out
}

// laplaceRuns is δ of k runs of Laplace noise whose largest loss is m.
func laplaceRuns(k int, m *big.Float) curve {
	m = wide(0).Set(m)
	list := pieces(k)
	knots := make([]point, 2*k+1)
	for i := range knots {
		knots[i] = pointAt(mul(m, wide(float64(i-k))))
	}
	end := knots[2*k]
	return func(eps *big.Float) *big.Float {
		if wide(0).Set(eps).Cmp(end.x) >= 0 {
			return oracle.New()
		}
		at := pointAt(eps)
		exp := mul(at.up, at.up)
		sum := wide(0)
		for _, p := range list {
			c := knots[p.knot+k]
			from := c
			if at.x.Cmp(c.x) > 0 {
				from = at
			}
			var x *big.Float
			if p.order == 0 {
				if from.x != c.x { // at or below ε
					continue
				}
				x = sub(c.up, mul(exp, c.down))
			} else {
				n := p.order - 1
				x = sub(moment(from, end, c, n, 1), mul(exp, moment(from, end, c, n, -1)))
			}
			sum = add(sum, mul(p.coefficient, x))
		}
		return oracle.New().Set(mul(end.down, sum))
	}
}

// A point is a loss x with e^{x/2} and e^{−x/2}.
type point struct{ x, up, down *big.Float }

func pointAt(x *big.Float) point {
	x = wide(0).Set(x)
	up := wideExp(mul(x, wide(0.5)))
	return point{x, up, quo(wide(1), up)}
}

// moment is ∫ e^{sL/2}·(L−c)^n/n! dL from lo to hi, for s = ±1.
func moment(lo, hi, c point, n, s int) *big.Float {
	at := func(x point) *big.Float {
		// Repeated integration by parts: Σ_j (−1)^j (x−c)^{n−j}/(n−j)!·(2s)^{j+1}.
		d := sub(x.x, c.x)
		powers := []*big.Float{wide(1)}
		for i := 1; i <= n; i++ {
			powers = append(powers, quo(mul(powers[i-1], d), wide(float64(i))))
		}
		sum, unit := wide(0), wide(float64(2*s))
		for j := 0; j <= n; j++ {
			sum = add(sum, mul(powers[n-j], unit))
			unit = mul(unit, wide(float64(-2*s)))
		}
		if s > 0 {
			return mul(sum, x.up)
		}
		return mul(sum, x.down)
	}
	return sub(at(hi), at(lo))
}
