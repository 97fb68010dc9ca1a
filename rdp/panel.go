// The rule of quadrature on a panel, and its error.

package rdp

import (
	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/gonum/integrate/quad"
)

// Nodes per panel, and the error of that rule on [−1, 1] per unit of the largest
// modulus in the Bernstein ellipse with ρ = 4, whose half-axes are ellipseRe
// and ellipseIm: 64/15·ρ^{−2(nodes−1)}/(1−ρ^{−2}) (Trefethen, "Approximation
// theory and approximation practice", 2013, Theorem 19.3).
const (
	nodes     = 20
	ellipseRe = 2.125
	ellipseIm = 1.875
)

var logRule = xmath.Log(64./15/(1-1./16)) - 2*(nodes-1)*xmath.Log(4)

var nodeAt, nodeWeight = func() (x, w []float64) {
	x, w = make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}()
