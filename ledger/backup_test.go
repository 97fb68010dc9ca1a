package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBackup: a copy has all lines and no torn end, never overwrites a file, and is not made of a ledger that is wrong.
func TestBackup(t *testing.T) {
	l, path := create(t, pureConfig)
	for range 2 {
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
	}
	whole := readFile(t, path)
	dir := t.TempDir()
	for name, c := range map[string]struct{ file, want []byte }{
		"whole":       {whole, whole},
		"torn":        {append(bytes.Clone(whole), linePrefix...), whole},
		"no ending":   {whole[:len(whole)-1], whole},
		"only header": {whole[:bytes.IndexByte(whole, '\n')+1], whole[:bytes.IndexByte(whole, '\n')+1]},
	} {
		from, to := filepath.Join(dir, name), filepath.Join(dir, name+" copy")
		writeFile(t, from, c.file)
		l, err := Open(t.Context(), File(from))
		if err != nil {
			t.Fatal(err)
		}
		st, err := l.Backup(t.Context(), to)
		if err != nil || st.Torn != 0 || !bytes.Equal(readFile(t, to), c.want) {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		if _, err := Verify(t.Context(), File(to), st.Head); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.Backup(t.Context(), to); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "whole" {
			continue
		}
		for i := range len(whole) - 1 { // a handle that was open does not copy what it did not read
			bad := bytes.Clone(whole)
			bad[i] ^= 1
			writeFile(t, from, bad)
			l.lost = nil
			if _, err := l.Backup(t.Context(), to+"2"); err == nil {
				t.Fatalf("byte %d changed, and copied", i)
			}
		}
	}
	left, err := filepath.Glob(dir + "/.*")
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	m, err := New(pureConfig)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Backup(t.Context(), dir+"/memory"); err == nil || !strings.Contains(err.Error(), "ledger: is in memory") {
		t.Error(err)
	}
}

// TestEveryBit changes every bit of a ledger whose plans come again: all but some of the last byte are noticed, those are of a line
// that counts.
func TestEveryBit(t *testing.T) {
	c := pureConfig
	c.Epsilon = 10
	l, path := create(t, c)
	for range 3 {
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
	}
	unwatched(t)
	whole := readFile(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put := func(b byte, at int) {
		if _, err := f.WriteAt([]byte{b}, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		if i > 0 {
			put(whole[i-1], i-1)
		}
		for bit := range 8 {
			put(whole[i]^1<<bit, i)
			l := open(File(path))
			if err := l.load(t.Context()); err == nil && (i < len(whole)-1 || l.state.entries != 3) {
				t.Errorf("bit %d of byte %d (%q) changed, and nobody noticed", bit, i, whole[i])
			}
		}
	}
}

// TestClockSetBack: an entry that is older than the one before it is as good.
func TestClockSetBack(t *testing.T) {
	defer func() { clock = time.Now }()
	_, path := create(t, pureConfig)
	for i, at := range []string{"2031-01-01T00:00:00Z", "1970-01-01T00:00:00Z"} {
		clock = func() time.Time { t, _ := time.Parse(time.RFC3339, at); return t }
		l, err := Open(t.Context(), File(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != i+1 || st.Last != at {
			t.Errorf("%+v, %v", st, err)
		}
	}
}

// TestClockGrantsNothing: whatever clocks say, of each key one spend is charged, exactly what fits is granted, and all of it is there: by
// handles whose clocks differ, and with a checkpoint between.
func TestClockGrantsNothing(t *testing.T) {
	defer func() { clock = time.Now }()
	l, other, path := createTwice(t, Config{Neighbors: pureConfig.Neighbors, Epsilon: 2.05, Mode: Planned})
	granted, again := 0, 0
	for n := range 30 {
		for i, h := range []*Ledger{l, other} {
			clock = func() time.Time { return time.Unix(int64([]int{2e9, 0}[i]-1000*n), 0) } // far apart, and both go back
			switch was, err := h.SpendOnce(t.Context(), fmt.Sprint("key ", n), []byte("neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.1}}}]\n"), ""); {
			case was:
				again++
			case err == nil:
				granted++
			case !errors.Is(err, ErrBudget):
				t.Fatal(err)
			}
		}
		if n == 10 {
			if err := other.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if granted != 20 || again != 20 {
		t.Errorf("%d granted, %d again; want 20 and 20", granted, again)
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 20 || st.Checkpoints != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}
