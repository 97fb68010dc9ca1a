package sqlledger

import (
	"context"
	"database/sql"

	"github.com/dpaccountant/accountant/ledger"
)

// A Database has the ledgers of a database by their names, as a server needs them.
type Database struct{ DB *sql.DB }

// Create makes a ledger, and the tables if they are not there.
func (d Database) Create(ctx context.Context, name string, c ledger.Config) (*ledger.Ledger, error) {
	if err := Init(ctx, d.DB); err != nil {
		return nil, err
	}
	return ledger.Create(ctx, New(d.DB, name), c)
}

// Open opens a ledger.
func (d Database) Open(ctx context.Context, name string) (*ledger.Ledger, error) {
	return ledger.Open(ctx, New(d.DB, name))
}

// Verify is ledger.Verify for a ledger of the database.
func (d Database) Verify(ctx context.Context, name, head string) (ledger.Status, error) {
	return ledger.Verify(ctx, New(d.DB, name), head)
}

// Log is ledger.Log for a ledger of the database.
func (d Database) Log(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	return ledger.Log(ctx, New(d.DB, name), each)
}

// Ping returns an error if the database does not answer.
func (d Database) Ping(ctx context.Context) error { return d.DB.PingContext(ctx) }
