// Package dbtest has databases for the tests of this module: SQLite in a file, and a PostgreSQL server that they start where Debian's
// package is installed. Where it is not, its tests are skipped, loudly.
package dbtest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers that ForEach takes
	_ "modernc.org/sqlite"
)

// A Database is one that tests run against.
type Database struct {
	Driver, DSN string
	URL         string // as accountant-sql takes it
}

// Open opens it until the test ends.
func (d Database) Open(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver, d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(2)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// ForEach runs a test on SQLite and on PostgreSQL.
func ForEach(t *testing.T, test func(t *testing.T, d Database)) {
	t.Run("sqlite", func(t *testing.T) { test(t, sqlite(t)) })
	t.Run("postgresql", func(t *testing.T) { test(t, postgres(t)) })
}

func sqlite(t testing.TB) Database {
	file := t.TempDir() + "/budget.db"
	return Database{"sqlite", "file:" + strings.ReplaceAll(file, "#", "%23") + "?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)", "sqlite:" + file}
}

// The server of all tests, which the first one starts and Main stops.
var server struct {
	once     sync.Once
	dsn, why string
	stop     func()
}

// postgres returns an empty database of a server that the tests start, or skips the test, loudly.
func postgres(t testing.TB) Database {
	t.Helper()
	server.once.Do(startServer)
	if server.why != "" {
		t.Skipf("NOTE: POSTGRESQL IS NOT TESTED: %s", server.why)
	}
	db, err := sql.Open("pgx", server.dsn+" dbname=postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name := fmt.Sprintf("test_%d", rand.Uint64())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	dsn := server.dsn + " dbname=" + name
	return Database{"pgx", dsn, dsn}
}

// startServer starts a server in a directory of its own.
func startServer() {
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		server.why = err.Error()
		return
	}
	s, err := NewServer(dir)
	if err != nil {
		server.why = err.Error()
		_ = os.RemoveAll(dir)
		return
	}
	server.dsn = s.DSN
	server.stop = func() {
		_ = s.Kill()
		_ = os.RemoveAll(dir)
	}
}

// Main runs tests, and stops the server.
func Main(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}
