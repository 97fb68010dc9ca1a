package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
)

// Direct summation evaluates the transform at the few frequencies that count,
// without an FFT. It pays off when the transform would be long or the number of
// runs is so large that the FFT's error, T·u, shows: near frequency 0 the error
// of z − 1 summed directly is about u·|z − 1|, which T runs turn into √T·u
// (docs/accuracy.md §7). That the other frequencies are negligible is proved from the
// bulk of one term: |z(ω)| is at most its transform plus the remaining mass, and
// the bulk's transform is Lipschitz with constant Σx|i − c|.

const (
	// directPoints and directRuns are where direct summation is tried first.
	directPoints = 1 << 16
	directRuns   = 1e7
	// directWork bounds the evaluations of single terms e^{iωi} where an FFT is too
	// long or too inaccurate; else they must not cost more than the FFT.
	directWork = 4e7
	// directShare: so much of the work that is left may go to one attempt.
	directShare = 8
)

// A spectrum is one tilted law, ready to be summed at any frequency.
type spectrum struct {
	x      []float64 // masses
	d      []int64   // index minus centre
	excess float64   // Σx − 1, to nearly full relative accuracy
	count  float64
}

func newSpectrum(t term, theta, k float64, centre int64) (sp spectrum, rho, spill float64) {
	l := t.law
	sp.count = t.count
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
func (sp *spectrum) decays(m *meter, from float64, work *float64) bool {
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
		if room <= 0 || *work < 0 || m.stopped() != nil {
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

// composeDirect is compose without an FFT; nil when the frequencies that count
// cannot be told, or are too many, for the work, of which spent was used.
func composeDirect(m *meter, terms []term, theta float64, n int64, excess []float64, limit float64) (c *composition, spent float64) {
	work := limit
	c = direct(m, terms, theta, n, excess, &work)
	return c, limit - work
}

func direct(m *meter, terms []term, theta float64, n int64, excess []float64, work *float64) *composition {
	c, spectra := begin(terms, theta, n, excess)
	if c == nil || len(spectra) == 0 {
		return nil
	}
	size := 0.0
	lead := 0
	for i := range spectra {
		size += float64(len(spectra[i].x))
		if spectra[i].count > spectra[lead].count {
			lead = i
		}
		for _, d := range spectra[i].d {
			if d > 1<<40 || d < -(1<<40) {
				return nil
			}
		}
	}
	const maxKept = 1 << 14
	at := func(k int64) (f freq, kept bool) {
		f = freq{k: k}
		for i := range spectra {
			re, im, e := spectra[i].at(k, n)
			if !f.timesNear(re, im, e, spectra[i].count) {
				return f, false
			}
		}
		return f, true
	}
	// If the last frequency there is time for counts, there will not be enough.
	if last := min(int64(*work/size), maxKept-1); last <= n/2 {
		*work -= size
		if _, kept := at(last); kept {
			return nil
		}
	}
	for k := int64(0); k <= n/2; k++ {
		if *work -= size; *work < 0 || k >= maxKept || m.stopped() != nil {
			return nil
		}
		f, kept := at(k)
		if kept {
			c.freqs = append(c.freqs, f)
			continue
		}
		// Negligible here; is it from here on?
		c.dropped = true
		if spectra[lead].decays(m, 2*math.Pi*float64(k)/float64(n), work) {
			c.finish()
			return c
		}
		if k > 64 && float64(k) > 4*float64(len(c.freqs)) {
			return nil
		}
	}
	c.finish()
	return c
}

// timesNear multiplies by (1 + re + i·im)^count, the base known to err.
func (f *freq) timesNear(re, im, err, count float64) bool {
	r2 := math.FMA(re, 2+re, im*im)
	if r2 <= -0.75 {
		// Far from 1: the ordinary way.
		z := complex(1+re, im)
		ok := f.times(z, count, 0)
		f.pow += count * (err + 2*xmath.U) / max(math.Sqrt(1+r2), 1e-300)
		return ok
	}
	logAbs := 0.5 * math.Log1p(r2)
	phase := math.Atan2(im, 1+re)
	rel := err/math.Sqrt(1+r2) + xmath.U*(8*(math.Abs(re)+im*im)+6*math.Abs(r2)+6*math.Abs(phase)+2*math.Abs(logAbs))
	f.abs += count * (logAbs + rel)
	if f.abs < dropLog {
		return false
	}
	f.re += count * logAbs
	f.im = addAngle(f.im, count, phase)
	f.pow += count*rel + 64*xmath.U
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
		r := xmath.U * (3 + math.Abs(a) + math.Abs(arg) + 2*theta*(math.Abs(l.Offset)+2*math.Abs(l.Loss[i])))
		if arg > -50 {
			rho = max(rho, r)
		} else {
			spill += 2 * v * r
		}
	}
	return rho, spill
}
