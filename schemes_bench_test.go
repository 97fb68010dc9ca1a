package accountant_test

import (
	"fmt"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// BenchmarkSchemes answers ε at δ = 1e-5 with a new accountant each time, for
// every sampling scheme at the two settings of Zhao and Liu 2023. wide-proved and
// wide-attack are the relative widths of the numerical intervals of the two
// pairs (of the only pair where theory leaves no gap). Divisions are
// setting/relation/scheme/noise/runs.
func BenchmarkSchemes(b *testing.B) {
	for _, c := range []struct {
		population, batch, subset int64
		noise                     float64
	}{
		{10000, 200, 118, 4},
		{1000, 50, 100, 5},
	} {
		// MUST.WO draws at most the subset; its law does not depend on it.
		wide := max(c.subset, c.batch)
		for _, rel := range []profiles.Relation{accountant.AddRemove, accountant.Substitute} {
			for _, s := range []subsample.Scheme{
				known(subsample.NewPoisson(float64(c.batch) / float64(c.population))),
				known(subsample.NewWithoutReplacement(c.population, c.batch)),
				known(subsample.NewWithReplacement(c.population, c.batch)),
				known(subsample.NewMustOW(c.population, c.subset, c.batch)),
				known(subsample.NewMustWO(c.population, wide, c.batch)),
				known(subsample.NewMustWW(c.population, c.subset, c.batch)),
			} {
				for _, m := range []profiles.Mechanism{
					known(profiles.NewGaussianMechanism(c.noise)),
					known(profiles.NewLaplaceMechanism(c.noise)),
				} {
					for _, runs := range []int64{1, 10, 100, 1000, 10000} {
						b.Run(fmt.Sprintf("n=%d/%v/%s/%s/k=%d", c.population, rel, s.Name(), m.Name(), runs), func(b *testing.B) {
							benchmarkScheme(b, rel, accountant.Step{Mechanism: m, Sampling: s}, runs)
						})
					}
				}
			}
		}
	}
}

func benchmarkScheme(b *testing.B, rel profiles.Relation, step accountant.Step, runs int64) {
	var iv accountant.Interval
	for b.Loop() {
		a := accountant.New(rel)
		if err := a.Add(b.Context(), step, runs); err != nil {
			b.Fatal(err)
		}
		var err error
		if iv, err = a.Epsilon(b.Context(), 1e-5); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/op")
	proved, attack := accountant.Range{Lower: iv.Lower, Estimate: iv.Estimate, Upper: iv.Upper}, accountant.Range{}
	if iv.Gap != nil {
		proved, attack = iv.Gap.Proved, iv.Gap.Attack
		b.ReportMetric((attack.Upper-attack.Lower)/attack.Lower, "wide-attack")
	}
	b.ReportMetric((proved.Upper-proved.Lower)/proved.Lower, "wide-proved")
	b.ReportMetric(proved.Upper, "epsilon")
	b.ReportMetric(float64(len(iv.Warnings)), "warnings")
	b.ReportMetric(0, "ns/op")
}

func known[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
