package closed

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestAboveIsALowerBound: more than that share below the largest losses, by no more than they are displaced.
func TestAboveIsALowerBound(t *testing.T) {
	b, err := profiles.NewPure(math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Pair(profiles.AddRemove)
	if err != nil {
		t.Fatal(err)
	}
	support := p.Support()
	support.LossErr = 0.125
	x, logP := (Steps{{Profile: inexact{p}, Support: support, Count: 4}}).Above(0.25)
	if want := 4 * (0.75*math.Log(3) - 0.125); !(x <= want && x > want-1e-12) {
		t.Errorf("x = %v, want %v", x, want)
	}
	if want := 4 * (math.Log(0.75) - 2*tailErr); !(logP <= want && logP > want-1e-12) {
		t.Errorf("log P = %v, want %v", logP, want)
	}
}

// inexact is a profile whose tails are less by tailErr, in logarithm, and known to err by that.
type inexact struct{ profiles.Profile }

const tailErr = 0.01

func (p inexact) Tails(eps, tol float64) profiles.Tails {
	t := p.Profile.Tails(eps, tol)
	t.P, t.Err = t.P-tailErr, t.Err+tailErr
	return t
}
