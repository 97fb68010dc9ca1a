package subsample

import (
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// Every scheme that can hold a record several times has exactly one row for each relation
// and noise.
func TestTheoremsCoverEverything(t *testing.T) {
	for _, k := range []kind{withReplacement, mustOW, mustWO, mustWW} {
		for _, r := range []profiles.Relation{profiles.AddRemove, profiles.Substitute} {
			for _, n := range []noise{gaussianNoise, laplaceNoise, anyNoise} {
				rows := 0
				for _, row := range theorems {
					for _, x := range row.schemes {
						for _, y := range row.noises {
							if x == k && row.relation == r && y == n {
								rows++
							}
						}
					}
					if row.source == "" {
						t.Errorf("%v: a row without a source", row.schemes)
					}
				}
				if rows != 1 {
					t.Errorf("%s, %s, noise %d: %d rows, want 1", kindNames[k], r, n, rows)
				}
			}
		}
	}
}
