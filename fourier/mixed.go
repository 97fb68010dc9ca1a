// Mixed plans: some steps have transforms, others do not (docs/theory/contour.md, "Lattice laws as factors").
//
// A step without a transform is discretised into a law above it and one below it (laws.go). The
// finite transforms of these are factors of two integrals, one for each end of the answer. It returns what
// these prove; how often finer laws are tried steers, and proves nothing.

package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// mixed makes laws, asks the integral, and makes finer ones while that is cheap and helps. It takes a part of the
// work, and gives the rest back: lattices that are asked after it must not be coarser for it.
func (q *question) mixed(known Result) (Result, error) {
	whole := q.m.Work
	q.m.Work *= lawWork
	defer func() { q.m.Work = whole }()
	known.Engine = Contour
	eps, theta, logDelta, ok := q.guess()
	finer := math.Pow(lawWidth, 1.5)
	if q.opts.Relative < integralEnough {
		finer = 1
	}
	last := math.Inf(1)
	for round := 0; ok && round < lawRounds && q.m.Work > 0; round++ {
		w := q.targetFor(theta, logDelta, q.widthFor(eps, theta))
		w.cell *= finer
		served, err := q.fit(q.m, w)
		if err != nil || !served {
			return known, err
		}
		r, _, err := q.integral(q.easyTerms(q.m))
		if err != nil {
			return known, err
		}
		if known = both(r, known); !q.tooWide(known) {
			return known, nil
		}
		x := q.excess(r)
		if !(x < 0.7*last) || math.IsInf(x, 1) && round > 0 {
			break // finer laws do not help
		}
		last = x
		if math.IsInf(x, 1) || math.IsNaN(x) {
			x = 30
		}
		finer *= math.Pow(0.5/max(x, 1), 1.5)
	}
	known.Warnings = []string{meter.Warning(meter.ErrRounds, known.Upper-known.Lower)}
	return known, nil
}

// guess returns where the answer is, about, by coarse laws in place of missing transforms.
func (q *question) guess() (eps, theta, logDelta float64, ok bool) {
	c, err := q.sketch(q.m, q.logDelta)
	if err != nil {
		return 0, 0, 0, false
	}
	if !q.ofDelta {
		eps, theta, ok = c.Guess(q.m.Ctx, q.logDelta)
		return eps, theta, q.logDelta, ok
	}
	if logDelta, theta, ok = c.GuessDelta(q.eps); ok && logDelta < logTypical {
		if c, err = q.sketch(q.m, logDelta); err != nil {
			return 0, 0, 0, false
		}
		logDelta, theta, ok = c.GuessDelta(q.eps)
	}
	return q.eps, theta, logDelta, ok
}

// widthFor is the width of ε that is wanted: a relative width of δ is that of ε times the slope.
func (q *question) widthFor(eps, theta float64) float64 {
	if q.ofDelta {
		return q.opts.Relative / max(theta, 1e-3)
	}
	return max(q.opts.Relative*math.Abs(eps), min(q.opts.Absolute, q.opts.Relative))
}

// excess is the width of an interval over that wanted.
func (q *question) excess(r Result) float64 {
	if q.ofDelta {
		return (r.Upper - r.Lower) / (q.opts.Relative * r.Upper)
	}
	return (r.Upper - r.Lower) / max(q.opts.Relative*min(math.Abs(r.Lower), math.Abs(r.Upper)), min(q.opts.Absolute, q.opts.Relative))
}
