// Package sqlledger keeps the lines of ledgers in an SQL database, for teams and services for which
// one file on one host is not enough. It is a module of its own and names no driver: the caller
// opens the *sql.DB.
//
//	db, err := sql.Open("pgx", os.Getenv("DATABASE_URL")) // github.com/jackc/pgx/v5/stdlib
//	…
//	if err := sqlledger.Init(ctx, db); err != nil { … } // once
//	l, err := ledger.Open(ctx, sqlledger.New(db, "census"))
//	…
//	err = l.SpendPlan(ctx, plan, "note") // as with a file
//
// Package ledger decides what may be spent, in the transaction that adds the line. That locks the
// row of the ledger, reads what others have spent, and adds the line only if the spend is within
// the budget then. The lines are those of a file, checksums included; Ledger.Backup writes one.
//
// It is tested with PostgreSQL 15 (pgx) and SQLite (modernc.org/sqlite). SQLite needs a busy
// timeout and full flushes: "file:budget.db?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)".
// Do not use it with replicas that may lose what was committed (PostgreSQL: synchronous_commit must
// not be off).
package sqlledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dpaccountant/accountant/ledger"
)

// The tables: a row for each ledger, which writers lock, and a row for each line. Lines are never changed and never
// removed; a role for writers needs select and insert on accountant_lines, and select, insert and update on accountant_ledgers.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS accountant_ledgers (
		name TEXT PRIMARY KEY,
		lines BIGINT NOT NULL,
		head TEXT NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS accountant_lines (
		name TEXT NOT NULL REFERENCES accountant_ledgers (name),
		line BIGINT NOT NULL,
		chain TEXT NOT NULL,
		content TEXT NOT NULL,
		PRIMARY KEY (name, line))`,
}

// Init makes the tables where they are not there.
func Init(ctx context.Context, db *sql.DB) error {
	return again(ctx, func() error {
		for _, t := range tables {
			if _, err := db.ExecContext(ctx, t); err != nil {
				return fmt.Errorf("making the tables: %w", err)
			}
		}
		return nil
	})
}

// A Store is one ledger of a database. It is safe for use by several goroutines.
type Store struct {
	db   *sql.DB
	name string
}

var _ ledger.Store = (*Store)(nil)

// New returns the store of the ledger with a name, for ledger.Create and ledger.Open. It does not look
// whether there is one.
func New(db *sql.DB, name string) *Store { return &Store{db, name} }

// String names the ledger in messages.
func (s *Store) String() string { return fmt.Sprintf("ledger %q of the database", s.name) }

// Lines reads lines; see ledger.Store.
func (s *Store) Lines(ctx context.Context, n int64, each func(ledger.Line) error) error {
	return s.read(ctx, s.db, n, each)
}

// A reader is a database or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// read reads lines. Who reads all of them learns whether the last ones were taken out: the ledger's row, which is read first, knows
// how many there are at least. Who goes on from a line knows by itself whether it is there.
func (s *Store) read(ctx context.Context, from reader, n int64, each func(ledger.Line) error) error {
	least := int64(0)
	if n == 0 {
		row, err := from.QueryContext(ctx, `SELECT lines FROM accountant_ledgers WHERE name = $1`, s.name)
		if err == nil {
			for err == nil && row.Next() {
				err = row.Scan(&least)
			}
			err = errors.Join(err, row.Err(), row.Close())
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
	}
	rows, err := from.QueryContext(ctx, `SELECT line, chain, content FROM accountant_lines WHERE name = $1 AND line > $2 ORDER BY line`, s.name, n)
	if err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	defer rows.Close()
	for rows.Next() {
		var number int64
		var line ledger.Line
		if err := rows.Scan(&number, &line.Sum, &line.Content); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		if n++; number != n {
			return fmt.Errorf("%v: line %d is missing", s, n)
		}
		if err := each(line); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	if n < least {
		return fmt.Errorf("%v: line %d is missing", s, n+1)
	}
	return nil
}

// Append adds lines; see ledger.Store. It waits for other writers until ctx ends.
func (s *Store) Append(ctx context.Context, change func(lines func(int64, func(ledger.Line) error) error) ([]ledger.Line, error)) error {
	asked := false
	return again(ctx, func() error {
		if asked {
			return ledger.ErrConflict // change is run once; who has run it knows how to begin again
		}
		var added []ledger.Line
		first := int64(0)
		committing := false
		err := s.locked(ctx, func(tx *sql.Tx, lines int64, head string) (err error) {
			asked, first = true, lines
			if added, err = change(func(n int64, each func(ledger.Line) error) error { return s.read(ctx, tx, n, each) }); err != nil || len(added) == 0 {
				return err
			}
			// The row knows the last line also where that was taken out, and who adds one has not read it.
			if sum := sha256.Sum256(append([]byte(head+"\n"), added[0].Content...)); hex.EncodeToString(sum[:]) != added[0].Sum {
				return fmt.Errorf("%v: the row of the ledger does not fit its lines: the last of its %d lines is not there as it was", s, lines)
			}
			for i, l := range added {
				if _, err := tx.ExecContext(ctx, `INSERT INTO accountant_lines (name, line, chain, content) VALUES ($1, $2, $3, $4)`,
					s.name, lines+int64(i)+1, l.Sum, string(l.Content)); err != nil {
					return err
				}
			}
			if err := once(tx.ExecContext(ctx, `UPDATE accountant_ledgers SET lines = $1, head = $2 WHERE name = $3 AND lines = $4 AND head = $5`,
				lines+int64(len(added)), added[len(added)-1].Sum, s.name, lines, head)); err != nil {
				return err
			}
			committing = true
			return nil
		})
		switch {
		case err == nil:
			return nil
		case committing && !retry(err):
			return s.settle(ctx, first+int64(len(added)), added[len(added)-1].Sum, err)
		case asked && retry(err):
			return fmt.Errorf("%v: %w: %w", s, ledger.ErrConflict, err)
		}
		return err
	})
}

// locked runs change in a serialisable transaction that has locked the ledger's row, which is made if it is not there. The
// first statement writes, so that no database reads before it has the lock.
func (s *Store) locked(ctx context.Context, change func(tx *sql.Tx, lines int64, head string) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.ExecContext(ctx, `INSERT INTO accountant_ledgers (name, lines, head) VALUES ($1, 0, '')
		ON CONFLICT (name) DO UPDATE SET lines = accountant_ledgers.lines`, s.name); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	var lines int64
	var head string
	if err := tx.QueryRowContext(ctx, `SELECT lines, head FROM accountant_ledgers WHERE name = $1`, s.name).Scan(&lines, &head); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	if err := change(tx, lines, head); err != nil {
		return err
	}
	if err := commit(tx); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	return nil
}

// commit fails in tests, before it commits and after.
var commit = (*sql.Tx).Commit

// settle finds out what became of a commit that was not answered. It waits for the row, which a transaction that is still
// under way has locked, so that what is not there then never will be.
func (s *Store) settle(ctx context.Context, line int64, sum string, cause error) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
	defer cancel()
	there := false
	err := again(limited, func() error {
		return s.locked(limited, func(tx *sql.Tx, _ int64, _ string) error {
			there = false
			return s.read(limited, tx, line-1, func(l ledger.Line) error {
				there = there || l.Sum == sum
				return errFound
			})
		})
	})
	switch {
	case there:
		return nil
	case err == nil || errors.Is(err, errFound):
		return fmt.Errorf("%v: nothing was added: %w", s, cause)
	}
	return fmt.Errorf("%v: %w: %w", s, ledger.ErrInDoubt, cause)
}

const settleLimit = 5 * time.Second

// errFound ends a reading after one line.
var errFound = errors.New("one line is enough")

// once returns an error unless a statement has changed one row.
func once(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("the row of the ledger does not fit its lines, %d rows changed: %w", n, errors.Join(err))
	}
	return nil
}

// again runs a function until it succeeds, ctx ends, or it fails for another reason than other transactions.
func again(ctx context.Context, f func() error) error {
	for n := 0; ; n++ {
		err := f()
		if err == nil || !retry(err) || errors.Is(err, ledger.ErrConflict) {
			return err
		}
		// Random, so that those who met do not meet again.
		wait := time.Duration(rand.Int64N(int64(time.Millisecond << min(n, 5))))
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// retry reports whether an error is of a transaction that another one was in the way of. Drivers of PostgreSQL tell the code of
// the standard (serialization failure, deadlock, lock not available, and two that make the same table or row), drivers
// of SQLite its number (busy, locked).
func retry(err error) bool {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		switch state.SQLState() {
		case "40001", "40P01", "55P03", "23505", "42P07":
			return true
		}
	}
	var code interface{ Code() int }
	if errors.As(err, &code) {
		switch code.Code() & 0xff {
		case 5, 6:
			return true
		}
	}
	return false
}
