// The composition that is asked about, and what is kept of earlier questions to it.
//
// It assumes that the caller has put equal profiles together: each entry has a laws cache of
// its own. It returns nothing by itself; the files above read and fill it.

package lattice

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/closed"
	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/pld"
)

// A Sum is the composition of steps by lattice laws.
//
// Invariants: copies is the sum of all counts; every lawPair of an entry belongs to the
// profile that the entry has now. It is not safe for concurrent use.
type Sum struct {
	maxPoints int
	transform contour.FFT
	entries   []*entry
	copies    float64
	guess     *guess // of the coarse laws of the same steps; nil if there is none
	last      *pair  // of earlier questions to the same steps; nil if there is none
}

// New returns an empty composition, whose transforms and laws together have about maxPoints
// points at the most.
func New(maxPoints int, t contour.FFT) *Sum { return &Sum{maxPoints: maxPoints, transform: t} }

// Set makes a step the i-th one, or adds it if there are i steps so far. What is kept for a profile
// is dropped unless keep is set: it says that the profile is the one before, with another count.
func (s *Sum) Set(i int, step closed.Step, keep bool) {
	if i == len(s.entries) {
		s.entries = append(s.entries, &entry{})
	}
	e := s.entries[i]
	s.guess, s.last = nil, nil
	s.copies += float64(step.Count - e.Count)
	if keep {
		e.Step = step
	} else {
		*e = entry{Step: step}
	}
}

func (s *Sum) steps() closed.Steps {
	steps := make(closed.Steps, len(s.entries))
	for i, e := range s.entries {
		steps[i] = e.Step
	}
	return steps
}

// An entry is a step with what is known about it: a coarse law, which guesses and bounds, its
// atoms, and the lattice laws that earlier questions made.
//
// Invariants: coarse, if there is one, is an upper law that follows the tails down to the
// log-probability coarseTo. The fields from anchored on belong to the coarse law that is
// anchored, and are made anew when that is another one.
type entry struct {
	closed.Step
	coarse   *pld.Law
	coarseTo float64
	laws     []lawPair // the most recent ones last

	tilted     *pld.Law // whose mass under the tilt was asked for last
	tilt, held float64

	anchored *pld.Law
	atoms    []anchor
	light    []int     // points of the coarse law at atoms not looked at yet
	inAtom   []float64 // how much of each point of the coarse law is an atom
}

// mass is about the logarithm of the step's mass under a tilt, by its coarse law.
func (e *entry) mass(theta float64) float64 {
	if e.tilted != e.coarse || e.tilt != theta {
		e.tilted, e.tilt = e.coarse, theta
		e.held, _, _ = e.coarse.Tilted(theta)
	}
	return e.held
}

// A lawPair is the laws of an entry at one step, and what question they were made for.
//
// Invariants: upper is above the entry's profile and lower below it, after rounding. Both have
// their points at offset + k·step.
type lawPair struct {
	step, offset float64
	tilt         float64 // under which points were left out that carry no mass
	above        float64 // log-probability from which the upper tail is cut
	upper, lower *pld.Law
}

// An anchor is a loss that a lattice should meet: an atom, or the spike at an end of
// the support. Anchors steer where the lattice is placed and prove nothing.
type anchor struct {
	loss, logMass float64
	share         float64 // of the tilted mass
	end           bool    // of the support
	spike         bool    // loss depends on the step: see at
}

// maxTiltStep bounds θΔ: neighbouring lattice points then differ by e^40 under the
// tilt, more than any float64 sum can tell.
const maxTiltStep = 40 // steers: width for range

// ladder rounds a step down to 1, 1.25, 1.5 or 1.75 times a power of two, so
// that neighbouring questions share lattices.
func ladder(d float64) float64 {
	m, e := math.Frexp(d) // m in [½, 1)
	return math.Ldexp(math.Floor(m*8)/8, e)
}
