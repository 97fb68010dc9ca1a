package pate

import (
	"math"
	"math/big"
	"testing"
)

// What is left out of the programme and where its points are is known to an error, which its
// slack covers.
func TestProgrammeSlackCoversItsErrors(t *testing.T) {
	x := pair{p: []float64{math.Log(.5), math.Log(.5)}, q: []float64{math.Log(.4), math.Log(.6)}, err: []float64{1e-9, 1e-9}}
	if p := newProgramme([]step{{[]pair{x}, 3}}, 1); p.slack < 3*2*2e-9 {
		t.Errorf("slack %v for three queries whose δ are known to 2e-9", p.slack)
	}
	x.err = []float64{1e-16, 1e-16}
	p := newProgramme([]step{{[]pair{x}, 1}}, 900)
	worst := 0.0
	for k := range programmePoints {
		exact := new(big.Float).SetPrec(200).SetFloat64(p.step)
		exact.Mul(exact, big.NewFloat(float64(k))).Add(exact, big.NewFloat(p.first))
		d, _ := exact.Sub(exact, big.NewFloat(p.first+float64(k)*p.step)).Float64()
		worst = max(worst, math.Abs(d))
	}
	if p.slack < worst {
		t.Errorf("slack %v, points err by %v", p.slack, worst)
	}
}
