// A composition by direct summation, at the few frequencies that count, without an FFT.
//
// It pays off when the transform would be long or the number of
// runs is so large that the FFT's error, T·u, shows: near frequency 0 the error
// of z − 1 summed directly is about u·|z − 1|, which T runs turn into √T·u
// (docs/theory/accuracy.md §7). That the other frequencies are negligible is proved from the
// bulk of one term: |z(ω)| is at most its transform plus the remaining mass, and
// the bulk's transform is Lipschitz with constant Σx|i − c|. Without that proof it returns nothing.

package contour

import (
	"context"
	"math"
)

// What direct summation may take. steers: time for width.
const (
	// directPoints and directRuns are where direct summation is tried first.
	directPoints = 1 << 16
	directRuns   = 1e7
	// directShare: so much of the work that is left may go to one attempt where an FFT is too long or too
	// inaccurate; else it must not cost more than the FFT.
	directShare = 8
)

// direct sums the frequencies that count, and reports whether it is proved that there are no others: not
// where they cannot be told, or are too many, for the work, which it takes off.
func (f *folded) direct(ctx context.Context, spectra []spectrum, work *float64) bool {
	size := 0.0
	lead := 0
	for i := range spectra {
		size += float64(len(spectra[i].x))
		if spectra[i].count > spectra[lead].count {
			lead = i
		}
		for _, d := range spectra[i].d {
			if d > 1<<40 || d < -(1<<40) {
				return false
			}
		}
	}
	const maxKept = 1 << 14
	at := func(k int64) (p freq, kept bool) {
		p = freq{k: k}
		for i := range spectra {
			re, im, e := spectra[i].at(k, f.n)
			if !p.timesNear(re, im, e, spectra[i].count) {
				return p, false
			}
		}
		return p, true
	}
	// If the last frequency there is time for counts, there will not be enough.
	if last := min(int64(*work/size), maxKept-1); last <= f.n/2 {
		*work -= size
		if _, kept := at(last); kept {
			return false
		}
	}
	for k := int64(0); k <= f.n/2; k++ {
		if *work -= size; *work < 0 || k >= maxKept || ctx.Err() != nil {
			return false
		}
		p, kept := at(k)
		if kept {
			f.freqs = append(f.freqs, p)
			continue
		}
		// Negligible here; is it from here on?
		f.dropped = true
		if spectra[lead].decays(ctx, 2*math.Pi*float64(k)/float64(f.n), work) {
			return true
		}
		if k > 64 && float64(k) > 4*float64(len(f.freqs)) {
			return false
		}
	}
	return true
}

// Proof (docs/theory/accuracy.md §7): the frequencies that are left out.
//
// That the others are negligible is proved: with b the bulk of x, |z(ω)| ≤ |b(ω)| + (Σx − Σb), and |b| has the
// Lipschitz constant Σ b|d|. A walk over [ω₁, π] evaluates |b(ω)|, adds its rounding, and may proceed by (limit −
// |b(ω)| − rest)/constant. If it gets stuck, the FFT is used.
