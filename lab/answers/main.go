// Command answers prints what every command and example of the repository answers, to compare two
// states of the code. Before and after a change that is to alter no answer,
//
//	go run ./lab/answers > before.txt
//	… the change …
//	go run ./lab/answers > after.txt
//	diff before.txt after.txt
//
// is empty, or each line of it is explained in the commit. It takes about half a minute of one
// core. The same code prints the same bytes: there are no times, no paths and no addresses. Chain
// heads of ledgers (which hold times) and what the training loop learns with a secret source are
// left out. Pictures stand as hashes.
//
// The questions stand in asked.txtar: first the command lines, then the files that they read.
//
//   - A line by itself is run three times, for text, --json and --csv.
//   - A line that begins with "= " is run once, as it stands.
//   - "< file args" is run once with the file as standard input.
//   - "cat file" prints a file that a command wrote, and "hash file" its SHA-256.
//
// examples/ is there too. Every command that takes a plan and ends in seconds is asked about each
// plan of it, and each program of it is run. To add a question, add a line.
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/dpaccountant/accountant/lab/try"
)

//go:embed asked.txtar
var asked []byte

// seeds make programs of examples/ repeat themselves that otherwise have secret randomness.
var seeds = map[string][]string{"training-loop": {"-seed", "1"}}

// onPlans are the commands that each plan of examples/ answers.
var onPlans = []string{
	"epsilon --delta 1e-5,1e-10 --recursion 0 PLAN",
	"delta --epsilon 0.5,2 --recursion 0 PLAN",
	"risk PLAN",
	"= epsilon --accountant rdp --delta 1e-5 --json PLAN",
	"= curve --points 5 --json PLAN",
	"= curve --points 4 --kind trade-off --csv PLAN",
	"= compare --delta 1e-5 --recursion 0 --json PLAN",
}

// slowPlans take a second for each point; they are asked little.
var slowPlans = []string{"examples/tuning.yaml"}

func main() {
	try.Main(func() { run(os.Stdout) })
}

func run(out io.Writer) {
	module := try.Must(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dpaccountant/accountant").Output())
	top := strings.TrimSpace(string(module))
	dir := try.Must(os.MkdirTemp("", "answers"))
	defer os.RemoveAll(dir)
	try.Check(os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(top, "examples"))))
	archive := txtar.Parse(asked)
	for _, f := range archive.Files {
		try.Check(os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666))
	}
	a := &asker{out: out, dir: dir, accountant: filepath.Join(dir, "accountant")}
	a.build(top, a.accountant, "./cmd/accountant")
	for line := range strings.Lines(string(archive.Comment)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			a.line(line)
		}
	}
	for _, p := range try.Must(filepath.Glob(filepath.Join(dir, "examples", "*.[yj]*"))) {
		p = filepath.ToSlash(try.Must(filepath.Rel(dir, p)))
		lines := onPlans
		if slices.Contains(slowPlans, p) {
			lines = []string{"= epsilon --delta 1e-5 --json PLAN"}
		}
		for _, line := range lines {
			a.line(strings.ReplaceAll(line, "PLAN", p))
		}
	}
	for _, p := range try.Must(filepath.Glob(filepath.Join(top, "examples", "*", "main.go"))) {
		name := filepath.Base(filepath.Dir(p))
		a.build(top, filepath.Join(dir, name), "./examples/"+name)
		a.ask(filepath.Join(dir, name), "examples/"+name, seeds[name], "")
	}
}

// An asker runs programs in dir and prints what they answer.
type asker struct {
	out             io.Writer
	dir, accountant string
}

func (a *asker) build(top, to, pkg string) {
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Dir = top
	if text, err := cmd.CombinedOutput(); err != nil {
		try.Check(fmt.Errorf("go build %s: %w\n%s", pkg, err, text))
	}
}

// line runs a line of asked.txtar.
func (a *asker) line(line string) {
	args := words(line)
	switch args[0] {
	case "cat", "hash":
		data := try.Must(os.ReadFile(filepath.Join(a.dir, args[1])))
		if args[0] == "hash" {
			data = fmt.Appendf(nil, "%x\n", sha256.Sum256(data))
		}
		try.Must(fmt.Fprintf(a.out, "$ %s\n%s\n", line, data))
		return
	case "=":
		a.ask(a.accountant, "accountant", args[1:], "")
		return
	case "<":
		a.ask(a.accountant, "accountant", args[2:], args[1])
		return
	}
	for _, form := range [][]string{nil, {"--json"}, {"--csv"}} {
		a.ask(a.accountant, "accountant", slices.Concat(args, form), "")
	}
}

// ask runs a program and prints its exit status, its output and its errors.
func (a *asker) ask(program, name string, args []string, stdin string) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.dir, &stdout, &stderr
	if stdin != "" {
		f := try.Must(os.Open(filepath.Join(a.dir, stdin)))
		defer f.Close()
		cmd.Stdin = f
	}
	if err := cmd.Run(); !errors.As(err, new(*exec.ExitError)) {
		try.Check(err)
	}
	if used := cmd.ProcessState.UserTime(); used > 2*time.Second {
		fmt.Fprintf(os.Stderr, "%v of user time: %s %s\n", used.Round(time.Second/10), name, strings.Join(args, " "))
	}
	answer := fmt.Sprintf("$ %s\n%s", strings.TrimSpace(name+" "+strings.Join(args, " ")), settled(stdout.String()))
	if stderr.Len() > 0 {
		answer += "stderr: " + settled(stderr.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		answer += fmt.Sprintf("exit status %d\n", code)
	}
	try.Must(fmt.Fprintln(a.out, answer))
}

var (
	head = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	date = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.]*( UTC|Z)?`)
	// The training loop draws from the operating system, as it must.
	drawn = regexp.MustCompile(`\d+%(  at most )`)
)

// settled is text without what differs from run to run.
func settled(text string) string {
	text = head.ReplaceAllString(text, "HEAD")
	text = date.ReplaceAllString(text, "TIME")
	return drawn.ReplaceAllString(text, "N%$1")
}

var word = regexp.MustCompile(`'[^']*'|[^'\s]+`)

// words splits a line at blanks outside of single quotes.
func words(line string) (all []string) {
	for _, w := range word.FindAllString(line, -1) {
		all = append(all, strings.Trim(w, "'"))
	}
	return all
}
