package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

const keyPlan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.5}}}]}`

// TestSpendOnce: a key is charged once, by whoever and whenever; with another plan it is an
// error, and a refusal leaves it free.
func TestSpendOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ledger")
	filed, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 1.2, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := New(filed.Config())
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*Ledger{"file": filed, "memory": memory} {
		once := func(l *Ledger, key, plan string) (bool, string) {
			again, err := l.SpendOnce(t.Context(), key, []byte(plan), "note")
			if err != nil {
				return again, err.Error()
			}
			return again, ""
		}
		if again, msg := once(l, "k", keyPlan); again || msg != "" {
			t.Fatalf("%s: %v %s", name, again, msg)
		}
		if again, msg := once(l, "k", keyPlan); !again || msg != "" {
			t.Errorf("%s: repeated: %v %s", name, again, msg)
		}
		if _, msg := once(l, "k", strings.Replace(keyPlan, "0.5", "0.25", 1)); !strings.HasPrefix(msg, `key: "k" was granted for another plan`) {
			t.Errorf("%s: another plan: %s", name, msg)
		}
		for range 2 { // refused, and not remembered
			if again, msg := once(l, "big", strings.Replace(keyPlan, "0.5", "9", 1)); again || !strings.HasPrefix(msg, ErrBudget.Error()) {
				t.Errorf("%s: refused: %v %s", name, again, msg)
			}
		}
		if again, msg := once(l, "big", keyPlan); again || msg != "" {
			t.Errorf("%s: after a refusal: %v %s", name, again, msg)
		}
		for _, key := range []string{"", "a\nb", "\xff", strings.Repeat("x", maxKey+1)} {
			if _, msg := once(l, key, keyPlan); !strings.HasPrefix(msg, "key: ") {
				t.Errorf("%s: %q: %s", name, key, msg)
			}
		}
		// The budget is used up; what was granted under a key stays granted.
		if again, msg := once(l, "k", keyPlan); !again || msg != "" {
			t.Errorf("%s: at the end: %v %s", name, again, msg)
		}
		if st, err := l.Status(t.Context()); err != nil || st.Entries != 2 {
			t.Errorf("%s: %d entries, %v", name, st.Entries, err)
		}
	}
	later, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := later.SpendOnce(t.Context(), "k", []byte(keyPlan), ""); !again || err != nil {
		t.Errorf("opened anew: %v, %v", again, err)
	}
	var keys []string
	if _, err := Log(t.Context(), File(path), func(e Entry) { keys = append(keys, e.Key) }); err != nil || strings.Join(keys, " ") != "k big" {
		t.Errorf("keys %q, %v", keys, err)
	}
}

// TestSpendOnceTogether: handles that spend the same keys at the same time charge each once.
func TestSpendOnceTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ledger")
	if _, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 100, Mode: Planned}); err != nil {
		t.Fatal(err)
	}
	const handles, keys = 4, 10
	var fresh [keys]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range handles {
		l, err := Open(t.Context(), File(path))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for k := range keys {
				again, err := l.SpendOnce(t.Context(), string(rune('a'+k)), []byte(keyPlan), "")
				if err != nil {
					t.Error(err)
				}
				if !again {
					mu.Lock()
					fresh[k]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	st, err := Verify(t.Context(), File(path), "")
	if err != nil || st.Entries != keys {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
	for k, n := range fresh {
		if n != 1 {
			t.Errorf("key %d was charged %d times", k, n)
		}
	}
}

// TestSpendOnceOvertaken: a key that another handle spends after this one has judged the spend,
// and before it has the lock, is found under the lock.
func TestSpendOnceOvertaken(t *testing.T) {
	l, other, path := createTwice(t, Config{Neighbors: profiles.AddRemove, Epsilon: 100, Mode: Planned})
	for key, judge := range map[string]bool{"a": false, "b": true} {
		e := entry{Time: "2026-01-01T00:00:00Z", Key: key, Plan: storedPlan([]byte(keyPlan))}
		for range 2 { // the judge has a second one proved
			if err := l.load(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := l.state.judged(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if again, err := other.SpendOnce(t.Context(), key, []byte(keyPlan), ""); again || err != nil {
			t.Fatal(again, err)
		}
		r := &request{ctx: t.Context(), entry: e, done: make(chan error, 1)}
		if _, err := l.commit(t.Context(), []*request{r}, judge); err != nil {
			t.Fatal(key, err)
		}
		if err := <-r.done; !errors.Is(err, errGranted) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 2 {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
}

// A spend with a key that did not reach the disk is taken back with its key: the next one with it is charged.
func TestKeyOfALostSpend(t *testing.T) {
	for _, together := range []int{1, 3} {
		path := filepath.Join(t.TempDir(), "a.ledger")
		l, err := Create(t.Context(), File(path), Config{Neighbors: profiles.AddRemove, Epsilon: 100, Mode: Planned})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.SpendOnce(t.Context(), "first", []byte(keyPlan), ""); err != nil {
			t.Fatal(err)
		}
		if err := l.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		var batch []*request
		for i := range together {
			e := entry{Time: now(), Key: fmt.Sprint("key", i), Plan: storedPlan([]byte(keyPlan))}
			batch = append(batch, &request{ctx: t.Context(), entry: e, done: make(chan error, 1)})
		}
		sync := flush
		flush = func(*os.File) error { return syscall.EIO }
		rest, err := l.commit(t.Context(), batch, true)
		if flush = sync; len(rest) != together || !errors.Is(err, syscall.EIO) {
			t.Fatal(len(rest), err)
		}
		for i := range together {
			if again, err := l.SpendOnce(t.Context(), fmt.Sprint("key", i), []byte(keyPlan), ""); again || err != nil {
				t.Errorf("%d together: the key of a lost spend: again %v, %v", together, again, err)
			}
		}
		if again, err := l.SpendOnce(t.Context(), "first", []byte(keyPlan), ""); !again || err != nil {
			t.Errorf("an older key: again %v, %v", again, err)
		}
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != together+1 {
			t.Errorf("%d entries, %v", st.Entries, err)
		}
	}
}
