package ledger

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk lets the write of a spend end after any number of bytes, with and
// without the chance to take them back: the spend fails, what was spent before
// stays, and the ledger goes on when there is room again.
func TestFullDisk(t *testing.T) {
	whole := appendTo
	defer func() { appendTo = whole }()
	c := pureConfig
	c.Epsilon = 1e6
	l, path := create(t, c)
	spend := func() error { return l.SpendPlan(t.Context(), []byte(purePlan), "") }
	if err := spend(); err != nil {
		t.Fatal(err)
	}
	entries := 1
	for n := 0; n < 180; n += 7 {
		for _, stuck := range []bool{false, true} {
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var half []byte
			appendTo = func(f *os.File, data []byte) (int, error) {
				half = data[:min(n, len(data)-1)]
				if _, err := f.Write(half); err != nil {
					return 0, err
				}
				return len(half), syscall.ENOSPC
			}
			err = spend()
			appendTo = whole
			if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrBudget) || !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, before) {
				t.Fatalf("%d bytes: the file was %d bytes and is %d, %v", n, len(before), len(after), err)
			}
			if stuck { // the process died, or the half could not be taken back
				if err := os.WriteFile(path, append(before, half...), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			st, err := l.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			// A half that lacks only its line feed counts: that is never too little.
			if stuck && st.Entries == entries+1 && len(half) > 0 && half[len(half)-1] == '}' {
				entries++
			}
			if st.Entries != entries {
				t.Fatalf("%d bytes: %d entries, want %d", n, st.Entries, entries)
			}
			if err := spend(); err != nil {
				t.Fatalf("%d bytes: after the failure: %v", n, err)
			}
			entries++
		}
	}
	if st, err := Verify(t.Context(), File(path), ""); err != nil || st.Entries != entries || st.Torn != 0 {
		t.Errorf("%+v, %v; want %d entries", st, err, entries)
	}
}

// TestWindowsLineEnds: a file that an editor or a version control system has
// rewritten is refused, in words that say what happened.
func TestWindowsLineEnds(t *testing.T) {
	l, path := create(t, pureConfig)
	if err := l.SpendPlan(t.Context(), []byte(purePlan), ""); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), File(path), ""); err == nil || !strings.HasSuffix(err.Error(), ":1: ends in a carriage return: something has changed the line ends to those of Windows") {
		t.Error(err)
	}
}

// BenchmarkOpenLong opens a ledger of 100 000 entries.
func BenchmarkOpenLong(b *testing.B) {
	c := pureConfig
	c.Epsilon = 1e6
	path := b.TempDir() + "/long.ledger"
	if _, err := Create(b.Context(), File(path), c); err != nil {
		b.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	header, _, err := decodeLine(data)
	if err != nil {
		b.Fatal(err)
	}
	head := header.Sum
	for range 100_000 {
		line, sum, err := encodeLine(head, entry{Time: "2026-01-01T00:00:00Z", Plan: storedPlan([]byte(purePlan))})
		if err != nil {
			b.Fatal(err)
		}
		data, head = append(data, line...), sum
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if l, err := Open(b.Context(), File(path)); err != nil || l.state.entries != 100_000 {
			b.Fatal(err)
		}
	}
}
