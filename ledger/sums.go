// Checkpoints: lines that say what all entries before them cost, so that a program that opens the file need not compute that
// again. A checkpoint is in the chain of checksums like every line, and removes nothing. It proves nothing by itself:
// it is the claim of the program that wrote it, which only the same program believes, and which Verify computes again from
// the entries.

package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// A checkpoint is the content of such a line. Its first key tells it from an entry.
type checkpoint struct {
	Entries int64  `json:"checkpoint"` // before it
	Time    string `json:"time"`
	Program string `json:"program"`
	Runs    int64  `json:"runs"` // of mechanisms, in the entries
	Sums    sums   `json:"sums"`
}

// sums are upper bounds of what entries cost: one of them is there, by the ledger's mode.
type sums struct {
	// Epsilon has bounds of ε at some δ, the first at the ledger's own, at which Lower is a lower one: planned.
	Epsilon []point `json:"epsilon,omitempty"`
	Lower   float64 `json:"lower,omitempty"`
	// Renyi has the divergence at each order that the filter has, null for +Inf: adaptive.
	Renyi []*float64 `json:"renyi,omitempty"`
	// SquaredMu is Σμ²: adaptive-gaussian.
	SquaredMu *float64 `json:"squared-mu,omitempty"`
}

// A point says that entries are (Epsilon, Delta)-differentially private.
type point struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

const checkpointBegin = `{"checkpoint":`

// isCheckpoint reports whether a content is that of a checkpoint, and not an entry.
func isCheckpoint(content []byte) bool { return bytes.HasPrefix(content, []byte(checkpointBegin)) }

// program names what computes here. Two programs of one name compute the same bounds: it is a released version of the
// module, a commit of it, or else the checksum of the program's file; "" if nothing is known, which no checkpoint believes.
var program = sync.OnceValue(func() string {
	const module = "github.com/dpaccountant/accountant"
	if info, ok := debug.ReadBuildInfo(); ok {
		m := &info.Main
		for _, d := range info.Deps {
			if d.Path == module && d.Replace == nil {
				m = d
			}
		}
		if m.Path == module && strings.HasPrefix(m.Version, "v") && !strings.HasSuffix(m.Version, "+dirty") {
			return module + "@" + m.Version
		}
	}
	f, err := openSelf()
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
})

// openSelf opens the program's file. On Linux that is the file that runs, also where its name has been given to a newer program:
// a checkpoint with that one's checksum would be believed by it, and not be its own.
func openSelf() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(name)
}
