package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

var benchTails profiles.Tails

func BenchmarkTails(b *testing.B) {
	wor, wr, ow, ww, base := paperSetting()
	for _, s := range []FixedSize{wor, wr, ow, ww} {
		d := ok(s.Apply(base, profiles.Substitute)).Directions[0]
		for name, p := range map[string]profiles.Profile{"upper": d.Upper, "attack": d.Lower, "theorem5": ok(s.Theorem5(base)), "paper": ok(s.PaperPairNotABound(base))} {
			b.Run(s.Name()+"/"+name, func(b *testing.B) {
				for i := range b.N {
					benchTails = p.Tails(float64(i%200-50)*0.05, 0)
				}
			})
		}
	}
}
