package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// This file takes out of a WebAssembly module what the Go runtime needs for the text of a stack
// trace only: names of files and functions, lines. The linker's -s and -w leave them in, for
// they are in the table that the garbage collector reads, too. Unused parts are set to zero, which
// packs to nothing; nothing moves. It assumes the layout of that table (runtime.pcHeader,
// runtime._func, magic 0xfffffff1), and checks what it reads: errTable says that it is another one.

var errTable = errors.New("the table of functions is not laid out as expected")

// magic begins the table: the number, no padding, instructions of 1 byte, pointers of 8.
var magic = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// A stretch is a part of the memory that the module's data section fills: where it is in
// the module, and where it goes.
type stretch struct{ module, memory, size int }

// strip returns the module without the texts of stack traces.
func strip(module []byte) (out []byte, err error) {
	defer func() {
		if recover() != nil { // an index from the table is out of range
			out, err = nil, errTable
		}
	}()
	parts, top, err := dataSection(module)
	if err != nil {
		return nil, err
	}
	memory := make([]byte, top)
	for _, p := range parts {
		copy(memory[p.memory:], module[p.module:p.module+p.size])
	}
	if err := stripTable(memory); err != nil {
		return nil, err
	}
	out = bytes.Clone(module)
	for _, p := range parts {
		copy(out[p.module:p.module+p.size], memory[p.memory:])
	}
	return out, nil
}

// dataSection lists the stretches of a module and the first address above them.
func dataSection(module []byte) (parts []stretch, top int, err error) {
	number := func(at int) (int, int) {
		v, n := binary.Uvarint(module[at:])
		return int(v), at + n
	}
	for at := 8; at < len(module); {
		kind := module[at]
		size, from := number(at + 1)
		at = from + size
		if kind != 11 {
			continue
		}
		count, next := number(from)
		for range count {
			if module[next] != 0 || module[next+1] != 0x41 { // memory 0, from i32.const
				return nil, 0, errTable
			}
			address, n := signed(module[next+2:])
			size, from := number(next + 2 + n + 1) // and an end
			parts = append(parts, stretch{from, address, size})
			top = max(top, address+size)
			next = from + size
		}
	}
	return parts, top, nil
}

// signed reads a signed LEB128 number and returns it with its length.
func signed(b []byte) (value, length int) {
	for shift := 0; ; shift += 7 {
		c := b[length]
		length++
		value |= int(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				value -= 1 << (shift + 7)
			}
			return value, length
		}
	}
}

// stripTable sets to zero what in the memory's table of functions is for stack traces.
func stripTable(memory []byte) error {
	table := bytes.Index(memory, magic)
	if table < 0 || bytes.Contains(memory[table+8:], magic) {
		return errTable
	}
	memory = memory[table:]
	word := func(at int) int { return int(binary.LittleEndian.Uint32(memory[at:])) }
	long := func(at int) int { return int(binary.LittleEndian.Uint64(memory[at:])) }
	count, names, units, files, values, functions := long(8), long(32), long(40), long(48), long(56), long(64)
	if count <= 0 || names != 72 || units <= names || files < units || values < files || functions <= values {
		return errTable
	}
	// Offsets in a function: its name, stack depths, files, lines, how many other tables, compilation unit, first line.
	const name, depths, file, lines, others, unit, first, header = 4, 16, 20, 24, 28, 32, 36, 44
	keptNames, keptValues := make([]byte, units-names), make([]byte, functions-values)
	keep := func(offset int) {
		if offset != 0 {
			end := offset + tableSize(memory[values+offset:functions])
			copy(keptValues[offset:end], memory[values+offset:])
		}
	}
	for i := range count {
		f := functions + word(functions+8*i+4)
		text := memory[names+word(f+name) : units]
		text = text[:bytes.IndexByte(text, 0)+1]
		if strings.HasPrefix(string(text), "runtime.") { // by which the runtime knows its own goroutines
			copy(keptNames[word(f+name):], text)
		} else {
			clear(memory[f+name : f+name+4])
		}
		keep(word(f + depths))
		for j := range word(f + others) {
			keep(word(f + header + 4*j))
		}
		for _, at := range []int{file, lines, unit, first} {
			clear(memory[f+at : f+at+4])
		}
	}
	copy(memory[names:], keptNames)
	clear(memory[units:values])
	copy(memory[values:], keptValues)
	return nil
}

// tableSize is the length of the table of a value by program counter at the beginning of b: pairs of
// numbers, until the first of a pair is 0 that is not the first of all.
func tableSize(b []byte) int {
	for at := 0; ; {
		step, n := binary.Uvarint(b[at:])
		if step == 0 && at > 0 {
			return at + n
		}
		_, m := binary.Uvarint(b[at+n:])
		if n <= 0 || m <= 0 {
			panic(errTable)
		}
		at += n + m
	}
}
