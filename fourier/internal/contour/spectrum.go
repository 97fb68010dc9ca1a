// One tilted law as numbers, summed at any frequency with a bound of the error.
//
// It assumes masses whose logarithms are exact, as those of a pld.Law are, and losses off by
// the rounding of offset + index·step.

package contour

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// dropLog: frequencies whose transform is below e^−46 ≈ 1e-20 are left out and
// bounded.
const dropLog = -46 // steers: width for frequencies

// A spectrum is one tilted law, ready to be summed at any frequency.
type spectrum struct {
	x      []float64 // masses
	d      []int64   // index minus centre
	excess float64   // Σx − 1, to nearly full relative accuracy
	count  float64
}

// newSpectrum returns the law l of so many runs under the tilt theta, over e^k, with indices from centre on; rho and spill are tilt's.
func newSpectrum(l *pld.Law, count, theta, k float64, centre int64) (sp spectrum, rho, spill float64) {
	sp.count = count
	var sum xmath.Sum
	sum.Add(-1)
	rho, spill = tilt(l, theta, k, func(i int, v float64) {
		sp.x = append(sp.x, v)
		sp.d = append(sp.d, l.Index[i]-centre)
		sum.Add(v)
	})
	sp.excess = sum.Value()
	return sp, rho, spill
}

// at returns z − 1 at frequency 2πk/n and a bound on its error: every term is
// computed to 7u of |e^{iωd} − 1| (its argument is reduced in integers and
// rounded three times), and compensated sums add 2u.
func (sp *spectrum) at(k, n int64) (re, im, err float64) {
	var sr, si, abs xmath.Sum
	for i, x := range sp.x {
		m := (k * sp.d[i]) % n
		if 2*m > n {
			m -= n
		} else if 2*m < -n {
			m += n
		}
		sin, cos := math.Sincos(math.Pi * (float64(m) / float64(n))) // half the angle
		sr.Add(-2 * x * sin * sin)
		si.Add(-2 * x * sin * cos)
		abs.Add(x * math.Abs(sin))
	}
	sr.Add(sp.excess)
	return sr.Value(), si.Value(), 2*10*xmath.U*abs.Value()*(1+1e-9) + 4*xmath.U*math.Abs(sp.excess)
}

// decays reports whether |z(ω)|^count ≤ e^dropLog is proved for all ω in [from, π].
func (sp *spectrum) decays(ctx context.Context, from float64, work *float64) bool {
	limit := math.Exp(dropLog/sp.count) * (1 - 1e-15)
	top := 0.0
	for _, x := range sp.x {
		top = max(top, x)
	}
	// What is left out of the bulk counts in full: a thousandth of the room there is
	// near |z| = 1 may go.
	least := max(1e-14*top, -1e-3*dropLog/sp.count/float64(len(sp.x)))
	var bulk []int
	for i, x := range sp.x {
		if x > min(least, 1e-3*top) {
			bulk = append(bulk, i)
		}
	}
	rest := 1 + sp.excess
	var lip xmath.Sum
	for _, i := range bulk {
		rest -= sp.x[i]
		lip.Add(sp.x[i] * math.Abs(float64(sp.d[i])))
	}
	rest = max(rest, 0) + 4*xmath.U*float64(len(sp.x))
	abs := func(w float64) float64 {
		*work -= float64(len(bulk))
		var re, im float64
		for _, i := range bulk {
			sin, cos := math.Sincos(w * float64(sp.d[i]))
			re += sp.x[i] * cos
			im += sp.x[i] * sin
		}
		return math.Hypot(re, im)*(1+8*xmath.U) + 2*xmath.U*float64(len(bulk)+4) + w*lip.Value()*4*xmath.U
	}
	for w := from; w < math.Pi; {
		room := limit - rest - abs(w)
		if room <= 0 || *work < 0 || ctx.Err() != nil {
			return false
		}
		// The bound holds up to w + room/lip on this side.
		step := room / lip.Value() * (1 - 1e-9)
		if step < w*1e-9 {
			return false
		}
		w += step
	}
	return true
}

// tilt calls put with the tilted masses of l, m·e^{θl−K}, and returns a bound of
// their relative error. Masses below 1e-22 of the largest are kept apart: their
// errors add up to at most spill.
func tilt(l *pld.Law, theta, k float64, put func(i int, v float64)) (rho, spill float64) {
	for i, lm := range l.LogMass {
		a := lm - k
		arg := math.FMA(theta, l.Loss[i], a)
		if arg < -745 {
			spill += math.SmallestNonzeroFloat64
			continue
		}
		v := math.Exp(arg)
		put(i, v)
		// exp 1u, its argument, the loss o + iΔ.
		r := xmath.U * (3 + math.Abs(a) + math.Abs(arg) + 2*math.Abs(theta)*(math.Abs(l.Offset)+2*math.Abs(l.Loss[i])))
		if arg > -50 {
			rho = max(rho, r)
		} else {
			spill += 2 * v * r
		}
	}
	return rho, spill
}
