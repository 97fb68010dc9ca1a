package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a file in a directory that has no name there, with permissions less
// those that the umask takes away.
func openUnnamed(dir string, perm os.FileMode) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm))
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	if _, err := os.Stat(ownPath(f)); err != nil { // what linkUnnamed needs
		f.Close()
		return nil, err
	}
	return f, nil
}

// linkUnnamed gives an unnamed file a name that is free.
func linkUnnamed(f *os.File, path string) error {
	if err := unix.Linkat(unix.AT_FDCWD, ownPath(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.PathError{Op: "link", Path: path, Err: err}
	}
	return nil
}

func ownPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
