package dbfaults

import (
	"os"
	"testing"

	"github.com/dpaccountant/accountant/lab/faults"
	"github.com/dpaccountant/accountant/lab/faults/faultstest"
)

func TestMain(m *testing.M) {
	if !faults.Process() {
		os.Exit(m.Run())
	}
}

// TestFaults takes ledgers in databases, alone and behind a server, through a few rounds of every fault.
func TestFaults(t *testing.T) {
	faultstest.Run(t, "SQLite", 3, NewSQLite)
	faultstest.Run(t, "PostgreSQL", 1, NewPostgreSQL)
	faultstest.Run(t, "HTTP, SQLite", 1, func() (faults.Place, error) {
		p, err := NewSQLite()
		if err != nil {
			return nil, err
		}
		return faults.Serve(p, "")
	})
}
