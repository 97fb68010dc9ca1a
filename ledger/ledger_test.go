package ledger

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
)

// Two runs of a 0.4-differentially private mechanism cost 0.8 at δ = 0, three
// 1.2: basic composition is attained there.
var pureConfig = Config{Neighbors: profiles.AddRemove, Epsilon: 1, Mode: Planned}

const purePlan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.4}}}]\n"

func create(t *testing.T, c Config) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "budget.ledger")
	l, err := Create(t.Context(), File(path), c)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// unflushed has writes of a test not wait for the disk, where it is not about what lasts.
func unflushed(t *testing.T) {
	t.Helper()
	whole := flush
	t.Cleanup(func() { flush = whole })
	flush = func(*os.File) error { return nil }
}

// unwatched has a file that does not look right looked at once, where a test is not about writers.
func unwatched(t *testing.T) {
	t.Helper()
	whole := looks
	t.Cleanup(func() { looks = whole })
	looks = 0
}

// createTwice is create with two handles of the file.
func createTwice(t *testing.T, c Config) (l, other *Ledger, path string) {
	t.Helper()
	l, path = create(t, c)
	other, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	return l, other, path
}

func TestPlannedRefuses(t *testing.T) {
	file, _ := create(t, pureConfig)
	memory, err := New(pureConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Ledger{file, memory} {
		for i := range 2 {
			if err := l.SpendPlan(t.Context(), []byte(purePlan), "query"); err != nil {
				t.Fatal(i, err)
			}
		}
		err := l.SpendPlan(t.Context(), []byte(purePlan), "query")
		const want = "the privacy budget does not allow this step: it would bring ε to 1.2 at δ = 0, where the budget is 1, of which 0.8 is spent and 0.2 is left"
		if !errors.Is(err, ErrBudget) || err.Error() != want {
			t.Errorf("third spend: %v\nwant %s", err, want)
		}
		// A smaller step still fits, and what was refused has cost nothing.
		small := strings.Replace(purePlan, "0.4", "0.1", 1)
		if err := l.SpendPlan(t.Context(), []byte(small), ""); err != nil {
			t.Error(err)
		}
		st, err := l.Status(t.Context())
		if err != nil || st.Entries != 3 || st.Runs != 3 || math.Abs(st.Spent.Epsilon.Upper-0.9) > 1e-9 || math.Abs(st.Left-0.1) > 1e-9 {
			t.Errorf("status %+v, %v", st, err)
		}
		if !strings.Contains(st.Guarantee, "Fourier") {
			t.Errorf("guarantee %q", st.Guarantee)
		}
	}
}

// TestLookAhead: the proof of a larger total must not admit more than one proof
// per step would.
func TestLookAhead(t *testing.T) {
	noise, _ := profiles.NewGaussianMechanism(20)
	other, _ := profiles.NewLaplaceMechanism(50)
	steps := []accountant.Step{{Mechanism: noise}, {Mechanism: other}}
	c := Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-5, Mode: Planned}
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		err = l.Spend(t.Context(), steps[n%2])
	}
	if !errors.Is(err, ErrBudget) {
		t.Fatal(err)
	}
	n-- // the last was refused
	epsilon := func(n int) float64 {
		acct := accountant.New(c.Neighbors, accountant.Options{Accuracy: 1e-6})
		for i := range n {
			if err := acct.Add(t.Context(), steps[i%2], 1); err != nil {
				t.Fatal(err)
			}
		}
		iv, err := acct.Epsilon(t.Context(), c.Delta)
		if err != nil {
			t.Fatal(err)
		}
		return iv.Upper
	}
	if at, over := epsilon(n), epsilon(n+1); at > 1 || over <= 1 || n < 20 {
		t.Errorf("admitted %d steps: ε = %v, with one more %v", n, at, over)
	}
}

// TestAdaptive: the ledger admits exactly what the filter on its orders admits.
func TestAdaptive(t *testing.T) {
	c := Config{Neighbors: profiles.Substitute, Epsilon: 2, Delta: 1e-6, Mode: Adaptive}
	l, path := create(t, c)
	full := l.Config()
	if len(full.Orders) < 3 {
		t.Fatal(full)
	}
	filter, err := rdp.NewFilterFor(c.Epsilon, c.Delta, full.Orders...)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range 40 {
		noise, _ := profiles.NewGaussianMechanism(60 / float64(1+i))
		curve, err := rdp.Of(noise, nil, c.Neighbors)
		if err != nil {
			t.Fatal(err)
		}
		want, got := filter.Spend(curve), l.Spend(t.Context(), accountant.Step{Mechanism: noise})
		if errors.Is(want, rdp.ErrBudget) != errors.Is(got, ErrBudget) {
			t.Fatalf("step %d: filter %v, ledger %v", i, want, got)
		}
		if got != nil {
			refused++
		}
	}
	if refused == 0 || refused == 40 {
		t.Errorf("%d of 40 refused", refused)
	}
	st, err := Verify(t.Context(), File(path), "")
	if err != nil || st.Entries != 40-refused || !(st.Spent.Renyi > 0 && st.Spent.Renyi <= st.Spent.RenyiBudget) || !strings.Contains(st.Guarantee, "filter") {
		t.Errorf("check: %+v, %v", st, err)
	}
}

// TestTruncated cuts the file at every byte: what was reported spent before
// the last line stays spent, the torn line is ignored, and the next spend
// repairs the file.
func TestTruncated(t *testing.T) {
	unflushed(t)
	unwatched(t)
	c := pureConfig
	c.Epsilon = 10
	l, path := create(t, c)
	var ends []int
	size := func() int {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size())
	}
	ends = append(ends, size())
	for i := range 3 {
		plan := []byte(purePlan) // as YAML
		if i == 1 {
			plan = []byte(`{"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 0.3}}}]}`)
		}
		if err := l.SpendPlan(t.Context(), plan, fmt.Sprint("Größe <", i)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, size())
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cutPath := filepath.Join(t.TempDir(), "cut.ledger")
	for cut := range len(whole) {
		for _, zeros := range []int{0, 3} { // a file system may leave zeros behind
			data := append(whole[:cut:cut], make([]byte, zeros)...)
			if err := os.WriteFile(cutPath, data, 0o644); err != nil {
				t.Fatal(err)
			}
			entries, edge := -1, false
			for _, end := range ends {
				// A line that lacks only its ending counts.
				if cut >= end-2 {
					entries++
				}
				edge = edge || end-2 <= cut && cut < end
			}
			l, err := Open(t.Context(), File(cutPath))
			if entries < 0 {
				if err == nil {
					t.Fatalf("cut at %d: opened without a header", cut)
				}
				// Only the beginning of a header is made into a ledger.
				l, err = Create(t.Context(), File(cutPath), c)
				if (err == nil) != (zeros == 0 && cut < ends[0]-2) {
					t.Fatalf("cut at %d, zeros %d: create: %v", cut, zeros, err)
				}
				if err != nil {
					continue
				}
				entries = 0
			} else if err != nil {
				t.Fatalf("cut at %d, zeros %d (edge %v): %v", cut, zeros, edge, err)
			}
			if cut%7 != 0 && !edge && entries > 0 && l.state.entries == entries {
				continue // spending at each of them takes long
			}
			if err := l.load(t.Context()); err != nil || l.state.entries != entries {
				t.Fatalf("cut at %d: %d entries, want %d, %v", cut, l.state.entries, entries, err)
			}
			if err := l.SpendPlan(t.Context(), []byte(purePlan), "after"); err != nil {
				t.Fatalf("cut at %d: spend: %v", cut, err)
			}
			again, err := Open(t.Context(), File(cutPath))
			if err != nil || again.state.entries != entries+1 {
				t.Fatalf("cut at %d: after the repair: %v", cut, err)
			}
			repaired, err := os.ReadFile(cutPath)
			if err != nil || strings.ContainsRune(string(repaired), 0) || strings.Count(string(repaired), "\n") != entries+2 {
				t.Fatalf("cut at %d: repaired file %q, %v", cut, repaired, err)
			}
		}
	}
	// Another handle that had seen the line without its line feed goes on.
	if err := os.WriteFile(cutPath, whole[:len(whole)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), File(cutPath))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), File(cutPath))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []*Ledger{a, b, a} {
		if err := l.SpendPlan(t.Context(), []byte(purePlan), ""); err != nil {
			t.Fatal(i, err)
		}
	}
	if st, err := Verify(t.Context(), File(cutPath), ""); err != nil || st.Entries != 6 || st.Torn != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestChanged changes every byte but the last: no such file passes Check.
func TestChanged(t *testing.T) {
	l, path := create(t, pureConfig)
	for range 2 {
		if err := l.SpendPlan(t.Context(), []byte(purePlan), "a"); err != nil {
			t.Fatal(err)
		}
	}
	st, err := l.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	other := filepath.Join(t.TempDir(), "changed.ledger")
	for i := range len(whole) - 1 {
		data := append([]byte(nil), whole...)
		data[i] ^= 1
		if err := os.WriteFile(other, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), File(other)); err == nil {
			t.Errorf("byte %d (%q) changed, and nobody noticed", i, whole[i])
		}
	}
	// Taking whole entries away shows only with a head kept elsewhere.
	cut := strings.LastIndex(strings.TrimSuffix(string(whole), "\n"), "\n") + 1
	if err := os.WriteFile(other, whole[:cut], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), File(other), ""); err != nil {
		t.Error(err)
	}
	if _, err := Verify(t.Context(), File(other), st.Head); err == nil || !strings.Contains(err.Error(), "taken away") {
		t.Errorf("a missing entry: %v", err)
	}
	if _, err := Verify(t.Context(), File(path), st.Head); err != nil {
		t.Error(err)
	}
	if _, err := Verify(t.Context(), File(path), "abc"); err == nil {
		t.Error("a bad head was accepted")
	}
}

// TestCheckBudget: a chain that is right does not help entries above the budget.
func TestCheckBudget(t *testing.T) {
	l, path := create(t, pureConfig)
	for range 2 {
		if err := l.SpendPlan(t.Context(), []byte(purePlan), ""); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := os.ReadFile(path)
	line, _, err := encodeLine(l.state.head, entry{Plan: storedPlan([]byte(purePlan))})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, line...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), File(path), ""); err == nil || !strings.Contains(err.Error(), "the entries cost ε = 1.2 at δ = 0, above the budget 1") {
		t.Errorf("check: %v", err)
	}
}

// TestTogether: handles of one file, as several processes have them, never pass
// the budget together.
func TestTogether(t *testing.T) {
	c := pureConfig
	c.Epsilon = 4.2 // ten times 0.4
	_, path := create(t, c)
	var mu sync.Mutex
	admitted := 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			l, err := Open(t.Context(), File(path))
			if err != nil {
				t.Error(err)
				return
			}
			for {
				err := l.SpendPlan(t.Context(), []byte(purePlan), "")
				if err != nil {
					if !errors.Is(err, ErrBudget) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				admitted++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if st, err := Verify(t.Context(), File(path), ""); err != nil || admitted != 10 || st.Entries != 10 {
		t.Errorf("%d admitted, %d in the file, %v", admitted, st.Entries, err)
	}
}

func TestSpendStep(t *testing.T) {
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 3, Delta: 1e-5, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	noise, _ := profiles.NewGaussianMechanism(1.1)
	laplace, _ := profiles.NewLaplaceMechanism(20)
	batches, _ := subsample.NewPoisson(0.01)
	group := accountant.Step{Name: "both", Count: 3, Steps: []accountant.Step{
		{Mechanism: noise, Sampling: batches, Count: 100}, {Mechanism: laplace}}}
	if err := l.Spend(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	acct := accountant.New(profiles.AddRemove)
	if err := acct.Add(t.Context(), group, 1); err != nil {
		t.Fatal(err)
	}
	want, err := acct.Epsilon(t.Context(), 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	st, err := l.Status(t.Context())
	// Tables that reach further differ in digits that are not certified.
	if iv := st.Spent.Epsilon; err != nil || st.Runs != 303 || !(iv.Lower <= want.Upper && want.Lower <= iv.Upper) || iv.Upper-iv.Lower > 1e-9*iv.Upper {
		t.Errorf("status %+v, %v; want ε in [%v, %v]", st, err, want.Lower, want.Upper)
	}
	pure, _ := profiles.NewPure(0.1)
	for _, s := range []accountant.Step{{}, {Mechanism: pure}, {Mechanism: noise, Count: -1},
		{Sampling: batches, Steps: []accountant.Step{{Mechanism: noise}}}, {Mechanism: noise, Steps: []accountant.Step{}},
		{Mechanism: noise, Selection: &selection.Config{Law: "geometric", Mean: 10}},
		{Steps: []accountant.Step{{Mechanism: noise}, {Mechanism: noise, Selection: &selection.Config{Law: "geometric", Mean: 10}}}}} {
		if err := l.Spend(t.Context(), s); err == nil || errors.Is(err, ErrBudget) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestSelection: a selection is charged as one, by either judge.
func TestSelection(t *testing.T) {
	// The best of a geometric number of runs of a pure mechanism costs more than
	// one run, and less than three times as much (Liu and Talwar 2019, Theorem 3.2).
	const plan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.4}}, selection: {law: geometric, mean: 10}}]\n"
	for _, c := range []Config{
		{Neighbors: profiles.AddRemove, Epsilon: 3, Delta: 1e-6, Mode: Planned},
		{Neighbors: profiles.AddRemove, Epsilon: 8, Delta: 1e-6, Mode: Adaptive},
	} {
		cost := func(text string) Spent {
			l, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.SpendPlan(t.Context(), []byte(text), ""); err != nil {
				t.Fatal(c.Mode, err)
			}
			st, err := l.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return st.Spent
		}
		one, best := cost(purePlan), cost(plan)
		if c.Mode == Planned {
			if x := best.Epsilon.Upper; !(x > one.Epsilon.Upper+0.1 && x <= 1.2+1e-9) {
				t.Errorf("planned: one run %v, selection %v", one.Epsilon.Upper, x)
			}
		} else if !(best.Renyi/best.RenyiBudget > 1.1*one.Renyi/one.RenyiBudget) {
			t.Errorf("adaptive: one run %v, selection %v", one, best)
		}
	}
}

// TestSearchWithinItsRuns: a ledger charges a search no more than all of its runs shown, and refuses none that they would fit.
func TestSearchWithinItsRuns(t *testing.T) {
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 0.7001, Delta: 1e-5, Mode: Planned})
	if err != nil {
		t.Fatal(err)
	}
	const plan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.1}}, selection: {law: fixed, max: 7}}]\n"
	if err := l.SpendPlan(t.Context(), []byte(plan), ""); err != nil {
		t.Error(err)
	}
	if err := l.SpendPlan(t.Context(), []byte(plan), ""); !errors.Is(err, ErrBudget) {
		t.Errorf("a second search: %v, want %v", err, ErrBudget)
	}
}

func TestBadInput(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Epsilon: -1, Mode: Planned}, "epsilon: -1 is not in [0, +Inf)"},
		{Config{Epsilon: nan, Mode: Planned}, "epsilon: NaN is not in [0, +Inf)"},
		{Config{Epsilon: 1, Delta: 1, Mode: Planned}, "delta: 1 is not in [0, 1)"},
		{Config{Epsilon: 1, Delta: 0, Mode: Adaptive}, "delta: 0 is not in (0, 1), which adaptive ledgers need"},
		{Config{Epsilon: 0, Delta: 1e-5, Mode: Adaptive}, "epsilon: 0 is not in [1e-09, +Inf), which adaptive ledgers need"},
		{Config{Epsilon: 1, Delta: 1e-5}, `mode: "" is not one of planned, adaptive, adaptive-gaussian, adaptive-menu`},
		{Config{Epsilon: 1, Delta: 1e-5, Mode: Adaptive, Orders: []float64{0.5}}, "orders[0]: 0.5 is not in (1, +Inf)"},
		{Config{Epsilon: 1, Mode: Planned, Orders: []float64{2}}, "orders: are for adaptive ledgers, this one is planned"},
		{Config{Neighbors: 7, Mode: Planned}, "neighbors: Relation(7) is not one of add-remove, substitute, zero-out"},
	} {
		if _, err := New(c.config); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v; want %s", c.config, err, c.want)
		}
		path := filepath.Join(t.TempDir(), "x")
		if _, err := Create(t.Context(), File(path), c.config); err == nil || err.Error() != c.want {
			t.Errorf("create %+v: %v", c.config, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%+v left a file", c.config)
		}
	}
	l, path := create(t, pureConfig)
	for _, c := range []struct{ plan, note, want string }{
		{"", "", "plan: is empty"},
		{"neighbors: substitute\nsteps: [{mechanism: {pure: {epsilon: 1}}}]", "", "neighbors: substitute is not the ledger's relation, add-remove"},
		{"\xff", "", "line 1"},
		{purePlan, strings.Repeat("x", 1001), "note: "},
		{purePlan, "\xff", "note: "},
	} {
		if err := l.SpendPlan(t.Context(), []byte(c.plan), c.note); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %s", c.plan, err, c.want)
		}
	}
	if _, err := Create(t.Context(), File(path), pureConfig); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("second create: %v", err)
	}
	if _, err := Open(t.Context(), File(t.TempDir())); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("open a directory: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	for _, text := range []string{"hello", "hello\n", "\n", ""} {
		if err := os.WriteFile(plain, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), File(plain)); err == nil {
			t.Errorf("opened %q", text)
		}
		if _, err := Create(t.Context(), File(plain), pureConfig); (err == nil) != (text == "") {
			t.Errorf("create over %q: %v", text, err)
		}
	}
}

func BenchmarkSpendMemory(b *testing.B) {
	noise, _ := profiles.NewGaussianMechanism(1)
	batches, _ := subsample.NewPoisson(1e-4)
	l, err := New(Config{Neighbors: profiles.AddRemove, Epsilon: 8, Delta: 1e-5, Mode: Planned})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := l.Spend(b.Context(), accountant.Step{Mechanism: noise, Sampling: batches}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOldFiles: files of earlier programs are read and checked, keys in them are known, and spends go on.
func TestOldFiles(t *testing.T) {
	plan := []byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":20}},"count":3}]}`)
	for mode, head := range map[Mode]string{
		Planned:          "336d906952e1e9e84051d2b0730e8d98607a7676ca2d126c6fa409089acebb42",
		Adaptive:         "de6d5ca1e65092c50c5b007747fe088d8865dcd1ba76f60f313dd137ac2d5dbd",
		AdaptiveGaussian: "d141fcb273be35eb47df051884bb67b8339e33875c405f6ab4c1d62d0dd44143",
	} {
		path := filepath.Join(t.TempDir(), "old.ledger")
		writeFile(t, path, readFile(t, filepath.Join("testdata", "old", string(mode)+".ledger")))
		if st, err := Verify(t.Context(), File(path), head); err != nil || st.Head != head || st.Entries != 3 || st.Runs != 7 || st.Checkpoints != 1 {
			t.Errorf("%s: %+v, %v", mode, st, err)
		}
		notes := ""
		if _, err := Log(t.Context(), File(path), func(e Entry) { notes += e.Key + "|" + e.Note + "|" }); err != nil || notes != `|training, May|run-17||run-18|ε "quoted"|` {
			t.Errorf("%s: notes %s, %v", mode, notes, err)
		}
		l, err := Open(t.Context(), File(path))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := l.SpendOnce(t.Context(), "run-18", plan, ""); err != nil || !again {
			t.Errorf("%s: a key that was granted: %v, %v", mode, again, err)
		}
		if err := l.SpendPlan(t.Context(), plan, ""); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// encodeLine returns the line of a content as a file has it, and its checksum.
func encodeLine(prev string, content any) (line []byte, sum string, err error) {
	l, err := newLine(prev, content)
	return l.text(), l.Sum, err
}
