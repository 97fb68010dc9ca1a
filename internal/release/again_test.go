package main

// What is made twice has the same bytes, and what is written twice says the same.

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReproducible builds the program from another folder with an empty cache: the same bytes.
func TestReproducible(t *testing.T) {
	if !*slow {
		t.Skip("TWO BUILDS WITHOUT A CACHE ARE NOT COMPARED, WHICH TAKES MINUTES: only with -slow")
	}
	r, p := testRelease(t), platforms[0]
	other := *r
	other.root = t.TempDir()
	files := strings.Split(strings.TrimSuffix(output(t, r.root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00"), "\x00")
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		to := filepath.Join(other.root, name)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	one, err := r.build(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", t.TempDir())
	two, err := other.build(t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(two); err != nil || !bytes.Equal(a, b) {
		t.Errorf("built elsewhere, %v has other bytes (%d and %d): %v", p, len(a), len(b), err)
	}
}

// testAgain makes the release for a platform once more: every file has the same bytes, but those that
// list the other platforms.
func testAgain(t *testing.T, first *release, p platform) {
	second := *first
	second.out = filepath.Join(t.TempDir(), "again")
	if err := second.make([]platform{p}, kinds); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(second.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" || e.Name() == "accountant.rb" {
			continue
		}
		one, err := first.sum(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if two, err := second.sum(e.Name()); err != nil || one != two {
			t.Errorf("%s is made with other bytes the second time: %v", e.Name(), err)
		}
	}
}

// testFormula reads the formula as Homebrew does, a url and the sha256 after it, and compares with
// SHA256SUMS: every archive that is not for Windows is in both, with the same sum.
func testFormula(t *testing.T, r *release, on []platform) {
	t.Helper()
	read := func(name, pattern string) map[string]string {
		text, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			if m[1] == "" { // sums stand before names
				m[1], m[2] = m[4], m[3]
			}
			found[m[1]] = m[2]
		}
		return found
	}
	formula := read("accountant.rb", `url "[^"]*/v[^/"]*/([^/"]+)"\s+sha256 "([0-9a-f]{64})"`)
	sums := read("SHA256SUMS", `(?m)^()()([0-9a-f]{64})  (\S+)$`)
	want := 0
	for _, p := range on {
		if p.os == "windows" {
			continue
		}
		want++
		name := r.archiveName(p)
		if sums[name] == "" || formula[name] != sums[name] {
			t.Errorf("%s: the formula has %q, SHA256SUMS %q", name, formula[name], sums[name])
		}
	}
	if len(formula) != want {
		t.Errorf("the formula has %v, want %d archives", formula, want)
	}
}
