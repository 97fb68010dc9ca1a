// A composition by direct summation, at the few frequencies that count, without an FFT.
//
// It pays off when the transform would be long or the number of
// runs is so large that the FFT's error, T·u, shows: near frequency 0 the error
// of z − 1 summed directly is about u·|z − 1|, which T runs turn into √T·u
// (docs/theory/accuracy.md §7). That the other frequencies are negligible is proved from the
// bulk of one term: |z(ω)| is at most its transform plus the remaining mass, and
// the bulk's transform is Lipschitz with constant Σx|i − c|. Without that proof it returns nothing.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// What direct summation may take. steers: time for width.
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

// composeDirect is compose without an FFT; nil when the frequencies that count
// cannot be told, or are too many, for the work, of which spent was used.
func composeDirect(m *meter.Meter, terms []term, theta float64, n int64, excess []float64, limit float64) (c *composition, spent float64) {
	work := limit
	c = direct(m, terms, theta, n, excess, &work)
	return c, limit - work
}

func direct(m *meter.Meter, terms []term, theta float64, n int64, excess []float64, work *float64) *composition {
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
		if *work -= size; *work < 0 || k >= maxKept || m.Stopped() != nil {
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

// Proof (docs/theory/accuracy.md §7): the frequencies that are left out.
//
// That the others are negligible is proved: with b the bulk of x, |z(ω)| ≤ |b(ω)| + (Σx − Σb), and |b| has the
// Lipschitz constant Σ b|d|. A walk over [ω₁, π] evaluates |b(ω)|, adds its rounding, and may proceed by (limit −
// |b(ω)| − rest)/constant. If it gets stuck, the FFT is used.
