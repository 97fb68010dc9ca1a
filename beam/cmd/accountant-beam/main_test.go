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

	"github.com/dpaccountant/accountant/cmd/service"
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
	var answers struct{ Results []service.LabelAnswer }
	text, err = exec.Command(tool, "label", "--epsilon", "1", "--prior", prior, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answers); err != nil || len(answers.Results) != 1 {
		t.Fatal(len(answers.Results), err)
	}
	design := answers.Results[0]
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
	if err := os.WriteFile(out+"3-dead-00000-of-00001.jsonl", []byte("{}\n"), 0o600); err != nil {
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
		{"labels --in [ --out x", "--in: [: syntax error in pattern"},
		{"labels --in DATA --out OUT2 --epsilon x", "error: invalid value \"x\" for flag -epsilon: parse error; -help lists the flags\n"},
		{"account --in DATA --out OUT2 --dead OUT2", "--dead: OUT2 is --out"},
		{"account --in OUT3-dead-00000-of-00001.jsonl --out OUT2 --dead OUT3-dead", "--dead: OUT3-dead-00000-of-00001.jsonl is read and would be written"},
		{"labels --in DATA --out OUT", "of a run with another number of shards"},
		{"labels --in DATA --out OUT2", "missing --label_set"},
		{"labels --in DATA --out OUT2 --label_set 0..x", `--label_set: "x" is not a number`},
		{"labels --in DATA --out OUT2 --label_set 0..2", "epsilon: 0 is not in"},
		{"labels --in DATA --out OUT2 --label_set 0..2 --epsilon 1", "key: is missing"},
		{"labels --in DATA --out OUT2 --label_set 0..2 --epsilon 1 --column lable", `column: "lable" is not in the header; did you mean`},
		{"votes --in DATA --out OUT2", "is not in the header"},
		{"partitions --in DATA --out OUT2 --person label --partition label --epsilon 1", "delta: 0 is not in"},
		{"query --in DATA --out OUT2 --count", "budget: 0 is not in"},
		{"query --in DATA --out OUT2 --budget 1", "nothing is asked for"},
		{"query --in DATA --out OUT2 --budget 1 --count --group town --delta 1e-6", "is not in the header"},
		{"query --in DATA --out OUT2 --budget 1 --count", "key: is missing"},
	} {
		names := strings.NewReplacer("DATA", data, "OUT2", out+"2", "OUT3", out+"3", "OUT", out)
		text, err := command(strings.Fields(names.Replace(c.args))...).CombinedOutput()
		if want := names.Replace(c.want); err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, want, text)
		}
	}
}

// Rows of all sorts that cannot be used: each is in the file of refused rows with its line and the reason, in a file that is its
// owner's alone, and no other row is.
func TestBadRows(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	mustRun(t, "key", "--key_file", key)
	for _, c := range []struct {
		name, text, args, want string
		kept                   int
	}{
		{"labels.csv", // a byte order mark, CRLF, a field with a line feed, bytes that are no UTF-8
			"\ufeffid,label\r\n1,0\r\n2,x\r\n3,7\r\n4,1\r\n4,2\r\n,1\r\n5\r\n\"6\r\n7\",1\r\n8,NaN\r\n9,1e999\r\n10, 1\r\n\xff,1\r\n\r\n11,secret",
			"labels --label_set 0..2 --weights 1,1,1 --epsilon 1 --id_column id",
			`3 label: "x" is not a number
4 label: 7 is not one of the 3 labels in [0, 2]
6 id: 2 rows have the same; the first is released
7 id: is empty
8 has 1 fields, must have 2 as the header
9 column 3: extraneous or missing " in quoted-field
10 column 2: bare " in non-quoted-field
11 label: "NaN" is not a number
12 label: "1e999" is not a number
15 is blank, must be a row
16 label: "secret" is not a number
`, 4},
		{"labels.jsonl", "{\"label\":0}\nnot\n{\"label\":null}\n{}\n[]\n{\"label\":1,\"label\":2}\n{\"label\":1} x\n\n{\"label\":true}\n{\"label\":\"1\"}\r\n",
			"labels --label_set 0..2 --weights 1,1,1 --epsilon 1",
			`2 is no JSON object
3 label: must be a string or a number
4 label: is missing
5 is no JSON object
6 label: is there twice
7 has something after its JSON object
9 label: must be a string or a number
`, 2},
		{"votes.csv", "query,teacher,class\na,1,0\na,1,1\na,2,5\n,3,1\na,,1\na,2,1.5\na,3,-1\na,4,x\na,5,2\n",
			"votes --classes 3 --teachers 3 --mechanism gnmax --sigma2 4 --delta 1e-5",
			`3 teacher: has voted on this query before
4 class: 5 is not in [0, 2]
5 query: is empty
6 teacher: is empty
7 class: "1.5" is not a whole number
8 class: -1 is not in [0, 2]
9 class: "x" is not a whole number
`, 1},
	} {
		in, out := filepath.Join(dir, c.name), filepath.Join(dir, "of-"+strings.Replace(c.name, ".", "-", 1))
		if err := os.WriteFile(in, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		mustRun(t, append(strings.Fields(c.args), "--in", in, "--out", out, "--key_file", key)...)
		dead := out + "-dead-00000-of-00001.jsonl"
		var got strings.Builder
		for line := range strings.Lines(read(t, dead)) {
			var row struct {
				Line         int64
				Reason, Text string
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "%d %s\n", row.Line, row.Reason)
		}
		if got.String() != c.want {
			t.Errorf("%s: refused\n%swant\n%s", c.name, got.String(), c.want)
		}
		if info, err := os.Stat(dead); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", dead, info.Mode(), err)
		}
		files, _ := filepath.Glob(out + "-0*")
		if len(files) != 1 {
			t.Fatalf("%s: wrote %v", c.name, files)
		}
		if kept := strings.Count(read(t, files[0]), "\n") - strings.Count(filepath.Ext(files[0]), "csv"); kept != c.kept {
			t.Errorf("%s: %d rows are kept, want %d", c.name, kept, c.kept)
		}
	}
}
