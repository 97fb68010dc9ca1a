package rdp

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A profile's error of a mass grows with its logarithm, and so does that of the curve: whatever masses
// are within it, the curve is above theirs. Losses are 0 but for one outcome of mass e^−300.
func TestDiscreteCurveCountsErrorsOfSmallMasses(t *testing.T) {
	const massErr, logQ, loss, alpha = 1e-9, -300.0, 1.0, 2.0
	d, err := profiles.NewDiscrete([]profiles.Atom{{Loss: 0, LogP: 0, LogQ: 0}, {Loss: loss, LogP: logQ + loss, LogQ: logQ}},
		math.Inf(-1), math.Inf(-1), massErr, 0)
	if err != nil {
		t.Fatal(err)
	}
	most := math.Exp(logQ) * (1 + 0.99*massErr*(1-logQ))
	truth := most * (math.Exp(alpha*loss) - 1 - alpha*(math.Exp(loss)-1)) / (alpha - 1) // log(1 + x) = x here
	if got := fromDiscrete(d).RDP(alpha); !(got >= truth && got <= truth*(1+1e-8)) {
		t.Errorf("D_2 = %v, for masses within the error up to %v", got, truth)
	}
}
