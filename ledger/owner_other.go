//go:build !unix

package ledger

import "os"

// appending is 0 where a file that was opened for appending cannot be cut.
const appending = 0

// plainly is 0 where no open can be kept from following a symbolic link; openPlain looks first.
const plainly = 0

// owner returns the owner, the group and the number of names of a file, which nobody knows here.
func owner(os.FileInfo) (uid, gid, names int, ok bool) { return 0, 0, 1, false }
