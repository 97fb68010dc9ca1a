//go:build unix

package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// crowd spends from a file in several goroutines, one of which makes checkpoints, until it is killed or the budget is used up, and
// prints what was granted: "TAG-GOROUTINE-NUMBER". It is the other process of TestKilled and TestSixteenProcesses.
func crowd(path string) {
	l, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	program() // which reads this file, once: a checkpoint would be killed while it does
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				note := fmt.Sprintf("%d-%d-%d", os.Getpid(), i, n)
				if err := l.SpendPlan(context.Background(), []byte(faultPlan), note); err != nil {
					if !errors.Is(err, ErrBudget) {
						fmt.Println("error:", err)
					}
					return
				}
				_, _ = os.Stdout.WriteString("granted " + note + "\n")
				if i == 0 && n%8 == 0 {
					// Among others that spend there may be no moment for it, which costs nothing.
					_ = l.Checkpoint(context.Background())
				}
			}
		})
	}
	wg.Wait()
}

func crowdCommand(path string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEDGER_TEST_CROWD="+path)
	return cmd
}

// grantedIn returns the notes in the output of a crowd; a last line that is not whole is of none.
func grantedIn(t *testing.T, out string) (notes []string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for _, line := range lines[:len(lines)-1] {
		note, ok := strings.CutPrefix(line, "granted ")
		if !ok {
			t.Error(line)
			continue
		}
		notes = append(notes, note)
	}
	return notes
}

// entriesOf counts the notes of a file, which it verifies.
func entriesOf(t *testing.T, path string) (notes map[string]int, total int) {
	t.Helper()
	notes = map[string]int{}
	if _, err := Log(context.Background(), path, func(e Entry) { notes[e.Note]++; total++ }); err != nil {
		t.Fatal(err)
	}
	return notes, total
}

// begun is what a process has written, and closes a channel when it writes first.
type begun struct {
	strings.Builder
	once  sync.Once
	begun chan struct{}
}

func (b *begun) Write(p []byte) (int, error) {
	b.once.Do(func() { close(b.begun) })
	return b.Builder.Write(p)
}

// killBudget allows exactly 2,000 spends of faultPlan.
var killBudget = Config{Neighbors: faultConfig.Neighbors, Epsilon: 20.005, Mode: Planned}

const killMost = 2000

// TestKilled kills a process with several spends under way at random moments: everything that it was granted is in the
// file, once, and nothing beyond the budget. LEDGER_TEST_KILLS makes it longer.
func TestKilled(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 10
	}
	kills = fromEnv("LEDGER_TEST_KILLS", kills)
	rng := rand.New(rand.NewPCG(22, 4))
	_, path := create(t, killBudget)
	granted := map[string]bool{}
	reported, ledgers, torn, checkpoints := 0, 1, 0, 0
	for range kills {
		cmd := crowdCommand(path)
		out := begun{begun: make(chan struct{})}
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if rng.IntN(4) > 0 { // else it may be killed before its first spend
			select {
			case <-out.begun:
			case <-time.After(10 * time.Second):
			}
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for _, note := range grantedIn(t, out.String()) {
			granted[note] = true
			reported++
		}
		notes, total := entriesOf(t, path)
		for note := range granted {
			if notes[note] != 1 {
				t.Fatalf("%s was granted and is there %d times", note, notes[note])
			}
		}
		for note, n := range notes {
			if n != 1 {
				t.Fatalf("%s is there %d times", note, n)
			}
		}
		if st, err := Check(t.Context(), path); err != nil || total > killMost {
			t.Fatalf("%d entries, %v", total, err)
		} else {
			checkpoints = max(checkpoints, st.Checkpoints)
			if st.Torn > 0 {
				torn++
			}
		}
		if total == killMost {
			_, path = create(t, killBudget)
			clear(granted)
			ledgers++
		}
	}
	if reported == 0 {
		t.Error("nothing was granted")
	}
	t.Logf("%d kills, %d granted, %d ledgers, %d torn ends, %d checkpoints in one file at most", kills, reported, ledgers, torn, checkpoints)
}

// TestSixteenProcesses: sixteen processes with four goroutines each ask for all that there is. Exactly that is granted.
func TestSixteenProcesses(t *testing.T) {
	c := killBudget
	c.Epsilon = 3.005
	_, path := create(t, c)
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := map[string]bool{}
	for range 16 {
		wg.Go(func() {
			out, err := crowdCommand(path).Output()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, note := range grantedIn(t, string(out)) {
				granted[note] = true
			}
		})
	}
	wg.Wait()
	notes, total := entriesOf(t, path)
	if len(granted) != 300 || total != 300 {
		t.Errorf("%d granted, %d entries, want 300", len(granted), total)
	}
	for note := range granted {
		if notes[note] != 1 {
			t.Errorf("%s was granted and is there %d times", note, notes[note])
		}
	}
}

// TestTogetherOnDisk: spends that wait for one another are written with fewer flushes than there are spends; each gets its own answer.
func TestTogetherOnDisk(t *testing.T) {
	for _, c := range []Config{killBudget, {Neighbors: killBudget.Neighbors, Epsilon: 0.5, Delta: 1e-6, Mode: Adaptive}} {
		l, path := create(t, c)
		writes := 0
		whole := appendTo
		defer func() { appendTo = whole }()
		appendTo = func(f *os.File, data []byte) (int, error) {
			if writes++; writes == 1 {
				time.Sleep(50 * time.Millisecond) // the others wait meanwhile
			}
			return whole(f, data)
		}
		var granted, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				plan := faultPlan
				if i%4 == 3 {
					plan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 100}}}]\n"
				}
				switch err := l.SpendPlan(t.Context(), []byte(plan), fmt.Sprint(i)); {
				case err == nil:
					granted.Add(1)
				case errors.Is(err, ErrBudget):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		appendTo = whole
		if granted.Load() != 48 || refused.Load() != 16 || writes > 16 {
			t.Errorf("%s: %d granted, %d refused in %d writes; want 48 and 16 in a few", c.Mode, granted.Load(), refused.Load(), writes)
		}
		if st, err := Check(t.Context(), path); err != nil || st.Entries != 48 {
			t.Errorf("%s: %d entries, %v", c.Mode, st.Entries, err)
		}
	}
}

// TestTogetherFails: when what was written together is not on disk, none of it is spent, and the handle knows that.
func TestTogetherFails(t *testing.T) {
	for _, mode := range []Mode{Planned, Adaptive, AdaptiveGaussian} {
		c := Config{Neighbors: killBudget.Neighbors, Epsilon: 1, Delta: 1e-6, Mode: mode}
		plan := []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 50}}}]\n")
		l, path := create(t, c)
		whole := appendTo
		defer func() { appendTo = whole }()
		appendTo = func(f *os.File, data []byte) (int, error) {
			time.Sleep(5 * time.Millisecond)
			n, _ := f.Write(data[:len(data)/2])
			return n, syscall.ENOSPC
		}
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() {
				if err := l.SpendPlan(t.Context(), plan, ""); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%s: %v", mode, err)
				}
			})
		}
		wg.Wait()
		appendTo = whole
		if err := l.SpendPlan(t.Context(), plan, ""); err != nil {
			t.Error(err)
		}
		mine, err := l.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		st, err := Check(t.Context(), path)
		if err != nil || st.Entries != 1 || mine.Entries != 1 || st.Head != mine.Head || st.Left != mine.Left {
			t.Errorf("%s: the file %+v, the handle %+v, %v", mode, st, mine, err)
		}
	}
}

// TestReadOnly: a file that cannot be written to is an error that says so, and stays readable.
func TestReadOnly(t *testing.T) {
	_, path := create(t, pureConfig)
	dir := t.TempDir()
	if out, err := exec.Command("mount", "--bind", dir, dir).CombinedOutput(); err != nil {
		t.Skipf("NOTE: NO READ-ONLY FILE SYSTEM IS TESTED: %s", out)
	}
	defer func() { _ = exec.Command("umount", dir).Run() }()
	name := dir + "/budget.ledger"
	writeFile(t, name, readFile(t, path))
	if out, err := exec.Command("mount", "-o", "remount,bind,ro", dir).CombinedOutput(); err != nil {
		t.Skipf("NOTE: NO READ-ONLY FILE SYSTEM IS TESTED: %s", out)
	}
	l, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := spend(l); !errors.Is(err, syscall.EROFS) || !strings.HasPrefix(err.Error(), name) {
		t.Error(err)
	}
	if st, err := l.Status(t.Context()); err != nil || st.Entries != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := l.Backup(t.Context(), name+".copy"); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
}
