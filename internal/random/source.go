package random

// Where bits come from: nil is the operating system.

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// Source returns src, and where that is nil a generator (ChaCha8) with a secret seed of
// the operating system. It is not safe for concurrent use.
func Source(src rand.Source) rand.Source {
	if src != nil {
		return src
	}
	var seed [32]byte
	crand.Read(seed[:]) // never fails: it ends the program instead
	return rand.NewChaCha8(seed)
}

// Seeded returns a reproducible source. Whoever knows the seed knows every draw.
func Seeded(seed uint64) rand.Source {
	var b [32]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	return rand.NewChaCha8(b)
}

// Split returns a generator of its own, whose seed is drawn from src.
func Split(src rand.Source) *rand.ChaCha8 {
	var seed [32]byte
	for i := 0; i < len(seed); i += 8 {
		binary.LittleEndian.PutUint64(seed[i:], src.Uint64())
	}
	return rand.NewChaCha8(seed)
}
