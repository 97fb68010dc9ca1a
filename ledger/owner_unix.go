//go:build unix

package ledger

import (
	"os"
	"syscall"
)

// appending is how a file is opened to be written to at its end, wherever that is by
// then.
const appending = os.O_APPEND

// plainly keeps an open from following a symbolic link at the end of the path, and from waiting
// for the other end of a pipe.
const plainly = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// owner returns the owner, the group and the number of names of a file.
func owner(info os.FileInfo) (uid, gid, names int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 1, false
	}
	return int(s.Uid), int(s.Gid), int(s.Nlink), true
}
