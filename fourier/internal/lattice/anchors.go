// The atoms of a step, which a lattice should meet, and what it costs where it does not.
//
// It assumes a coarse law, of which it takes where the mass is. What it returns steers the choice of
// offset and step, and proves nothing: any lattice has laws above and below.

package lattice

import (
	"cmp"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// leastShare is the tilted mass below which an atom is not worth a lattice point.
const leastShare = 1e-7 // steers: atoms for steps

// anchors returns the atoms of e that carry tilted mass, the heaviest first, but
// those at an end of the support before all others: off the lattice they cost
// first order in the step, others second (docs/theory/accuracy.md §4).
func (e *entry) anchors(theta float64) []anchor {
	if e.coarse == nil || len(e.Support.Atoms) == 0 {
		return nil
	}
	e.findAtoms(theta)
	k := e.mass(theta)
	var out []anchor
	for _, m := range e.atoms {
		if m.share = math.Exp(m.logMass + theta*m.loss - k); m.share > leastShare || m.spike {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b anchor) int {
		if a.end != b.end {
			if a.end {
				return -1
			}
			return 1
		}
		return -cmp.Compare(a.share, b.share)
	})
	return out
}

// findAtoms lists the atoms within the coarse law, which has a point at each, that
// may carry a share of the mass tilted by theta, and the end of the support that
// mass piles up at, if the law comes close to it.
func (e *entry) findAtoms(theta float64) {
	loss := e.coarse.Loss
	near := func(a, b float64) bool {
		return !math.IsInf(b, 0) && math.Abs(a-b) <= 1e-9*(1+math.Abs(b))+8*e.Support.LossErr
	}
	if e.anchored != e.coarse {
		e.anchored, e.atoms, e.light = e.coarse, nil, nil
		e.inAtom = make([]float64, len(loss))
		for _, a := range e.Support.Atoms {
			if i, found := slices.BinarySearch(loss, a); found && !near(a, e.Support.Spike) {
				e.light = append(e.light, i)
				e.inAtom[i] = 1
			}
		}
		if len(e.light) > 0 && e.spiked() {
			e.atoms = append(e.atoms, anchor{loss: e.Support.Spike, logMass: math.Inf(-1), end: true, spike: true})
		}
	}
	k := e.mass(theta)
	e.light = slices.DeleteFunc(e.light, func(i int) bool {
		if a := loss[i]; e.coarse.LogMass[i]+theta*a-k > xmath.Log(leastShare) {
			at, below := e.Profile.Tails(a, 0), e.Profile.Tails(math.Nextafter(a, math.Inf(-1)), 0)
			m := anchor{loss: a, logMass: xmath.LogSub(below.P, at.P)}
			if at.PC < at.P {
				m.logMass = xmath.LogSub(at.PC, below.PC)
			}
			e.inAtom[i] = min(1, math.Exp(m.logMass-e.coarse.LogMass[i]))
			m.end = near(a, e.Support.Min) || near(a, e.Support.Max)
			e.atoms = append(e.atoms, m)
			return true
		}
		return false
	})
}

// spiked reports whether the mass reaches the end of the support that it piles up
// at. Where it does not, a lattice placed there would lie far from 0, and the
// rounding of its points would count.
func (e *entry) spiked() bool {
	if math.IsNaN(e.Support.Spike) || e.coarse == nil {
		return false
	}
	loss := e.coarse.Loss
	n := len(loss)
	if n == 0 {
		return false
	}
	near := 1e-3 * (loss[n-1] - loss[0])
	return math.Abs(loss[0]-e.Support.Spike) <= near || math.Abs(loss[n-1]-e.Support.Spike) <= near
}

// offset is about where a lattice of the given step lies: see lawsAt.
func (e *entry) offset(step, theta float64) float64 {
	if m := e.anchors(theta); len(m) > 0 {
		if !m[0].spike {
			return m[0].loss
		}
	} else if !e.spiked() {
		return 0
	}
	// As pld.SpikeOffset, from the coarse law: the likelihood ratio of what lies
	// within half a step of the end.
	var p, q float64
	for i, l := range e.coarse.Loss {
		if d := math.Abs(l - e.Support.Spike); d <= step/2 {
			m := math.Exp(e.coarse.LogMass[i])
			p += m
			q += m * math.Exp(e.Support.Spike-l)
		}
	}
	if !(p > 0 && q > 0) {
		return e.Support.Spike
	}
	return e.Support.Spike + xmath.Log(p/q)
}

// cost predicts E[y(Δ−y)] under the tilt, y the distance of a loss of e from the
// lattice point below it: half of it times θ(1+θ) is what the upper law adds to
// K(θ). Spread evenly it is Δ²/6. Atoms off the lattice count three times: the
// lower law has one tangent to either side of them only.
func (e *entry) cost(step, theta float64) float64 {
	if _, ok := e.Profile.(*profiles.Discrete); ok {
		return step * step / 6 // fitStep looks at its atoms
	}
	e.findAtoms(theta)
	from := e.offset(step, theta)
	loss := e.coarse.Loss
	k := e.mass(theta)
	sum := 0.0
	for i, l := range loss {
		share := math.Exp(e.coarse.LogMass[i] + theta*l - k)
		if share < 1e-12 {
			continue
		}
		x := (l - from) / step
		x -= math.Floor(x)
		here := x * (1 - x)
		even := here
		if x > 1e-9 && x < 1-1e-9 {
			here *= 3
		}
		if gap := loss[min(i+1, len(loss)-1)] - loss[max(i-1, 0)]; gap > step {
			even = 1. / 6
		}
		sum += share * (e.inAtom[i]*here + (1-e.inAtom[i])*even)
	}
	return sum * step * step
}

// A list is an entry whose atoms are at these distances from the smallest and have these shares of the tilted mass.
type list struct {
	*entry
	at, share []float64
}

func (e *entry) list(d *profiles.Discrete, theta float64) list {
	atoms := d.Atoms()
	k := e.mass(theta)
	l := list{entry: e}
	for _, a := range atoms {
		if share := math.Exp(a.LogP + theta*a.Loss - k); share > leastShare {
			l.at, l.share = append(l.at, a.Loss-atoms[0].Loss), append(l.share, share)
		}
	}
	return l
}

// cost is that of the entry by where its atoms are.
func (l list) cost(step float64) float64 {
	sum := 0.0
	for i, at := range l.at {
		x := at / step
		if off := math.Abs(x - math.Round(x)); off > 1e-9 {
			sum += l.share[i] * off * (1 - off)
		}
	}
	return sum * step * step
}

// endCost is what the largest loss of a list costs, beside cost, where it is off a lattice that begins at the smallest: the
// lower law has it at the lattice point below, with as much more mass, from the loss before, as keeps δ there.
func (e *entry) endCost(step, theta float64) float64 {
	d, ok := e.Profile.(*profiles.Discrete)
	if !ok || len(d.Atoms()) < 2 {
		return 0
	}
	atoms := d.Atoms()
	before, last := atoms[len(atoms)-2].Loss, atoms[len(atoms)-1]
	cells := (last.Loss - atoms[0].Loss) / step
	at := last.Loss - step*(cells-math.Floor(cells))
	if at <= before {
		return 0 // the step resolves nothing there
	}
	more := math.Expm1(before-last.Loss)/math.Expm1(before-at) - 1
	k := e.mass(theta)
	lost := -math.Expm1(theta*(at-last.Loss)) + more*math.Exp(theta*(at-last.Loss))*math.Expm1(theta*(before-at))
	return math.Exp(last.LogP+theta*last.Loss-k) * max(0, lost) / (evenWidth * theta * (1 + theta))
}

// at is where the anchor lies for a lattice step.
func (m anchor) at(e *entry, step float64) float64 {
	if m.spike {
		return pld.SpikeOffset(e.Profile, step)
	}
	return m.loss
}

// rest is the share of the tilted mass that does not lie at the offset itself: all
// of the error of the law comes from it.
func (e *entry) rest(theta, offset float64) float64 {
	x := 1.0
	for _, m := range e.anchors(theta) {
		if m.loss == offset && !m.spike {
			x -= m.share
		}
	}
	return max(x, 1e-6)
}
