package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/service"
)

// The tests run this program as its users do: the test's own binary, with main for its job.
func TestMain(m *testing.M) {
	switch name := os.Getenv(partVariable); name {
	case "":
		os.Exit(m.Run())
	case "main":
		main()
	default:
		part(name)
	}
}

// partVariable says what the test's binary is, if not the tests.
const partVariable = "ACCOUNTANT_BEAM_TEST"

func command(args ...string) *exec.Cmd { return commandContext(context.Background(), args...) }

func commandContext(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), partVariable+"=main")
	return cmd
}

func mustRun(t *testing.T, args ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if text, err := commandContext(ctx, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, text)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The accountant itself, for its answers.
func accountant(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "accountant")
	build := exec.Command("go", "build", "-o", name, "./cmd/accountant")
	build.Dir = "../../.."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return name
}

// Answers are the bytes of the command's, costs of votes and designs of labels its numbers.
func TestAnswersAreTheCommands(t *testing.T) {
	tool, dir := accountant(t), t.TempDir()
	in := filepath.Join(dir, "q.jsonl")
	var requests []string
	for i := range 12 {
		requests = append(requests, fmt.Sprintf(`{"id": %d, "op": "epsilon", "plan": {"neighbors": "add-remove", "steps": [{"mechanism": {"gaussian": {"noise-multiplier": %g}}, "sampling": {"poisson": {"rate": 0.01}}, "count": 500}]}, "delta": 1e-6}`, i, 0.8+0.1*float64(i)))
	}
	if err := os.WriteFile(in, []byte(strings.Join(requests, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "account", "--in", in, "--out", filepath.Join(dir, "answers"))
	serve := exec.Command(tool, "serve", "--stdio")
	serve.Stdin = strings.NewReader(strings.Join(requests, "\n") + "\n")
	want, err := serve.Output()
	if err != nil {
		t.Fatal(err)
	}
	if text := read(t, filepath.Join(dir, "answers-00000-of-00001.jsonl")); text != string(want) || len(text) == 0 {
		t.Errorf("answers\n%s\nof the command\n%s", text, want)
	}

	data := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(data, []byte("x,label\n"+strings.Repeat("1,0\n2,1\n3,2\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "key")
	mustRun(t, "key", "--key_file", key)
	mustRun(t, "labels", "--in", data, "--label_set", "0..2", "--weights", "60,25,15", "--epsilon", "1", "--key_file", key, "--out", filepath.Join(dir, "private"))
	prior := filepath.Join(dir, "prior.csv")
	if err := os.WriteFile(prior, []byte("label,weight\n0,60\n1,25\n2,15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(tool, "label", "apply", "--epsilon", "1", "--prior", prior, "--in", data, "--out", filepath.Join(dir, "x.csv"), "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct {
		Rows   int64
		Loss   float64
		Charge []struct {
			Mechanism string
			Epsilon   float64
			Count     int64
		}
	}
	var ours struct {
		Rows   int64
		Groups []struct{ Loss float64 }
		Charge []struct {
			Mechanism string
			Epsilon   float64
			Count     int64
		}
	}
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "private-report-00000-of-00001.json"))), &ours); err != nil {
		t.Fatal(err)
	}
	if ours.Rows != theirs.Rows || ours.Groups[0].Loss != theirs.Loss || math.IsNaN(theirs.Loss) || theirs.Loss == 0 || fmt.Sprint(ours.Charge) != fmt.Sprint(theirs.Charge) {
		t.Errorf("%+v, of the command %+v", ours, theirs)
	}
	// The values that come out are those that the command's come from.
	var design service.LabelAnswer
	text, err = exec.Command(tool, "label", "--epsilon", "1", "--prior", prior, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &design); err != nil {
		t.Fatal(err)
	}
	outputs := map[string]bool{}
	for _, v := range design.Outputs {
		s, _ := json.Marshal(v)
		outputs[string(s)] = true
	}
	lines := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "private-00000-of-00001.csv"))), "\n")
	if len(lines) != 151 || lines[0] != "x,label" {
		t.Fatalf("%d lines, %q", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		if _, y, _ := strings.Cut(line, ","); !outputs[y] {
			t.Errorf("%s is no output of %v", y, design.Outputs)
		}
	}
}

// labelFile writes a key and so many rows with labels from 0 to 10.
func labelFile(t *testing.T, dir string, n int) (key, data string) {
	t.Helper()
	key, data = filepath.Join(dir, "key"), filepath.Join(dir, "data.csv")
	mustRun(t, "key", "--key_file", key)
	var rows bytes.Buffer
	fmt.Fprintln(&rows, "id,label")
	for i := range n {
		fmt.Fprintf(&rows, "%d,%d\n", i, i*i%11)
	}
	if err := os.WriteFile(data, rows.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return key, data
}

// labelsOut is all that a run of the job labels has written.
func labelsOut(t *testing.T, dir, out string, shards int) (text string) {
	t.Helper()
	for i := range shards {
		text += read(t, fmt.Sprintf("%s-%05d-of-%05d.csv", filepath.Join(dir, out), i, shards))
	}
	return text + read(t, filepath.Join(dir, out+"-report-00000-of-00001.json"))
}

// A run that is killed with SIGKILL while it writes leaves no part of a file under its name, and the run after it writes
// the bytes that an undisturbed one writes.
func TestKilledRunGoesOn(t *testing.T) {
	const shards = 8
	dir := t.TempDir()
	key, data := labelFile(t, dir, 4000)
	args := func(out string) []string {
		return []string{"labels", "--in", data, "--label_set", "0..10", "--id_column", "id", "--epsilon", "1", "--key_file", key, "--shards", fmt.Sprint(shards), "--out", filepath.Join(dir, out)}
	}
	mustRun(t, args("whole")...)
	want := labelsOut(t, dir, "whole", shards)
	// Killed when the first of its files, complete or not, is there: until it was caught with some of them missing.
	caught := false
	for try := 0; try < 10 && !caught; try++ {
		cmd := command(args("killed")...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var err error
		for running := true; running; {
			select {
			case err = <-ended:
				running = false
			default:
				if begun, _ := filepath.Glob(filepath.Join(dir, "killed-*")); len(begun) > 0 {
					cmd.Process.Kill()
					err, running = <-ended, false
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		there, _ := filepath.Glob(filepath.Join(dir, "killed-*.csv"))
		caught = err != nil && len(there) < shards
		t.Logf("killed with %d files: %v", len(there), err)
		for _, name := range there { // each whole: the same as that of the undisturbed run
			if read(t, name) != read(t, strings.Replace(name, "killed-", "whole-", 1)) {
				t.Errorf("%s is not what an undisturbed run writes", name)
			}
		}
		if !caught {
			left, _ := filepath.Glob(filepath.Join(dir, "killed-*"))
			for _, name := range left {
				os.Remove(name)
			}
		}
	}
	if !caught {
		t.Error("no run was killed while it was writing")
	}
	mustRun(t, args("killed")...)
	if labelsOut(t, dir, "killed", shards) != want || strings.Count(want, "\n") != 4000+shards+1 {
		t.Errorf("the run after those that were killed writes other bytes than an undisturbed one")
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(data, []byte("label\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(out+"-00000-of-00009.csv", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"", `"" is no job`},
		{"labels", "missing --in or --out"},
		{"labels extra", `"extra" is no flag`},
		{"labels --in nothing*.csv --out x", "--in: no file matches"},
		{"labels --in DATA --out OUT", "of a run with another number of shards"},
		{"labels --in DATA --out OUT2", "missing --label_set"},
		{"labels --in DATA --out OUT2 --label_set 0..x", `--label_set: "x" is not a number`},
		{"labels --in DATA --out OUT2 --label_set 0..2", "epsilon: 0 is not in"},
		{"labels --in DATA --out OUT2 --label_set 0..2 --epsilon 1", "key: is missing"},
		{"labels --in DATA --out OUT2 --label_set 0..2 --epsilon 1 --column lable", `column: "lable" is not in the header; did you mean`},
		{"votes --in DATA --out OUT2", "is not in the header"},
		{"partitions --in DATA --out OUT2 --person label --partition label --epsilon 1", "delta: 0 is not in"},
	} {
		args := strings.Fields(strings.NewReplacer("DATA", data, "OUT2", out+"2", "OUT", out).Replace(c.args))
		text, err := command(args...).CombinedOutput()
		if err == nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, c.want, text)
		}
	}
}
