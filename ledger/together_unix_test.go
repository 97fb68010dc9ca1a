//go:build unix

package ledger

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/profiles"
)

// wideBudget allows 2,000 spends of smallPlan.
var wideBudget = Config{Neighbors: profiles.AddRemove, Epsilon: 20.005, Mode: Planned}

const smallPlan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.01}}}]\n"

// TestTogetherOnDisk: spends that wait for one another are written with fewer flushes than there are spends; each gets its own answer.
func TestTogetherOnDisk(t *testing.T) {
	for _, c := range []Config{wideBudget, {Neighbors: wideBudget.Neighbors, Epsilon: 0.5, Delta: 1e-6, Mode: Adaptive}} {
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
				plan := smallPlan
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
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 48 {
			t.Errorf("%s: %d entries, %v", c.Mode, st.Entries, err)
		}
	}
}

// TestTogetherFails: when what was written together is not on disk, none of it is spent, and the handle knows that.
func TestTogetherFails(t *testing.T) {
	for _, mode := range []Mode{Planned, Adaptive, AdaptiveGaussian} {
		c := Config{Neighbors: wideBudget.Neighbors, Epsilon: 1, Delta: 1e-6, Mode: mode}
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
		st, err := Verify(t.Context(), File(path), "")
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
	l, err := Open(t.Context(), File(name))
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
