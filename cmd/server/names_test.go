package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// A shelf keeps the ledgers of a test in memory, as a database does.
type shelf struct {
	mu    sync.Mutex
	lines map[string][]ledger.Line
}

type shelved struct {
	*shelf
	name string
}

func (s shelved) String() string { return fmt.Sprintf("ledger %q of the shelf", s.name) }

func (s shelved) Lines(_ context.Context, n int64, each func(ledger.Line) error) error {
	s.mu.Lock()
	lines := s.lines[s.name]
	s.mu.Unlock()
	for _, l := range lines[min(int(n), len(lines)):] {
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

func (s shelved) Append(ctx context.Context, change func(func(int64, func(ledger.Line) error) error) ([]ledger.Line, error)) error {
	added, err := change(func(n int64, each func(ledger.Line) error) error { return s.Lines(ctx, n, each) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[s.name] = append(s.lines[s.name][:len(s.lines[s.name]):len(s.lines[s.name])], added...)
	return nil
}

func (s *shelf) Create(ctx context.Context, name string, c ledger.Config) (*ledger.Ledger, error) {
	return ledger.Create(ctx, shelved{s, name}, c)
}

func (s *shelf) Open(ctx context.Context, name string) (*ledger.Ledger, error) {
	return ledger.Open(ctx, shelved{s, name})
}

func (s *shelf) Verify(ctx context.Context, name, head string) (ledger.Status, error) {
	return ledger.Verify(ctx, shelved{s, name}, head)
}

func (s *shelf) Log(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	return ledger.Log(ctx, shelved{s, name}, each)
}

func (s *shelf) Ping(context.Context) error { return nil }

// TestNothingSeenIsForgotten: neither thousands of names that no ledger has nor thousands that one has make the server forget what
// it has seen of a ledger: one that was taken back to an older state since is not spent from.
func TestNothingSeenIsForgotten(t *testing.T) {
	const plan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.1}}}]}`
	ctx := context.WithValue(t.Context(), visitKey{}, &visit{who: &client{}})
	budget := ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 0.15, Mode: ledger.Planned}
	for what, flood := range map[string]func(f *files) error{
		"unknown names": func(f *files) error {
			for n := range 12_000 {
				if _, err := f.OpenLedger(ctx, fmt.Sprint("none/", n)); err == nil {
					return fmt.Errorf("opened %d", n)
				}
			}
			return nil
		},
		"known names": func(f *files) error {
			for n := range 50 {
				name := fmt.Sprint("other/", n)
				if _, err := f.CreateLedger(ctx, name, budget); err != nil {
					return err
				}
				if _, err := f.OpenLedger(ctx, name); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		kept := &shelf{lines: map[string][]ledger.Line{}}
		s, err := New(Config{Elsewhere: kept, Open: 10})
		if err != nil {
			t.Fatal(err)
		}
		f := s.ledgers
		if _, err := f.CreateLedger(ctx, "census", budget); err != nil {
			t.Fatal(err)
		}
		old := kept.lines["census"]
		l, err := f.OpenLedger(ctx, "census")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.SpendPlan(ctx, []byte(plan), ""); err != nil {
			t.Fatal(err)
		}
		if err := flood(f); err != nil {
			t.Fatal(err)
		}
		if n := len(f.awake); n > 10 {
			t.Errorf("%s: %d ledgers in memory", what, n)
		}
		if n := len(f.known); n > 51 {
			t.Errorf("%s: %d names are kept", what, n)
		}
		kept.lines["census"] = old
		if l, err = f.OpenLedger(ctx, "census"); err == nil {
			err = l.SpendPlan(ctx, []byte(plan), "")
		}
		if err == nil || errors.Is(err, ledger.ErrBudget) || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot be used now") {
			t.Errorf("%s: a spend from an older state: %v", what, err)
		}
	}
}

// TestStrangeNames: a name that would change what a line or a page shows is refused, by the server, in a folder and elsewhere.
func TestStrangeNames(t *testing.T) {
	ctx := context.WithValue(t.Context(), visitKey{}, &visit{who: &client{}})
	budget := ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 1, Mode: ledger.Planned}
	kept, err := New(Config{Elsewhere: &shelf{lines: map[string][]ledger.Line{}}})
	if err != nil {
		t.Fatal(err)
	}
	files, err := New(Config{Ledgers: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a\nb", "a\u202eb", "a\u2028b", "a\tb", "a\x1b[31mb", "a\u00a0b", "a\u200bb", "<b>a", "a&amp;b", `a"b`, "a`b", "\xff", " a", "a ", "a/ b", "a /b"} {
		for _, s := range []*Server{kept, files} {
			for what, ask := range map[string]func(string) error{
				"create": func(name string) error { _, err := s.ledgers.CreateLedger(ctx, name, budget); return err },
				"open":   func(name string) error { _, err := s.ledgers.OpenLedger(ctx, name); return err },
				"verify": func(name string) error { _, err := s.ledgers.VerifyLedger(ctx, name, ""); return err },
				"log":    func(name string) error { _, err := s.ledgers.LogLedger(ctx, name, func(ledger.Entry) {}); return err },
			} {
				err := ask(name + ".ledger")
				if strings.HasSuffix(name, " ") {
					err = ask(name)
				}
				if err == nil || !strings.Contains(err.Error(), "is not a ") || strings.ContainsAny(err.Error(), "\n\t\x1b\u202e\u2028\u200b") {
					t.Errorf("%s %q: %v", what, name, err)
				}
			}
		}
	}
	for _, name := range []string{"census.ledger", "Zensus 2026 (größer), v1.0+b.ledger", "l'équipe/予算.ledger", "a@b=c~d#1.ledger"} {
		for _, s := range []*Server{kept, files} {
			if _, err := s.ledgers.CreateLedger(ctx, name, budget); err != nil {
				t.Error(err)
			}
		}
	}
}
