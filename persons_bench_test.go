package accountant_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Groups of up to 64 records should cost at most three times what one record does.
func BenchmarkPersons(b *testing.B) {
	for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
		for _, rate := range []float64{256. / 60000, 0.01, 0.1} {
			for _, records := range []int64{1, 2, 8, 64} {
				b.Run(fmt.Sprintf("%v/rate=%.3g/records=%d", r, rate, records), func(b *testing.B) {
					for range b.N {
						iv, err := personsRun(b, r, 1.1, rate, 1000, records).Epsilon(context.Background(), 1e-5)
						if err != nil {
							b.Fatal(err)
						}
						b.ReportMetric((iv.Upper-iv.Lower)/iv.Upper, "width")
						b.ReportMetric(iv.Upper, "ε")
					}
				})
			}
		}
	}
}
