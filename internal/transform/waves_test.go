package transform

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// The transform of a bump against the mean of e^{wu} over u in [−1, 1] by Simpson's rule.
func TestBump(t *testing.T) {
	mean := func(w complex128) complex128 {
		const n = 20000
		var sum complex128
		for i := range n + 1 {
			weight := 2.0
			switch {
			case i == 0 || i == n:
				weight = 1
			case i%2 == 1:
				weight = 4
			}
			sum += complex(weight, 0) * cmplx.Exp(w*complex(2*float64(i)/n-1, 0))
		}
		return sum / (3 * n)
	}
	for _, most := range []float64{20, 1, 0.1, 1e-4} {
		b := NewBump(most)
		if c, _, _ := logSinhc(b.a, 0); !(bumpOrder*(b.a+c) <= most && bumpOrder*(b.a+c) > most/3) {
			t.Errorf("most %v: the largest loss is %v", most, bumpOrder*(b.a+c))
		}
		for _, s := range []float64{0, -1} {
			if k, _, err := b.Real(s); !(math.Abs(k) <= err && err < 1e-13) {
				t.Errorf("most %v: log M(%v) = %v ± %v", most, s, k, err)
			}
		}
		at3, _, _ := b.at(3, 0)
		if k, _, err := b.Reverse().Real(-4); math.Abs(k-at3) > err {
			t.Errorf("most %v: log M(3) of the reverse at −4 is %v", most, k)
		}
		for _, theta := range []float64{0.3, 2, 40, -0.5, -3} {
			line, err := b.Line(t.Context(), theta, 1e9, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			last := math.Inf(1)
			for _, x := range []float64{0, 0.01, 0.2, 0.9, 1.1, 2, 3, 7, 20, 50} {
				f := x / b.a
				// By its series where it is small, as the sum rounds.
				shift := cmplx.Log(mean(complex(b.a, 0)))
				if y := b.a * b.a; y < 0.1 {
					shift = complex(y/6*(1-y/30*(1-y*4/63*(1-y*3/40))), 0)
				}
				want := cmplx.Log(mean(complex(b.a*theta, x))) + complex(theta, f)*complex(real(shift), 0)
				re, im, err := line.LogM(f)
				if d := line.Decay(f); d > last || d < bumpOrder*real(want)-1e-9 {
					t.Errorf("most %v, θ = %v, t = %v: decay %v after %v, log|M| = %v", most, theta, f, d, last, bumpOrder*real(want))
				} else if last = d; math.IsInf(err, 1) {
					continue
				}
				if off := cmplx.Abs(cmplx.Exp(complex(re, im)-bumpOrder*want) - 1); off > 1e-9 || err > 1e-9 {
					t.Errorf("most %v, θ = %v, t = %v: log M = %v + %vi, off by %v, error %v", most, theta, f, re, im, off, err)
				}
			}
		}
	}
}

// The bounds of waves are those of ½Σc(|M|²/M(θ)² − 1), and no product is above them.
func TestWaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 20 {
		theta, h, n := math.Exp(3*rng.Float64()-1), math.Exp(4*rng.Float64()-2), 1<<(6+rng.IntN(6))
		var w Waves
		counts := 0.0
		exact, product := make([]float64, n), make([]float64, n)
		for range 1 + rng.IntN(5) {
			count := float64(1 + rng.IntN(30))
			counts += count
			loss, p, total := make([]float64, 2+rng.IntN(8)), []float64(nil), 0.0
			for i := range loss {
				loss[i] = rng.NormFloat64()
				p = append(p, math.Exp(-12*rng.Float64()))
				total += p[i]
			}
			// Of any positive masses a bound is one of |Σ| over Σ at t = 0; Q's are made to add up by the mass at −∞.
			atoms, q := []Atom(nil), 0.0
			for i := range loss {
				loss[i] += 3
				p[i] /= total
				q += p[i] * math.Exp(-loss[i])
				atoms = append(atoms, Atom{LogMass: math.Log(p[i]), Loss: -loss[i], Reversed: true, MassErr: 1e-15, LossErr: 1e-15})
			}
			if q >= 1 {
				t.Fatal("Q has too much")
			}
			line, err := NewMixed(atoms, nil, 0, 1-q, 1e-15).Line(context.Background(), theta, h*float64(n), 1e-9, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !line.(Waver).Waves(&w, count, h*float64(n)) {
				t.Fatal("no waves")
			}
			for k := range n {
				var sum complex128
				at0 := 0.0
				for i, l := range loss {
					m := p[i] * math.Exp(theta*l)
					at0 += m
					sum += cmplx.Rect(m, float64(k)*h*l)
				}
				r := cmplx.Abs(sum) / at0
				exact[k] += count * (r*r - 1) / 2
				product[k] += count * math.Log(r)
			}
		}
		for k, b := range w.Bounds(h, n) {
			if !(b >= product[k]-1e-12) || !(b-exact[k] <= 1e-4*counts) || !(b >= exact[k]) {
				t.Errorf("θ = %v, h = %v, frequency %d: bound %v, ½Σ(|M|² − 1) = %v, log|∏M| = %v", theta, h, k, b, exact[k], product[k])
			}
		}
	}
}

// A law of too many waves is a factor of modulus 1: it takes nothing from the bound of the others, and gives nothing.
func TestWavesOfALongLaw(t *testing.T) {
	line := func(n int) Line {
		var atoms []Atom
		for i := range n {
			atoms = append(atoms, Atom{LogMass: -math.Log(float64(n)), Loss: -1 - 1e-3*float64(i), Reversed: true})
		}
		l, err := NewMixed(atoms, nil, 0, 0.9, 1e-15).Line(t.Context(), 0.5, 1000, 1e-9, 0)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var short, both Waves
	for _, w := range []*Waves{&short, &both} {
		if !line(9).(Waver).Waves(w, 3, 1000) {
			t.Fatal("no waves")
		}
	}
	if !line(2100).(Waver).Waves(&both, 5, 1000) || len(both.diff) != len(short.diff) {
		t.Fatalf("%d waves of the short law, %d of both", len(short.diff), len(both.diff))
	}
	want, got := short.Bounds(0.5, 256), both.Bounds(0.5, 256)
	for k, b := range got {
		if !(b >= want[k]-1e-12 && b <= want[k]+1e-8) {
			t.Errorf("frequency %d: %v, without the long law %v", k, b, want[k])
		}
	}
}
