package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestNotice: NOTICE has the licences of the modules that the command is built of
// today. After a change of these:
//
//	go run ./internal/notice > NOTICE
func TestNotice(t *testing.T) {
	const root = "../.."
	var want bytes.Buffer
	if err := write(&want, root); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + "/NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("NOTICE is not that of today's modules: go run ./internal/notice > NOTICE")
	}
	modules, err := linked(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if !strings.Contains(string(got), "\n"+m.Path+" "+m.Version+": ") {
			t.Errorf("NOTICE has no licence of %s %s", m.Path, m.Version)
		}
	}
}
