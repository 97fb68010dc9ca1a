// Package dbtest has databases for the tests of this module: SQLite in a file, and a PostgreSQL server that they start where Debian's
// package is installed. Where it is not, its tests are skipped, loudly.
package dbtest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// startServer starts a server in a directory of its own, on a socket there. PostgreSQL refuses to run as root, who therefore
// runs it as the user "postgres".
func startServer() {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	bin := ""
	if len(found) > 0 {
		bin = filepath.Dir(found[len(found)-1])
	} else if path, err := exec.LookPath("postgres"); err == nil {
		bin = filepath.Dir(path)
	} else {
		server.why = "there is no /usr/lib/postgresql/*/bin/postgres (Debian: apt install postgresql)"
		return
	}
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		server.why = err.Error()
		return
	}
	run := func(args ...string) error {
		if os.Geteuid() == 0 {
			args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, out)
		}
		return nil
	}
	if os.Geteuid() == 0 {
		err = exec.Command("chown", "postgres", dir).Run()
	}
	if err == nil {
		err = run(bin+"/initdb", "-D", dir+"/data", "-U", "test", "--auth=trust", "--no-locale", "-E", "UTF8")
	}
	if err == nil {
		err = run(bin+"/pg_ctl", "-D", dir+"/data", "-w", "-l", dir+"/log", "-o", "-c listen_addresses='' -c unix_socket_directories="+dir, "start")
	}
	if err != nil {
		server.why = err.Error()
		_ = os.RemoveAll(dir)
		return
	}
	server.dsn = "host=" + dir + " user=test"
	server.stop = func() {
		_ = run(bin+"/pg_ctl", "-D", dir+"/data", "-m", "immediate", "stop")
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
