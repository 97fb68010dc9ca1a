package faults_test

import (
	"os"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/faults"
	"github.com/dpaccountant/accountant/lab/faults/faultstest"
)

func TestMain(m *testing.M) {
	if !faults.Process() {
		os.Exit(m.Run())
	}
}

// TestFaults takes ledgers in files, alone and behind a server, through a few rounds of every fault.
func TestFaults(t *testing.T) {
	slow.Test(t)
	faultstest.Run(t, "file", 3, faults.NewFiles)
	faultstest.Run(t, "HTTP, file", 1, func() (faults.Place, error) {
		p, err := faults.NewFiles()
		if err != nil {
			return nil, err
		}
		return faults.Serve(p, ".ledger")
	})
}
