package allocation

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// TestGridNextToAnAtom: for these multipliers, a point of the grid was a rounding away from the atom at the end of the
// loss. The mass of the cell between them had a relative error above 1, and so the laws errors that were not numbers.
func TestGridNextToAnAtom(t *testing.T) {
	for _, b := range []float64{3.4128818574702926, 4.0375810621678445, 8.262686110014496, 224.73290549222185, 936.8426775803962} {
		noise := must(profiles.NewLaplaceMechanism(b))
		p := must(noise.Pair(profiles.AddRemove))
		m := must(must(NewRandom(2)).Apply(noise, profiles.AddRemove))
		for d, dir := range m.Directions {
			for _, law := range []profiles.Profile{dir.Upper, dir.Lower} {
				if e := law.Support().LossErr; !(e < 1e-6/b) {
					t.Errorf("noise %v, direction %d: losses are known to %v", b, d, e)
				}
			}
		}
		// The loss is s = 1/b with the probability e^{−s}/2 under Q, −s with ½, and between them it has the density e^{−(s+l)/2}/4.
		var xs, ws []float64
		const n = 4000
		s := 1 / b
		for i := range n {
			l := -s + 2*s*(float64(i)+0.5)/n
			xs, ws = append(xs, math.Exp(l)), append(ws, 2*s/n*math.Exp(-(s+l)/2)/4)
		}
		xs, ws = append(xs, math.Exp(s), math.Exp(-s)), append(ws, math.Exp(-s)/2, 0.5)
		above := func(k float64) float64 {
			if k <= 0 {
				return 1 - k
			}
			d, _ := profiles.LogDelta(p, math.Log(k))
			return math.Exp(d)
		}
		for _, part := range []float64{0, 0.1, 0.5} {
			eps := part * s
			near(t, "laplace", m.Directions[0], eps, twoSteps(xs, ws, math.Exp(eps), above), 1e-2)
		}
	}
}
