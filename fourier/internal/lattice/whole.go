// A check of laws before they are composed, and the memory that they may take.

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

// lawShare is the part of the memory that laws may take, those of earlier
// questions among them: a vertex of both laws and of their tilted copies takes
// about as much as a point of a transform.
const lawShare = 4 // steers: memory
