package closed

import (
	"math"
	"testing"
)

// Where the slope is far too large Newton's method creeps, from 1 to a zero at 1e6 in steps of 1e-30: the
// search must end all the same, at a proved end.
func TestSolveDoesNotCreep(t *testing.T) {
	for _, above := range []bool{true, false} {
		calls := 0
		f := func(x float64) (value, slope float64) {
			if calls++; calls > 2000 {
				t.Fatalf("above %v: still searching at %v", above, x)
			}
			if x < 1e6 {
				return 1, 1e30
			}
			return -1, 1e30
		}
		x := Solve(f, 0, math.Inf(1), 1, above)
		if want := 1e6; math.Abs(x-want) > 1e-9*want || above && x < want || !above && x >= want {
			t.Errorf("above %v: %v after %d calls, want %v", above, x, calls, want)
		}
	}
}
