package transform

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The shares of a window are those of all means, to the error that it says and the roundings of these; what it leaves out is below
// e^negligible of the largest.
func TestWindowIsSharesOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	tightest, moved := math.Inf(1), 0
	for range 3000 {
		records := 2 + r.IntN(63)
		q, sigma := logUniform(r, 1e-5, 0.95), logUniform(r, 0.02, 300)
		m := binomialPair(records, q, sigma, true).(*mixture)
		s := &m.p
		if r.IntN(2) == 0 {
			s = &m.q
		}
		d := s.sign * m.inv2 * (1.4*r.Float64() - 0.2) * float64(records)
		x, log, err := s.at(d)
		logs, top := make([]float64, records+1), math.Inf(-1)
		wrong := 0.0
		for n := range logs {
			v, dv := s.exponent(n, d)
			logs[n] = v + s.logW[n]
			top = max(top, logs[n])
			wrong = max(wrong, dv+2*u*(math.Abs(v)+math.Abs(s.logW[n])))
		}
		sum, mean := 0.0, 0.0
		for n, l := range logs {
			sum += math.Exp(l - top)
			mean += math.Exp(l-top) * s.sign * float64(n)
		}
		first := int(math.Round(math.Abs(x.at))) - x.top
		tol := 4*(x.dv+wrong) + 1e-14
		tightest = min(tightest, x.dv)
		for n, l := range logs {
			i := n - first
			if i < 0 || i >= len(x.w) {
				if l-top > negligible+tol {
					t.Fatalf("k=%d q=%v σ=%v d=%v: share of mean %d is left out at e^%v", records, q, sigma, d, n, l-top)
				}
				continue
			}
			if off := math.Abs(math.Log(x.w[i]) - (l - top - math.Log(sum))); off > tol {
				t.Fatalf("k=%d q=%v σ=%v d=%v: log share of mean %d is off by %v, error %v", records, q, sigma, d, n, off, tol)
			}
		}
		if off := math.Abs(log - top - math.Log(sum)); off > err+2*wrong+u*(8+4*math.Abs(top)) {
			t.Errorf("k=%d q=%v σ=%v d=%v: log of the sum is off by %v, error %v", records, q, sigma, d, off, err)
		}
		if off := math.Abs(x.at + x.mean - mean/sum); off > tol*float64(records) {
			t.Errorf("k=%d q=%v σ=%v d=%v: mean off by %v", records, q, sigma, d, off)
		}
		// A share that is off by more than it says is seen.
		if z, _, _ := s.at(d + 1e3*tol); z.at == x.at && len(z.w) == len(x.w) && len(x.w) > 1 {
			for i := range z.w {
				if n := first + i; math.Abs(math.Log(z.w[i])-(logs[n]-top-math.Log(sum))) > tol {
					moved++
					break
				}
			}
		}
	}
	if tightest > 1e-13 || moved < 500 {
		t.Errorf("the least error is %v, and %d windows moved: the test sees little", tightest, moved)
	}
}
