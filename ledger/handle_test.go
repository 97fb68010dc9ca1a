package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/gofrs/flock"
)

func spend(l *Ledger) error { return l.SpendPlan(context.Background(), []byte(purePlan), "") }

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace gives the name to another file, as mv does.
func replace(t testing.TB, path string, data []byte) {
	t.Helper()
	writeFile(t, path+".new", data)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestCreateKeeps: no file that is more than the beginning of a header is made
// into a ledger, and none is changed.
func TestCreateKeeps(t *testing.T) {
	wide := Config{Neighbors: profiles.AddRemove, Epsilon: 2, Delta: 1e-6, Mode: Adaptive}
	for i := range 400 {
		wide.Orders = append(wide.Orders, 2+float64(i)/7)
	}
	l, path := create(t, wide)
	if err := spend(l); err != nil {
		t.Fatal(err)
	}
	ledger := readFile(t, path)
	if bytes.IndexByte(ledger, '\n') < 4096 {
		t.Fatal("the header is too short for this test")
	}
	_, small := create(t, pureConfig)
	head := bytes.TrimSuffix(readFile(t, small), []byte("}\n"))
	path = filepath.Join(t.TempDir(), "file")
	for name, data := range map[string][]byte{
		"a ledger with a long header": ledger,
		"a header":                    head,
		"zeros and more":              append(make([]byte, 5000), "precious"...),
		"zeros":                       make([]byte, 10),
		"a beginning and zeros":       append(head[:100:100], 0),
		"a beginning and more":        append(head[:50:50], '!'),
		"another JSON":                []byte(string(head[:bytes.Index(head, []byte("ledger"))]) + "er"),
		"the beginning of an entry":   []byte(string(head[:bytes.Index(head, []byte(`{"ledger`))]) + `{"time":"2026`),
		"a long beginning":            append(head[:len(head)-5:len(head)-5], bytes.Repeat([]byte("0"), maxHeader)...),
	} {
		writeFile(t, path, data)
		if _, err := Create(t.Context(), File(path), pureConfig); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(readFile(t, path), data) {
			t.Errorf("%s: was changed", name)
		}
	}
	for n := range head {
		writeFile(t, path, head[:n])
		l, err := Create(t.Context(), File(path), pureConfig)
		if err != nil {
			t.Fatalf("the first %d bytes of a header: %v", n, err)
		}
		if st, err := l.Status(t.Context()); err != nil || st.Entries != 0 {
			t.Fatalf("the first %d bytes of a header: %v", n, err)
		}
	}
	wide.Orders = make([]float64, maxOrders+1)
	if _, err := New(wide); err == nil || err.Error() != "orders: 1001 are more than 1000" {
		t.Errorf("many orders: %v", err)
	}
}

// TestCreateFails: what could not be written whole is not there.
func TestCreateFails(t *testing.T) {
	whole := appendTo
	defer func() { appendTo = whole }()
	appendTo = func(f *os.File, data []byte) (int, error) {
		n, _ := f.Write(data[:20])
		return n, errors.New("no space")
	}
	path := filepath.Join(t.TempDir(), "new.ledger")
	if _, err := Create(t.Context(), File(path), pureConfig); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("left a file")
	}
}

// TestRollback: entries that were lost are an error for ever on a handle that
// knew them, however the file changes then.
func TestRollback(t *testing.T) {
	for name, put := range map[string]func(testing.TB, string, []byte){"restored": writeFile, "replaced": replace} {
		l, path := create(t, pureConfig)
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
		old := readFile(t, path)
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
		whole := readFile(t, path)
		put(t, path, old)
		for range 3 {
			if err := spend(l); err == nil || !strings.Contains(err.Error(), "has lost entries") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := l.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "has lost entries") {
				t.Errorf("%s: status: %v", name, err)
			}
			put(t, path, whole) // not even when they are back
		}
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 2 {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
	}
}

// TestSameSize: a file of the same size whose last line is another one is noticed
// before anything is appended to it.
func TestSameSize(t *testing.T) {
	l, path := create(t, pureConfig)
	before := readFile(t, path)
	if err := l.SpendPlan(t.Context(), []byte(purePlan), "one"); err != nil {
		t.Fatal(err)
	}
	one := readFile(t, path)
	writeFile(t, path, before)
	other, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.SpendPlan(t.Context(), []byte(purePlan), "two"); err != nil {
		t.Fatal(err)
	}
	two := readFile(t, path)
	if len(one) != len(two) {
		t.Fatal("the sizes differ")
	}
	if err := spend(l); err == nil || !strings.Contains(err.Error(), "has lost entries") {
		t.Errorf("after the change: %v", err)
	}
	// An earlier line that is another one shows where the file is another one, or is
	// read from its beginning.
	changed := bytes.Clone(two)
	changed[len(before)/2] ^= 1
	replace(t, path, changed)
	if err := spend(other); err == nil || !strings.Contains(err.Error(), "has lost entries") {
		t.Errorf("another file: %v", err)
	}
	writeFile(t, path, two)
	again, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	// The same contents under the same name are as good.
	replace(t, path, two)
	if err := spend(again); err != nil {
		t.Errorf("the same in another file: %v", err)
	}
}

// TestLogOfReplaced: each entry is shown once, also if the file is replaced while it is read.
func TestLogOfReplaced(t *testing.T) {
	l, path := create(t, pureConfig)
	if err := spend(l); err != nil {
		t.Fatal(err)
	}
	reader, shown := open(File(path)), 0
	reader.state.visit = func(entry, string) { shown++ }
	if err := reader.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	replace(t, path, readFile(t, path))
	if err := spend(l); err != nil {
		t.Fatal(err)
	}
	if err := reader.load(t.Context()); err != nil || shown != 2 {
		t.Errorf("%d entries shown, want 2, error %v", shown, err)
	}
}

// TestReplacedInBetween: a spend that waits for the lock, or has just been written,
// while its file is replaced is in the file that has the name when it is reported.
func TestReplacedInBetween(t *testing.T) {
	l, path := create(t, pureConfig)
	held := locked(t, path)
	spent := make(chan error)
	go func() { spent <- spend(l) }()
	time.Sleep(20 * time.Millisecond) // it waits by now; if not, the test is of nothing
	replace(t, path, readFile(t, path))
	held.release()
	if err := <-spent; err != nil {
		t.Fatal(err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 1 {
		t.Fatalf("waiting: %d entries, %v", st.Entries, err)
	}

	whole := appendTo
	defer func() { appendTo = whole }()
	appendTo = func(f *os.File, data []byte) (int, error) {
		old := readFile(t, path)
		n, err := f.Write(data)
		replace(t, path, old)
		appendTo = whole
		return n, err
	}
	if err := spend(l); err != nil {
		t.Fatal(err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 2 {
		t.Fatalf("written: %d entries, %v", st.Entries, err)
	}
	if st, err := l.Status(t.Context()); err != nil || st.Entries != 2 {
		t.Fatalf("the handle: %d entries, %v", st.Entries, err)
	}
}

// TestEnding gives the last byte, and the last but one, every value: the last
// entry counts, or the file is an error, and stays as it is.
func TestEnding(t *testing.T) {
	unflushed(t)
	c := pureConfig
	c.Epsilon = 1e6
	l, path := create(t, c)
	for range 2 {
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
	}
	whole := readFile(t, path)
	for back := 1; back <= 2; back++ {
		for b := range 256 {
			data := bytes.Clone(whole)
			data[len(data)-back] = byte(b)
			writeFile(t, path, data)
			l, err := Open(t.Context(), File(path))
			if err != nil {
				if !bytes.Equal(readFile(t, path), data) {
					t.Errorf("byte %d as %d: was changed", len(data)-back, b)
				}
				continue
			}
			if err := spend(l); err != nil {
				t.Errorf("byte %d as %d: %v", len(data)-back, b, err)
			}
			if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 3 {
				t.Errorf("byte %d as %d: %d entries, %v", len(data)-back, b, st.Entries, err)
			}
		}
	}
}

// TestEndingAndContent: what lacks its line feed and has the whole of a content
// that is not what was written is an error as well.
func TestEndingAndContent(t *testing.T) {
	l, path := create(t, pureConfig)
	if err := l.SpendPlan(t.Context(), []byte(purePlan), "note"); err != nil {
		t.Fatal(err)
	}
	whole := readFile(t, path)
	changed := bytes.Replace(whole, []byte(`"note":"note"`), []byte(`"note":"nose"`), 1)
	writeFile(t, path, changed[:len(changed)-1])
	if _, err := Open(t.Context(), File(path)); !errors.Is(err, errChain) {
		t.Error(err)
	}
}

// TestRest: a handle that has rested spends as if it had not, in every mode, and not from a file that has lost what it knew.
func TestRest(t *testing.T) {
	noise, err := profiles.NewGaussianMechanism(20)
	if err != nil {
		t.Fatal(err)
	}
	step := accountant.Step{Mechanism: noise}
	for _, mode := range []Mode{Planned, Adaptive, AdaptiveGaussian} {
		l, path := create(t, Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: mode})
		old := readFile(t, path)
		if !l.Rest() {
			t.Error("does not rest")
		}
		for range 3 {
			if err := l.Spend(t.Context(), step); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what rests may rest again
				_ = l.begin(t.Context()) // the spend has its answer a moment before its turn ends
				l.end()
				if !l.Rest() {
					t.Error("does not rest")
				}
			}
		}
		whole := readFile(t, path)
		if st, err := l.Status(t.Context()); err != nil || st.Entries != 3 {
			t.Errorf("%s: %d entries, %v", mode, st.Entries, err)
		}
		l.Rest()
		if err := l.Checkpoint(t.Context()); err != nil {
			t.Error(err)
		}
		l.Rest()
		l.turn <- struct{}{}
		if l.Rest() {
			t.Error("rests during a call")
		}
		l.end()
		for _, shorter := range [][]byte{old, whole} {
			replace(t, path, shorter)
			if err := l.Spend(t.Context(), step); err == nil || !strings.Contains(err.Error(), "has lost entries: the last line of the 3 entries") {
				t.Errorf("%s: a spend from an older file: %v", mode, err)
			}
			if n := len(readFile(t, path)); n != len(shorter) {
				t.Errorf("%s: the older file had %d bytes and has %d", mode, len(shorter), n)
			}
			l.lost = nil
			l.Rest()
		}
	}
	l, err := New(pureConfig)
	if err != nil || l.Rest() {
		t.Errorf("a ledger in memory rests, %v", err)
	}
}

// TestLock: who holds the lock is named, and nobody waits for ever.
func TestLock(t *testing.T) {
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = 50 * time.Millisecond
	l, path := create(t, pureConfig)
	held := locked(t, path)
	if err := spend(l); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("is locked by process %d (ledger.test) on host ", os.Getpid())) ||
		!strings.HasSuffix(err.Error(), "waited 50ms, and nothing was spent") {
		t.Errorf("locked: %v", err)
	}
	if st, err := l.Status(t.Context()); err != nil || st.Entries != 0 {
		t.Errorf("status beside a holder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lockWait = time.Hour
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := l.SpendPlan(ctx, []byte(purePlan), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	writeFile(t, path+".lock", []byte("\x1b[31mme"))
	lockWait = time.Millisecond
	if err := spend(l); err == nil || !strings.Contains(err.Error(), "is locked by a program that does not tell its name") {
		t.Errorf("a strange note: %v", err)
	}
	held.release()
	if err := spend(l); err != nil {
		t.Error(err)
	}
	if data := readFile(t, path+".lock"); len(data) > 0 {
		t.Errorf("the lock still names %s", data)
	}
}

// TestComputesUnlocked: while a spend is computed others spend, and what they have
// spent is in the judgement. When that happens again and again it is judged with
// the lock held.
func TestComputesUnlocked(t *testing.T) {
	for _, again := range []int{1, 100} {
		c := pureConfig
		c.Epsilon = 100
		l, path := create(t, c)
		other, err := Open(t.Context(), File(path))
		if err != nil {
			t.Fatal(err)
		}
		locked, spent := false, 0
		testHeld = func() { locked = true }
		defer func() { testHeld = func() {} }()
		l.state.policy = slowPolicy{l.state.policy, func() {
			if spent < again && !locked {
				spent++
				if err := spend(other); err != nil {
					t.Error(err)
				}
			}
			locked = false
		}}
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != spent+1 || spent != min(again, 1) && spent < tries/2 {
			t.Errorf("%d entries after %d others, %v", st.Entries, spent, err)
		}
	}
}

// A slowPolicy does something else while it judges, and admits only what it has
// judged last.
type slowPolicy struct {
	policy
	meanwhile func()
}

func (j slowPolicy) fits(ctx context.Context, n int64, all ...*admission) error {
	j.meanwhile()
	return j.policy.fits(ctx, n, all...)
}

// A stuckPolicy never ends a computation under the lock by itself.
type stuckPolicy struct {
	policy
	locked *bool
}

func (j stuckPolicy) admits(...*admission) bool { return false }

func (j stuckPolicy) fits(ctx context.Context, n int64, all ...*admission) error {
	if *j.locked {
		<-ctx.Done()
		return ctx.Err()
	}
	return j.policy.fits(ctx, n, all...)
}

// TestHeldLimit: what is computed under the lock ends while those who wait for the lock still wait.
func TestHeldLimit(t *testing.T) {
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = time.Second
	l, path := create(t, pureConfig)
	times, locked := 0, false
	l.state.policy = stuckPolicy{l.state.policy, &locked}
	defer func(held func()) { testHeld = held }(testHeld)
	other := make(chan error, 1)
	testHeld = func() {
		if times++; times > tries { // from now on it is judged under the lock
			locked, testHeld = true, func() {}
			go func() {
				l, err := Open(t.Context(), File(path))
				if err == nil {
					err = spend(l)
				}
				other <- err
			}()
		}
	}
	if err := spend(l); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "others spend, or replace the file, faster than") {
		t.Errorf("stuck under the lock: %v", err)
	}
	if err := <-other; err != nil {
		t.Errorf("who waited: %v", err)
	}
}

// TestBatchSize: plans that are judged together are remembered together, and are not read again under the lock.
func TestBatchSize(t *testing.T) {
	l, err := New(pureConfig)
	if err != nil {
		t.Fatal(err)
	}
	for range maxBatch {
		l.queue <- &request{entry: entry{Plan: make([]byte, maxPlanText/100)}}
	}
	for n := maxBatch; n > 0; {
		batch := l.batch()
		if len(batch) == 0 || len(batch) > 26 { // twice that, with the texts of the plans
			t.Fatalf("%d plans of %d bytes in a batch", len(batch), maxPlanText/100)
		}
		n -= len(batch)
	}
}

// A pricedPolicy tells when a price is computed.
type pricedPolicy struct {
	policy
	priced func()
}

func (j pricedPolicy) price(a *admission) error {
	j.priced()
	return j.policy.price(a)
}

// TestPricesUnlocked: what others have spent between the last look and the lock is priced without the lock.
func TestPricesUnlocked(t *testing.T) {
	l, path := create(t, Config{Neighbors: profiles.AddRemove, Epsilon: 3, Delta: 1e-5, Mode: Adaptive})
	if _, err := l.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	plan := func(noise string) []byte {
		return []byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":` + noise + `}}}]}`)
	}
	times, priced := 0, 0
	defer func(held func()) { testHeld = held }(testHeld)
	testHeld = func() {
		if times++; times == 1 {
			appendEntries(t, path, l.state.head, 1, plan("50"))
		}
	}
	l.state.policy = pricedPolicy{l.state.policy, func() {
		priced++
		lock := flock.New(path + ".lock")
		if free, err := lock.TryLock(); err != nil || !free {
			t.Errorf("a price is computed under the lock, %v", err)
		}
		_ = lock.Unlock()
	}}
	if err := l.SpendPlan(t.Context(), plan("60"), ""); err != nil {
		t.Fatal(err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 2 || priced != 2 || times != 2 {
		t.Errorf("%d entries, %d prices, %d times under the lock, %v", st.Entries, priced, times, err)
	}
}

// TestProofOfOthers: a proof of more than there is does not cover what others have
// spent since.
func TestProofOfOthers(t *testing.T) {
	a, path := create(t, pureConfig)
	b, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	const small = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.05}}}]\n"
	const big = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.78}}}]\n"
	for range 4 {
		if err := a.SpendPlan(t.Context(), []byte(small), ""); err != nil {
			t.Fatal(err)
		}
	}
	if n, _, err := a.Fits(t.Context(), []byte(small), 4); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if !a.state.policy.admits(&admission{text: small}) {
		t.Fatal("nothing was proved ahead")
	}
	if err := b.SpendPlan(t.Context(), []byte(big), ""); err != nil {
		t.Fatal(err)
	}
	if err := a.SpendPlan(t.Context(), []byte(small), ""); !errors.Is(err, ErrBudget) {
		t.Errorf("above the budget: %v", err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 5 {
		t.Errorf("%d entries, %v", st.Entries, err)
	}
}

// TestWrittenWithoutLock: a spend that somebody else's writing may have spoilt is not
// reported as spent, and what has become of the file is seen by all.
func TestWrittenWithoutLock(t *testing.T) {
	whole := appendTo
	defer func() { appendTo = whole }()
	l, path := create(t, pureConfig)
	appendTo = func(f *os.File, data []byte) (int, error) {
		defer func() { _, _ = f.Write(data) }() // the same line, as another writer has judged it
		return f.Write(data)
	}
	if err := spend(l); err == nil || !strings.Contains(err.Error(), "without the lock") {
		t.Errorf("spend: %v", err)
	}
	appendTo = whole
	if _, err := Verify(t.Context(), File(path), ""); !errors.Is(err, errChain) {
		t.Errorf("check: %v", err)
	}
	if err := spend(l); !errors.Is(err, errChain) {
		t.Errorf("again: %v", err)
	}
}

// TestCancelledSpend: nothing changes.
func TestCancelledSpend(t *testing.T) {
	l, path := create(t, Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-5, Mode: Planned})
	before := readFile(t, path)
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.SpendPlan(dead, []byte(purePlan), ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := l.Status(dead); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !bytes.Equal(readFile(t, path), before) {
		t.Error("the file has changed")
	}
	if err := spend(l); err != nil {
		t.Error(err)
	}
}

// locked holds the lock of a ledger until it is released.
func locked(t *testing.T, path string) lock {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	held, err := takeLock(t.Context(), path, info)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestOneMeaning: a line whose checksum is right and whose JSON readers could take for different things is refused:
// of epsilon 3 and epsilon 300 the budget was 300.
func TestOneMeaning(t *testing.T) {
	l, path := create(t, pureConfig)
	if err := l.SpendPlan(t.Context(), []byte(purePlan), "a"); err != nil {
		t.Fatal(err)
	}
	file := string(readFile(t, path))
	for _, c := range []struct{ old, twice, want string }{
		{`"epsilon":1,`, `"epsilon":1,"epsilon":300,`, `budget.ledger:1: the key "epsilon" at byte 50 is set a second time; the first is at byte 38`},
		{`"epsilon":1,`, `"epsilon":1,"Epsilon":300,`, "in its case only"},
		{`"epsilon":1,`, `"Epsilon":300,`, `budget.ledger:1: the key "Epsilon" at byte 38 is unknown`},
		{`"plan":`, `"plan":"","plan":`, `budget.ledger:2: the key "plan" at byte`},
		{`"note":"a"`, `"note":"a","note":"b"`, `budget.ledger:2: the key "note" at byte`},
	} {
		changed := strings.Replace(file, c.old, c.twice, 1)
		if changed == file {
			t.Fatalf("%s is not in %s", c.old, file)
		}
		var again []byte
		head := ""
		for _, raw := range strings.SplitAfter(changed, "\n") {
			if old, _, err := decodeLine([]byte(raw)); err == nil {
				line := Line{checksum(head, old.Content), old.Content}
				again, head = append(again, line.text()...), line.Sum
			}
		}
		writeFile(t, path, again)
		if _, err := Open(t.Context(), File(path)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.twice, err, c.want)
		}
	}
}

// TestQueueOfThoseWhoGaveUp: spends that were withdrawn while they waited for their turn keep nobody else from theirs.
func TestQueueOfThoseWhoGaveUp(t *testing.T) {
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	plan := []byte("neighbors: add-remove\nsteps:\n- mechanism: {gaussian: {noise-multiplier: 100}}\n")
	l.turn <- struct{}{} // a call that takes long
	ctx, cancel := context.WithCancel(t.Context())
	var gave sync.WaitGroup
	for range maxBatch {
		gave.Go(func() {
			if err := l.SpendPlan(ctx, plan, ""); !errors.Is(err, context.Canceled) {
				t.Errorf("withdrawn: %v", err)
			}
		})
	}
	for len(l.queue) < maxBatch {
		time.Sleep(time.Millisecond)
	}
	cancel()
	gave.Wait()
	<-l.turn
	late, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := l.SpendPlan(late, plan, ""); err != nil {
		t.Fatalf("after %d withdrawn spends: %v", maxBatch, err)
	}
	if st, err := l.Status(t.Context()); err != nil || st.Entries != 1 {
		t.Errorf("%d entries (%v), want 1", st.Entries, err)
	}
}
