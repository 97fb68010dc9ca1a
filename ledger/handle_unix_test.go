//go:build unix && !aix && !solaris

package ledger

import (
	"bytes"
	"errors"
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
		l, err := Open(t.Context(), File(path))
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
	linked, err := Open(t.Context(), File(dir+"/link"))
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

// TestLinksInTheFolder: who can make names in the ledger's folder has nothing cut, written or read through links there.
func TestLinksInTheFolder(t *testing.T) {
	c := pureConfig
	c.Epsilon = 10
	_, victim := create(t, c)
	whole := readFile(t, victim)
	fifo := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for what, link := range map[string]func(name string) error{
		"a symbolic link":         func(name string) error { return os.Symlink(victim, name) },
		"a link to nothing":       func(name string) error { return os.Symlink(victim+".none", name) },
		"a link to a pipe":        func(name string) error { return os.Symlink(fifo, name) },
		"a link to a device":      func(name string) error { return os.Symlink("/dev/zero", name) },
		"a hard link":             func(name string) error { return os.Link(victim, name) },
		"a pipe":                  func(name string) error { return syscall.Mkfifo(name, 0o666) },
		"a folder":                func(name string) error { return os.Mkdir(name, 0o777) },
		"a file of somebody else": func(name string) error { return foreign(t, name) },
	} {
		l, path := create(t, c)
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := link(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := spend(l); err == nil || !strings.HasPrefix(err.Error(), path+".lock: ") {
			t.Errorf("%s at the lock: %v", what, err)
		}
		if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != 0 {
			t.Errorf("%s at the lock: %+v, %v", what, st, err)
		}
		if what != "a link to nothing" {
			if _, err := l.Backup(t.Context(), path+".lock"); err == nil || !strings.Contains(err.Error(), "exists already") {
				t.Errorf("%s at the copy: %v", what, err)
			}
		}
		if what != "a file of somebody else" {
			if _, err := Create(t.Context(), File(path+".lock"), c); err == nil {
				t.Errorf("%s: made a ledger there", what)
			}
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := spend(l); err != nil {
			t.Errorf("%s, removed: %v", what, err)
		}
		if now := readFile(t, victim); !bytes.Equal(now, whole) {
			t.Fatalf("%s: another file had %d bytes and has %d", what, len(whole), len(now))
		}
	}
	// An empty file behind a link is no place for a new ledger.
	dir := t.TempDir()
	writeFile(t, dir+"/empty", nil)
	if err := os.Symlink(dir+"/empty", dir+"/new.ledger"); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), File(dir+"/new.ledger"), c); err == nil || len(readFile(t, dir+"/empty")) > 0 {
		t.Errorf("made a ledger behind a link: %v", err)
	}
	// A name that is given to another file while the lock is held is not signed over.
	l, path := create(t, c)
	defer func(held func()) { testHeld = held }(testHeld)
	testHeld = func() {
		if err := errors.Join(os.Remove(path+".lock"), os.Symlink(victim, path+".lock")); err != nil {
			t.Error(err)
		}
	}
	_ = spend(l)
	if now := readFile(t, victim); !bytes.Equal(now, whole) {
		t.Errorf("a link that was made while the lock was held: another file had %d bytes and has %d", len(whole), len(now))
	}
}

// foreign makes a file of a user who may not write the ledger, which only root can do.
func foreign(t *testing.T, name string) error {
	if os.Geteuid() != 0 {
		t.Log("NOTE: NO LOCK OF ANOTHER USER IS TESTED: this is not run by root")
		return os.Mkdir(name, 0o777)
	}
	uid := 65534
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		return err
	}
	// The ledger is somebody's who is neither root nor the owner of the lock.
	return errors.Join(os.Chown(name, uid, uid), os.Chown(strings.TrimSuffix(name, ".lock"), 1234, 1234), os.Chmod(strings.TrimSuffix(name, ".lock"), 0o600))
}
