package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"accountant": main, "accountant-write-slowly": writeSlowly, "accountant-write-forever": writeForever})
}

// TestScripts runs testdata/script/*.txtar against the built command.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "append": appendBytes, "shorten": shorten},
	})
}

// exits runs a command that must end with the given status:
// exits 2 accountant epsilon.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status command…")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("%v", err)
	}
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s: exit status %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// appendBytes writes to the end of a file, with the escapes of Go:
// append budget.ledger \x00.
func appendBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append file text")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	ts.Check(err)
	_, err = f.WriteString(text)
	ts.Check(err)
	ts.Check(f.Close())
}

// shorten takes bytes away from the end of a file: shorten budget.ledger 1.
func shorten(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shorten file bytes")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()-int64(n)))
}

// command runs the command line in this process.
func command(stdin string, args ...string) (code int, stdout, stderr string) {
	// --memory limits the whole process, which has other commands to run.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// execute runs one command in this process, outside its root.
func execute(cmd *cobra.Command, args ...string) (stdout, stderr string, err error) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	var out, errs bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetFlagErrorFunc(flagError)
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

const okPlan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 1}}}]\n"

// badCalls holds wrong command lines with exit code and the whole of standard
// error; okPlan is on standard input.
var badCalls = []struct {
	args string
	code int
	want string
}{
	// Wrong usage.
	{"epsiln", 2, `accountant: unknown command "epsiln"; did you mean "epsilon"? (see accountant --help)`},
	{"help epsiln", 2, `accountant help: unknown command "epsiln"; did you mean "epsilon"? (see accountant help --help)`},
	{"--delta 1e-5", 2, `accountant: unknown flag --delta (see accountant --help)`},
	{"epsiln --delta 1e-5 -", 2, `accountant: unknown command "epsiln"; did you mean "epsilon"? (see accountant --help)`},
	{"--delta 1e-5 epsiln -", 2, `accountant: unknown command "epsiln"; did you mean "epsilon"? (see accountant --help)`},
	{"epsilon -delta 1e-5 -", 2, "accountant epsilon: unknown flag -d; did you mean --delta? (see accountant epsilon --help)"},
	{"delta --delta 1e-5 -", 2, "accountant delta: unknown flag --delta; accountant epsilon reports ε at a δ (see accountant delta --help)"},
	{"epsilon --sigma 1 -", 2, "accountant epsilon: unknown flag --sigma; the plan says that: accountant dpsgd, which needs none, has --noise-multiplier (see accountant epsilon --help)"},
	{"risk --fpr 0.1 -", 2, "accountant risk: unknown flag --fpr; did you mean --false-positives? (see accountant risk --help)"},
	{"calibrate --tpr 0.1 -", 2, "accountant calibrate: unknown flag --tpr; did you mean --target-tpr? (see accountant calibrate --help)"},
	{"calibrate --epsilon 1 --delta 0 --solve epochs -", 1, `accountant: --solve: "epochs" is not noise-multiplier, count, rate, batch, records-per-person, epsilon or users; did you mean "count"?`},
	{"epsilon --delta 1e\u22125 -", 1, "accountant: --delta: \"1e\u22125\" is not a number; with the minus of a keyboard it is 1e-5"},
	{"version --sigma", 2, "accountant version: unknown flag --sigma (see accountant version --help)"},
	{"ledger stauts --csv x", 2, `accountant ledger: unknown command "stauts"; did you mean "status"? (see accountant ledger --help)`},
	{"epsilon --mechanism laplace -", 2, `accountant epsilon: unknown flag --mechanism; accountant profile and accountant sampling have it (see accountant epsilon --help)`},
	{"dpsgd --sigma 1", 2, `accountant dpsgd: unknown flag --sigma; did you mean --noise-multiplier? (see accountant dpsgd --help)`},
	{"epsilon", 2, "accountant epsilon: missing the plan file (- reads standard input) (see accountant epsilon --help)"},
	{"epsilon --delta 1e-5", 2, "accountant epsilon: missing the plan file (- reads standard input) (see accountant epsilon --help)"},
	{"epsilon -", 2, "accountant epsilon: missing --delta (see accountant epsilon --help)"},
	{"epsilon --delta 1e-5 --follow a --certificate b", 2, "accountant epsilon: --certificate and --follow exclude each other (see accountant epsilon --help)"},
	{"epsilon --delta 1e-5 - b", 2, `accountant epsilon: "b" is one argument too many; one plan file is read (see accountant epsilon --help)`},
	{"epsilon --delta", 2, "accountant epsilon: flag --delta needs a value (see accountant epsilon --help)"},
	{"epsilon --detla 1e-5 -", 2, "accountant epsilon: unknown flag --detla; did you mean --delta? (see accountant epsilon --help)"},
	{"epsilon -d 1e-5 -", 2, "accountant epsilon: unknown flag -d (see accountant epsilon --help)"},
	{"epsilon --epsilon 1 -", 2, "accountant epsilon: unknown flag --epsilon; accountant delta reports δ at an ε, accountant calibrate meets one (see accountant epsilon --help)"},
	{"dpsgd --epsilon 2 --delta 1e-5", 2, "accountant dpsgd: unknown flag --epsilon; did you mean --target-epsilon? (see accountant dpsgd --help)"},
	{"delta -", 2, "accountant delta: missing --epsilon (see accountant delta --help)"},
	{"delta --epsilon 1", 2, "accountant delta: missing the plan file (- reads standard input) (see accountant delta --help)"},
	{"dpsgd", 2, "accountant dpsgd: missing --delta (see accountant dpsgd --help)"},
	{"dpsgd --delta 1e-5 --sampling-rate 0.1 --steps 3", 2, "accountant dpsgd: missing --noise-multiplier (or --target-epsilon) (see accountant dpsgd --help)"},
	{"dpsgd plan.yaml", 2, `accountant dpsgd: "plan.yaml" is an argument, but the command takes flags only (see accountant dpsgd --help)`},
	{"dpsgd --noise-multiplier 1 --delta 1e-5", 2, "accountant dpsgd: missing --examples and --batch-size (or --sampling-rate) (see accountant dpsgd --help)"},
	{"dpsgd --noise-multiplier 1 --sampling-rate 0.1 --steps 1 --delta 1,1", 1, "accountant: --delta: 1 is not in (0, 1); commas stand between values; did you mean 1.1?"},
	{"dpsgd --noise-multiplier 1 --sampling-rate 0.1 --steps 1 --delta 0,00001", 1, "accountant: --delta: 0 is not in (0, 1); commas stand between values; did you mean 0.00001?"},
	{"dpsgd --noise-multiplier 1 --sampling-rate 0.1 --steps 1 --delta 1e-5,2", 1, "accountant: --delta: 2 is not in (0, 1)"},
	{"dpsgd --delta 1e-5 --target-tpr 0.1", 2, "accountant dpsgd: --target-tpr needs --at-fpr (see accountant dpsgd --help)"},
	{"dpsgd --delta 1e-5 --at-fpr 0.1", 2, "accountant dpsgd: --at-fpr needs --target-tpr (see accountant dpsgd --help)"},
	{"dpsgd --delta 1e-5 --target-epsilon 1 --target-advantage 0.1", 2, "accountant dpsgd: --target-epsilon and --target-advantage exclude each other (see accountant dpsgd --help)"},
	{"dpsgd --delta 1e-5 --sampling-rate 0.1 --steps 1 --target-advantage 2", 1, "accountant: --target-advantage: 2 is not in (0, 1)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 5", 2, "accountant dpsgd: missing --examples and --batch-size (or --sampling-rate) (see accountant dpsgd --help)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0.1", 2, "accountant dpsgd: missing --epochs (or --steps) (see accountant dpsgd --help)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0.1 --batch-size 5", 2, "accountant dpsgd: --sampling-rate and --batch-size exclude each other (see accountant dpsgd --help)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0.1 --steps 5 --epochs 5", 2, "accountant dpsgd: --epochs and --steps exclude each other (see accountant dpsgd --help)"},
	{"dpsgd --noise 1 --delta 1e-5", 2, "accountant dpsgd: unknown flag --noise; did you mean --noise-multiplier? (see accountant dpsgd --help)"},
	{"dpsgd --noise_multiplier 1", 2, "accountant dpsgd: unknown flag --noise_multiplier; did you mean --noise-multiplier? (see accountant dpsgd --help)"},
	{"version now", 2, `accountant version: "now" is an argument, but the command takes flags only (see accountant version --help)`},
	{"epsilon --delta 1e-5 --delta 1e-6 -", 2, "accountant epsilon: --delta is given twice (see accountant epsilon --help)"},
	{"epsilon --delta 1e-5 --markdown --latex -", 2, "accountant epsilon: --markdown and --latex exclude each other (see accountant epsilon --help)"},
	{"epsilon --delta 1e-5 --json --csv -", 2, "accountant epsilon: --json and --csv exclude each other (see accountant epsilon --help)"},
	{"label --epsilon 1 --prior - aply", 2, `accountant label: unknown command "aply"; did you mean "apply"? (see accountant label --help)`},
	{"label --epsilon 1 --prior - prior.csv", 2, `accountant label: "prior.csv" is an argument, but the command takes flags only (see accountant label --help)`},
	{"label apply --epsilon 1 --in a --out b", 2, "accountant label apply: missing --prior (or --labels) (see accountant label apply --help)"},
	{"pate smoth", 2, `accountant pate: unknown command "smoth"; did you mean "smooth"? (see accountant pate --help)`},
	{"completion bsh", 2, `accountant completion: unknown command "bsh"; did you mean "bash"? (see accountant completion --help)`},

	// Bad values.
	{"epsilon --delta 1e-5 --accountant renyi -", 1, `accountant: --accountant: "renyi" is not fourier or rdp`},
	{"curve --kind trade-of --csv -", 1, `accountant: --kind: "trade-of" is not delta, steps or trade-off; did you mean "trade-off"?`},
	{"curve --out /dev/null/x.svg -", 1, "accountant: --plot: /dev/null/x.svg: not a directory"},
	{"profile --mechanism gaussian --noise-multiplier 1e400", 1, "accountant: --noise-multiplier: 1e400 is too large for a 64-bit floating-point number"},
	{"select --candidate-epsilon NaN", 1, "accountant: --candidate-epsilon: NaN is not in [0, 1e6]"},
	{"select --candidate-epsilon 1 --law poison", 1, `accountant: --law: "poison" is not geometric, logarithmic, negative-binomial, poisson, binomial or fixed; did you mean "poisson"?`},
	{"majority --mechanisms 3 --epsilon 1e400 --allowance 2", 1, `accountant: --epsilon: "1e400" is not a number`},
	{"pate analyze --votes testdata --mechanism gnmax --sigma2 40 --delta 1e-5", 1, "accountant: testdata: is a directory"},
	{"label --epsilon 1 --prior testdata", 1, "accountant: testdata: is a directory"},
	{"ledger status testdata", 1, "accountant: testdata: is not a regular file"},
	{"ledger check --head xyz testdata", 1, `accountant: --head: "xyz" is not a checksum of 64 hexadecimal digits`},
	{"epsilon --delta 0x1p-3 -", 1, `accountant: --delta: "0x1p-3" is not a number`},
	{"epsilon --delta small -", 1, `accountant: --delta: "small" is not a number`},
	{"epsilon --delta= -", 1, `accountant: --delta: "" is not a number`},
	{"epsilon --delta 1e-5,,1e-6 -", 1, `accountant: --delta: "" is not a number`},
	{"epsilon --delta 1e-5;1e-6 -", 1, `accountant: --delta: "1e-5;1e-6" is not a number`},
	{"epsilon --delta -1e-5 -", 1, "accountant: --delta: -1e-5 is not in [0, 1)"},
	{"epsilon --delta 1 -", 1, "accountant: --delta: 1 is not in [0, 1)"},
	{"epsilon --delta 1e-5,1.5 -", 1, "accountant: --delta: 1.5 is not in [0, 1)"},
	{"epsilon --delta .nan -", 1, "accountant: --delta: .nan is not in [0, 1)"},
	{"epsilon --delta 1e-999 -", 1, "accountant: --delta: 1e-999 is too small for a 64-bit floating-point number"},
	{"epsilon --delta 1e-5 --accuracy 0 -", 1, "accountant: --accuracy: 0 is not in [1e-12, 1)"},
	{"epsilon --delta 1e-5 --accuracy 1% -", 1, `accountant: --accuracy: "1%" is not a number; for this percentage write 0.01`},
	{"epsilon --delta 1e-5 --memory 0.5 -", 1, "accountant: --memory: 0.5 is not in [1, 1e+06]"},
	{"epsilon --delta 1e-5 --memory 1GB -", 1, `accountant: --memory: "1GB" is not a number`},
	{"epsilon --delta 1e-5 --json=maybe -", 1, `accountant: --json: "maybe" is not a truth value (true or false)`},
	{"epsilon --delta 1e-5 no/such/plan.yaml", 1, "accountant: no/such/plan.yaml: no such file or directory"},
	{"epsilon --delta 1e-5 testdata", 1, "accountant: testdata: is a directory"},
	{"delta --epsilon -1 -", 1, "accountant: --epsilon: -1 is not in [0, +Inf)"},
	{"delta --epsilon .inf -", 1, "accountant: --epsilon: .inf is not in [0, +Inf)"},
	{"delta --epsilon inf -", 1, `accountant: --epsilon: "inf" is not a number`},
	{"delta --epsilon 1e999 -", 1, "accountant: --epsilon: 1e999 is too large for a 64-bit floating-point number"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples many --batch-size 1 --epochs 1", 1, `accountant: --examples: "many" is not a whole number in [1, 9007199254740992]`},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 0 --batch-size 1 --epochs 1", 1, "accountant: --examples: 0 is not a whole number in [1, 9007199254740992]"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 60,000 --batch-size 1 --epochs 1", 1, `accountant: --examples: "60,000" is not a whole number in [1, 9007199254740992]`},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 10 --batch-size 11 --epochs 1", 1, "accountant: --batch-size: 11 is not a whole number in [1, 10]"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 10 --batch-size 2.5 --epochs 1", 1, "accountant: --batch-size: 2.5 is not a whole number in [1, 10]"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 10 --batch-size 1 --epochs 0", 1, "accountant: --epochs: 0 is not in (0, +Inf)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --examples 10 --batch-size 1 --epochs 1e300", 1, "accountant: --epochs: 1e300 makes more than 2^53 steps"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0 --steps 5", 1, "accountant: --sampling-rate: 0 is not in (0, 1]"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 256/0 --steps 5", 1, `accountant: --sampling-rate: "256/0" divides by zero`},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 1e-300 --epochs 1", 1, "accountant: --epochs: 1 makes more than 2^53 steps"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0.1 --steps 1e16", 1, "accountant: --steps: 1e16 is not a whole number in [1, 9007199254740992]"},
	{"dpsgd --noise-multiplier -1 --delta 1e-5 --sampling-rate 0.1 --steps 5", 1, "accountant: --noise-multiplier: -1 is not in [1e-06, 1e+15]"},
	{"dpsgd --noise-multiplier .nan --delta 1e-5 --sampling-rate 0.1 --steps 5", 1, "accountant: --noise-multiplier: NaN is not in [1e-06, 1e+15]"},
	{"dpsgd --noise-multiplier 1 --delta 0 --sampling-rate 0.1 --steps 5", 1, "accountant: --delta: 0 is not in (0, 1)"},
	{"dpsgd --noise-multiplier 1 --delta 1e-5 --sampling-rate 0.1 --steps 5 --neighbors both", 1, `accountant: --neighbors: "both" is not add-remove, substitute or zero-out`},
}

func TestBadCalls(t *testing.T) {
	for _, c := range badCalls {
		code, stdout, stderr := command(okPlan, strings.Fields(c.args)...)
		if code != c.code || stderr != c.want+"\n" || stdout != "" {
			t.Errorf("accountant %s:\n got %d %s%s\nwant %d %s", c.args, code, stdout, stderr, c.code, c.want)
		}
	}
}

// TestBadPlan: an error in a plan reads file:line: field: problem.
func TestBadPlan(t *testing.T) {
	const plan = "neighbors: add-remove\nsteps:\n  - count: 3\n    mechanism: {gaussian: {noise-multiplier: -1}}\n"
	path := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(path, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	const problem = ":4: steps[0].mechanism.gaussian.noise-multiplier: -1 is not in [1e-06, 1e+15]\n"
	for _, c := range []struct{ arg, want string }{
		{path, "accountant: " + path + problem},
		{"-", "accountant: standard input" + problem},
	} {
		for _, args := range [][]string{{"epsilon", "--delta", "1e-5"}, {"delta", "--epsilon", "1"}} {
			code, stdout, stderr := command(plan, append(args, c.arg)...)
			if code != 1 || stdout != "" || stderr != c.want {
				t.Errorf("%v %s: %d, %q, %q; want 1, %q", args, c.arg, code, stdout, stderr, c.want)
			}
		}
	}
	code, _, stderr := command(strings.Repeat("#", 2<<20), "epsilon", "--delta", "1e-5", "-")
	if want := "accountant: standard input: plan: is larger than 1048576 bytes\n"; code != 1 || stderr != want {
		t.Errorf("large plan: %d, %q; want 1, %q", code, stderr, want)
	}
}

// With --json an error is one JSON object on standard error, with a kind and the text that
// is printed without it.
func TestErrorsAsJSON(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		kind string
	}{
		{"epsilon --delta 2 --json -", exitInput, "input"},
		{"epsilon --detla 2 --json -", exitUsage, "usage"},
		{"epsiln --json -", exitUsage, "usage"},
		{"epsilon --json -", exitUsage, "usage"},
		{"calibrate --epsilon 0.5 --delta 0 --solve noise-multiplier --json -", exitInput, "input"}, // a pure step has none
	} {
		var out, plain, errs strings.Builder
		run(t.Context(), strings.Fields(strings.Replace(c.args, "--json ", "", 1)), strings.NewReader(okPlan), &out, &plain)
		code := run(t.Context(), strings.Fields(c.args), strings.NewReader(okPlan), &out, &errs)
		var got struct {
			Error struct{ Kind, Message string }
		}
		if err := json.Unmarshal([]byte(errs.String()), &got); err != nil || code != c.code || got.Error.Kind != c.kind || out.Len() > 0 {
			t.Errorf("%s: %d %q, standard output %q: %v", c.args, code, errs.String(), out.String(), err)
		}
		if got.Error.Message == "" || !strings.Contains(plain.String(), got.Error.Message) {
			t.Errorf("%s: message %q, without --json %q", c.args, got.Error.Message, plain.String())
		}
	}
}
