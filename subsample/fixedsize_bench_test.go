package subsample

import (
	"fmt"
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

var benchTails profiles.Tails

// between −60 and log ½ of log P(L > ε) and of log Q(L ≤ ε): what a lattice asks for.
func benchRange(p profiles.Profile) (lo, hi float64) {
	find := func(low, high float64, left func(profiles.Tails) bool) float64 {
		for range 100 {
			m := low + (high-low)/2
			if left(p.Tails(m, 0)) {
				low = m
			} else {
				high = m
			}
		}
		return low
	}
	return find(-20, 0, func(t profiles.Tails) bool { return t.QC < -60 }), find(0, 20, func(t profiles.Tails) bool { return t.P > -60 })
}

// BenchmarkTails asks every profile of a fixed-size scheme for the tails at 1000
// losses; after a first round for tables. err is the mean stated error in u.
func BenchmarkTails(b *testing.B) {
	const n, sub, m = 10000, 118, 200
	for _, s := range []FixedSize{ok(NewWithReplacement(n, m)), ok(NewMustOW(n, sub, m)), ok(NewMustWW(n, sub, m))} {
		for _, base := range []profiles.Mechanism{ok(profiles.NewGaussianMechanism(4)), ok(profiles.NewLaplaceMechanism(4))} {
			for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
				d := ok(s.Apply(base, r)).Directions[0]
				for _, c := range []struct {
					name string
					p    profiles.Profile
				}{{"upper", d.Upper}, {"attack", d.Lower}} {
					if c.name == "attack" && (r == profiles.AddRemove || profiles.Equal(d.Upper, d.Lower)) {
						continue
					}
					b.Run(fmt.Sprintf("%s/%v/%s/%s", s.Name(), r, base.Name(), c.name), func(b *testing.B) {
						lo, hi := benchRange(c.p)
						const points = 1000
						at := func(i int) float64 { return lo + (hi-lo)*(float64(i%points)+0.5)/points }
						sum := 0.0
						for i := range points {
							t := c.p.Tails(at(i), 0)
							sum += t.Err + t.ErrC
						}
						b.ResetTimer()
						for i := range b.N {
							benchTails = c.p.Tails(at(i), 0)
						}
						b.ReportMetric(sum/(2*points)/xmath.U, "err/u")
						if math.IsNaN(benchTails.P) {
							b.Fatal("no tails")
						}
					})
				}
			}
		}
	}
}
