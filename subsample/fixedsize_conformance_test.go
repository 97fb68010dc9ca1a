package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/profiletest"
	"github.com/dpaccountant/accountant/profiles"
)

// Every profile of a fixed-size scheme passes the harness that all profiles pass.
func TestFixedSizeConformance(t *testing.T) {
	wor, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wor, wr, ow, ww, must(NewMustWW(3, 2, 3))} {
		for _, b := range []profiles.Mechanism{base, laplace(3)} {
			d := must(s.Apply(b, profiles.Substitute)).Directions[0]
			for name, p := range map[string]profiles.Profile{"upper": d.Upper, "attack": d.Lower, "theorem 5": must(s.Theorem5(b))} {
				t.Run(s.Name()+" "+b.Name()+" "+name, func(t *testing.T) {
					if len(p.Support().Atoms) > 10 {
						t.Skip("atoms of hundreds of group sizes: most have less mass than the harness can see")
					}
					profiletest.Run(t, p, nil, profiletest.Grid(p, 0.5))
				})
			}
		}
	}
	profiletest.Run(t, must(ow.PaperPairNotABound(base)), nil, []float64{-3, -0.7, -0.1, 0, 1e-9, 0.05, 0.3, 1, 4})
}
