//go:build unix && !aix && !solaris

package ledger

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadersDoNotBlock: locks that somebody takes who may only read do not keep
// writers waiting, and the file that does is not for readers.
func TestReadersDoNotBlock(t *testing.T) {
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = 100 * time.Millisecond
	l, path := create(t, pureConfig)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, how := range []int{syscall.LOCK_SH, syscall.LOCK_EX} {
		if err := syscall.Flock(int(f.Fd()), how); err != nil {
			t.Fatal(err)
		}
		if err := spend(l); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ ledger, lock os.FileMode }{{0o644, 0o600}, {0o664, 0o660}, {0o666, 0o666}, {0o640, 0o600}} {
		_, path := create(t, pureConfig)
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.ledger); err != nil {
			t.Fatal(err)
		}
		l, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := spend(l); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path + ".lock"); err != nil || info.Mode() != c.lock {
			t.Errorf("the lock of a ledger of mode %v has %v, %v; want %v", c.ledger, info.Mode(), err, c.lock)
		}
	}
}

// TestNames: symbolic links share the lock of what they lead to; a second hard
// link would not, and is an error.
func TestNames(t *testing.T) {
	c := pureConfig
	c.Epsilon = 10
	l, path := create(t, c)
	dir := t.TempDir()
	if err := os.Symlink(path, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	linked, err := Open(t.Context(), dir+"/link")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Ledger{l, linked} {
		if err := spend(l); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir + "/link.lock"); !os.IsNotExist(err) {
		t.Error("a symbolic link has a lock of its own")
	}
	if err := os.Link(path, path+".2"); err != nil {
		t.Fatal(err)
	}
	if err := spend(l); err == nil || !strings.Contains(err.Error(), "has 2 names (hard links)") {
		t.Error(err)
	}
}
