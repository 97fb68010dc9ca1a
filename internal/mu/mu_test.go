package mu

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func gauss(mu, eps float64) float64 { return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu) }

// The least μ of random pairs of finite distributions, by a search over all losses and between them,
// is within the interval; and the Gaussian of the upper end, with the tolerance, is above δ at every ε,
// negative ones among them.
func TestFindByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for trial := range 40 {
		n := 2 + r.IntN(4)
		p, q := make([]float64, n), make([]float64, n)
		sumP, sumQ := 0.0, 0.0
		spread := []float64{0.05, 0.5, 2, 5}[r.IntN(4)]
		for i := range p {
			p[i] = r.ExpFloat64()
			q[i] = p[i] * math.Exp(spread*r.NormFloat64())
			sumP, sumQ = sumP+p[i], sumQ+q[i]
		}
		end := 0.0
		for i := range p {
			p[i], q[i] = p[i]/sumP, q[i]/sumQ
			end = max(end, math.Abs(math.Log(p[i]/q[i])))
		}
		if trial%4 == 0 && end < 300 { // mass that only one side has
			q[0], q[1] = 0, q[0]+q[1]
		}
		one := func(p, q []float64, eps float64) float64 {
			d := 0.0
			for i := range p {
				d += max(0, p[i]-math.Exp(eps)*q[i])
			}
			return d
		}
		delta := func(eps float64) float64 { return max(one(p, q, eps), one(q, p, eps)) }
		tolerance := []float64{1e-10, 1e-4, 0.02}[r.IntN(3)]
		last := 0.0
		for last < 2*end+1 && delta(last) > tolerance {
			last += end / 1000
		}
		blur := []float64{0, 1e-6}[r.IntN(2)] // how far off a certified value may be, relatively
		if delta(last) > tolerance {
			last = math.Inf(1)
		}
		got, err := Find(tolerance, last, math.Inf(1), func(epsilons []float64) (out []Point, _ error) {
			for _, e := range epsilons {
				d := delta(e)
				out = append(out, Point{e, d * (1 - blur - 1e-14), d*(1+blur+1e-14) + 1e-17})
			}
			return out, nil
		})
		if math.IsInf(last, 1) {
			if !errors.Is(err, ErrNone) {
				t.Errorf("trial %d: %+v, %v for a mass that never ends", trial, got, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// The truth: the least μ with δ_μ + τ above δ, over a fine grid of ε.
		want, regret := 0.0, 0.0
		for i := range 4001 {
			eps := last * float64(i) / 4000
			d := delta(eps)
			if got.Upper > 0 {
				regret = max(regret, gauss(got.Upper, eps)-d)
				// Of the reversed pair as well: δ(−ε) = 1 − e^−ε + e^−ε·δ'(ε).
				for _, x := range [2]float64{one(p, q, -eps), one(q, p, -eps)} {
					if x > gauss(got.Upper, -eps)+tolerance+1e-12 {
						t.Errorf("trial %d: δ(−%v) = %v is above that of μ = %v, %v", trial, eps, x, got.Upper, gauss(got.Upper, -eps))
					}
				}
			}
			if d <= tolerance {
				continue
			}
			lo, hi := 1e-9, 1e3
			for range 70 {
				if mid := math.Sqrt(lo * hi); gauss(mid, eps) < d-tolerance {
					lo = mid
				} else {
					hi = mid
				}
			}
			want = max(want, lo)
		}
		// The grid of ε misses the truth by at most 1e-3.
		if got.Lower > want*(1+1e-3)+1e-8 || got.Upper < want*(1-1e-9) || got.Upper-got.Lower > 0.02*got.Upper+1e-8 {
			t.Errorf("trial %d, τ = %v: μ in [%v, %v], searched %v", trial, tolerance, got.Lower, got.Upper, want)
		}
		if got.Regret < regret-1e-12 {
			t.Errorf("trial %d: regret %v, there is %v", trial, got.Regret, regret)
		}
	}
}

// What cannot be asked is an error, and never a number.
func TestFindRefuses(t *testing.T) {
	same := func(epsilons []float64) (out []Point, _ error) {
		for _, e := range epsilons {
			out = append(out, Point{e, 0.5, 0.5})
		}
		return out, nil
	}
	for _, end := range []float64{0, 1, 600, 601, math.Inf(1), math.NaN()} {
		if got, err := Find(0.1, end, math.Inf(1), same); err == nil {
			t.Errorf("end %v: %+v", end, got)
		}
	}
	failing := errors.New("failing")
	if _, err := Find(0.1, 1, 1, func([]float64) ([]Point, error) { return nil, failing }); !errors.Is(err, failing) {
		t.Error(err)
	}
}
