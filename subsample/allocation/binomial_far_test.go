package allocation

import "testing"

// Where the tail of the binomial is a subnormal number or underflows, τ is given away, and not
// rounded to something below it. The true tails are by their logarithms, −741.85 and less, in exact sums.
func TestOverflowAmongSubnormals(t *testing.T) {
	for _, c := range []struct {
		n, k  int64
		q     float64
		truth float64
	}{
		{1 << 30, 537500057, 0.5, 6.4e-323},
		{2e6, 25617, 0.01, 1.7347e-320},
	} {
		o := truncatedScheme{rate: c.q, cap: c.k, population: c.n}.overflow(c.n + 1)
		if !(o.tauHigh >= c.truth && o.tauLow <= c.truth) {
			t.Errorf("n = %d: τ in [%v, %v], the truth is %v", c.n, o.tauLow, o.tauHigh, c.truth)
		}
	}
}
