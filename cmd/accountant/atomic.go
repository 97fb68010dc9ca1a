package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// writeFileAtomic writes a file whole or not at all: a reader sees the old
// contents or the new ones, also after a crash.
func writeFileAtomic(path string, data []byte) error {
	return produceFileAtomic(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// produceFileAtomic is writeFileAtomic for contents too large to hold. Until they
// are complete they are in a file without a name, which ends with the process, or,
// where the system has none, in one that is removed by every signal that can be
// caught.
func produceFileAtomic(path string, produce func(io.Writer) error) (err error) {
	mode := os.FileMode(0o644)
	exists := false
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: is not a regular file", printable(path))
		}
		mode, exists = info.Mode().Perm(), true
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	d, err := newDraft(dir, name)
	if err != nil {
		return pathProblem(path, err)
	}
	defer d.discard()
	if err := produce(d.f); err != nil {
		return err
	}
	if err := errors.Join(d.f.Chmod(mode), d.f.Sync()); err != nil {
		return pathProblem(path, err)
	}
	if err := d.publish(path, exists); err != nil {
		return pathProblem(path, err)
	}
	// The name itself lasts once the directory is on disk; not every file system
	// can be asked for that.
	if f, err := os.Open(dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
	return nil
}

// A draft is a file that nobody else should see yet.
type draft struct {
	f         *os.File
	dir, base string
	temporary string // its name for the time being; "" if it has none
	forget    func() // stops waiting for signals
}

// newDraft opens a draft of dir/base.
func newDraft(dir, base string) (*draft, error) {
	f, err := openUnnamed(dir)
	if err != nil {
		return namedDraft(dir, base)
	}
	return &draft{f: f, dir: dir, base: base, forget: func() {}}, nil
}

// namedDraft is newDraft where there are no unnamed files.
func namedDraft(dir, base string) (*draft, error) {
	f, err := os.CreateTemp(dir, "."+base+".*")
	if err != nil {
		return nil, err
	}
	return &draft{f, dir, base, f.Name(), removeOnSignal(f.Name())}, nil
}

// publish gives the draft its name.
func (d *draft) publish(path string, exists bool) error {
	if d.temporary == "" {
		if !exists {
			// Where another process was quicker, its file is replaced below.
			if err := linkUnnamed(d.f, path); err == nil || !errors.Is(err, os.ErrExist) {
				return err
			}
		}
		// Only a rename replaces a file, and only a name can be renamed.
		f, err := os.CreateTemp(d.dir, "."+d.base+".*")
		if err != nil {
			return err
		}
		d.temporary = f.Name()
		d.forget = removeOnSignal(d.temporary)
		if err := errors.Join(f.Close(), os.Remove(d.temporary), linkUnnamed(d.f, d.temporary)); err != nil {
			return err
		}
	}
	if err := d.f.Close(); err != nil {
		return err
	}
	if err := os.Rename(d.temporary, path); err != nil {
		return err
	}
	d.forget()
	d.temporary = ""
	return nil
}

// discard removes what is left of a draft; nothing is left of a published one.
func (d *draft) discard() {
	d.f.Close()
	d.forget()
	if d.temporary != "" {
		os.Remove(d.temporary)
	}
}

// removeOnSignal removes a file when the process is told to end, which it then
// does as if the signal had not been caught. The function that it returns stops
// this.
func removeOnSignal(name string) (forget func()) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup does
			signal.Notify(signals, s)
		}
	}
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			os.Remove(name)
			signal.Stop(signals)
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(s)
			}
		case <-done:
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			signal.Stop(signals)
			close(done)
		})
	}
}
