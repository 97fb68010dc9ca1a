// Package dbfaults has databases as places for the faults of package lab/faults.
package dbfaults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/lab/faults"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/ledger/sqlledger"
	"github.com/dpaccountant/accountant/ledger/sqlledger/internal/dbtest"
)

func init() {
	for _, driver := range []string{"sqlite", "pgx"} {
		faults.Register(driver, faults.Kind{
			Open: func(ctx context.Context, where string) (faults.Spender, error) {
				dsn, name, _ := strings.Cut(where, "|")
				db, err := shared(driver, dsn)
				if err != nil {
					return nil, err
				}
				return db.Open(ctx, name)
			},
			Serve: func(where string) (server.Config, string, error) {
				dsn, name, _ := strings.Cut(where, "|")
				db, err := shared(driver, dsn)
				if err != nil {
					return server.Config{}, "", err
				}
				return server.Config{Elsewhere: db}, name, sqlledger.Init(context.Background(), db.DB)
			},
		})
	}
}

var pool = map[string]sqlledger.Database{}

// shared opens a database once.
func shared(driver, dsn string) (sqlledger.Database, error) {
	if d, ok := pool[dsn]; ok {
		return d, nil
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return sqlledger.Database{}, err
	}
	db.SetMaxOpenConns(4)
	pool[dsn] = sqlledger.Database{DB: db}
	return pool[dsn], nil
}

// A base is a faults.Place in a database.
type base struct {
	*faults.Disk
	driver, dsn string
	db          sqlledger.Database
	server      *dbtest.Server // nil of SQLite
	number      int
}

// NewSQLite returns a place for ledgers in SQLite.
func NewSQLite() (faults.Place, error) {
	d, err := faults.NewDisk("2m")
	if err != nil {
		return nil, err
	}
	dsn := "file:" + filepath.Join(d.Dir, "budget.db") + "?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"
	db, err := shared("sqlite", dsn)
	return &base{Disk: d, driver: "sqlite", dsn: dsn, db: db}, err
}

// NewPostgreSQL returns a place for ledgers in a PostgreSQL server that it starts.
func NewPostgreSQL() (faults.Place, error) {
	d, err := faults.NewDisk("96m")
	if err != nil {
		return nil, err
	}
	s, err := dbtest.NewServer(d.Dir)
	if errors.Is(err, dbtest.ErrMissing) {
		err = faults.Skip("POSTGRESQL IS NOT TESTED: %v", err)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	dsn := s.DSN + " dbname=postgres"
	db, err := shared("pgx", dsn)
	return &base{Disk: d, driver: "pgx", dsn: dsn, db: db, server: s}, err
}

func (b *base) name() string { return fmt.Sprint("census-", b.number) }

func (b *base) Spec() string { return b.driver + ":" + b.dsn + "|" + b.name() }

func (b *base) Create(ctx context.Context) error {
	if b.server != nil && !b.server.Running() {
		if err := b.server.Start(); err != nil {
			return err
		}
	}
	b.number++
	if err := sqlledger.Init(ctx, b.db.DB); err != nil {
		return err
	}
	// What other ledgers there were is of no use any more, and the disk is small.
	for _, table := range []string{"accountant_lines", "accountant_ledgers"} {
		if _, err := b.db.DB.Exec("DELETE FROM " + table); err != nil {
			return err
		}
	}
	if _, err := b.db.DB.Exec("VACUUM"); err != nil {
		return err
	}
	_, err := b.db.Create(ctx, b.name(), faults.Budget)
	return err
}

func (b *base) Log(ctx context.Context, each func(ledger.Entry)) error {
	var entries []ledger.Entry
	err := again(func() error {
		entries = nil
		_, err := b.db.Log(ctx, b.name(), func(e ledger.Entry) { entries = append(entries, e) })
		return err
	})
	for _, e := range entries {
		each(e)
	}
	return err
}

// again tries something a few times: connections of before a crash fail once.
func again(do func() error) (err error) {
	for range 8 {
		if err = do(); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// Copy has the lines that there are.
func (b *base) Copy() (func() error, error) {
	var lines []ledger.Line
	store := sqlledger.New(b.db.DB, b.name())
	if err := again(func() error {
		lines = nil
		return store.Lines(context.Background(), 0, func(l ledger.Line) error {
			lines = append(lines, ledger.Line{Sum: l.Sum, Content: append([]byte{}, l.Content...)})
			return nil
		})
	}); err != nil {
		return nil, err
	}
	return func() error {
		return b.change(func(tx *sql.Tx) error {
			if _, err := tx.Exec(`DELETE FROM accountant_lines WHERE name = $1`, b.name()); err != nil {
				return err
			}
			for i, l := range lines {
				if _, err := tx.Exec(`INSERT INTO accountant_lines (name, line, chain, content) VALUES ($1, $2, $3, $4)`, b.name(), i+1, l.Sum, string(l.Content)); err != nil {
					return err
				}
			}
			_, err := tx.Exec(`UPDATE accountant_ledgers SET lines = $1, head = $2 WHERE name = $3`, len(lines), lines[len(lines)-1].Sum, b.name())
			return err
		})
	}, nil
}

// change makes a transaction.
func (b *base) change(do func(*sql.Tx) error) error {
	return again(func() error {
		tx, err := b.db.DB.Begin()
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

func (b *base) Append(l ledger.Line) error {
	return b.change(func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO accountant_lines (name, line, chain, content) SELECT name, lines + 1, $1, $2 FROM accountant_ledgers WHERE name = $3`, l.Sum, string(l.Content), b.name()); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE accountant_ledgers SET lines = lines + 1, head = $1 WHERE name = $2`, l.Sum, b.name())
		return err
	})
}

// Fill takes all room. A server that has ended for it is started again when there is room.
func (b *base) Fill() (func() error, error) {
	free, err := b.Disk.Fill()
	if err != nil || b.server == nil {
		return free, err
	}
	return func() error {
		if err := free(); err != nil {
			return err
		}
		return b.up()
	}, nil
}

// up waits until the server answers, and starts it if it has ended.
func (b *base) up() (err error) {
	for range 100 {
		if !b.server.Running() {
			_ = b.server.Start()
		}
		if err = b.db.Ping(context.Background()); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func (b *base) Close() error {
	delete(pool, b.dsn)
	err := b.db.DB.Close()
	if b.server != nil {
		_ = b.server.Kill()
	}
	return errors.Join(err, b.Disk.Close())
}

func (b *base) Own() []faults.Fault {
	own := []faults.Fault{
		{Name: "line changed", Run: func(r *faults.Round) error {
			return b.spoil(r, `UPDATE accountant_lines SET content = replace(content, '0.01', '0.001') WHERE name = $1 AND line = (SELECT lines FROM accountant_ledgers WHERE name = $1)`)
		}},
		{Name: "line taken out", Run: func(r *faults.Round) error {
			return b.spoil(r, `DELETE FROM accountant_lines WHERE name = $1 AND line = (SELECT lines FROM accountant_ledgers WHERE name = $1)`)
		}},
	}
	if b.server != nil {
		own = append(own, faults.Fault{Name: "connections cut", Run: b.cut}, faults.Fault{Name: "database killed", Run: b.crash})
	}
	return own
}

// spoil changes lines that handles have read, and puts them back.
func (b *base) spoil(r *faults.Round, statement string) error {
	return r.Rollback(func() error { return nil }, func() (func() error, error) {
		return func() error {
			return b.change(func(tx *sql.Tx) error {
				_, err := tx.Exec(statement, b.name())
				return err
			})
		}, nil
	})
}

// cut ends the server's processes for connections while others spend.
func (b *base) cut(r *faults.Round) error {
	return r.With(func(w *faults.Writers) error {
		w.Wait(true)
		time.Sleep(time.Duration(r.Rand.IntN(50)) * time.Millisecond)
		return again(func() error {
			_, err := b.db.DB.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
			return err
		})
	})
}

// crash ends the database while others spend, and starts it again.
func (b *base) crash(r *faults.Round) error {
	return r.With(func(w *faults.Writers) error {
		w.Wait(true)
		time.Sleep(time.Duration(r.Rand.IntN(50)) * time.Millisecond)
		return errors.Join(b.server.Kill(), b.up())
	})
}
