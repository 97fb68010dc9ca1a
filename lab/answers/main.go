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
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "answers:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dpaccountant/accountant").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	top := strings.TrimSpace(string(module))
	dir, err := os.MkdirTemp("", "answers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(top, "examples"))); err != nil {
		return err
	}
	archive := txtar.Parse(asked)
	for _, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
			return err
		}
	}
	a := &asker{out: out, dir: dir, accountant: filepath.Join(dir, "accountant")}
	if err := a.build(top, a.accountant, "./cmd/accountant"); err != nil {
		return err
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			if err := a.line(line); err != nil {
				return err
			}
		}
	}
	plans, err := filepath.Glob(filepath.Join(dir, "examples", "*.[yj]*"))
	if err != nil {
		return err
	}
	for _, p := range plans {
		p, err = filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		lines := onPlans
		if slices.Contains(slowPlans, filepath.ToSlash(p)) {
			lines = []string{"= epsilon --delta 1e-5 --json PLAN"}
		}
		for _, line := range lines {
			if err := a.line(strings.ReplaceAll(line, "PLAN", filepath.ToSlash(p))); err != nil {
				return err
			}
		}
	}
	programs, err := filepath.Glob(filepath.Join(top, "examples", "*", "main.go"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		name := filepath.Base(filepath.Dir(p))
		if err := a.build(top, filepath.Join(dir, name), "./examples/"+name); err != nil {
			return err
		}
		if err := a.ask(filepath.Join(dir, name), "examples/"+name, seeds[name], ""); err != nil {
			return err
		}
	}
	return nil
}

// An asker runs programs in dir and prints what they answer.
type asker struct {
	out             io.Writer
	dir, accountant string
}

func (a *asker) build(top, to, pkg string) error {
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Dir = top
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, text)
	}
	return nil
}

// line runs a line of asked.txtar.
func (a *asker) line(line string) error {
	args := words(line)
	switch args[0] {
	case "cat", "hash":
		data, err := os.ReadFile(filepath.Join(a.dir, args[1]))
		if err != nil {
			return err
		}
		if args[0] == "hash" {
			data = fmt.Appendf(nil, "%x\n", sha256.Sum256(data))
		}
		_, err = fmt.Fprintf(a.out, "$ %s\n%s\n", line, data)
		return err
	case "=":
		return a.ask(a.accountant, "accountant", args[1:], "")
	case "<":
		return a.ask(a.accountant, "accountant", args[2:], args[1])
	}
	for _, form := range []string{"", "--json", "--csv"} {
		all := args
		if form != "" {
			all = append(slices.Clip(args), form)
		}
		if err := a.ask(a.accountant, "accountant", all, ""); err != nil {
			return err
		}
	}
	return nil
}

// ask runs a program and prints its exit status, its output and its errors.
func (a *asker) ask(program, name string, args []string, stdin string) error {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.dir, &stdout, &stderr
	if stdin != "" {
		f, err := os.Open(filepath.Join(a.dir, stdin))
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.Stdin = f
	}
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	if used := cmd.ProcessState.UserTime(); used > 2*time.Second {
		fmt.Fprintf(os.Stderr, "%v of user time: %s %s\n", used.Round(time.Second/10), name, strings.Join(args, " "))
	}
	_, err := fmt.Fprintf(a.out, "$ %s\n%s", strings.TrimSpace(name+" "+strings.Join(args, " ")), settled(stdout.String()))
	if err == nil && stderr.Len() > 0 {
		_, err = fmt.Fprintf(a.out, "stderr: %s", settled(stderr.String()))
	}
	if code := cmd.ProcessState.ExitCode(); err == nil && code != 0 {
		_, err = fmt.Fprintf(a.out, "exit status %d\n", code)
	}
	if err == nil {
		_, err = fmt.Fprintln(a.out)
	}
	return err
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

// words splits a line at blanks outside of single quotes.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
