package main

// Every command that writes a file, with everything that may go wrong meanwhile: the
// file is the old one or the new one, whole; an error names it and leaves nothing beside it.

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/slow"
)

var kills = flag.Int("kills", 40, "how many writers to kill in TestKilledWriters")

// A fileWriter is a command that writes the file OUT, the same every time.
type fileWriter struct {
	command string // with the flag that names the file
	ending  string
	args    string
	stdin   string
	creates bool // never writes over a file
}

// fileWriters are all of them (TestFileWritersAreAll). The plan is beside OUT, as is a
// table of labels.
var fileWriters = []fileWriter{
	{command: "curve --plot", ending: ".svg", args: "curve --points 2 --plot OUT plan.yaml"},
	{command: "curve --plot", ending: ".pdf", args: "curve --points 2 --plot OUT plan.yaml"},
	{command: "curve --out", ending: ".png", args: "curve --points 2 --out OUT plan.yaml"},
	{command: "profile --plot", ending: ".pdf", args: "profile --mechanism laplace --noise-multiplier 2 --plot OUT"},
	{command: "profile --out", ending: ".svg", args: "profile --mechanism laplace --noise-multiplier 2 --out OUT"},
	{command: "compare --plot", ending: ".svg", args: "compare --delta 1e-5 --plot OUT plan.yaml"},
	{command: "risk --plot", ending: ".svg", args: "risk --plot OUT plan.yaml"},
	{command: "select --plot", ending: ".svg", args: "select --candidate-epsilon 1 --mean 2,3 --plot OUT"},
	{command: "sampling --plot", ending: ".svg", args: "sampling --population 10 --batch 2 --mechanism laplace --noise-multiplier 2 --plot OUT"},
	{command: "majority --plot", ending: ".svg", args: "majority --mechanisms 3 --epsilon 0.1 --allowance 2 --plot OUT"},
	{command: "audit --plot", ending: ".svg", args: "audit --design many-runs --delta 1e-5 --plot OUT scores.csv"},
	{command: "label --plot", ending: ".svg", args: "label --epsilon 1 --prior prior.csv --plot OUT"},
	{command: "matrix optimize --out", ending: ".csv", args: "matrix optimize --strategy toeplitz --steps 8 --participation {single:true} --out OUT"},
	{command: "query --out", ending: ".csv", args: "query --budget 500 --count --out OUT data.csv"},
	{command: "release --out", ending: ".csv", args: "release --test-seed 1 --sensitivity 1 --out OUT laplace.yaml data.csv"},
	{command: "majority release --out", ending: ".csv", args: "majority release --mechanisms 2 --epsilon 0.1 --allowance 1 --gamma constant --test-seed 1 --out OUT ballots.csv"},
	{command: "select run --out", ending: ".csv", args: "select run --law fixed --max 1 --out OUT cat data.csv"},
	{command: "pate answer --out", ending: ".csv", args: "pate answer --votes votes.csv --mechanism gnmax --sigma2 40 --test-seed 1 --out OUT"},
	{command: "label apply --out", ending: ".csv", args: "label apply --epsilon 1 --prior prior.csv --seed 1 --in data.csv --out OUT"},
	{command: "pate analyze --plot", ending: ".svg", args: "pate analyze --votes votes.csv --mechanism gnmax --sigma2 40 --delta 1e-5 --plot OUT"},
	{command: "pate synth --out", ending: ".csv", args: "pate synth --teachers 250 --classes 10 --queries 500 --out OUT"},
	{command: "pate synth --out", ending: ".npy", args: "pate synth --teachers 250 --classes 10 --queries 500 --out OUT"},
	{command: "epsilon --certificate", ending: ".cert", args: "epsilon --delta 1e-5 --certificate OUT noise.yaml"},
	{command: "calibrate --write", ending: ".yaml", args: "calibrate --epsilon 1 --delta 1e-5 --solve noise-multiplier --write OUT noise.yaml"},
	{command: "plan fmt --write", ending: ".yaml", args: "plan fmt --write OUT", stdin: "in place"},
	{command: "plan init", ending: ".yaml", args: "plan init OUT", stdin: strings.Repeat("\n", 20), creates: true},
}

// writerFolder makes a folder with what the writers read, and a program to run in it.
func writerFolder(t *testing.T) (dir, program string) {
	t.Helper()
	dir = t.TempDir()
	scores := "score,member\n"
	for i := range 200 {
		scores += fmt.Sprintf("%d,%d\n", i%7+3*(i%2), i%2)
	}
	votes := ""
	for i := range 20 {
		votes += fmt.Sprintf("%d,%d\n", 200+i, 50-i)
	}
	for name, text := range map[string]string{
		"plan.yaml": okPlan, "prior.csv": labelPriorA, "data.csv": "label\n" + strings.Repeat("0\n1\n", 3000),
		"laplace.yaml": "neighbors: add-remove\nsteps: [{mechanism: {laplace: {noise-multiplier: 1}}}]\n", "ballots.csv": strings.Repeat("0,1\n1,1\n", 500),
		"noise.yaml": "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}}]\n",
		"scores.csv": scores, "votes.csv": votes,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, linkedAs(t, "accountant")
}

// run returns a process of the writer, whose file is out, in the folder.
func (w fileWriter) run(program, dir, out string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	args := strings.Fields(w.args)
	for i := range args {
		if args[i] == "OUT" {
			args[i] = out
		}
	}
	cmd = exec.Command(program, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(w.stdin)
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// old is what the file of the writer has before, if it may have anything.
func (w fileWriter) old() []byte {
	if strings.HasPrefix(w.command, "plan fmt") { // what it writes over is what it reads
		return []byte(strings.ReplaceAll(okPlan, ": ", ":  ") + strings.Repeat("# a line\n", 1000))
	}
	return []byte("old\n")
}

// written returns what the writer writes when nothing goes wrong, and how long it takes.
func (w fileWriter) written(t *testing.T, program, dir string) ([]byte, time.Duration) {
	t.Helper()
	path := filepath.Join(dir, "expected"+w.ending)
	if !w.creates {
		if err := os.WriteFile(path, w.old(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	cmd, stderr := w.run(program, dir, path)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v %s", w.args, err, stderr)
	}
	took := time.Since(start)
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 || bytes.Equal(text, w.old()) {
		t.Fatalf("%s: wrote %d bytes, %v", w.args, len(text), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	return text, took
}

// TestFileWritersAreAll: a flag that names a file to write has a row above.
func TestFileWritersAreAll(t *testing.T) {
	rows := map[string]bool{}
	for _, w := range fileWriters {
		rows[w.command] = true
	}
	forEachCommand(newRootCmd(), func(cmd *cobra.Command) {
		for _, name := range []string{"plot", "out", "write", "certificate"} {
			if f := cmd.Flags().Lookup(name); f != nil {
				key := strings.TrimPrefix(cmd.CommandPath(), "accountant ") + " --" + name
				if !rows[key] && key != "sweep --out" { // which grows line by line, and has tests of its own
					t.Errorf("%s has no row in fileWriters", key)
				}
			}
		}
	})
}

// TestOneWriter: no other code of the command, or of what it is built of, creates or
// renames files; the ledger keeps its own.
func TestOneWriter(t *testing.T) {
	creates := regexp.MustCompile(`\bos\.(Create|CreateTemp|WriteFile|Rename|Link|Symlink|Truncate)\(|O_CREATE\b`)
	mayCreate := regexp.MustCompile(`^(cmd/accountant/atomic\.go|cmd/accountant/sweep\.go|ledger/(file|lock|backup)\.go|cmd/figure/save\.go|cmd/web/build/main\.go|cmd/service/generate/main\.go)$|^(lab|examples|beam|ledger/sqlledger/internal)/`)
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if creates.Match(text) {
			seen++
			if !mayCreate.MatchString(filepath.ToSlash(name)) {
				t.Errorf("%s creates a file by itself: use writeFileAtomic, or say here why not", name)
			}
		}
		return err
	})
	if err != nil || seen < 5 {
		t.Errorf("%d files create files, %v", seen, err)
	}
}

// leftover is the name of what a kill may leave.
var leftover = regexp.MustCompile(`^\.out.*\.[0-9a-f]{8}\.part$`)

// remains checks what a writer of out has left in its folder: the file, old or new if
// there is one, and where it was killed whole files that have the name of a leftover.
func remains(t *testing.T, what, out string, killed bool, whole ...[]byte) {
	t.Helper()
	is := func(path string) bool {
		text, err := os.ReadFile(path)
		for _, w := range whole {
			if err == nil && bytes.Equal(text, w) {
				return true
			}
		}
		return errors.Is(err, fs.ErrNotExist) && whole == nil
	}
	if !is(out) {
		t.Errorf("%s: the file is neither the old nor the new one", what)
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(out), e.Name())
		switch {
		case !strings.HasPrefix(e.Name(), "."): // somebody's
		case killed && leftover.MatchString(e.Name()) && is(path):
			os.Remove(path)
		default:
			t.Errorf("%s: left %s", what, e.Name())
		}
	}
}

// TestKilledWriters: writers that are killed at a random moment.
func TestKilledWriters(t *testing.T) {
	slow.Test(t)
	dir, program := writerFolder(t)
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	expected, took := map[string][]byte{}, map[string]time.Duration{}
	for _, w := range fileWriters {
		expected[w.args+w.ending], took[w.args+w.ending] = w.written(t, program, dir)
	}
	died := 0
	for i := range *kills {
		w := fileWriters[i%len(fileWriters)]
		out := filepath.Join(dir, "out"+w.ending)
		if !w.creates {
			if err := os.WriteFile(out, w.old(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd, _ := w.run(program, dir, out)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Float64() * 1.2 * float64(took[w.args+w.ending])))
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			died++
		}
		whole := [][]byte{expected[w.args+w.ending], w.old()}
		if w.creates {
			if _, err := os.Stat(out); err != nil {
				whole = nil
			} else {
				whole = whole[:1]
			}
		}
		remains(t, w.args, out, true, whole...)
		os.Remove(out)
	}
	t.Logf("%d writers, %d killed before they ended", *kills, died)
}

// forever starts writeForever and returns after its first file.
func forever(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd, _, out := started(t, os.Stderr, program, args...)
	if line, err := out.ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	return cmd
}

// TestKilledWhileWriting: a process that does nothing but replace a file is killed.
// What it leaves is whole too, if its drafts have no names until they are complete.
func TestKilledWhileWriting(t *testing.T) {
	program := linkedAs(t, "accountant-write-forever")
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	named, whole := 0, 0
	for i := range max(10, *kills/4) {
		args := []string{out}
		if i%4 == 3 {
			args = append(args, "named")
		}
		cmd := forever(t, program, args...)
		time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if len(args) == 2 { // a draft with a name may be a half
			left, err := filepath.Glob(filepath.Join(dir, ".*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range left {
				if !leftover.MatchString(filepath.Base(path)) {
					t.Errorf("left %s", path)
				}
				named++
				os.Remove(path)
			}
		} else if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			whole++
		}
		remains(t, "killed", out, true, letters[0], letters[1])
	}
	t.Logf("left: %d whole files and %d drafts that had names", whole, named)
}

// TestTwoWriters: while two processes write a file, whoever reads it reads one of them.
func TestTwoWriters(t *testing.T) {
	program := linkedAs(t, "accountant-write-forever")
	out := filepath.Join(t.TempDir(), "out")
	one, two := forever(t, program, out), forever(t, program, out, "named")
	changed := 0
	var last []byte
	for range 500 {
		text, err := os.ReadFile(out)
		if err != nil || !bytes.Equal(text, letters[0]) && !bytes.Equal(text, letters[1]) {
			t.Fatalf("read %d bytes, %v", len(text), err)
		}
		if !bytes.Equal(text, last) {
			changed++
		}
		last = text
	}
	for _, cmd := range []*exec.Cmd{one, two} {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	remains(t, "two writers", out, true, letters[0], letters[1])
	if changed < 2 {
		t.Errorf("the file changed %d times in 500 looks", changed)
	}
}

// TestFullDisk: every writer on a full disk, a tmpfs of its own where those can be mounted.
func TestFullDisk(t *testing.T) {
	dir, program := writerFolder(t)
	// The file system is in a name space that ends with the shell.
	const script = `
		mount -t tmpfs -o size=16k none full && cp old full/out$1 &&
		cat /dev/zero > full/filler 2>/dev/null
		ending=$1; shift
		"$@" >stdout; echo "status $?"
		ls -A full; cmp old full/out$ending && echo same`
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs none "+dir).CombinedOutput(); err != nil {
		t.Skipf("no tmpfs can be mounted: A FULL DISK IS NOT TESTED, only a limit of files: %v %s", err, out)
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, w := range fileWriters {
		out := "full/out" + w.ending
		if w.creates {
			out = "full/out.new" + w.ending
		}
		if err := os.WriteFile(filepath.Join(dir, "old"), w.old()[:min(len(w.old()), 4096)], 0o644); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := w.run(program, dir, out)
		cmd.Args = append([]string{"unshare", "-rm", "sh", "-c", script, "sh", w.ending, program}, cmd.Args[1:]...)
		cmd.Path, _ = exec.LookPath("unshare")
		stdout, err := cmd.Output()
		want := fmt.Sprintf("status 1\nfiller\nout%s\nsame\n", w.ending)
		if err != nil || string(stdout) != want || !strings.HasSuffix(stderr.String(), out+": no space left on device\n") || !strings.Contains(stderr.String(), "accountant: ") {
			t.Errorf("%s: %v\n%s%s\nwant\n%s", w.args, err, stdout, stderr, want)
		}
	}
}

// TestFileSizeLimit: a limit on the size of files, at which the system sends a signal, too.
func TestFileSizeLimit(t *testing.T) {
	slow.Test(t)
	dir, program := writerFolder(t)
	for _, w := range fileWriters {
		text, _ := w.written(t, program, dir)
		if len(text) < 4096 { // below the least limit that a shell sets
			continue
		}
		out := filepath.Join(dir, "out"+w.ending)
		if err := os.WriteFile(out, w.old(), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := w.run(program, dir, out)
		cmd.Args = append([]string{"sh", "-c", `ulimit -f 1 && exec "$@"`, "sh", program}, cmd.Args[1:]...)
		cmd.Path, _ = exec.LookPath("sh")
		err := cmd.Run()
		var exit *exec.ExitError
		want := out
		if w.ending == ".pdf" { // the folder for temporary files is limited as well
			want = "accountant: --plot: could not generate font data for PDF: write "
		}
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasSuffix(stderr.String(), ": file too large\n") || !strings.Contains(stderr.String(), want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: %v, %s", w.args, err, stderr)
		}
		remains(t, w.args, out, false, w.old())
	}
}

// TestUnwritableTargets: what cannot be written is an error with its name.
func TestUnwritableTargets(t *testing.T) {
	slow.Test(t)
	dir, program := writerFolder(t)
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(program)), 0o755); err != nil {
		t.Fatal(err)
	}
	made := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	made(os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	made(os.Mkdir(filepath.Join(dir, "locked"), 0o555))
	made(os.Mkdir(filepath.Join(dir, "open"), 0o755))
	made(os.Chmod(filepath.Join(dir, "open"), 0o777)) //nolint:gosec
	made(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	made(os.Symlink("circle", filepath.Join(dir, "circle")))
	made(os.Symlink("/dev/full", filepath.Join(dir, "device")))
	for i, w := range fileWriters {
		for j, c := range []struct{ out, want string }{
			{"missing/out", "no such file or directory"},
			{"plan.yaml/out", "not a directory"},
			{"folder", "is not a regular file"},
			{"fifo", "is not a regular file"},
			{"device", "is not a regular file"},
			{"/dev/full", "is not a regular file"},
			{"circle", "too many levels of symbolic links"},
			{"locked/out", "permission denied"},
			{"open/out", "permission denied"}, // a file that is read-only, in a folder that is not
		} {
			if (i+j)%2 != 0 && !slow.All() {
				continue // half of the targets for each, the other half for the next; SLOW=2 tries all
			}
			inPlace := strings.HasPrefix(w.command, "plan fmt")
			if strings.Contains(w.command, "--plot") || strings.Contains(w.command, "curve") || strings.Contains(w.command, "profile") {
				// Pictures are named by their ending.
				if strings.HasPrefix(c.out, "/") {
					continue
				}
			}
			out := c.out
			if (strings.HasSuffix(w.ending, "g") || w.ending == ".pdf") && !strings.HasPrefix(out, "/") {
				out += w.ending
				if !strings.Contains(c.out, "/") {
					os.Remove(filepath.Join(dir, out))
					made(os.Symlink(c.out, filepath.Join(dir, out)))
				}
			}
			old := filepath.Join(dir, out)
			switch {
			case c.out == "open/out":
				made(os.WriteFile(old, w.old(), 0o444))
			case inPlace && c.out == "locked/out":
				made(os.WriteFile(old, w.old(), 0o666))
			case inPlace:
				continue // it is read first
			}
			cmd, stderr := w.run(program, dir, out)
			if os.Getuid() == 0 { // who may do everything
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			err := cmd.Run()
			want := c.want
			if w.creates && c.out != "missing/out" && c.out != "plan.yaml/out" && c.out != "locked/out" {
				want = "is there already, and is not overwritten"
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasSuffix(stderr.String(), out+": "+want+"\n") {
				t.Errorf("%s, %s: %v, %s", w.args, out, err, stderr)
			}
			if c.out == "open/out" { // reading a pipe would wait
				if text, err := os.ReadFile(old); err != nil || !bytes.Equal(text, w.old()) {
					t.Errorf("%s, %s: has changed", w.args, out)
				}
			}
			os.Remove(filepath.Join(dir, "open", filepath.Base(out)))
			os.Remove(filepath.Join(dir, "locked", filepath.Base(out)))
		}
	}
	for _, folder := range []string{".", "folder", "locked", "open"} {
		remains(t, folder, filepath.Join(dir, folder, "out.none"), false)
	}
}

// TestLinkedTarget: a symbolic link stays one, and the file that it leads to is written,
// also if it is new.
func TestLinkedTarget(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"real/deep", "links"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "real", "file")
	// links/in is a folder elsewhere, from which .. is not links.
	for name, to := range map[string]string{"links/in": filepath.Join(dir, "real", "deep"), "one": "two", "two": "links/in/../file"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"new", "newer"} {
		for _, path := range []string{filepath.Join(dir, "one"), dir + "/links/in/../file"} {
			if err := writeFileAtomic(path, []byte(text+path)); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != text+path {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
		if to, err := os.Readlink(filepath.Join(dir, "one")); err != nil || to != "two" {
			t.Errorf("the link leads to %q, %v", to, err)
		}
	}
}

// TestTargetReplaced: what happens to the file while its successor is written. That it
// comes into a folder's place, or has no folder any more, is an error.
func TestTargetReplaced(t *testing.T) {
	program := linkedAs(t, "accountant-write-slowly")
	for _, args := range [][]string{nil, {"named"}} {
		for _, c := range []struct {
			name   string
			before bool
			change func(path string) error
			fails  bool
		}{
			{"another file", true, func(p string) error { return errors.Join(os.Remove(p), os.WriteFile(p, []byte("another"), 0o644)) }, false},
			{"no file", true, os.Remove, false},
			{"a file where none was", false, func(p string) error { return os.WriteFile(p, []byte("another"), 0o644) }, false},
			{"a link", true, func(p string) error { return errors.Join(os.Remove(p), os.Symlink("other", p)) }, false},
			{"a pipe", true, func(p string) error { return errors.Join(os.Remove(p), syscall.Mkfifo(p, 0o644)) }, false},
			{"a folder", true, func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) }, true},
			{"a folder where nothing was", false, func(p string) error { return os.Mkdir(p, 0o755) }, true},
			{"no folder", true, func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, true},
			{"another folder", false, func(p string) error { return os.Rename(filepath.Dir(p), filepath.Dir(p)+".moved") }, true},
		} {
			dir := filepath.Join(t.TempDir(), "folder")
			path := filepath.Join(dir, "out")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "other"), []byte("other"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if c.before {
				if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var stderr bytes.Buffer
			cmd, in, out := started(t, &stderr, program, append([]string{path}, args...)...)
			if line, err := out.ReadString('\n'); err != nil {
				t.Fatal(line, err)
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s %s: %v", c.name, args, err)
			}
			if failed := stderr.Len() > 0; failed != c.fails || failed && !strings.HasPrefix(stderr.String(), path+": ") {
				t.Errorf("%s %s: %q", c.name, args, stderr.String())
			}
			left, err := os.ReadDir(dir)
			if err == nil && (len(left) != 2 || left[0].Name() != "other") {
				t.Errorf("%s %s: left %v", c.name, args, left)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "other")); err == nil && string(text) != "other" {
				t.Errorf("%s %s: wrote through a link that was not there", c.name, args)
			}
			if text, err := os.ReadFile(path); !c.fails && (err != nil || string(text) != "half") {
				t.Errorf("%s %s: %q, %v", c.name, args, text, err)
			}
		}
	}
}

// TestCreateOnly: what is not to be replaced is not, whoever was quicker.
func TestCreateOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	make := func(name string) func(*draft) error {
		return func(d *draft) error {
			if _, err := d.f.WriteString(name); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("another"), 0o644)
		}
	}
	for name, open := range map[string]func(string, os.FileMode) (*draft, error){"unnamed": newDraft, "named": namedDraft} {
		d, err := open(path, 0o666)
		if err == nil {
			err = make(name)(d)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := d.publish(false, true); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		d.discard()
		remains(t, name, path, false, []byte("another"))
		os.Remove(path)
		d, err = open(path, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.publish(false, true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.discard()
		remains(t, name, path, false, []byte{})
		os.Remove(path)
	}
	create := func(text string) error {
		return writeDraft(path, true, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	if err := create("x"); err != nil {
		t.Fatal(err)
	}
	if err := create("y"); err == nil || err.Error() != path+": is there already, and is not overwritten" {
		t.Error(err)
	}
	remains(t, "created", path, false, []byte("x"))
}

// TestPermissions: a new file is as the umask wants it, an old one keeps its own.
func TestPermissions(t *testing.T) {
	slow.Test(t)
	dir, program := writerFolder(t)
	for _, umask := range []string{"022", "077"} {
		for _, w := range fileWriters {
			out := filepath.Join(dir, "out"+w.ending)
			want, err := strconv.ParseUint(umask, 8, 32)
			if err != nil {
				t.Fatal(err)
			}
			want = 0o666 &^ want
			if w.stdin == "in place" {
				want = 0o640
				if err := errors.Join(os.WriteFile(out, w.old(), 0o600), os.Chmod(out, 0o640)); err != nil {
					t.Fatal(err)
				}
			}
			cmd, stderr := w.run(program, dir, out)
			cmd.Args = append([]string{"sh", "-c", "umask " + umask + ` && exec "$@"`, "sh", program}, cmd.Args[1:]...)
			cmd.Path, _ = exec.LookPath("sh")
			if err := cmd.Run(); err != nil {
				t.Fatalf("%s: %v, %s", w.args, err, stderr)
			}
			info, err := os.Stat(out)
			if err != nil || info.Mode().Perm() != os.FileMode(want) {
				t.Errorf("%s: %v, %v; want %o", w.args, info, err, want)
			}
			os.Remove(out)
		}
		d, err := namedDraft(filepath.Join(dir, "draft"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := d.f.Stat(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("a draft of a secret: %v, %v", info.Mode(), err)
		}
		d.discard()
	}
}

// TestFullStandardOutput: an answer that cannot be printed is an error, for every command that
// also writes a file.
func TestFullStandardOutput(t *testing.T) {
	dir, program := writerFolder(t)
	for _, w := range fileWriters {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skipf("no /dev/full: A FULL OUTPUT IS NOT TESTED: %v", err)
		}
		args := regexp.MustCompile(`--(plot|out|write|certificate) OUT|OUT`).ReplaceAllString(w.args, "")
		switch {
		case strings.HasPrefix(w.command, "label apply"), strings.HasPrefix(w.command, "pate synth"):
			args += " --out -"
		case strings.HasPrefix(w.command, "curve"):
			args += " --csv"
		case strings.HasPrefix(w.command, "plan fmt"):
			args = "plan fmt plan.yaml"
		}
		w.args = args
		cmd, stderr := w.run(program, dir, "")
		cmd.Stdout = full
		err = cmd.Run()
		full.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasSuffix(stderr.String(), "no space left on device\n") {
			t.Errorf("%s: %v, %s", args, err, stderr)
		}
	}
}
