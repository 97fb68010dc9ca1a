package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/ledger"
)

// A Disk is a folder that can be filled, where the system lets one be made.
type Disk struct {
	Dir string
	why error // it cannot be filled
}

// NewDisk makes a small file system of its own, which takes root on Linux, or else a folder that cannot be filled.
func NewDisk(size string) (*Disk, error) {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	d := &Disk{Dir: dir}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=755,size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		d.why = fmt.Errorf("NO FULL DISK IS TESTED: a small file system cannot be mounted: %w: %s", err, bytes.TrimSpace(out))
	}
	return d, nil
}

// Fill takes all room.
func (d *Disk) Fill() (free func() error, err error) {
	if d.why != nil {
		return nil, Skip("%v", d.why)
	}
	name := filepath.Join(d.Dir, "filler")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	for size := 1 << 20; size >= 512; size /= 2 {
		page := make([]byte, size)
		for err = nil; err == nil; {
			_, err = f.Write(page)
		}
	}
	_ = f.Close()
	// A process that was just forked may still have the file open, which then keeps its room when it has no name.
	return func() error { return errors.Join(os.Truncate(name, 0), os.Remove(name)) }, nil
}

// Close removes the folder.
func (d *Disk) Close() error {
	if d.why == nil {
		if out, err := exec.Command("umount", "-l", d.Dir).CombinedOutput(); err != nil {
			return fmt.Errorf("umount: %w: %s", err, out)
		}
	}
	return os.RemoveAll(d.Dir)
}

// A files is a Place for ledgers in files.
type files struct {
	*Disk
	number int
}

// NewFiles returns a place for ledgers in files.
func NewFiles() (Place, error) {
	d, err := NewDisk("256k")
	return &files{Disk: d}, err
}

func (f *files) path() string {
	return filepath.Join(f.Dir, "ledgers", fmt.Sprintf("%d.ledger", f.number))
}

func (f *files) Spec() string { return "file:" + f.path() }

func (f *files) Create(ctx context.Context) error {
	try.Check(os.RemoveAll(filepath.Dir(f.path())))
	f.number++
	try.Check(os.MkdirAll(filepath.Dir(f.path()), 0o755))
	_, err := ledger.Create(ctx, ledger.File(f.path()), Budget)
	return err
}

func (f *files) Log(ctx context.Context, each func(ledger.Entry)) error {
	_, err := ledger.Log(ctx, ledger.File(f.path()), each)
	return err
}

// Copy puts the bytes back in place or as a new file, by turns.
func (f *files) Copy() (func() error, error) {
	data := try.Must(os.ReadFile(f.path()))
	renamed := len(data)%2 == 0
	return func() error {
		if !renamed {
			return os.WriteFile(f.path(), data, 0o600)
		}
		return errors.Join(os.WriteFile(f.path()+".new", data, 0o600), os.Rename(f.path()+".new", f.path()))
	}, nil
}

func (f *files) Append(l ledger.Line) error {
	return f.add(fmt.Sprintf("{\"chain\":\"%s\",\"entry\":%s}\n", l.Sum, l.Content))
}

// add writes text behind the file, which may end in a line that is torn.
func (f *files) add(text string) error {
	data := try.Must(os.ReadFile(f.path()))
	return os.WriteFile(f.path(), append(data[:bytes.LastIndexByte(data, '\n')+1], text...), 0o600)
}

func (f *files) Own() []Fault {
	return []Fault{
		{"torn end", f.torn},
		{"byte changed", f.flipped},
		{"file cut", f.cut},
		{"symbolic links", f.links},
		{"lock removed", f.unlocked},
		{"replaced while writers wait", f.replaced},
		{"another ledger in its place", f.other},
		{"size of files limited", f.limited},
	}
}

// torn leaves the beginning of a line, as a crash does.
func (f *files) torn(r *Round) error {
	line := fmt.Sprintf(`{"chain":"%064x","entry":{"time":"2026-01-01T00:00:00Z","key":"torn","plan":{"neighbors":"add-remove"}}`, 7)
	try.Check(f.add(line[:r.Rand.IntN(len(line)-2)]))
	r.must("after a torn end")
	return nil
}

// flipped changes a byte: who opens the file must find it, and what others grant must be there.
func (f *files) flipped(r *Round) error {
	data := try.Must(os.ReadFile(f.path()))
	at := r.Rand.IntN(len(data))
	file := try.Must(os.OpenFile(f.path(), os.O_RDWR, 0))
	defer file.Close()
	before, err := r.w.look(context.Background(), r.Place)
	if err != nil {
		return nil
	}
	try.Must(file.WriteAt([]byte{data[at] ^ byte(1+r.Rand.IntN(255))}, int64(at)))
	total := 0
	if err := f.Log(context.Background(), func(ledger.Entry) { total++ }); err == nil && total != before {
		r.w.violated("byte %d of %d was changed: %d entries of %d are read", at, len(data), total, before)
	}
	_ = r.spend(r.a)
	_ = r.spend(r.b)
	try.Must(file.WriteAt(data[at:at+1], int64(at)))
	return restart(r.Place)
}

// cut takes the end of the file away under who has read it.
func (f *files) cut(r *Round) error {
	r.must("before a cut")
	data := try.Must(os.ReadFile(f.path()))
	// Both have read what is cut: the last line is one's own, which the other does not know.
	head := bytes.IndexByte(data, '\n') + 1
	last := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	if head >= last-3 {
		return nil
	}
	restore := try.Must(f.Copy())
	try.Check(os.Truncate(f.path(), int64(head+r.Rand.IntN(last-3-head))))
	for _, s := range []Spender{r.a, r.b} {
		key := r.w.key()
		if _, err := s.SpendOnce(context.Background(), key, []byte(plan), ""); err == nil {
			r.w.violated("%s was granted from a file that was cut", key)
		}
	}
	return errors.Join(restore(), restart(r.Place))
}

// links puts links in the ledger's place and that of its lock, which must neither be followed nor cut another file.
func (f *files) links(r *Round) error {
	victim := filepath.Join(f.Dir, "ledgers", "victim.ledger")
	_ = os.Remove(victim)
	try.Must(ledger.Create(context.Background(), ledger.File(victim), Budget))
	_ = os.Remove(victim + ".lock")
	whole := try.Must(os.ReadFile(victim))
	lock := f.path() + ".lock"
	link := []func(string, string) error{os.Symlink, os.Link}[r.Rand.IntN(2)]
	return r.With(func(w *Writers) error {
		w.Wait(true)
		for range 3 {
			_ = os.Remove(lock)
			_ = link(victim, lock)
			_ = r.spend(r.a)
			_ = r.spend(r.b)
			now := try.Must(os.ReadFile(victim))
			if !bytes.Equal(now, whole) {
				r.w.violated("a file behind a link had %d bytes and has %d", len(whole), len(now))
			}
		}
		w.Kill()
		try.Check(os.RemoveAll(lock))
		if err := r.reopen(); err == nil {
			r.must("after links")
		}
		return nil
	})
}

// unlocked removes the lock file while nobody holds it.
func (f *files) unlocked(r *Round) error {
	try.Check(os.RemoveAll(f.path() + ".lock"))
	var all sync.WaitGroup
	for _, s := range []Spender{r.a, r.b} {
		all.Go(func() { _ = r.spend(s) })
	}
	all.Wait()
	return nil
}

// replaced gives the file's name to a copy of it while spends wait for the lock: what is granted then is in the copy.
func (f *files) replaced(r *Round) error {
	if _, err := os.Stat(f.path() + ".lock"); err != nil {
		return nil
	}
	held := flock.New(f.path()+".lock", flock.SetFlag(os.O_RDWR))
	if ok, err := held.TryLock(); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("the lock is held: %v", ok))
	}
	var all sync.WaitGroup
	for _, s := range []Spender{r.a, r.b} {
		all.Go(func() {
			if err := r.spend(s); err != nil {
				r.w.violated("while a copy takes the file's place a spend fails: %v", err)
			}
		})
	}
	time.Sleep(time.Duration(r.Rand.IntN(4)) * time.Millisecond)
	defer all.Wait()
	defer func() { _ = held.Unlock() }()
	data := try.Must(os.ReadFile(f.path()))
	return errors.Join(os.WriteFile(f.path()+".new", data, 0o600), os.Rename(f.path()+".new", f.path()))
}

// other puts another ledger in the file's place, of as many entries or more.
func (f *files) other(r *Round) error {
	return r.Rollback(func() error { return nil }, func() (func() error, error) {
		name := f.path() + ".other"
		l := try.Must(ledger.Create(context.Background(), ledger.File(name), Budget))
		total := 0
		try.Check(f.Log(context.Background(), func(ledger.Entry) { total++ }))
		for range min(most, total+6) {
			try.Check(l.SpendPlan(context.Background(), []byte(plan), ""))
		}
		return func() error { return errors.Join(os.Remove(name+".lock"), os.Rename(name, f.path())) }, nil
	})
}

// limited lets the writes of a process end after any number of bytes.
func (f *files) limited(r *Round) error {
	info := try.Must(os.Stat(f.path()))
	r.limit = info.Size() + int64(r.Rand.IntN(2000))
	defer func() { r.limit = 0 }()
	return r.With(func(w *Writers) error {
		w.Wait(true)
		_ = r.spend(r.a) // which may have read what is taken back
		time.Sleep(time.Duration(r.Rand.IntN(30)) * time.Millisecond)
		w.Kill()
		try.Check(restart(r.Place))
		if err := r.reopen(); err == nil {
			r.must("after writes that ended early")
		}
		return nil
	})
}

// serveFile returns a server of the folder of a file.
func serveFile(where string) (server.Config, string, error) {
	return server.Config{Ledgers: filepath.Dir(where)}, filepath.Base(where), nil
}
