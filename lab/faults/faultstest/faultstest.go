// Package faultstest has a share of the faults as a test.
package faultstest

import (
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/lab/faults"
)

// Run takes a place through a number of rounds of every fault. What is skipped it says loudly.
func Run(t *testing.T, name string, rounds int, place func() (faults.Place, error)) {
	t.Run(name, func(t *testing.T) {
		p, err := place()
		if faults.Skipped(err) {
			t.Skipf("NOTE: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		if testing.Short() {
			rounds = 1
		}
		seed := rand.Uint64()
		report, err := faults.Torment(t.Context(), name, p, seed, rounds, 0, func(_ *faults.Report, found string) {
			if found != "" {
				t.Error(found)
			}
		})
		if err != nil {
			t.Error(err)
		}
		for fault, why := range report.Skipped {
			t.Logf("NOTE: %s: %s", fault, why)
		}
		if report.Granted == 0 {
			t.Error("nothing was granted")
		}
		t.Logf("seed %d: %d granted in %d ledgers", seed, report.Granted, report.Ledgers)
	})
}
