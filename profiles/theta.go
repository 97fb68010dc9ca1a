// Masses of discrete Gaussian noise by theta functions, with a bound of the relative
// error.

package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// thetaListErr bounds the relative error of a mass (1) of vectornoise.go with θ
// as thetas computes it. What thetas leaves out is below e^{−45} of each sum; the
// sums have positive terms, at most 64 factors of 4 u and as many additions in
// logarithms below 1e4.
const thetaListErr = 1e-11

// thetaWeights are the masses (1) of vectornoise.go.
type thetaWeights struct {
	gaussianWeights
	theta []float64 // log θ by k mod len(theta)
	most  float64   // the largest of them
}

func newThetaWeights(sigma float64, theta []float64) thetaWeights {
	w := thetaWeights{gaussianWeights: gaussianWeights{sigma: sigma}, theta: theta, most: math.Inf(-1)}
	for _, t := range theta {
		w.most = max(w.most, t)
	}
	all := make([]float64, 0, 2*w.margin()+1)
	for k := -w.margin(); k <= w.margin(); k++ {
		all = append(all, w.log(k))
	}
	w.logZ = prefixSums(all, math.Inf(-1))[len(all)]
	return w
}

func (w thetaWeights) log(k int) float64 {
	n := len(w.theta)
	return w.gaussianWeights.log(k) + w.theta[((k%n)+n)%n]
}

func (w thetaWeights) tail(k int) float64 { return w.gaussianWeights.tail(k) + w.most }

// thetas returns log θ(k), k mod |v'|², for the vector v' that count lists.
func thetas(sigma float64, count []int) []float64 {
	n := 0
	for k, c := range count {
		n += c * k * k
	}
	sums := newPartialSums(sigma, n)
	for k, c := range count {
		for ; c > 0; c-- {
			sums.grow(k)
		}
	}
	return sums.theta(1)
}

// eachTheta calls f with the greatest common divisor and log θ of every vector
// of positive whole numbers with |v|² = norm2, up to order.
func eachTheta(sigma float64, norm2 int, f func(g int, theta []float64)) {
	sums := newPartialSums(sigma, norm2)
	eachSumOfSquares(norm2, sums.grow, sums.shrink, func(count []int) {
		g := gcdOf(count)
		f(g, sums.theta(g))
	})
}

// partialSums is a stack of the weights Σ e^{−|x|²/(2σ²)} over the x with
// ⟨v, x⟩ = j, one for each beginning of a vector v.
//
// An x of weight that counts is close to the line of v: |y_i| is at most the
// covering radius of Λ, which is below |v|, plus 9.5σ, beyond which what is left
// out weighs e^{−45} of what is kept.
type partialSums struct {
	sigma     float64
	norm2     int
	reach     int // of a coordinate
	wide      int // of a partial sum
	logarithm bool
	stack     [][]float64
}

func newPartialSums(sigma float64, norm2 int) *partialSums {
	norm := math.Sqrt(float64(norm2))
	s := &partialSums{sigma: sigma, norm2: norm2,
		reach: int(math.Ceil(norm + 9.5*sigma)), wide: int(math.Ceil(norm*(norm+9.5*sigma))) + 1,
		logarithm: sigma < 0.7} // else no weight in reach underflows: (|v|+9.5σ)²/2σ² < 250
	first := make([]float64, 2*s.wide+1)
	for i := range first {
		first[i] = s.number(math.Inf(-1))
	}
	first[s.wide] = s.number(0)
	s.stack = append(s.stack, first)
	return s
}

// number returns e^x in the representation of the stack.
func (s *partialSums) number(x float64) float64 {
	if s.logarithm {
		return x
	}
	return math.Exp(x)
}

// grow adds a coordinate that changes by v.
func (s *partialSums) grow(v int) {
	last := s.stack[len(s.stack)-1]
	next := make([]float64, len(last))
	if s.logarithm {
		for i := range next {
			next[i] = math.Inf(-1)
		}
	}
	for x := -s.reach; x <= s.reach; x++ {
		w := s.number(-float64(x) * float64(x) / (2 * s.sigma * s.sigma))
		for i := max(0, x*v); i < min(len(next), len(next)+x*v); i++ {
			switch from := last[i-x*v]; {
			case s.logarithm && math.IsInf(from, -1):
			case s.logarithm:
				next[i] = xmath.LogAdd(next[i], from+w)
			default:
				next[i] += from * w
			}
		}
	}
	s.stack = append(s.stack, next)
}

func (s *partialSums) shrink() { s.stack = s.stack[:len(s.stack)-1] }

// theta returns log θ of v/g, v the vector of the whole stack.
func (s *partialSums) theta(g int) []float64 {
	last := s.stack[len(s.stack)-1]
	n := s.norm2 / g / g
	out := make([]float64, n)
	for k := range out {
		j := k
		if 2*j > n {
			j -= n
		}
		x := last[s.wide+g*j]
		if !s.logarithm {
			x = xmath.Log(x)
		}
		out[k] = x + float64(j)*float64(j)/(2*s.sigma*s.sigma*float64(n))
	}
	return out
}
