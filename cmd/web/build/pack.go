package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os/exec"
)

// This file packs a module: by xz as LZMA if that program is installed (cmd/web/unpack.js unpacks
// it), else with gzip, which browsers unpack themselves and which is longer by almost half.

// pack returns the packed module and the name of the format.
func pack(module []byte) (packed []byte, format string, err error) {
	if xz, err := exec.LookPath("xz"); err == nil {
		packed, err = lzma(xz, module)
		return packed, "lzma", err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	if _, err := z.Write(module); err != nil {
		return nil, "", err
	}
	return out.Bytes(), "gzip", z.Close()
}

// lzma runs xz with the settings that pack WebAssembly best, and writes the size into the
// header, where xz leaves it open.
func lzma(xz string, module []byte) ([]byte, error) {
	var complaint bytes.Buffer
	cmd := exec.Command(xz, "--format=lzma", "--lzma1=preset=9e,pb=0", "--stdout")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(module), &complaint
	packed, err := cmd.Output()
	if err != nil || len(packed) < 18 {
		return nil, fmt.Errorf("xz: %v %s", err, complaint.Bytes())
	}
	binary.LittleEndian.PutUint64(packed[5:], uint64(len(module)))
	return packed, nil
}
