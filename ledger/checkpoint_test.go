package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/profiles"
)

// checkpointConfigs have a budget of which the first 8 of steadyPlan use a third.
var checkpointConfigs = []Config{
	{Neighbors: profiles.AddRemove, Epsilon: 1.5, Delta: 1e-6, Mode: Planned},
	{Neighbors: profiles.AddRemove, Epsilon: 2, Delta: 1e-6, Mode: Adaptive},
	{Neighbors: profiles.AddRemove, Epsilon: 1.5, Delta: 1e-6, Mode: AdaptiveGaussian},
}

func steadyPlan(i int) []byte {
	return fmt.Appendf(nil, `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":%d}}}]}`, 12+i%7)
}

// spendSteady spends n plans from the ith, each with a key, and returns how many were granted.
func spendSteady(t *testing.T, l *Ledger, i, n int) (granted int) {
	t.Helper()
	for k := range n {
		switch _, err := l.SpendOnce(t.Context(), fmt.Sprint("key ", i+k), steadyPlan(i+k), "steady"); {
		case err == nil:
			granted++
		case !errors.Is(err, ErrBudget):
			t.Fatal(err)
		}
	}
	return granted
}

// checkpointed makes a ledger with a checkpoint after 8 entries.
func checkpointed(t *testing.T, c Config) (l *Ledger, path string) {
	t.Helper()
	unflushed(t)
	l, path = create(t, c)
	if n := spendSteady(t, l, 0, 8); n != 8 {
		t.Fatal(n)
	}
	for range 2 { // the second has nothing to add
		if err := l.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return l, path
}

// TestCheckpoint: who opens a ledger with a checkpoint does not read the plans before it, grants exactly what who reads all of them
// does, knows their keys, and says that as much or more is spent.
func TestCheckpoint(t *testing.T) {
	for _, c := range checkpointConfigs {
		t.Run(string(c.Mode), func(t *testing.T) {
			l, path := checkpointed(t, c)
			all, err := Verify(t.Context(), File(path), "")
			if err != nil || all.Checkpoints != 1 || all.Summed != 0 || all.Entries != 8 {
				t.Fatalf("%+v, %v", all, err)
			}
			quick, err := Open(t.Context(), File(path))
			if err != nil {
				t.Fatal(err)
			}
			if s := quick.state; s.summed != 8 || s.runs != 8 || s.stored != nil || s.head != l.state.head || s.before != l.state.before {
				t.Fatalf("%d of %d entries by the checkpoint, %d plans read", s.summed, s.entries, len(s.stored))
			}
			st, err := quick.Status(t.Context())
			if err != nil || st.Entries != 8 || st.Summed != 8 || st.Checkpoints != 1 || st.Last == "" {
				t.Errorf("%+v, %v", st, err)
			}
			atLeast(t, st.Spent, all.Spent, 1e-5)
			if again, err := quick.SpendOnce(t.Context(), "key 3", steadyPlan(3), ""); !again || err != nil {
				t.Errorf("a key before the checkpoint: again %v, %v", again, err)
			}
			if _, err := quick.SpendOnce(t.Context(), "key 3", steadyPlan(4), ""); err == nil || errors.Is(err, ErrBudget) {
				t.Errorf("a key before the checkpoint with another plan: %v", err)
			}
			if n := spendSteady(t, quick, 8, 2); n != 2 || quick.state.summed != 8 {
				t.Errorf("%d granted, %d by the checkpoint", n, quick.state.summed)
			}
			if st, err = quick.Status(t.Context()); err != nil || st.Entries != 10 || quick.state.summed != 8 {
				t.Errorf("%+v, %v", st, err)
			}
			other, err := l.Status(t.Context()) // which has read all
			if err != nil || other.Entries != 10 || other.Head != st.Head {
				t.Fatalf("%+v, %v", other, err)
			}
			atLeast(t, st.Spent, other.Spent, 1)
			// Everything that fits is granted, and nothing else: before it refuses, a planned ledger has read all.
			copied := filepath.Join(t.TempDir(), "copy.ledger")
			if _, err := quick.Backup(t.Context(), copied); err != nil {
				t.Fatal(err)
			}
			plain := withoutCheckpoints(t, copied)
			if plain.state.checkpoints != 0 || plain.state.entries != 10 {
				t.Fatal("not without checkpoints")
			}
			want, got := spendSteady(t, plain, 10, 40), spendSteady(t, quick, 10, 40)
			if got != want || got < 5 || got > 35 {
				t.Errorf("%d granted on top of a checkpoint, %d without", got, want)
			}
			if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 10+want {
				t.Errorf("%+v, %v", st, err)
			}
			n := 0
			if _, err := Log(t.Context(), File(path), func(Entry) { n++ }); err != nil || n != 10+want {
				t.Errorf("the log has %d entries, %v", n, err)
			}
		})
	}
}

// atLeast compares what a checkpoint says with what entries cost: it is not less, and not much more.
func atLeast(t *testing.T, claimed, cost Spent, much float64) {
	t.Helper()
	for _, c := range [][2]float64{{claimed.Epsilon.Upper, cost.Epsilon.Upper}, {claimed.Renyi, cost.Renyi}, {claimed.Mu, cost.Mu}, {cost.Epsilon.Lower, claimed.Epsilon.Lower}} {
		if !(c[0] >= c[1] && c[0] <= c[1]+much) {
			t.Errorf("%v for %v", c[0], c[1])
		}
	}
}

// withoutCheckpoints writes the entries of a file into a new ledger, and opens that.
func withoutCheckpoints(t *testing.T, path string) *Ledger {
	t.Helper()
	var file []byte
	head := ""
	for _, raw := range bytes.SplitAfter(readFile(t, path), []byte("\n")) {
		if old, _, err := decodeLine(raw); err == nil && !isCheckpoint(old.Content) {
			line := Line{checksum(head, old.Content), old.Content}
			file, head = append(file, line.text()...), line.Sum
		}
	}
	plain := filepath.Join(t.TempDir(), "plain.ledger")
	writeFile(t, plain, file)
	l, err := Open(t.Context(), File(plain))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// forged changes the checkpoint of a file, with checksums that are right.
func forged(t *testing.T, path string, change func(*checkpoint)) string {
	t.Helper()
	var file []byte
	head := ""
	for _, raw := range bytes.SplitAfter(readFile(t, path), []byte("\n")) {
		old, _, err := decodeLine(raw)
		if err != nil {
			continue
		}
		content := old.Content
		if isCheckpoint(content) {
			var c checkpoint
			if err := strictjson.Decode(content, &c); err != nil {
				t.Fatal(err)
			}
			change(&c)
			content, _ = json.Marshal(c)
		}
		line := Line{checksum(head, content), content}
		file, head = append(file, line.text()...), line.Sum
	}
	other := filepath.Join(t.TempDir(), "forged.ledger")
	writeFile(t, other, file)
	return other
}

// TestCheckpointIsChecked: a checkpoint that says less than the entries cost is found by Check, one that stands for others when the
// file is opened, and one of another program is not believed.
func TestCheckpointIsChecked(t *testing.T) {
	for _, c := range checkpointConfigs {
		_, path := checkpointed(t, c)
		less := forged(t, path, func(p *checkpoint) {
			p.Sums.Lower = 0
			for i := range p.Sums.Epsilon {
				p.Sums.Epsilon[i].Epsilon *= 1 - 1e-4
			}
			for _, x := range p.Sums.Renyi {
				*x *= 1 - 1e-9
			}
		})
		if _, err := Verify(t.Context(), File(less), ""); err == nil || !strings.Contains(err.Error(), "forged.ledger:10: ") || !strings.Contains(err.Error(), "is less than what the entries cost") {
			t.Errorf("%s: less: %v", c.Mode, err)
		}
		for name, change := range map[string]func(*checkpoint){
			"checkpoint": func(p *checkpoint) { p.Entries-- },
			"runs":       func(p *checkpoint) { p.Runs = -1 },
			"sums":       func(p *checkpoint) { p.Sums = sums{} },
		} {
			other := forged(t, path, change)
			if _, err := Open(t.Context(), File(other)); err == nil || !strings.Contains(err.Error(), "forged.ledger:10: "+name) {
				t.Errorf("%s: %s: %v", c.Mode, name, err)
			}
			if _, err := Verify(t.Context(), File(other), ""); err == nil {
				t.Errorf("%s: %s: checked", c.Mode, name)
			}
		}
		for _, p := range []string{"", "another"} {
			other := forged(t, path, func(c *checkpoint) { c.Program = p; c.Sums = sums{} })
			if l, err := Open(t.Context(), File(other)); err != nil || l.state.summed != 0 || l.state.entries != 8 {
				t.Errorf("%s: of the program %q: %v", c.Mode, p, err)
			}
		}
	}
	// A lower end that is above what the entries cost.
	_, path := checkpointed(t, checkpointConfigs[0])
	more := forged(t, path, func(c *checkpoint) { c.Sums.Lower = c.Sums.Epsilon[0].Epsilon })
	if _, err := Verify(t.Context(), File(more), ""); err == nil || !strings.Contains(err.Error(), "lower: ") {
		t.Error(err)
	}
}

// TestCheckpointSums: sums that no entries have are not believed, whoever wrote them.
func TestCheckpointSums(t *testing.T) {
	for _, c := range checkpointConfigs {
		_, path := checkpointed(t, c)
		changes := map[string]func(*sums){
			"negative": func(s *sums) {
				for i := range s.Epsilon {
					s.Epsilon[i].Epsilon = -1
				}
				for _, x := range s.Renyi {
					*x = -1
				}
			},
			"above the budget": func(s *sums) {
				s.Lower = 2
				for _, x := range s.Renyi {
					*x = 1e300
				}
			},
			"without an end": func(s *sums) {
				s.Lower = -1
				for i := range s.Renyi {
					s.Renyi[i] = nil
				}
			},
		}
		for name, change := range changes {
			other := forged(t, path, func(p *checkpoint) { change(&p.Sums) })
			for _, err := range []error{
				func() error { _, err := Open(t.Context(), File(other)); return err }(),
				func() error { _, err := Verify(t.Context(), File(other), ""); return err }(),
			} {
				if err == nil || !strings.Contains(err.Error(), "forged.ledger:10: sums: ") {
					t.Errorf("%s: %s: %v", c.Mode, name, err)
				}
			}
		}
	}
}

// TestCheckpointTooWide: where the bound is above the budget, as one may be that ended early, it does not become a checkpoint.
func TestCheckpointTooWide(t *testing.T) {
	l, path := create(t, Config{Neighbors: profiles.AddRemove, Epsilon: 0.56, Delta: 1e-6, Mode: Planned})
	plan := `{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":3}},"sampling":{"poisson":{"rate":0.01}},"count":1500}]}`
	if err := l.SpendPlan(t.Context(), []byte(plan), ""); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, ctx := range []context.Context{parallel.WithWork(t.Context(), 1), t.Context()} {
		err := l.Checkpoint(ctx)
		if wide := ctx != t.Context(); wide != (err != nil && strings.Contains(err.Error(), "above the budget 0.56")) {
			t.Error(err)
		}
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Checkpoints != 1 {
		t.Errorf("%d checkpoints, %v", st.Checkpoints, err)
	}
}

// TestCheckpointDamage changes bytes of a file with a checkpoint in the middle, and cuts it from there on: who opens it notices what is
// changed, and counts all that is there.
func TestCheckpointDamage(t *testing.T) {
	l, path := checkpointed(t, checkpointConfigs[2])
	if n := spendSteady(t, l, 8, 1); n != 1 {
		t.Fatal(n)
	}
	whole := readFile(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unwatched(t)
	look := func() (*Ledger, error) {
		l := open(File(path))
		l.trust = true
		return l, l.load(t.Context())
	}
	second := bytes.Index(whole, []byte(`"key":"key 1"`)) - 300
	behind := bytes.Index(whole, []byte(checkpointBegin)) - 300
	for i, c := range whole[:len(whole)-1] {
		if i > second+400 && i < behind {
			continue // lines like the one before
		}
		for _, b := range []byte{c ^ 1, c} {
			if _, err := f.WriteAt([]byte{b}, int64(i)); err != nil {
				t.Fatal(err)
			}
			if b == c {
				continue
			}
			if _, err := look(); err == nil {
				t.Errorf("byte %d (%q) changed, and nobody noticed", i, c)
			}
		}
	}
	if l, err := look(); err != nil || l.state.summed != 8 || l.state.entries != 9 {
		t.Fatalf("%+v, %v", l.state, err)
	}
	for end := len(whole) - 1; end > behind; end-- {
		if err := f.Truncate(int64(end)); err != nil {
			t.Fatal(err)
		}
		if l, err := look(); err == nil && l.state.runs != int64(l.state.entries) {
			t.Errorf("cut at %d: %d runs of %d entries", end, l.state.runs, l.state.entries)
		}
	}
}

// appendEntries adds lines to a file without a handle of it.
func appendEntries(t *testing.T, path, head string, n int, plan []byte) {
	t.Helper()
	file := readFile(t, path)
	for range n {
		line, sum, err := encodeLine(head, entry{Time: now(), Note: strings.Repeat("x", 100), Plan: storedPlan(plan)})
		if err != nil {
			t.Fatal(err)
		}
		file, head = append(file, line...), sum
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointOvertaken: a checkpoint is of all that is before it, also of what others spend while it is made; and it is
// found wherever it is in a long file.
func TestCheckpointOvertaken(t *testing.T) {
	l, path := create(t, checkpointConfigs[0])
	spendSteady(t, l, 0, 3)
	held := testHeld
	defer func() { testHeld = held }()
	if _, err := l.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	times := 0
	testHeld = func() {
		if times++; times == 1 { // somebody has spent just before the lock was taken
			appendEntries(t, path, l.state.head, 1, steadyPlan(3))
		}
	}
	if err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	testHeld = held
	if times != 2 {
		t.Errorf("%d times under the lock", times)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 4 || st.Checkpoints != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	// More than one block of the file behind the checkpoint.
	appendEntries(t, path, l.state.head, 2000, []byte(`{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":100000}}}]}`))
	quick, err := Open(t.Context(), File(path))
	if err != nil || quick.state.summed != 4 || quick.state.entries != 2004 || quick.state.checkpoints != 1 {
		t.Fatalf("%+v, %v", quick.state, err)
	}
	for _, l := range []*Ledger{l, quick} {
		if err := l.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		if l.state.checkpoints != 2 || l.state.summed != 0 {
			t.Errorf("%d checkpoints", l.state.checkpoints)
		}
	}
	if quick, err = Open(t.Context(), File(path)); err != nil || quick.state.summed != 2004 {
		t.Errorf("%v", err)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 2004 || st.Checkpoints != 2 {
		t.Errorf("%+v, %v", st, err)
	}
	m, err := New(checkpointConfigs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Checkpoint(t.Context()); err == nil || !strings.Contains(err.Error(), "ledger: is not a file") {
		t.Error(err)
	}
}

// TestCheckpointThatIsGone: a checkpoint that was seen and is not there when the entries are read stands for none of them.
func TestCheckpointThatIsGone(t *testing.T) {
	for _, c := range checkpointConfigs {
		_, path := checkpointed(t, c)
		whole := readFile(t, path)
		writeFile(t, path, whole[:bytes.Index(whole, []byte(lineMiddle+checkpointBegin))-len(linePrefix)-64])
		want, err := Verify(t.Context(), File(path), "")
		if err != nil || want.Checkpoints != 0 {
			t.Fatal(err)
		}
		l := open(File(path))
		l.state.until = 8
		if err := l.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st, err := l.Status(t.Context()); err != nil || st.Runs != 8 || st.Entries != 8 || st.Summed != 0 || st.Left != want.Left {
			t.Errorf("%s: %+v, %v; want %+v", c.Mode, st, err, want)
		}
	}
}

// TestWholeThatFails: who cannot read all entries keeps what the checkpoint and the entries behind it say.
func TestWholeThatFails(t *testing.T) {
	_, path := checkpointed(t, checkpointConfigs[0])
	l, err := Open(t.Context(), File(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := l.whole(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if s := l.state; s.summed != 8 || s.entries != 8 || s.head == "" || l.seen.head != "" {
		t.Errorf("%d of %d entries by the checkpoint", s.summed, s.entries)
	}
	if n := spendSteady(t, l, 8, 1); n != 1 {
		t.Error("nothing is granted")
	}
}
