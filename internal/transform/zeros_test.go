package transform

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// binomialPair is the pair of a person with so many records: against none, or against the
// opposite means.
func binomialPair(records int, q, sigma float64, opposite bool) Transform {
	none := math.Inf(-1)
	pair := Pair{Sigma: sigma, LogP0: float64(records) * math.Log1p(-q), Err0: 300 * u, RealZeros: true}
	lg := func(n int) float64 { x, _ := math.Lgamma(float64(n + 1)); return x }
	for c := 1; c <= records; c++ {
		l := lg(records) - lg(c) - lg(records-c) + float64(c)*math.Log(q) + float64(records-c)*math.Log1p(-q)
		pair.Components = append(pair.Components, Component{c, l, none, 300 * u})
		if opposite {
			pair.Components = append(pair.Components, Component{-c, none, l, 300 * u})
		}
	}
	if opposite {
		pair.LogQ0 = pair.LogP0
	}
	return must(NewGaussianMixture(pair))
}

// followed returns log|Σ w_c e^{iac}| and its angle, followed from a = 0 in small steps.
func followed(logW []float64, a float64) (mod, arg float64) {
	const steps = 600
	top := math.Inf(-1)
	for _, l := range logW {
		top = max(top, l)
	}
	at := func(a float64) complex128 {
		var z, sum complex128
		for c, l := range logW {
			w := complex(math.Exp(l-top), 0)
			z += w * cmplx.Exp(complex(0, a*float64(c)))
			sum += w
		}
		return z / sum
	}
	before := complex(1, 0)
	for i := 1; i <= steps; i++ {
		z := at(a * float64(i) / steps)
		arg += cmplx.Phase(z / before)
		before = z
	}
	return math.Log(cmplx.Abs(before)), arg
}

// Theorem 8: angles of binomial mixtures, followed along a, are what a turn says, or within its slack, far beyond
// the strip that the means span; and moduli are above those of the sector factor.
func TestTurnsOfRealZeros(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(8, 1))
	whole, bracketed, wide, slackNeeded, turned := 0, 0, 0, 0, 0
	for range 2000 {
		records := 2 + r.IntN(63)
		q, sigma := math.Pow(10, -4*r.Float64())*0.9, math.Pow(10, 2*r.Float64()-0.4)
		m := binomialPair(records, q, sigma, false).(*mixture)
		a := m.width() * r.Float64()
		d := m.inv2 * (float64(records)*1.3*r.Float64() - 0.15*float64(records) + 3*sigma*r.NormFloat64())
		n := m.at(d)
		got, _ := m.turn(&n, m.angles(a))
		logW := make([]float64, records+1)
		for i := range logW {
			logW[i] = float64(i)*d + m.p.offset[i] + m.p.logW[i]
		}
		mod, arg := followed(logW, a)
		if mod < -25 {
			continue // lost in the rounding of the reference
		}
		tol := 1e-11 * math.Exp(-mod)
		if mod > got.logMod+tol || mod < got.logLow-tol {
			t.Errorf("k=%d q=%v σ=%v d=%v a=%v: log modulus %v, want it in [%v, %v]", records, q, sigma, d, a, mod, got.logLow, got.logMod)
		}
		if off := math.Abs(got.component*a + got.rest - arg); off > got.slack+tol {
			t.Errorf("k=%d q=%v σ=%v d=%v a=%v: angle %v, want %v ± %v", records, q, sigma, d, a, got.component*a+got.rest, arg, got.slack)
		}
		if n, _ := m.rev.zerosQ(); mod < n*math.Log(math.Cos(a/2))-tol {
			t.Errorf("k=%d a=%v: log modulus %v is below the sector's %v", records, a, mod, n*math.Log(math.Cos(a/2)))
		}
		if got.slack > 0 {
			bracketed++
			if math.Abs(got.component*a+got.rest-arg) > got.slack/20 {
				slackNeeded++
			}
		} else {
			whole++
		}
		if math.Abs(arg-got.component*a) > math.Pi {
			wide++
			if got.slack == 0 {
				turned++
			}
		}
	}
	if slackNeeded < 20 {
		t.Errorf("only %d angles need a slack", slackNeeded)
	}
	t.Log(whole, bracketed, wide, slackNeeded, turned)
	if whole < 500 || bracketed < 50 || wide == 0 {
		t.Errorf("%d angles known, %d within a slack, %d more than half a turn from that of the largest share: too few to test", whole, bracketed, wide)
	}
}

// Without the theorem's condition its bounds are false: the first terms of a binomial law have complex zeros, near
// which the modulus is below what is said of real ones.
func TestPartOfBinomialHasComplexZeros(t *testing.T) {
	none := math.Inf(-1)
	// 1 + w + w²/2 has the zeros −1 ± i, at 3π/4 from the positive axis; the Gaussian factor at σ = 100 is hardly any.
	pair := Pair{Sigma: 100, LogP0: -1, RealZeros: true}
	law := []float64{1, 1, 0.5, 1. / 6, 1. / 24, 1. / 120, 1. / 720}
	for c := 1; c < len(law); c++ {
		pair.Components = append(pair.Components, Component{c, math.Log(law[c]) - 1, none, 0})
	}
	m := must(NewGaussianMixture(pair)).(*mixture)
	below := 0
	for a := 0.1; a < m.width(); a += 0.1 {
		for d := -2.0; d < 4; d += 0.05 {
			logW := make([]float64, len(law))
			for c := range law {
				logW[c] = math.Log(law[c]) + float64(c)*d
			}
			if mod, _ := followed(logW, a); mod < m.spanP*math.Log(math.Cos(a/2))-1e-6 {
				below++
			}
		}
	}
	if below == 0 {
		t.Error("the bound of real zeros holds where zeros are complex: the test of the theorem sees nothing")
	}
}
