package verify

// Texts from a fuzzer, for the reader of the checker: built with the sanitizers of gcc, which end the program at the first read or
// write outside of an object, use of freed memory, leak or undefined operation.

import (
	"bytes"
	"encoding/binary"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A reader is the program fuzz/reader.c while it runs.
type reader struct {
	in     io.WriteCloser
	out    io.ReadCloser
	errors bytes.Buffer
	cmd    *exec.Cmd
}

var sanitized = sync.OnceValue(func() program {
	return compile("reader", "-g -fsanitize=address,undefined -fno-sanitize-recover=all", "../../verify/fuzz/reader.c", "../../verify/src/certificate.c", "../../verify/src/matrix.c", "../../verify/src/pairs.c", "../../verify/src/draws.c", "../../verify/src/sha256.c")
})

func newReader(t testing.TB) *reader {
	t.Helper()
	p := sanitized()
	if p.err == errNotInstalled {
		t.Skip(install)
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	r := &reader{cmd: exec.Command(p.path)}
	r.cmd.Stderr = &r.errors
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if r.out, err = r.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.in.Close()
		if err := r.cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("the reader ended with %v\n%s", err, r.errors.String())
		}
	})
	return r
}

// read returns what the reader says of a text: proved for one that it has read.
func (r *reader) read(t *testing.T, text string) int {
	t.Helper()
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	_, err := r.in.Write(append(frame, text...))
	code := make([]byte, 1)
	if err == nil {
		_, err = io.ReadFull(r.out, code)
	}
	if err != nil {
		r.in.Close()
		t.Fatalf("the reader ended: %v\n%s\n%q", r.cmd.Wait(), r.errors.String(), text)
	}
	return int(code[0])
}

// read is how a text begins that is read.
var read = regexp.MustCompile(`^!?accountant certificate [123]\nversion `)

func FuzzCertificate(f *testing.F) {
	d := draw{newRand(1)}
	for _, k := range kinds {
		relation, steps := k.plan(d)
		s := sample{kind: k.name, relation: relation, steps: steps, records: max(1, records[k.name])}
		text, _, err := certify(s.planText(), 1e-6)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:strings.LastIndex(text, "sha256 ")])
		f.Add("!" + text)
	}
	for _, text := range []string{thresholds(1), menus(12, 1), searches("geometric, mean: 10")} {
		text, _, err := certify(text, 1e-6)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("!" + text)
	}
	f.Add("")
	f.Add("!")
	f.Add("\x00")
	r := newReader(f)
	f.Fuzz(func(t *testing.T, text string) {
		code := r.read(t, text)
		if code != proved && code != badInput {
			t.Fatalf("%d of %q", code, text)
		}
		if code == proved && !read.MatchString(text) {
			t.Errorf("read: %q", text)
		}
		if raw, ok := strings.CutPrefix(text, "!"); ok && code == proved && seal(raw) != raw {
			t.Errorf("read with another hash: %q", text)
		}
	})
}
