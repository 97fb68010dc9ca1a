package main

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/internal/slow"
)

// root is where the pages are, seen from this package.
const root = "../.."

// Tables that are held to what pages are held to: their cells have links and names.
const (
	soundness  = "docs/reference/soundness.csv"
	randomness = "docs/reference/randomness.csv"
)

// pages returns the paths of all pages, relative to root.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if err == nil && (strings.HasSuffix(path, ".md") || strings.HasSuffix(filepath.ToSlash(path), soundness) || strings.HasSuffix(filepath.ToSlash(path), randomness)) {
			rel, relErr := filepath.Rel(root, path)
			all, err = append(all, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(all, "README.md") || len(all) < 10 {
		t.Fatalf("pages are %v", all)
	}
	return all
}

func page(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// A shown is a command of a page. In blocks marked console, lines that start
// with "$ " are commands and the others what they print; a line that is … stands
// for any number of lines. In blocks marked sh every line is a command, and
// nothing is said of what it prints. A command may end in a comment; one that
// says "# takes" is run with SLOW=2 only.
type shown struct {
	line    int      // of the command, from 0
	args    []string // without the name of the program
	printed bool     // whether the page shows the output
	// The output is lines[from:to] of the page.
	from, to int
	takes    bool
}

// program returns what follows the name of the program in a command line, if it
// is this program's.
func program(command string) (args string, ok bool) {
	for _, name := range []string{"accountant ", "go run ./cmd/accountant "} {
		if args, ok = strings.CutPrefix(command, name); ok {
			return args, true
		}
	}
	return "", false
}

// words splits a command line as a shell does, as far as pages need: quotes and
// comments.
func words(line string) (args []string, comment string) {
	var word strings.Builder
	var quote rune
	started := false
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, started = r, true
		case r == ' ':
			if started {
				args = append(args, word.String())
				word.Reset()
			}
			started = false
		case r == '#' && !started:
			return args, line[i:]
		default:
			started = true
			word.WriteRune(r)
		}
	}
	if started {
		args = append(args, word.String())
	}
	return args, ""
}

func commandsOf(lines []string) []shown {
	var all []shown
	for i := 0; i < len(lines); i++ {
		kind, ok := strings.CutPrefix(lines[i], "```")
		if !ok {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		for at := i + 1; at < end; at++ {
			s := shown{line: at}
			command := lines[at]
			if kind == "console" {
				if command, ok = strings.CutPrefix(command, "$ "); !ok {
					continue
				}
			} else if kind != "sh" {
				break
			}
			for strings.HasSuffix(command, `\`) && at+1 < end {
				at++
				command = strings.TrimSuffix(command, `\`) + strings.TrimSpace(lines[at])
			}
			if kind == "console" {
				s.printed, s.from = true, at+1
				for at+1 < end && !strings.HasPrefix(lines[at+1], "$ ") {
					at++
				}
				s.to = at + 1
			}
			if args, ok := program(command); ok {
				var comment string
				s.args, comment = words(args)
				s.takes = strings.HasPrefix(comment, "# takes")
				all = append(all, s)
			}
		}
		i = end
	}
	return all
}

// TestPages runs the commands of the pages, each page in a directory of its own
// with the examples in it, and compares what they print with what the pages show.
// After a change of what is printed:
//
//	SLOW=2 go test ./cmd/accountant -run TestPages -update
func TestPages(t *testing.T) {
	examples, err := filepath.Abs(root + "/examples")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range pages(t) {
		lines := page(t, path)
		commands := commandsOf(lines)
		ran += len(commands)
		if len(commands) == 0 {
			continue
		}
		t.Run(path, func(t *testing.T) {
			edits := runPage(t, path, lines, commands, examples)
			if !*update || len(edits) == 0 {
				return
			}
			// From the end, so that the places of the others stay right.
			for _, e := range slices.Backward(edits) {
				lines = slices.Replace(lines, e.from, e.to, e.lines...)
			}
			if err := writeFileAtomic(filepath.Join(root, path), []byte(strings.Join(lines, "\n"))); err != nil {
				t.Fatal(err)
			}
		})
	}
	if ran < 10 {
		t.Errorf("the pages have %d commands, want at least 10", ran)
	}
}

type edit struct {
	from, to int
	lines    []string
}

func runPage(t *testing.T, path string, lines []string, commands []shown, examples string) (edits []edit) {
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "docs", "img"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Chdir(home); err != nil {
			t.Fatal(err)
		}
	}()
	for _, c := range commands {
		if c.takes && !slow.All() {
			t.Logf("%s:%d: takes long, not run", path, c.line+1)
			continue
		}
		code, stdout, stderr := command("", c.args...)
		want := lines[c.from:c.to]
		// A command may be shown to fail: its last line is then the error.
		fails := len(want) > 0 && strings.HasPrefix(want[len(want)-1], "accountant: ")
		if (code != 0) != fails {
			t.Errorf("%s:%d: accountant %s: exit status %d\n%s", path, c.line+1, strings.Join(c.args, " "), code, stderr)
			continue
		}
		if !c.printed {
			continue
		}
		got := strings.Split(strings.TrimRight(stdout+stderr, "\n"), "\n")
		for i := range got {
			got[i] = strings.TrimRight(got[i], " ")
		}
		if alike(want, got) && !(*update && !slices.Contains(want, "…")) {
			continue
		}
		if *update && !slices.Contains(want, "…") {
			edits = append(edits, edit{c.from, c.to, got})
			continue
		}
		t.Errorf("%s:%d: accountant %s prints\n%s\n\nthe page has\n%s", path, c.line+1, strings.Join(c.args, " "), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return edits
}

// alike reports whether the lines are what is wanted.
func alike(want, got []string) bool {
	for len(want) > 0 && want[0] != "…" {
		if len(got) == 0 || !alikeLine(want[0], got[0]) {
			return false
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		return len(got) == 0
	}
	for ; len(got) > 0; got = got[1:] {
		if alike(want[1:], got) {
			return true
		}
	}
	return alike(want[1:], nil)
}

var numeral = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?`)

// alikeLine compares lines but for the width of columns and the last digits: the
// ends of an interval are right to 1e-3, the default accuracy, and machines that
// fuse multiplications and additions round otherwise. Whole numbers are exact.
func alikeLine(want, got string) bool {
	blank := func(s string) string {
		return strings.Join(strings.Fields(numeral.ReplaceAllString(s, "0")), " ")
	}
	if blank(want) != blank(got) {
		return false
	}
	w, g := numeral.FindAllString(want, -1), numeral.FindAllString(got, -1)
	for i := range w {
		if w[i] == g[i] {
			continue
		}
		x, errX := strconv.ParseFloat(w[i], 64)
		y, errY := strconv.ParseFloat(g[i], 64)
		if errors.Join(errX, errY) != nil || !strings.ContainsAny(w[i], ".e") || math.Abs(x-y) > 1e-3*math.Abs(x) {
			return false
		}
	}
	return true
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		want, got string
		alike     bool
	}{
		{"a\nb", "a\nb", true},
		{"a\n…", "a\nb\nc", true},
		{"…\nc", "a\nb\nc", true},
		{"a\n…\nc", "a\nc", true},
		{"a\n…\nd", "a\nc", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
		{"ε = 1.0000  x", "ε = 1.0009 x", true},
		{"ε = 1.0000", "ε = 1.0011", false},
		{"1000 steps", "1001 steps", false},
		{"1e-5", "1.2e-5", false},
	} {
		if got := alike(strings.Split(c.want, "\n"), strings.Split(c.got, "\n")); got != c.alike {
			t.Errorf("%q, %q: %v", c.want, c.got, got)
		}
	}
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestPagesFlags: commands that pages mention, run or not, exist, and so do
// their flags; a flag by itself is one of some command.
func TestPagesFlags(t *testing.T) {
	checked := 0
	flags := map[string]bool{}
	forEachCommand(newRootCmd(), func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
	})
	for _, path := range pages(t) {
		fenced := false
		for i, line := range page(t, path) {
			var mentioned []string
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if fenced || strings.HasPrefix(line, "    ") {
				mentioned = []string{strings.TrimPrefix(strings.TrimSpace(line), "$ ")}
			} else {
				for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
					mentioned = append(mentioned, m[1])
				}
			}
			for _, m := range mentioned {
				beams := path == "docs/reference/beam.md" // whose flags are those of another program
				if name := strings.FieldsFunc(m, func(r rune) bool { return r == ' ' || r == '=' }); !beams && !fenced && strings.HasPrefix(m, "--") && !flags[name[0]] {
					t.Errorf("%s:%d: no command has the flag %s", path, i+1, name[0])
				}
				args, ok := program(m)
				if !ok {
					continue
				}
				checked++
				if err := knows(strings.Fields(args)); err != nil {
					t.Errorf("%s:%d: %s: %v", path, i+1, m, err)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("the pages mention %d commands, want at least 50", checked)
	}
}

// knows returns an error if there is no such command, or no such flag of it.
func knows(args []string) error {
	cmd := newRootCmd()
	cmd.InitDefaultCompletionCmd()
	name, _, _ := strings.Cut(args[0], "|")
	if name == strings.ToUpper(name) { // a placeholder such as COMMAND
		return nil
	}
	var sub *cobra.Command
	sub, _, err := cmd.Find(append([]string{name}, args[1:]...))
	if err != nil {
		return err
	}
	sub.InitDefaultHelpFlag()
	for _, a := range args {
		if a == "#" {
			break
		}
		flag, ok := strings.CutPrefix(strings.Trim(a, "[]"), "--")
		if !ok {
			continue
		}
		flag, _, _ = strings.Cut(flag, "=")
		if sub.Flags().Lookup(flag) == nil {
			return errors.New("there is no flag --" + flag)
		}
	}
	return nil
}
