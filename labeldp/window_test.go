package labeldp

import (
	"fmt"
	"math"
	"testing"
)

// law is the probability of every cell from a − w on.
func (d window) law(at int64) []float64 {
	out := make([]float64, d.b-d.a+2*d.w)
	for i := range out {
		c := d.a - d.w + int64(i)
		out[i] = 1 / d.total()
		if at-d.w <= c && c < at+d.w {
			out[i] *= d.e
		}
	}
	return out
}

func tinyWindow(eps float64, a, b, w int64) window {
	return window{lo: 0, hi: 12, eps: eps, e: math.Exp(eps) * (1 - 0x1p-52), grid: 1, a: a, b: b, w: w}
}

// TestWindowByEnumeration: laws, moments and the privacy of a window on a few cells, over
// all pairs of labels; and that an e too large is noticed.
func TestWindowByEnumeration(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 4} {
		for _, c := range [][3]int64{{2, 9, 1}, {2, 9, 2}, {0, 12, 3}, {4, 6, 4}, {5, 5, 2}, {0, 12, 6}} {
			d := tinyWindow(eps, c[0], c[1], c[2])
			name := fmt.Sprintf("ε = %v, [%d, %d) by %d", eps, c[0], c[1], c[2])
			pair := pairOf(t, d)
			broken := d
			broken.e *= 1.001
			noticed := d.a == d.b
			for e := 0.0; e < eps*1.2; e += eps / 8 {
				worst, worse := 0.0, 0.0
				for y := d.a; y <= d.b; y++ {
					for z := d.a; z <= d.b; z++ {
						s, u := 0.0, 0.0
						p, q, p2, q2 := d.law(y), d.law(z), broken.law(y), broken.law(z)
						for i := range p {
							s += max(p[i]-math.Exp(e)*q[i], 0)
							u += max(p2[i]-math.Exp(e)*q2[i], 0)
						}
						worst, worse = max(worst, s), max(worse, u)
					}
				}
				up := deltaOf(pair, e)
				nearAbs(t, name+" δ", up, worst, 1e-12)
				if up < worst-1e-15 {
					t.Errorf("%s: δ(%v) = %v below %v", name, e, up, worst)
				}
				noticed = noticed || up < worse-1e-15
			}
			if !noticed {
				t.Errorf("%s: an e^ε too large is not noticed", name)
			}
			for _, y := range []float64{0, 1, 5, 5.3, 12} {
				bias, mse, err := d.Moments(y)
				if err != nil {
					t.Fatal(err)
				}
				at, _ := d.accepts(y)
				sum, b, m := 0.0, 0.0, 0.0
				for i, p := range d.law(at) {
					x := float64(d.a-d.w+int64(i)) + 0.5 - y
					sum, b, m = sum+p, b+p*x, m+p*x*x
				}
				near(t, name+" sum", sum, 1, 1e-13)
				nearAbs(t, name+" bias", bias, b, 1e-12)
				near(t, name+" MSE", mse, m, 1e-12)
			}
		}
	}
}

// TestWindowDraws: what is drawn has the law, χ² at 5 standard deviations.
func TestWindowDraws(t *testing.T) {
	src := testSource(33)
	for _, at := range []int64{2, 5, 9} {
		d := tinyWindow(1, 2, 9, 2)
		const n = 200000
		law := d.law(at)
		counts := make([]float64, len(law))
		for range n {
			counts[d.draw(at, src)-(d.a-d.w)]++
		}
		chi := 0.0
		for i, p := range law {
			chi += (counts[i] - n*p) * (counts[i] - n*p) / (n * p)
		}
		df := float64(len(law) - 1)
		if chi > df+5*math.Sqrt(2*df) {
			t.Errorf("label %d: χ² = %v with %v degrees", at, chi, df)
		}
	}
}

// TestRPWithPrior: the interval is the best of all, by trying all; the loss is at most that
// of any half-width given; extremes and errors.
func TestRPWithPrior(t *testing.T) {
	rng := testSource(34)
	for range 20 {
		p, eps := randomPrior(rng, 2+rng.IntN(6), 0.2), 0.2+4*rng.Float64()
		span := p.labels[len(p.labels)-1] - p.labels[0]
		best := must(HalfLoss(must(RPWithPrior(p, eps, 0)), p))
		// RR-on-bins has the least half-loss of all ε-DP randomizers (Ghazi et al., ICLR 2023).
		if least := must(HalfLoss(must(RROnBins(p, eps)), p)); best < least*(1-1e-9) {
			t.Errorf("half-loss %v, below the least %v", best, least)
		}
		for i := range 12 {
			w := span * math.Pow(2, -1-float64(i))
			m := must(RPWithPrior(p, eps, w)).(window)
			if loss := must(HalfLoss(m, p)); loss < best*(1-1e-12) {
				t.Errorf("half-width %v has half-loss %v, below the best %v", w, loss, best)
			}
			density := func(a, b int64) float64 {
				in := 0.0
				for j, y := range p.labels {
					if c := m.cell(y); a <= c && c <= b {
						in += p.probs[j]
					}
				}
				return in / (2*float64(m.w) + math.Exp(-eps)*float64(b-a))
			}
			for range 50 {
				a, b := m.cell(p.labels[0]+rng.Float64()*span), m.cell(p.labels[0]+rng.Float64()*span)
				if a <= b && density(a, b) > density(m.a, m.b)*(1+1e-12) {
					t.Errorf("[%d, %d] is better than [%d, %d]", a, b, m.a, m.b)
				}
			}
		}
	}
	p := prior("C")
	for _, eps := range []float64{1e-6, 28} {
		m := must(RPWithPrior(p, eps, 0))
		for range 100 {
			if y, err := m.Sample(5, rng); err != nil || math.IsNaN(y) {
				t.Fatal(y, err)
			}
		}
		pairOf(t, m)
	}
	for _, scale := range []float64{1e-90, 1e90} {
		q := must(NewPrior([]float64{-scale, 0, scale}, nil))
		near(t, "half-loss is that of the shape", must(HalfLoss(must(RPWithPrior(q, 1, 0)), q))/scale/scale,
			must(HalfLoss(must(RPWithPrior(must(NewPrior(seq(-1, 1), nil)), 1, 0)), must(NewPrior(seq(-1, 1), nil)))), 1e-5)
	}
	m := must(RPWithPrior(p, 1, 0))
	for what, err := range map[string]error{
		"half-width":  func() error { _, err := RPWithPrior(p, 1, 10); return err }(),
		"NaN":         func() error { _, err := RPWithPrior(p, 1, math.NaN()); return err }(),
		"no prior":    func() error { _, err := RPWithPrior(Prior{}, 1, 0); return err }(),
		"label":       func() error { _, err := m.Sample(11, rng); return err }(),
		"label NaN":   func() error { _, err := m.Sample(math.NaN(), rng); return err }(),
		"moments NaN": func() error { _, _, err := m.Moments(math.NaN()); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
