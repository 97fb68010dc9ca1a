package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant/service"
)

// TestServeSaysWhatCommandsSay: a request is answered by the bytes that the
// command of its name prints.
func TestServeSaysWhatCommandsSay(t *testing.T) {
	const plan = `{"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 2}}, "sampling": {"poisson": {"rate": 0.1}}, "count": 20}]}`
	const gap = `{"neighbors": "substitute", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": 4}}, "sampling": {"without-replacement": {"population": 1000, "batch": 10}}, "count": 10}]}`
	for _, c := range []struct {
		plan, op, keys string
		args           []string
	}{
		{plan, "risk", ``, nil},
		{gap, "risk", `, "false-positives": [1e-6], "priors": [0.25, 0.5]`, []string{"--false-positives", "1e-6", "--priors", "0.25,0.5"}},
		{plan, "curve", `, "points": 3`, []string{"--points", "3"}},
		{plan, "curve", `, "points": 3, "from": -0.5, "to": 1, "rdp": true`, []string{"--points", "3", "--from", "-0.5", "--to", "1", "--rdp"}},
		{plan, "curve", `, "points": 4, "kind": "steps", "delta": 1e-6`, []string{"--points", "4", "--kind", "steps", "--delta", "1e-6"}},
		{plan, "curve", `, "points": 3, "kind": "trade-off", "log": true`, []string{"--points", "3", "--kind", "trade-off", "--log"}},
		{plan, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "noise-multiplier", "accuracy": 1e-4`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "noise-multiplier", "--accuracy", "1e-4"}},
		{gap, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "batch", "step": "steps[0]"`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "batch", "--step", "steps[0]"}},
		{plan, "calibrate", `, "epsilon": 1, "delta": 1e-5, "solve": "batch", "examples": 1000`,
			[]string{"--epsilon", "1", "--delta", "1e-5", "--solve", "batch", "--examples", "1000"}},
		{plan, "compare", `, "delta": 1e-5`, []string{"--delta", "1e-5"}},
	} {
		path := filepath.Join(t.TempDir(), "plan")
		if err := os.WriteFile(path, []byte(c.plan), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := newRootCmd()
		var printed, want bytes.Buffer
		cmd.SetOut(&printed)
		cmd.SetErr(&bytes.Buffer{})
		cmd.SetArgs(append([]string{c.op, "--json", path}, c.args...))
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&want, printed.Bytes()); err != nil {
			t.Fatal(err)
		}
		s := service.New(nil)
		line := fmt.Sprintf(`{"op": %q, "plan": %s%s}`, c.op, c.plan, c.keys)
		for range 2 { // the second time from memory, where there is one
			var out bytes.Buffer
			if err := serve(t.Context(), s, bytes.NewReader([]byte(line)), &out); err != nil {
				t.Fatal(err)
			}
			var got struct{ Result json.RawMessage }
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || !bytes.Equal(got.Result, want.Bytes()) {
				t.Errorf("%s\ngot  %s\nwant %s", line, out.Bytes(), want.Bytes())
			}
		}
	}
}
