// Two checks of laws before they are composed.

package lattice

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/pld"
)

// complete returns an error unless the law has a P-mass of 1, as an upper law
// must: tails without a correct digit would have spoiled it.
func complete(l *pld.Law) error {
	mass := math.Exp(l.LogPInf)
	for _, m := range l.LogMass {
		mass += math.Exp(m)
	}
	if !(math.Abs(mass-1) < 1e-6) {
		return fmt.Errorf("the tails of a profile are too inexact: its upper law has a mass of %v instead of 1", mass)
	}
	return nil
}

// endRatio is the log of how many times the mass above the grid the end of a lower
// law may have to be left out. It steers: any lower law with less mass is one.
const endRatio = 2.5

// withoutEnd leaves the last loss of a lower law out if it stands for little more
// than the mass above the grid, which the upper law has at +∞. It is a small part of
// δ too, but where tails are heavy it would have all the mass under the tilts that
// bound aliasing. A law with less P-mass is lower still.
func withoutEnd(l *pld.Law, above float64) *pld.Law {
	n := len(l.Loss) - 1
	if n < 1 || l.LogMass[n] > above+endRatio {
		return l
	}
	short := *l
	short.Loss, short.LogMass, short.Index = l.Loss[:n], l.LogMass[:n], l.Index[:n]
	return &short
}

// lawShare is the part of the memory that laws may take, those of earlier
// questions among them: a vertex of both laws and of their tilted copies takes
// about as much as a point of a transform.
const lawShare = 4 // steers: memory
