package contour

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/pld"
)

// A mistake is an error on the way to the reading of a folded table. Each function is called where the error is made; said is whether
// the table is told its bound.
type mistake struct {
	law   func(rng *rand.Rand, l *Law, said bool)
	tilt  func(rng *rand.Rand, f *folded, s *spectrum, said bool)
	fft   func(rng *rand.Rand, said bool) FFT
	power func(rng *rand.Rand, f *folded, said bool)
	table func(rng *rand.Rand, t *table, said bool)
}

func either(rng *rand.Rand) float64 { return float64(2*rng.IntN(2) - 1) }

// wrongFFT is wrong by share of its 2-norm, at one frequency and its mirror image, and says so or not.
type wrongFFT struct {
	Gonum
	rng   *rand.Rand
	share float64
	said  bool
}

func (w wrongFFT) Eta(n int) float64 {
	if w.said {
		return w.share + w.Gonum.Eta(n)
	}
	return w.Gonum.Eta(n)
}

func (w wrongFFT) Coefficients(x []float64) []complex128 {
	z := w.Gonum.Coefficients(x)
	norm := 0.0
	for _, v := range x {
		norm += v * v
	}
	e := w.share * math.Sqrt(float64(len(x))*norm)
	k := w.rng.IntN(len(z))
	if k == 0 || 2*k == len(x) {
		z[k] += complex(either(w.rng)*e, 0)
	} else {
		e /= math.Sqrt2
		sin, cos := math.Sincos(2 * math.Pi * w.rng.Float64())
		z[k] += complex(e*cos, e*sin)
	}
	return z
}

// mistakes has an error of every kind that a folded table bounds, far above rounding.
var mistakes = map[string]mistake{
	"none": {},
	"rounded masses": {tilt: func(rng *rand.Rand, f *folded, s *spectrum, said bool) {
		rho := 0.2 * rng.Float64()
		for i := range s.x {
			s.x[i] *= math.Exp(rho)
		}
		if rng.IntN(2) == 0 {
			for i := range s.x {
				s.x[i] *= math.Exp(-2 * rho)
			}
		}
		if said {
			f.rho += s.count * rho
		}
	}},
	"spilled masses": {tilt: func(rng *rand.Rand, f *folded, s *spectrum, said bool) {
		r := 2 * rng.Float64()
		s.x[rng.IntN(len(s.x))] += r
		s.excess += r
		if said {
			f.spill += s.count * r
			f.mass += s.count * math.Log1p(r)
		}
	}},
	"transform": {fft: func(rng *rand.Rand, said bool) FFT {
		return wrongFFT{rng: rng, share: 0.3 * rng.Float64(), said: said}
	}},
	"powers": {power: func(rng *rand.Rand, f *folded, said bool) {
		off := 0.3 * rng.Float64()
		p := &f.freqs[rng.IntN(len(f.freqs))]
		if p.k == 0 || 2*p.k == f.n || rng.IntN(2) == 0 {
			p.re += math.Log1p(either(rng) * off)
		} else {
			p.im += either(rng) * off
		}
		if said {
			p.pow += off
		}
	}},
	"total mass": {law: func(rng *rand.Rand, l *Law, said bool) {
		off := 0.1 * rng.Float64()
		l.Excess += either(rng) * off
		if said {
			l.ExcessErr += off
		}
	}},
	"mass of P": {table: func(rng *rand.Rand, t *table, said bool) {
		off := 0.1 * rng.Float64()
		t.m0.log += either(rng) * off
		if said {
			t.m0.err += off
		}
	}},
	"mass of Q": {table: func(rng *rand.Rand, t *table, said bool) {
		off := 0.1 * rng.Float64()
		t.m1.log += either(rng) * off
		if said {
			t.m1.err += off
		}
	}},
	"periods above": {table: func(_ *rand.Rand, t *table, said bool) {
		if !said {
			t.logHigh = -1e4
		}
	}},
	"periods below": {table: func(_ *rand.Rand, t *table, said bool) {
		if !said {
			t.logLow = -1e4
		}
	}},
}

// TestFoldedErrors: whatever goes wrong on the way to a reading within what the table is told, on every side and with periods that
// hardly hold the losses, the reading holds the listed truth. Where the table is not told, it often does not.
func TestFoldedErrors(t *testing.T) {
	for name, m := range mistakes {
		missed, asked := 0, 0
		for _, said := range []bool{true, false} {
			rng := rand.New(rand.NewPCG(10, 27))
			for range 400 {
				step := math.Exp2(float64(rng.IntN(5)) - 3)
				l := &pld.Law{Offset: step * (rng.Float64() - 0.5), Step: step, LogPInf: math.Log(0.01 * float64(rng.IntN(2)))}
				for k := range int64(1 + rng.IntN(4)) {
					l.Index, l.Loss, l.LogMass = append(l.Index, k-1), append(l.Loss, l.Offset+float64(k-1)*step), append(l.LogMass, math.Log(rng.Float64()))
				}
				runs := 1 + rng.IntN(5)
				sums := listed(l, runs)
				f := NewLaw(l)
				if m.law != nil {
					m.law(rng, f, said)
				}
				c := newComposition(t, Factor{f, int64(runs)})
				eps := float64(runs) * (l.Loss[0] + (l.MaxLoss()+step-l.Loss[0])*(rng.Float64()-0.1))
				for _, theta := range []float64{2, 0.4, -0.4, -0.9, -1.5, -3} {
					theta *= 1 + 0.1*rng.Float64()
					far := choice{theta: theta, sHigh: theta + math.Exp(3*rng.Float64()-2), sLow: theta - math.Exp(3*rng.Float64()-2)}
					x := &folded{theta: theta, step: step, n: int64(2 + 2*rng.IntN(6))}
					spectra := x.tilt(c.factors)
					if m.tilt != nil {
						m.tilt(rng, x, &spectra[0], said)
					}
					var fft FFT = Gonum{}
					if m.fft != nil {
						fft = m.fft(rng, said)
					}
					if !x.multiply(t.Context(), spectra, fft) || len(x.freqs) == 0 {
						continue
					}
					if m.power != nil {
						m.power(rng, x, said)
					}
					tab := c.tableOf(x, far, eps)
					if m.table != nil {
						m.table(rng, tab, said)
					}
					r := tab.read(eps, &unscaled)
					truth := sums.quantity(sideOf(theta), eps)
					if !(truth > 1e-9) {
						continue // Q may have more than P
					}
					want := math.Log(truth)
					asked++
					if tol := 1e-12 + 1e-14/truth; !(r.low <= want+tol && want-tol <= r.high) {
						if said {
							t.Errorf("%s: %d runs of %v, ε = %v, θ = %v, N = %d: [%v, %v] misses %v", name, runs, l, eps, theta, x.n, r.low, r.high, want)
						}
						missed++
					}
				}
			}
		}
		t.Logf("%s: %d of %d", name, missed, asked/2)
		if missed < 200 && name != "none" {
			t.Errorf("%s: %d of %d readings are false where it is not said", name, missed, asked/2)
		}
	}
}

// A list has the mass of every total loss of some runs, over the total mass of all.
type list struct {
	loss, mass []float64
	infinite   float64 // of Q, beside
}

func listed(l *pld.Law, runs int) list {
	f := NewLaw(l)
	sums := map[int64]float64{0: 1}
	for range runs {
		next := map[int64]float64{}
		for i, p := range sums {
			for j, k := range l.Index {
				next[i+k] += p * math.Exp(l.LogMass[j]-f.Excess)
			}
		}
		sums = next
	}
	var out list
	_, m1 := (&Composition{factors: []Factor{{f, int64(runs)}}}).finite()
	out.infinite = -math.Expm1(m1.log)
	for i, p := range sums {
		out.loss, out.mass = append(out.loss, float64(runs)*l.Offset+float64(i)*l.Step), append(out.mass, p)
	}
	return out
}

// quantity is that of a side at ε (inversion.go).
func (l list) quantity(d side, eps float64) float64 {
	inside, delta, below := 0.0, 0.0, 0.0
	for i, p := range l.mass {
		inside += p
		if x := -math.Expm1(eps - l.loss[i]); x > 0 {
			delta += p * x
		} else {
			below -= p * x
		}
	}
	switch d {
	case middle:
		return inside - delta
	case left:
		return below + math.Exp(eps)*l.infinite // δ − (1 − e^ε)
	}
	return delta + 1 - inside
}
