package profiles

// Noise on the sum of a group of records: each of them moves the sum by as much as one
// does, so that together they move it as many times as far (Zhao and Liu 2023, Theorem 1,
// for Gaussian and Laplace noise; subsample/persons.go for noise on whole numbers).

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// checkGroup returns an error if the noise for a group is below the least that is allowed.
func checkGroup(name string, noiseMultiplier float64, size int) error {
	if noiseMultiplier/float64(size) >= noiserange.Min {
		return nil
	}
	return fault.In(name, fault.New("noise-multiplier", "%v is not at least %g for each of %d records", noiseMultiplier, noiserange.Min, size))
}

// Grouped implements trait.Grouper.
func (b gaussianBase) Grouped(size int) (Mechanism, error) {
	return gaussianBase{newGaussian(b.g.mu * float64(size))}, checkGroup("gaussian", b.NoiseMultiplier(), size)
}

// Grouped implements trait.Grouper. In several coordinates, too: a change of L1 norm k·s is a
// chain of changes whose tests are those of one coordinate (docs/theory/pairs.md, "Vectors").
func (b laplaceBase) Grouped(size int) (Mechanism, error) {
	return laplaceBase{newLaplace(b.l.m * float64(size))}, checkGroup("laplace", b.NoiseMultiplier(), size)
}

// maxGroupShift bounds how far a group moves a whole number.
const maxGroupShift = 1e6

// Grouped implements trait.Grouper: one number moves by size times the sensitivity, and for
// discrete Laplace noise a vector loses no more.
func (b integerNoise) Grouped(size int) (Mechanism, error) {
	if size > maxGroupShift/b.shift {
		return nil, fault.In(b.name, fault.New("sensitivity", "%d is not at most %g for %d records together", b.shift, maxGroupShift, size))
	}
	b.shift *= size
	b.noise /= float64(size)
	return b, nil
}

// maxMixed bounds the work of listing a mixture, in terms.
const maxMixed = 2e7

// GroupMixture implements groupMixer of package subsample.
func (b integerNoise) GroupMixture(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	reach := b.shift * (len(logW) - 1)
	lo, hi := -reach-b.w.margin(), reach+b.w.margin()
	if float64(hi-lo)*float64(len(logW)) > maxMixed {
		return nil, nil
	}
	var lp, lq []float64
	put := func(k int, f func(int) float64) {
		p, q := mixtures(logW, k, b.shift, opposite, f)
		lp, lq = append(lp, p), append(lq, q)
	}
	for k := lo + 1; k < hi; k++ {
		put(k, b.w.log)
	}
	if b.w.lump() {
		// All outcomes from hi on share a loss, and so do all up to lo = −hi.
		put(hi, b.w.tail)
		put(lo, func(k int) float64 { return b.w.tail(-k) })
	}
	// Without lumping the mass beyond, below 1e-345, is left out: sound for an attack.
	return mixedAttack(lp, lq, len(logW), logW, weightErr+b.massErr)
}

// mixtures returns the masses at k of Σ_u w_u M(u) and of M(0), or Σ_u w_u M(−u), where u records move the law f by u times move.
func mixtures(logW []float64, k, move int, opposite bool, f func(int) float64) (p, q float64) {
	p, q = math.Inf(-1), math.Inf(-1)
	for u, l := range logW {
		if !math.IsInf(l, -1) {
			p = xmath.LogAdd(p, l+f(k-u*move))
			if opposite {
				q = xmath.LogAdd(q, l+f(k+u*move))
			}
		}
	}
	if !opposite {
		q = f(k)
	}
	return p, q
}

// mixedAttack is the profile of mixtures of n terms with weights that have errors.
func mixedAttack(lp, lq []float64, n int, logW []float64, weightErr float64) (Profile, error) {
	p, err := newFromLogs(lp, lq)
	if err != nil {
		return nil, err
	}
	most := 0.0
	for _, l := range logW {
		most = max(most, xmath.FiniteAbs(l))
	}
	e := weightErr + xmath.U*float64(n)
	return NewDiscrete(p.atoms, p.logPInf, p.logQInf, p.massErr+e, p.lossErr+2*e*(1+most))
}

// laplaceCells is how many cells GroupMixture makes of a sensitivity, at least.
const laplaceCells = 16

// GroupMixture implements groupMixer of package subsample. The output is only looked at through cells that end
// at the means, among others: what is computed from an output loses no more than it.
func (b laplaceBase) GroupMixture(logW []float64, weightErr float64, opposite bool) (Profile, error) {
	cells := laplaceCells
	for cells < 1<<16 && b.l.m/float64(cells) > 1.0/16 {
		cells *= 2
	}
	reach := cells * (len(logW) - 1)
	if 2*float64(reach)*float64(len(logW)) > maxMixed {
		return nil, nil
	}
	h := b.l.m / float64(cells)
	cell := xmath.Log1mExp(-h) - math.Ln2
	// The cell k is [k·h, (k+1)·h).
	inside := func(k int) float64 {
		if k < 0 {
			k = -k - 1
		}
		return cell - float64(k)*h
	}
	// From the last mean on all outputs share a loss, and so do those below the first:
	// their mass is that of a cell over 1 − e^{−h}.
	var lp, lq []float64
	rest := -xmath.Log1mExp(-h)
	for k := -reach - 1; k <= reach; k++ {
		p, q := mixtures(logW, k, cells, opposite, inside)
		if k < -reach || k == reach {
			p, q = p+rest, q+rest
		}
		lp, lq = append(lp, p), append(lq, q)
	}
	// A cell's mass has the rounding of h, k times, and of the logarithm.
	return mixedAttack(lp, lq, len(logW), logW, weightErr+8*xmath.U)
}
