package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFilesOfBefore: what an earlier program wrote into testdata/before is read: ledgers are verified and spent from, sweeps
// go on, and a certificate has the lines that one of today has. Files are added there, and never changed.
func TestFilesOfBefore(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/before")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	run := func(want string, args ...string) string {
		t.Helper()
		code, stdout, stderr := command("", args...)
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%q: %d, %s%s\nwant %s", args, code, stdout, stderr, want)
		}
		return stdout
	}
	run("entries:   2, with 200 runs", "ledger", "status", "planned.ledger")
	run("Every checksum is right", "ledger", "check", "--head", "76ff980d4bd6354d58f40cf67050b551adf6d97dafdbf1b0ffbb9f825d3f33d4", "planned.ledger")
	// A spend with the key of before is the one of before.
	run("entries:   2, with 200 runs", "ledger", "add", "--key", "a", "planned.ledger", "plan.yaml")
	run("entries:   3, with 300 runs", "ledger", "add", "planned.ledger", "plan.yaml")
	run("mode:      adaptive", "ledger", "check", "adaptive.ledger")

	sweeps := [][]string{
		{"sweep.jsonl", "sweep", "--delta", "1e-5,1e-6", "--accuracy", "1e-3", "--out", "sweep.jsonl", "grid.yaml"},
		{"noise.csv", "sweep", "--epsilon", "1", "--delta", "1e-5", "--solve", "noise-multiplier", "--out", "noise.csv", "grid.yaml"},
	}
	for _, s := range sweeps {
		before, err := os.ReadFile(s[0])
		if err != nil {
			t.Fatal(err)
		}
		run("all of which were there", s[1:]...)
		if now, err := os.ReadFile(s[0]); err != nil || !bytes.Equal(now, before) {
			t.Errorf("%s has changed, %v", s[0], err)
		}
		// Without its last row, and half of the one before, which are computed anew: their last digits are those of this version.
		last := bytes.LastIndexByte(bytes.TrimSpace(before), '\n')
		whole := before[:bytes.LastIndexByte(before[:last], '\n')+1]
		if err := os.WriteFile(s[0], before[:last-20], 0o644); err != nil {
			t.Fatal(err)
		}
		run("of which were there", s[1:]...)
		if now, err := os.ReadFile(s[0]); err != nil || bytes.Count(now, []byte("\n")) != bytes.Count(before, []byte("\n")) || !bytes.HasPrefix(now, whole) {
			t.Errorf("%s did not go on: %s, %v", s[0], now, err)
		}
	}

	run("certified", "epsilon", "--delta", "1e-5", "--certificate", "now", "plan.yaml")
	words := regexp.MustCompile(`(?m)0x\S+|sha256 \S+|frequencies \d+|^version .*|^accountant certificate \d`)
	form := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return words.ReplaceAllString(string(text), "…")
	}
	if then, now := form("plan.certificate"), form("now"); then != now {
		t.Errorf("a certificate was\n%s\nand is\n%s", then, now)
	}
}
