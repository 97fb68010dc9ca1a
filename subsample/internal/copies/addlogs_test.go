package copies

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
)

// TestAddLogsHoldsItsRounding: the sum of two exact logarithms is within its error of the truth.
func TestAddLogsHoldsItsRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		a := -300 * rng.Float64() * rng.Float64()
		b := a - 3*rng.Float64()
		log, err := addLogs(a, 0, b, 0)
		want := oracle.Log(oracle.Add(oracle.Exp(oracle.F(a)), oracle.Exp(oracle.F(b))))
		if off, _ := oracle.Sub(oracle.F(log), want).Float64(); math.Abs(off) > err {
			t.Errorf("log(e^%v + e^%v) = %v is off by %v, within %v", a, b, log, off, err)
		}
	}
}
