// A composition by a fast Fourier transform of each term.
//
// It assumes laws on lattices of one step, and the bound Eta of the transform's error. It returns
// the frequencies that count; those left out are below e^dropLog, and read.go counts them.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// compose transforms the terms, all on lattices of one step, under the tilt
// theta with n points; nil when the question must end.
func compose(m *meter.Meter, terms []term, theta float64, n int, tr Transform, excess []float64) *composition {
	c, spectra := begin(terms, theta, int64(n), excess)
	eta := tr.Eta(n)
	x := make([]float64, n)
	for j, sp := range spectra {
		clear(x)
		norm := 0.0
		for i, v := range sp.x {
			k := sp.d[i] % c.n
			if k < 0 {
				k += c.n
			}
			x[k] += v
		}
		for _, v := range x {
			norm += v * v
		}
		e2 := eta * math.Sqrt(float64(n)*norm*(1+1e-9)) * (1 + eta)
		c.energy += e2 * sp.count
		var z []complex128
		if !m.Await(func() { z = tr.Coefficients(x) }) {
			return nil
		}
		if j == 0 {
			c.start(m, z, sp.count, e2)
		} else {
			c.multiply(m, z, sp.count, e2)
		}
		if m.Stopped() != nil {
			return nil
		}
	}
	c.finish()
	return c
}

// start keeps the frequencies at which the first power is not negligible.
func (c *composition) start(m *meter.Meter, z []complex128, count, e2 float64) {
	// Most frequencies are dropped: compare squares before taking logarithms.
	// |z| + e ≥ limit is necessary for count·log(|z|+e) ≥ dropLog.
	limit := math.Exp(dropLog/count)*(1-1e-12) - e2
	sq := limit * limit
	if limit < 0 {
		sq = -1
	}
	for k, v := range z {
		if k&0xffff == 0 && m.Stopped() != nil {
			return
		}
		if real(v)*real(v)+imag(v)*imag(v) < sq {
			c.dropped = true
			continue
		}
		c.freqs = append(c.freqs, freq{k: int64(k)})
		if !c.freqs[len(c.freqs)-1].times(v, count, e2) {
			c.freqs = c.freqs[:len(c.freqs)-1]
			c.dropped = true
		}
	}
}

func (c *composition) multiply(m *meter.Meter, z []complex128, count, e2 float64) {
	kept := c.freqs[:0]
	for i, f := range c.freqs {
		if i&0xffff == 0 && m.Stopped() != nil {
			return
		}
		if f.times(z[f.k], count, e2) {
			kept = append(kept, f)
		} else {
			c.dropped = true
		}
	}
	c.freqs = kept
}
