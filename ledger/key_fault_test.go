package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A shelf is a store in memory that fails as databases do: before it has read, after, and when it
// has kept the lines and nobody is told.
type shelf struct {
	mu    sync.Mutex
	lines []Line
	dice  func(n int) int // 0 is bad luck
}

func (s *shelf) String() string { return "the shelf" }

func (s *shelf) fails(one int) bool { return s.dice(one) == 0 }

func (s *shelf) Lines(_ context.Context, n int64, each func(Line) error) error {
	s.mu.Lock()
	lines := s.lines[min(int(n), len(s.lines)):]
	s.mu.Unlock()
	for _, l := range lines {
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) Append(_ context.Context, change func(func(int64, func(Line) error) error) ([]Line, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails(8) {
		return ErrConflict
	}
	added, err := change(func(n int64, each func(Line) error) error {
		for _, l := range s.lines[min(int(n), len(s.lines)):] {
			if err := each(l); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case s.fails(6):
		return fmt.Errorf("%w: serialization failure", ErrConflict)
	case s.fails(6):
		return syscall.EIO
	}
	doubt := s.fails(6)
	if !doubt || s.fails(2) {
		s.lines = append(s.lines, added...)
	}
	if doubt {
		return ErrInDoubt
	}
	return nil
}

// A chance is dice that several goroutines throw, and that are kind while there is no trouble.
type chance struct {
	mu      sync.Mutex
	rng     *rand.Rand
	trouble atomic.Bool
}

func (c *chance) dice(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.rng.IntN(n); c.trouble.Load() {
		return k
	}
	return n - 1
}

// troubleFiles has writes and flushes fail at random.
func troubleFiles(t *testing.T, c *chance) {
	whole, sync := appendTo, flush
	t.Cleanup(func() { appendTo, flush = whole, sync })
	appendTo = func(f *os.File, data []byte) (int, error) {
		if c.dice(5) == 0 {
			n, _ := f.Write(data[:c.dice(len(data)+1)])
			return n, syscall.ENOSPC
		}
		return whole(f, data)
	}
	flush = func(f *os.File) error {
		if c.dice(5) == 0 {
			return syscall.EIO
		}
		return sync(f)
	}
}

// TestKeysOfFailingWrites has goroutines spend with a few keys and two plans through several handles, with writes that fail at
// random, and compares what they were answered with what is kept in the end.
func TestKeysOfFailingWrites(t *testing.T) {
	c := Config{Neighbors: profiles.AddRemove, Epsilon: 4.1, Mode: Planned}
	for seed := range uint64(8) {
		luck := &chance{rng: rand.New(rand.NewPCG(seed, 1))}
		t.Run(fmt.Sprint("file ", seed), func(t *testing.T) {
			troubleFiles(t, luck)
			path := filepath.Join(t.TempDir(), "a.ledger")
			if _, err := Create(t.Context(), File(path), c); err != nil {
				t.Fatal(err)
			}
			checkKeys(t, luck, func() (*Ledger, error) { return Open(t.Context(), File(path)) })
		})
		t.Run(fmt.Sprint("store ", seed), func(t *testing.T) {
			store := &shelf{dice: luck.dice}
			if _, err := Create(t.Context(), store, c); err != nil {
				t.Fatal(err)
			}
			checkKeys(t, luck, func() (*Ledger, error) { return Open(t.Context(), store) })
		})
		t.Run(fmt.Sprint("memory ", seed), func(t *testing.T) {
			l, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			checkKeys(t, luck, func() (*Ledger, error) { return l, nil })
		})
	}
}

// A keyTruth is what was answered about a key.
type keyTruth struct {
	fresh   int
	granted []string // plans
	doubt   bool
}

// checkKeys spends, and checks: a key is charged at most once; what was granted is kept, with the plan that was granted; what nobody
// was granted is not there, unless it is in doubt; and no key is spoilt by a failure.
func checkKeys(t *testing.T, luck *chance, open func() (*Ledger, error)) {
	const keys, handles, each, calls, fits = 12, 3, 2, 12, 8
	plans := []string{keyPlan, `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.25}},"count":2}]}`}
	var mu sync.Mutex
	truth := make([]keyTruth, keys)
	luck.trouble.Store(true)
	var all sync.WaitGroup
	for range handles {
		handle, err := open()
		if err != nil {
			t.Fatal(err)
		}
		for range each {
			all.Go(func() {
				l := handle
				for range calls {
					k, plan := luck.dice(keys), plans[luck.dice(8)/7]
					ctx, cancel := context.WithCancel(t.Context())
					if luck.dice(4) == 0 {
						go cancel()
					}
					again, err := l.SpendOnce(ctx, fmt.Sprint("key", k), []byte(plan), "")
					cancel()
					mu.Lock()
					if err == nil {
						truth[k].granted = append(truth[k].granted, plan)
						if !again {
							truth[k].fresh++
						}
					}
					truth[k].doubt = truth[k].doubt || errors.Is(err, ErrInDoubt)
					mu.Unlock()
					if _, err := l.Status(t.Context()); err != nil { // it has read what another one has taken back
						if l, err = open(); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
	}
	all.Wait()
	luck.trouble.Store(false)
	l, err := open()
	if err != nil {
		t.Fatal(err)
	}
	// What is kept, by what it answers; and that the rest can be spent.
	entries := func() int {
		st, err := l.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return st.Entries
	}
	kept, before := 0, entries()
	for k, x := range truth {
		key, there := fmt.Sprint("key", k), ""
		for _, plan := range plans {
			if l.state.repeated(entry{Key: key, Plan: storedPlan([]byte(plan))}) == errGranted {
				there = plan
				kept++
			}
		}
		if slices.ContainsFunc(x.granted, func(plan string) bool { return plan != there }) {
			t.Errorf("%s: %q were granted, %q is kept", key, x.granted, there)
		}
		if x.fresh > 1 || (x.fresh == 1) != (there != "") && !x.doubt {
			t.Errorf("%s: charged for %d answers, kept: %q", key, x.fresh, there)
		}
	}
	if kept != before || kept > fits {
		t.Errorf("%d entries for %d keys", before, kept)
	}
	for k := range keys {
		again, err := l.SpendOnce(t.Context(), fmt.Sprint("key", k), []byte(keyPlan), "")
		if err == nil && !again {
			kept++
		}
		if again && err != nil || errors.Is(err, ErrBudget) && kept < fits {
			t.Errorf("afterwards, key %d of %d kept: again %v, %v", k, kept, again, err)
		}
	}
	if n := entries(); n != fits || kept != fits {
		t.Errorf("in the end %d entries, %d keys; %d fit", n, kept, fits)
	}
}

// TestKeyOfALineThatIsTakenBack: a handle that reads a line while another one writes it, and cannot, does not grant it.
func TestKeyOfALineThatIsTakenBack(t *testing.T) {
	l, other, path := createTwice(t, Config{Neighbors: profiles.AddRemove, Epsilon: 4.1, Mode: Planned})
	sync := flush
	defer func() { flush = sync }()
	flush = func(*os.File) error {
		limited, stop := context.WithTimeout(t.Context(), lockWait/50)
		defer stop()
		if again, err := other.SpendOnce(limited, "k", []byte(keyPlan), ""); err == nil {
			t.Errorf("granted, again %v, for a line that is not on disk", again)
		}
		return syscall.EIO
	}
	if _, err := l.SpendOnce(t.Context(), "k", []byte(keyPlan), ""); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 0 {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
	// A line that is there, but not flushed: who wrote it was killed.
	flush = sync
	if _, err := l.SpendOnce(t.Context(), "k", []byte(keyPlan), ""); err != nil {
		t.Fatal(err)
	}
	flush = func(*os.File) error { return syscall.EIO }
	if again, err := l.SpendOnce(t.Context(), "k", []byte(keyPlan), ""); again || !errors.Is(err, syscall.EIO) {
		t.Errorf("again %v, %v, of a line that is not on disk", again, err)
	}
}

// TestMemoryTakesBack: a spend in memory whose context ends while one with it is computed is not charged.
func TestMemoryTakesBack(t *testing.T) {
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 4, Delta: 1e-6, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	first := entry{Time: now(), Key: "a", Plan: storedPlan([]byte(keyPlan))}
	if err := l.state.judged(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second := entry{Time: now(), Key: "b", Plan: storedPlan([]byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":3}},"count":7}]}`))}
	var batch []*request
	for _, e := range []entry{first, second} {
		batch = append(batch, &request{ctx: ctx, entry: e, done: make(chan error, 1)})
	}
	if _, err := l.commit(ctx, batch, true); err == nil {
		t.Fatal("no error")
	}
	if st, err := l.Status(t.Context()); err != nil || st.Entries != 0 {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
	if again, err := l.SpendOnce(t.Context(), "a", []byte(keyPlan), ""); again || err != nil {
		t.Errorf("again %v, %v", again, err)
	}
}

// TestPanicOfASpend: a panic while a spend is under way is one in the goroutine of who spends, who may recover from it, and the
// ledger goes on.
func TestPanicOfASpend(t *testing.T) {
	held := testHeld
	defer func() { testHeld = held }()
	path := filepath.Join(t.TempDir(), "a.ledger")
	l, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 4.1, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	testHeld = func() { panic("a defect") }
	func() {
		defer func() {
			if p := recover(); p != "a defect" {
				t.Errorf("recovered %v", p)
			}
		}()
		_, err := l.SpendOnce(t.Context(), "k", []byte(keyPlan), "")
		t.Errorf("no panic, %v", err)
	}()
	testHeld = held
	if again, err := l.SpendOnce(t.Context(), "k", []byte(keyPlan), ""); again || err != nil {
		t.Errorf("again %v, %v", again, err)
	}
}
