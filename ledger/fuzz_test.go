package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// The targets read what is in testdata/fuzz as tests; go test -fuzz FuzzRead
// ./ledger looks for more.

// chained is the file whose lines have these contents, with right checksums.
func chained(contents ...string) []byte {
	var b bytes.Buffer
	prev := ""
	for _, c := range contents {
		prev = checksum(prev, []byte(c))
		fmt.Fprintf(&b, "%s%s%s%s%s", linePrefix, prev, lineMiddle, c, lineSuffix)
	}
	return b.Bytes()
}

const (
	plannedHeader  = `{"ledger":1,"neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned","time":"2026-01-01T00:00:00Z"}`
	adaptiveHeader = `{"ledger":1,"neighbors":"substitute","epsilon":2,"delta":1e-6,"mode":"adaptive","orders":[8,14.8,30],"time":""}`
	jsonEntry      = `{"time":"2026-01-01T00:00:00Z","note":"Größe","plan":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.4}}}]}}`
	yamlEntry      = `{"time":"","plan":"neighbors: substitute\nsteps: [{mechanism: {gaussian: {noise-multiplier: 50}}, count: 3}]\n"}`
)

// checkFile tries everything on a file: what was read stays in it, in front.
func checkFile(t *testing.T, data []byte) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	l, err := Open(ctx, File(path))
	if after := readFile(t, path); !bytes.Equal(after, data) {
		t.Fatalf("reading has changed %q to %q", data, after)
	}
	if err != nil {
		_, err := Create(ctx, File(path), pureConfig)
		whole := err == nil
		if whole && !beginsHeader(data) {
			t.Fatalf("made a ledger of %q", data)
		}
		if !whole && !bytes.Equal(readFile(t, path), data) {
			t.Fatalf("making no ledger has changed %q", data)
		}
		return
	}
	if _, err := Create(ctx, File(path), pureConfig); err == nil {
		t.Fatalf("made a ledger of the ledger %q", data)
	}
	entries, offset := l.state.entries, l.store.(*file).last.end
	plan := fmt.Sprintf("neighbors: %v\nsteps: [{mechanism: {pure: {epsilon: 1e-9}}}]", l.Config().Neighbors)
	if l.SpendPlan(ctx, []byte(plan), "") == nil {
		entries++
	}
	after := readFile(t, path)
	if !bytes.HasPrefix(after, data[:offset]) {
		t.Fatalf("spending has changed what was read of %q: %q", data, after)
	}
	again, err := Open(t.Context(), File(path))
	if err != nil || again.state.entries != entries {
		t.Fatalf("%d entries of %q, then %q: %v", entries, data, after, err)
	}
}

// FuzzRead reads any file.
func FuzzRead(f *testing.F) {
	for _, contents := range [][]string{{}, {plannedHeader}, {plannedHeader, jsonEntry, jsonEntry}, {adaptiveHeader, yamlEntry}} {
		data := chained(contents...)
		f.Add(data)
		for _, cut := range []int{1, 2, 3, 20} {
			if cut < len(data) {
				f.Add(data[:len(data)-cut])
				f.Add(append(data[:len(data)-cut:len(data)-cut], 0, 0))
				f.Add(append(data[:len(data)-cut:len(data)-cut], '}'))
			}
		}
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	}
	f.Fuzz(checkFile)
}

// FuzzContents reads lines whose checksums are right.
func FuzzContents(f *testing.F) {
	f.Add(plannedHeader, jsonEntry, "")
	f.Add(adaptiveHeader, yamlEntry, yamlEntry)
	f.Add(plannedHeader, jsonEntry+" ", `{"plan":0}`)
	f.Add(`{"ledger":1,"LEDGER":2}`, `{}`, `{"time":"","plan":null,"plan":""}`)
	f.Fuzz(func(t *testing.T, header, one, two string) {
		for n, contents := range [][]string{{header}, {header, one}, {header, one, two}} {
			if contents[n] == "" {
				return
			}
			checkFile(t, chained(contents...))
		}
	})
}

// FuzzDamage changes a ledger of three entries: one byte, or what follows a cut.
// No entry that has its content, and those before it, is missing from what is
// read without an error.
func FuzzDamage(f *testing.F) {
	f.Add(uint16(0), byte(1), false, []byte(nil))
	f.Add(uint16(700), byte(1), false, []byte(nil))
	f.Add(uint16(500), byte(0), true, []byte{0})
	f.Add(uint16(200), byte(0), true, []byte("\n"))
	contents := []string{plannedHeader, jsonEntry, `{"time":"","plan":{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.1}}}]}}`, jsonEntry}
	whole := chained(contents...)
	f.Fuzz(func(t *testing.T, at uint16, b byte, cut bool, tail []byte) {
		i := int(at) % len(whole)
		data := bytes.Clone(whole)
		if cut {
			data = append(data[:i:i], tail...)
		} else {
			data[i] ^= b
		}
		checkFile(t, data)
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(t.Context(), File(path))
		if err != nil {
			return
		}
		want, end := -1, 0
		for _, c := range contents {
			end += len(chained(c))
			if !bytes.HasPrefix(data, whole[:end-len(lineSuffix)]) {
				break
			}
			want++
		}
		if l.state.entries < want {
			t.Errorf("%d entries of %q, want %d", l.state.entries, data, want)
		}
	})
}

// FuzzTorn: what is the beginning of a line can be completed to one.
func FuzzTorn(f *testing.F) {
	line := chained(jsonEntry)
	for _, n := range []int{0, 5, 40, 80, 120, len(line) - 3} {
		f.Add(line[:n])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		line, _, err := decodeLine(data)
		if err != errTorn {
			return
		}
		if json.Valid(line.Content) {
			t.Errorf("%q has the whole of a content", data)
		}
		if bytes.ContainsAny(data, "\n") && !bytes.Contains(data, []byte(lineMiddle)) {
			t.Errorf("%q has a line feed", data)
		}
	})
}

// FuzzHolder reads any note of a lock's holder, which goes to a terminal: no control
// characters, and not long.
func FuzzHolder(f *testing.F) {
	for _, note := range []string{"", myself(), `{"pid":1,"host":"\u001b[2J","program":"a\nb","since":"now\u0007"}`, `{"pid":1}`, `{"pid":1,"PID":2}`, `[]`} {
		f.Add([]byte(note))
	}
	f.Fuzz(func(t *testing.T, note []byte) {
		name := filepath.Join(t.TempDir(), "lock")
		if err := os.WriteFile(name, note, 0o600); err != nil {
			t.Fatal(err)
		}
		text := holderOf(name)
		if !utf8.ValidString(text) || len(text) > 2000 || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%q: %q", note, text)
		}
	})
}
