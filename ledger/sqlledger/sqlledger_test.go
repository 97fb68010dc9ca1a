package sqlledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/ledger/sqlledger/internal/dbtest"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// The budget allows exactly most spends of onePlan.
const (
	onePlan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.01}}}]\n"
	most    = 20
)

var budget = ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 0.205, Mode: ledger.Planned}

// makeLedger makes a ledger in a new database.
func makeLedger(t *testing.T, d dbtest.Database, c ledger.Config) (*ledger.Ledger, *sql.DB) {
	t.Helper()
	db := d.Open(t)
	if err := Init(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Create(t.Context(), New(db, "census"), c)
	if err != nil {
		t.Fatal(err)
	}
	return l, db
}

func spend(l *ledger.Ledger, note string) error {
	return l.SpendPlan(context.Background(), []byte(onePlan), note)
}

// TestOverspend: sixteen clients, each with connections of its own, ask until they are refused. What is granted is exactly what the
// budget allows, it is all there, and costs what a new accountant says.
func TestOverspend(t *testing.T) {
	dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
		_, db := makeLedger(t, d, budget)
		var mu sync.Mutex
		granted := map[string]bool{}
		var wg sync.WaitGroup
		for client := range 16 {
			wg.Go(func() {
				l, err := ledger.Open(t.Context(), New(d.Open(t), "census"))
				if err != nil {
					t.Error(err)
					return
				}
				for n := 0; ; n++ {
					note := fmt.Sprintf("%d-%d", client, n)
					if err := spend(l, note); err != nil {
						if !errors.Is(err, ledger.ErrBudget) {
							t.Error(err)
						}
						return
					}
					mu.Lock()
					granted[note] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		st, err := ledger.Verify(t.Context(), New(db, "census"), "")
		if err != nil || st.Entries != most || len(granted) != most {
			t.Fatalf("%d granted, %d entries, want %d; %v", len(granted), st.Entries, most, err)
		}
		p, err := plan.Parse(t.Context(), []byte(onePlan))
		if err != nil {
			t.Fatal(err)
		}
		acct := accountant.New(profiles.AddRemove)
		for range most {
			if err := acct.Add(t.Context(), p.Steps[0], 1); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := acct.Epsilon(t.Context(), 0); err != nil || st.Spent.Epsilon.Upper != want.Upper || st.Spent.Epsilon.Lower != want.Lower {
			t.Errorf("spent %v, a new accountant says %v, %v", st.Spent.Epsilon, want, err)
		}
		rows := notes(t, db)
		for note := range granted {
			if rows[note] != 1 {
				t.Errorf("%s was granted and is there %d times", note, rows[note])
			}
		}
	})
}

// notes counts the notes of all lines.
func notes(t *testing.T, db *sql.DB) map[string]int {
	t.Helper()
	out := map[string]int{}
	err := New(db, "census").Lines(t.Context(), 1, func(l ledger.Line) error {
		_, rest, _ := strings.Cut(string(l.Content), `"note":"`)
		note, _, _ := strings.Cut(rest, `"`)
		out[note]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestChanged: a line that was changed, taken out or taken away is noticed: by whoever reads it, and by a handle that had read it.
func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change      string
		open, known string // the errors of who opens it and who knew it, "" for none
		behind      string // that of who knew all but the last line
	}{
		"content":  {`UPDATE accountant_lines SET content = replace(content, '0.01', '0.001') WHERE line = 3`, "checksum does not follow", "has lost entries", "checksum does not follow"},
		"earlier":  {`UPDATE accountant_lines SET content = replace(content, '0.01', '0.001') WHERE line = 2`, "checksum does not follow", "", "has lost entries"},
		"checksum": {`UPDATE accountant_lines SET chain = replace(chain, 'a', 'b') WHERE line = 3`, "checksum does not follow", "has lost entries", "checksum does not follow"},
		"middle":   {`DELETE FROM accountant_lines WHERE line = 2`, "line 2 is missing", "", "line 2 is missing"},
		"last":     {`DELETE FROM accountant_lines WHERE line = 3`, "line 3 is missing", "has lost entries", "does not fit its lines"},
		"all":      {`DELETE FROM accountant_lines`, "line 1 is missing", "has lost entries", "has lost entries"},
	} {
		dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
			l, db := makeLedger(t, d, budget)
			var behind *ledger.Ledger
			for _, note := range []string{"a", "b"} {
				if err := spend(l, note); err != nil {
					t.Fatal(err)
				}
				if note == "a" {
					var err error
					if behind, err = ledger.Open(t.Context(), New(db, "census")); err != nil {
						t.Fatal(err)
					}
				}
			}
			st, err := l.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.change); err != nil {
				t.Fatal(err)
			}
			check := func(what, want string, err error) {
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %s: %v, want %q", name, what, err, want)
				}
			}
			_, err = ledger.Open(t.Context(), New(db, "census"))
			check("open", c.open, err)
			check("a spend of who had not read the last line", c.behind, spend(behind, "d"))
			if _, err = ledger.Verify(t.Context(), New(db, "census"), st.Head); err == nil {
				t.Errorf("%s: verified", name)
			}
			check("spend", c.known, spend(l, "c"))
		})
	}
}

// TestBackup: a copy is a file with the same lines, and others cannot be made over it.
func TestBackup(t *testing.T) {
	dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
		l, db := makeLedger(t, d, budget)
		if _, err := ledger.Create(t.Context(), New(db, "census"), budget); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Error(err)
		}
		for range 3 {
			if err := spend(l, "größer"); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "copy.ledger")
		st, err := l.Backup(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if copied, err := ledger.Verify(t.Context(), ledger.File(path), st.Head); err != nil || copied.Entries != 3 || copied.Head != st.Head {
			t.Errorf("%+v, %v", copied, err)
		}
		if _, err := l.Backup(t.Context(), path); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Error(err)
		}
	})
}

// TestInDoubt: a commit that fails is a spend that was not made, one that succeeds and does not say so is one that was, and one
// of which nobody can say is an error that says so; it counts.
func TestInDoubt(t *testing.T) {
	lost := errors.New("the connection is lost")
	defer func() { commit = (*sql.Tx).Commit }()
	for _, c := range []struct {
		fail   func(tx *sql.Tx, db *sql.DB) error
		want   error
		counts int
	}{
		{func(tx *sql.Tx, _ *sql.DB) error { return errors.Join(lost, tx.Rollback()) }, lost, 0},
		{func(tx *sql.Tx, _ *sql.DB) error { return errors.Join(lost, tx.Commit()) }, nil, 1},
		{func(tx *sql.Tx, db *sql.DB) error { return errors.Join(lost, tx.Commit(), db.Close()) }, ledger.ErrInDoubt, 1},
	} {
		dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
			l, db := makeLedger(t, d, budget)
			calls := 0
			commit = func(tx *sql.Tx) error {
				if calls++; calls > 1 {
					return tx.Commit()
				}
				return c.fail(tx, db)
			}
			err := spend(l, "doubt")
			commit = (*sql.Tx).Commit
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if errors.Is(err, ledger.ErrInDoubt) {
				if l, err = ledger.Open(t.Context(), New(d.Open(t), "census")); err != nil {
					t.Fatal(err)
				}
			}
			for n := c.counts; n < most; n++ {
				if err := spend(l, ""); err != nil {
					t.Fatalf("want %v: spend %d: %v", c.want, n, err)
				}
			}
			if err := spend(l, ""); !errors.Is(err, ledger.ErrBudget) {
				t.Errorf("want %v: beyond the budget: %v", c.want, err)
			}
		})
	}
}
