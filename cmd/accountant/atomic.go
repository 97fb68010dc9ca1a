package main

// Files are written here and nowhere else (TestOneWriter). A reader sees the old
// contents or the new ones, whole, also after a crash, a full disk or a second writer.
// A process that is killed in the moment before a file is replaced leaves the new
// contents beside it, as .NAME.xxxxxxxx.part, which nothing reads and anybody may remove.

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// writeFileAtomic writes a file whole or not at all. It follows symbolic links, keeps
// the permissions of a file that was there, and refuses one that may not be written.
func writeFileAtomic(path string, data []byte) error {
	return writeDraft(path, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// writeDraft is writeFileAtomic for contents too large to hold. Until they
// are complete they are in a file without a name, which ends with the process, or,
// where the system has none, in one that is removed by every signal that can be
// caught. With free, what has the name by the time that the contents are complete stays as it is, and is an error.
func writeDraft(path string, free bool, produce func(io.Writer) error) error {
	d, old, err := beginDraft(path, free)
	if err != nil {
		return err
	}
	defer d.discard()
	if err := produce(d.f); err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) && pe.Path == d.f.Name() {
			err = pathProblem(path, err)
		}
		return err
	}
	if old != nil {
		err = d.f.Chmod(old.Mode().Perm())
	}
	if err = errors.Join(err, d.f.Sync()); err == nil {
		err = d.publish(old != nil, free)
	}
	switch {
	case free && errors.Is(err, os.ErrExist):
		return alreadyThere(path)
	case err != nil:
		return pathProblem(path, err)
	}
	// The name itself lasts once the directory is on disk; not every file system
	// can be asked for that.
	if f, err := os.Open(d.dir); err == nil {
		_ = f.Sync()
		f.Close()
	}
	return nil
}

// writable returns the error of writeDraft for a path at which nothing can be written: for commands that compute, or spend, before
// they have something to write.
func writable(path string, free bool) error {
	d, _, err := beginDraft(path, free)
	if err == nil {
		d.discard()
	}
	return err
}

// beginDraft opens a draft of the file at a path, and returns what is known of the file that is there, nil for none.
func beginDraft(path string, free bool) (d *draft, old os.FileInfo, err error) {
	if _, err := os.Lstat(path); free && err == nil {
		return nil, nil, alreadyThere(path)
	}
	to, old, err := destination(path)
	if err != nil {
		return nil, nil, err
	}
	perm := os.FileMode(0o666) // less what the umask takes away
	if old != nil {
		perm = 0o600 // nobody who may not read the old file reads a part of the new one
	}
	if d, err = newDraft(to, perm); err != nil {
		return nil, nil, pathProblem(path, err)
	}
	return d, old, nil
}

// alreadyThere is the error for a file that is not to be replaced.
func alreadyThere(path string) error {
	return fmt.Errorf("%s: is there already, and is not overwritten", printable(path))
}

// destination returns the file that a path leads to, through symbolic links, and what
// is known of it, nil if it is new. It has to be a regular file that may be written:
// replacing a file needs leave for its folder only. A ledger is no file to replace, whatever it is called.
func destination(path string) (to string, old os.FileInfo, err error) {
	to = path
	for range 40 { // as many as Linux follows; a circle is an error of Stat
		link, err := os.Readlink(to)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(to)
			link = dir + link
		}
		to = link
	}
	old, err = os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return to, nil, nil
	case err != nil:
		return "", nil, pathProblem(path, err)
	case !old.Mode().IsRegular():
		return "", nil, fmt.Errorf("%s: is not a regular file", printable(path))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", nil, pathProblem(path, err)
	}
	if err := f.Close(); err != nil || !isLedger(path) {
		return to, old, err
	}
	return "", nil, fmt.Errorf("%s: is a ledger, and is not overwritten", printable(path))
}

// isLedger reports whether a regular file begins as ledgers do.
func isLedger(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const first = `{"chain":"`
	begin := make([]byte, len(first))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == first
}

// A draft is a file that nobody else should see yet.
type draft struct {
	f         *os.File
	path      string // what it will be
	dir, base string // its parts; never cleaned, as .. after a link is elsewhere
	temporary string // its name for the time being; "" if it has none
	forget    func() // stops waiting for signals
}

// newDraft opens a draft of a file.
func newDraft(path string, perm os.FileMode) (*draft, error) {
	d := draftOf(path)
	var err error
	if d.f, err = openUnnamed(d.dir, perm); err != nil {
		return namedDraft(path, perm)
	}
	return d, nil
}

func draftOf(path string) *draft {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	return &draft{path: path, dir: dir, base: base, forget: func() {}}
}

// namedDraft is newDraft where there are no unnamed files.
func namedDraft(path string, perm os.FileMode) (*draft, error) {
	d := draftOf(path)
	return d, d.name(func(name string) (err error) {
		d.f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
}

// name has a name for the time being made, one that is free.
func (d *draft) name(create func(name string) error) error {
	base := strings.ToValidUTF8(d.base[:min(len(d.base), 200)], "") // names have at most 255 bytes
	for tries := 1; ; tries++ {
		name := fmt.Sprintf("%s.%s.%08x.part", d.dir, base, rand.Uint32())
		forget, err := removeOnSignal(name, create)
		if err == nil {
			d.temporary, d.forget = name, forget
			return nil
		}
		if !errors.Is(err, os.ErrExist) || tries == 1000 {
			return err
		}
	}
}

// publish gives the draft its name. It replaces the file that has it, if free is not set.
func (d *draft) publish(exists, free bool) error {
	if d.temporary == "" {
		if !exists {
			// Where another process was quicker, its file is replaced below.
			if err := linkUnnamed(d.f, d.path); err == nil || free || !errors.Is(err, os.ErrExist) {
				return err
			}
		}
		// Only a rename replaces a file, and only a name can be renamed.
		if err := d.name(func(name string) error { return linkUnnamed(d.f, name) }); err != nil {
			return err
		}
	}
	if err := d.f.Close(); err != nil {
		return err
	}
	if free {
		// A rename would replace; a second name does not, where there are such.
		if err := os.Link(d.temporary, d.path); err == nil || errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := os.Rename(d.temporary, d.path); err != nil {
		return err
	}
	d.forget()
	d.temporary = ""
	return nil
}

// discard removes what is left of a draft; nothing is left of a published one.
func (d *draft) discard() {
	d.f.Close()
	if d.temporary != "" {
		os.Remove(d.temporary)
	}
	d.forget()
}

// removeOnSignal has a file created and removes it when the process is told to end,
// which it then does as if the signal had not been caught. The function that it
// returns stops this.
func removeOnSignal(name string, create func(name string) error) (forget func(), err error) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup does
			signal.Notify(signals, s)
		}
	}
	forget = sync.OnceFunc(func() {
		signal.Stop(signals)
		close(signals) // behind one that came before
	})
	err = create(name) // a signal that comes meanwhile waits
	created := err == nil
	if !created {
		forget()
	}
	go func() {
		s, caught := <-signals
		if !caught {
			return
		}
		if created {
			os.Remove(name) // which is not there if the file has its name by now
		}
		signal.Stop(signals)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Signal(s)
		}
	}()
	return forget, err
}
