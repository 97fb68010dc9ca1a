package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// TestServeGarbage: every line that is not blank is answered by one line of
// JSON, whatever is in it.
func TestServeGarbage(t *testing.T) {
	seeds := []string{
		`{"id": 1, "op": "epsilon", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 1}}}]}, "delta": 0.5}`,
		`{"id": 1, "op": "ledger-create", "neighbors": "add-remove", "epsilon": 1, "delta": 0, "mode": "planned"}`,
		`{"id": {"a": [1]}, "op": "ledger-spend", "ledger": "ledger-1", "plan": "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.001}}}]", "note": "x"}`,
		`{"op": "ledger-status", "ledger": "ledger-1"}`,
		`{"op": "version"}`,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var in bytes.Buffer
	want := 0
	for i := range 300 {
		line := []byte(seeds[i%len(seeds)])
		for range rng.IntN(3) {
			switch at := rng.IntN(len(line)); rng.IntN(3) {
			case 0:
				line[at] = byte(rng.IntN(256))
			case 1:
				line = line[:at+1]
			default:
				line = append(line[:at:at], line[at/2:]...)
			}
		}
		line = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
		if len(bytes.TrimSpace(line)) > 0 {
			want++
		}
		in.Write(append(line, '\n'))
	}
	// A line that is too long, and a last one without a line feed.
	in.WriteString(`{"op": "` + strings.Repeat("x", service.MaxRequest) + "\"}\n")
	in.WriteString(`{"id": "last", "op": "version"}`)
	want += 2
	var out bytes.Buffer
	if err := serve(t.Context(), service.New(ledgerFiles{}), &in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != want {
		t.Errorf("%d answers to %d requests", len(lines), want)
	}
	failed := 0
	for _, line := range lines {
		var a struct {
			Result json.RawMessage
			Error  *service.Error
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || (a.Result == nil) == (a.Error == nil) {
			t.Errorf("answer %s", line)
		} else if a.Error != nil {
			failed++
			if a.Error.Kind == "internal" {
				t.Errorf("answer %s", line)
			}
		}
	}
	if failed == 0 || failed == len(lines) {
		t.Errorf("%d of %d failed", failed, len(lines))
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, `{"id":"last","result":`) {
		t.Errorf("last answer %s", last)
	}
	if tooLong := lines[len(lines)-2]; !strings.Contains(tooLong, "is longer than") {
		t.Errorf("answer to a long line: %s", tooLong)
	}
}

// TestServeKilled kills a process that spends as fast as it can: what it has
// reported is in the file, at most one entry more, and the file goes on.
func TestServeKilled(t *testing.T) {
	program := linkedProgram(t)
	path := filepath.Join(t.TempDir(), "budget.ledger")
	if _, err := ledger.Create(t.Context(), ledger.File(path), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 100, Delta: 1e-5, Mode: ledger.Adaptive}); err != nil {
		t.Fatal(err)
	}
	const spend = `{"op": "ledger-spend", "ledger": "ledger-1", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 100}}}]}}` + "\n"
	rng := rand.New(rand.NewPCG(3, 4))
	before := 0
	for range 20 {
		cmd := exec.Command(program, "serve", "--stdio")
		opening, err := json.Marshal(map[string]string{"op": "ledger-open", "path": path})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = strings.NewReader(string(opening) + "\n" + strings.Repeat(spend, 2000))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Killed some time after some answers.
		lines := bufio.NewScanner(out)
		reported, until := 0, 1+rng.IntN(20)
		wait := time.Duration(rng.IntN(2000)) * time.Microsecond
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"error"`) {
				t.Fatal(lines.Text())
			}
			if strings.Contains(lines.Text(), `"spent"`) {
				reported++
			}
			if reported == until {
				until = -1
				time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		st, err := ledger.Verify(t.Context(), ledger.File(path), "")
		if err != nil {
			t.Fatal(err)
		}
		if n := st.Entries - before; n < reported || n > reported+1 || reported == 0 {
			t.Fatalf("%d entries, %d reported", n, reported)
		}
		before = st.Entries
	}
}

// TestServeTogether: processes that spend from one file at once never pass its
// budget together, and use all of it.
func TestServeTogether(t *testing.T) {
	program := linkedProgram(t)
	path := filepath.Join(t.TempDir(), "budget.ledger")
	if _, err := ledger.Create(t.Context(), ledger.File(path), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 12.2, Mode: ledger.Planned}); err != nil {
		t.Fatal(err)
	}
	opening, err := json.Marshal(map[string]string{"op": "ledger-open", "path": path})
	if err != nil {
		t.Fatal(err)
	}
	const spend = `{"op": "ledger-spend", "ledger": "ledger-1", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 0.4}}}]}}` + "\n"
	var outs [3]bytes.Buffer
	var all [3]*exec.Cmd
	for i := range all {
		all[i] = exec.Command(program, "serve", "--stdio")
		all[i].Stdin = strings.NewReader(string(opening) + "\n" + strings.Repeat(spend, 20))
		all[i].Stdout = &outs[i]
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	spent, refused := 0, 0
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		spent += strings.Count(outs[i].String(), `"spent":true`)
		refused += strings.Count(outs[i].String(), `"kind":"budget"`)
	}
	st, err := ledger.Verify(t.Context(), ledger.File(path), "")
	if err != nil || st.Entries != 30 || spent != 30 || refused != 30 {
		t.Errorf("%d spent and %d refused, %d entries, %v; want 30 of each", spent, refused, st.Entries, err)
	}
}

// BenchmarkServe asks about one plan again and again.
func BenchmarkServe(b *testing.B) {
	s := service.New(nil)
	line := []byte(`{"op": "epsilon", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 1}}, "count": 100}]}, "delta": 1e-5}`)
	s.Answer(b.Context(), line)
	for b.Loop() {
		s.Answer(b.Context(), line)
	}
}

// BenchmarkServeSpend spends one step of a long training.
func BenchmarkServeSpend(b *testing.B) {
	s := service.New(nil)
	s.Answer(b.Context(), []byte(`{"op": "ledger-create", "neighbors": "add-remove", "epsilon": 8, "delta": 1e-5, "mode": "planned"}`))
	line := []byte(`{"op": "ledger-spend", "ledger": "ledger-1", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 1}}, "sampling": {"poisson": {"rate": 1e-4}}}]}}`)
	for b.Loop() {
		if s.Answer(b.Context(), line).Error != nil {
			b.Fatal("refused")
		}
	}
}
