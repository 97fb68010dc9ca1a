package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUnpack: what xz packs, unpack.js unpacks under node, whatever is in it, and it refuses
// what is damaged.
func TestUnpack(t *testing.T) {
	for _, program := range []string{"node", "xz"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("UNPACKING IS NOT TESTED: there is no %s", program)
		}
	}
	draw := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(draw.UintN(256))
	}
	// Long matches, near and far, repeated distances, runs, and text that does not pack.
	mixed := bytes.Repeat([]byte("abcabcabd"), 500)
	for range 400 {
		from, n := draw.IntN(len(noise)-300), draw.IntN(300)
		mixed = append(append(mixed, noise[from:from+n]...), byte(draw.UintN(3)))
	}
	node := func(packed []byte) ([]byte, error) {
		file := filepath.Join(t.TempDir(), "packed")
		if err := os.WriteFile(file, packed, 0o666); err != nil {
			t.Fatal(err)
		}
		const program = `const fs = require("fs"); require("vm").runInThisContext(fs.readFileSync("../unpack.js", "utf8"));
process.stdout.write(Buffer.from(unpackLzma(new Uint8Array(fs.readFileSync(process.argv[1])))).toString("hex"))`
		out, err := exec.Command("node", "-e", program, file).Output()
		if err != nil {
			return nil, err
		}
		return hex.DecodeString(string(out))
	}
	for name, text := range map[string][]byte{"one byte": {7}, "run": make([]byte, 100_000), "noise": noise, "mixed": mixed} {
		packed, format, err := pack(text)
		if err != nil || format != "lzma" {
			t.Fatal(name, format, err)
		}
		if got, err := node(packed); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes come back as %d: %v", name, len(text), len(got), err)
		}
	}
	packed, _, err := pack(noise)
	if err != nil {
		t.Fatal(err)
	}
	packed[0] = 230
	if _, err := node(packed); err == nil {
		t.Error("a packed module with impossible properties is unpacked")
	}
}

// TestStripRefuses: what is not a module of Go, or of another layout, is left as it is.
func TestStripRefuses(t *testing.T) {
	head := []byte("\x00asm\x01\x00\x00\x00")
	// A data section of one stretch: memory 0, from i32.const 16, an end, the size, the bytes.
	data := func(memory []byte) []byte {
		section := append([]byte{1, 0, 0x41, 16, 0x0b, byte(len(memory))}, memory...)
		return append(append(bytes.Clone(head), 11, byte(len(section))), section...)
	}
	wild := append(bytes.Clone(magic), bytes.Repeat([]byte{0x7f}, 100)...)
	for name, module := range map[string][]byte{"nothing": head, "no table": data([]byte("hello")), "cut": data(magic), "wild": data(wild)} {
		if _, err := strip(module); !errors.Is(err, errTable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
