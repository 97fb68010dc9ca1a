package beam

// This file makes every draw a function of a secret key and of what is drawn for, so that a
// bundle that is run again draws the same.
//
// What is assumed: HMAC-SHA256 with a secret key is a pseudo-random function, and ChaCha8
// with a secret seed a pseudo-random generator (the library assumes the latter of every
// draw). Then the draws of different inputs are independent and uniform for whoever does not
// know the key, and the law of the outputs is that of fresh noise.
//
// The private value itself is part of the input. If it were not, two runs with one key over
// data that differ in one row would draw the same uniform number for both values of that
// row, and the pair of outputs would say more than two releases do.

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	mrand "math/rand/v2"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/dpaccountant/accountant/internal/fault"
)

// A Key names the file that holds the secret key of a run: at least 64 hexadecimal digits.
// Workers read it when they start. It is a path and never the key itself, because what a
// pipeline is made of is shown by runners and kept in their logs.
//
// The file must be readable by every worker, by nobody who sees the output, and be kept as
// long as the run may be started again.
type Key struct{ File string }

// keyBytes is the length of a new key; a shorter one is refused.
const keyBytes = 32

// maxKeyFile bounds what is read of a key file.
const maxKeyFile = 1 << 12

// NewKey writes a fresh key of the operating system's to a new file that only its owner may
// read, and refuses to touch a file that is there.
func NewKey(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	key := make([]byte, keyBytes)
	rand.Read(key) // never fails: it ends the program instead
	_, err = fmt.Fprintln(f, hex.EncodeToString(key))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// Check reports whether the key can be read and is long enough.
func (k Key) Check(ctx context.Context) error {
	_, err := k.draws(ctx)
	return err
}

// draws reads the key. No error of it has any part of what the file holds.
func (k Key) draws(ctx context.Context) (*draws, error) {
	if k.File == "" {
		return nil, fault.New("key", "is missing; must be a file with %d hexadecimal digits", 2*keyBytes)
	}
	fs, err := filesystem.New(ctx, k.File)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	r, err := fs.OpenRead(ctx, k.File)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxKeyFile+1))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(text) > maxKeyFile || len(key) < keyBytes {
		return nil, fault.New("key", "%s does not hold %d hexadecimal digits or more", k.File, 2*keyBytes)
	}
	return newDraws(key), nil
}

// draws makes sources of randomness from the key. It is for one goroutine, and the source of
// one call is gone with the next.
type draws struct {
	mac hash.Hash
	gen *mrand.ChaCha8
}

func newDraws(key []byte) *draws {
	return &draws{mac: hmac.New(sha256.New, key), gen: mrand.NewChaCha8([32]byte{})}
}

// seed returns the pseudo-random function of the parts. Each part has its length in front,
// so that no two lists of parts are one input.
func (d *draws) seed(parts ...string) (seed [32]byte) {
	d.mac.Reset()
	var n [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		d.mac.Write(n[:])
		io.WriteString(d.mac, part)
	}
	d.mac.Sum(seed[:0])
	return seed
}

// of returns the source of what the parts name: the same for the same parts, and
// independent of that of all others. The first part says what is drawn.
func (d *draws) of(parts ...string) mrand.Source {
	d.gen.Seed(d.seed(parts...))
	return d.gen
}
