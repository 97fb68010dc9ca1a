//go:build unix

package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
)

// TestMain runs the other processes of TestFaults, which spends as it is told, of TestKilled, and of TestProgramThatWasReplaced.
func TestMain(m *testing.M) {
	if path := os.Getenv("LEDGER_TEST_SPENDER"); path != "" {
		spender(path)
		return
	}
	if path := os.Getenv("LEDGER_TEST_CROWD"); path != "" {
		crowd(path)
		return
	}
	if os.Getenv("LEDGER_TEST_PROGRAM") != "" {
		fmt.Scanln()
		fmt.Print(program())
		return
	}
	os.Exit(m.Run())
}

// faultConfig allows exactly faultMost spends of faultPlan.
var faultConfig = Config{Neighbors: accountant.AddRemove, Epsilon: 0.205, Mode: Planned}

const (
	faultPlan = "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.01}}}]\n"
	faultMost = 20
)

// faultNote is of a length that takes a spend over the end of a page now and then.
func faultNote(rng *rand.Rand) string { return strings.Repeat("n", rng.IntN(maxNote)) }

// spender answers each line of standard input: "spend", "hold" (spend, and stop
// with the lock held), "limit N" (no file may have more than N bytes).
func spender(path string) {
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	l, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println("open")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		testHeld = func() {}
		if n, ok := strings.CutPrefix(in.Text(), "limit "); ok {
			var old syscall.Rlimit
			_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old)
			old.Cur, _ = strconv.ParseUint(n, 10, 64)
			fmt.Println("limit:", syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
			continue
		}
		if in.Text() == "hold" {
			testHeld = func() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				time.Sleep(20 * time.Millisecond) // another thread may get the signal
			}
		}
		switch err := l.SpendPlan(context.Background(), []byte(faultPlan), faultNote(rng)); {
		case err == nil:
			fmt.Println("granted")
		case errors.Is(err, ErrBudget):
			fmt.Println("refused")
		default:
			fmt.Println("error:", err)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Println("error:", err)
	}
}

// A process is a spender.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, path string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), "LEDGER_TEST_SPENDER="+path)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if answer := p.answer(); answer != "open" {
		t.Fatal(answer)
	}
	return p
}

func (p *process) ask(line string) {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// answer is "" when the process has ended.
func (p *process) answer() string {
	p.out.Scan()
	return p.out.Text()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// A model knows what was granted.
type model struct {
	t       *testing.T
	rng     *rand.Rand
	dir     string
	path    string
	full    bool // dir is a file system that can be filled
	ledgers int

	granted int      // reported, and so in the file
	maybe   int      // under way when a process was killed
	copies  [][]byte // of the file, by the number of entries
	a, b    *Ledger
	p       *process
	counts  map[string]int
}

// TestFaults takes a ledger through rounds of everything that happens to files and
// processes, beside a model that knows what was granted: nothing beyond the
// budget, and nothing that is missing. LEDGER_TEST_ROUNDS makes it longer.
func TestFaults(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	rounds = fromEnv("LEDGER_TEST_ROUNDS", rounds)
	seed := uint64(fromEnv("LEDGER_TEST_SEED", 14))
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir(), counts: map[string]int{}}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", m.dir).CombinedOutput(); err == nil {
		m.full = true
		t.Cleanup(func() {
			if out, err := exec.Command("umount", m.dir).CombinedOutput(); err != nil {
				t.Errorf("umount: %s", out)
			}
		})
	} else {
		t.Logf("NOTE: NO FULL FILE SYSTEM IS TESTED, only a limit of the size of a file: cannot mount one: %s", bytes.TrimSpace(out))
	}
	faults := []struct {
		name string
		run  func()
	}{
		{"kill", m.killed}, {"restore", m.restored}, {"replace", m.replaced}, {"replace while waiting", m.replacedWaiting},
		{"truncate", m.truncated}, {"flip", m.flipped}, {"full", m.filled}, {"limit", m.limited},
		{"together", m.together}, {"stop", m.stopped},
	}
	m.begin()
	defer func() { m.p.kill() }()
	for range rounds {
		f := faults[m.rng.IntN(len(faults))]
		if f.name == "full" && !m.full {
			f = faults[7]
		}
		f.run()
		if t.Failed() {
			t.Fatalf("in a round of %s, with %d granted", f.name, m.granted)
		}
		m.counts[f.name]++
		m.verify(f.name)
		if m.granted == faultMost && m.rng.IntN(2) == 0 {
			m.p.kill()
			m.begin()
		}
	}
	t.Logf("%v; %d ledgers", m.counts, m.ledgers)
}

// begin makes a new ledger.
func (m *model) begin() {
	m.ledgers++
	for _, name := range []string{m.path, m.path + ".lock"} {
		if m.path != "" {
			_ = os.Remove(name)
		}
	}
	m.path = filepath.Join(m.dir, fmt.Sprintf("%d.ledger", m.ledgers))
	if _, err := Create(m.path, faultConfig); err != nil {
		m.t.Fatal(err)
	}
	m.granted, m.copies = 0, [][]byte{readFile(m.t, m.path)}
	m.reopen()
	m.p = start(m.t, m.path)
}

func (m *model) reopen() {
	for _, l := range []**Ledger{&m.a, &m.b} {
		var err error
		if *l, err = Open(context.Background(), m.path); err != nil {
			m.t.Fatal(err)
		}
	}
}

// again is for after a loss: handles that knew more stay of no use.
func (m *model) again() {
	m.p.kill()
	m.reopen()
	m.p = start(m.t, m.path)
}

// tell counts the answer to a spend, which must be one of those allowed.
func (m *model) tell(err error, allowed ...string) {
	m.t.Helper()
	switch {
	case err == nil:
		m.granted++
		return
	case errors.Is(err, ErrBudget):
		if m.granted+m.maybe < faultMost {
			m.t.Errorf("refused after %d: %v", m.granted, err)
		}
		return
	}
	for _, a := range allowed {
		if strings.Contains(err.Error(), a) {
			return
		}
	}
	m.t.Error(err)
}

func (m *model) spend(l *Ledger) error {
	return l.SpendPlan(context.Background(), []byte(faultPlan), faultNote(m.rng))
}

// ask lets the other process spend.
func (m *model) ask(line string, allowed ...string) {
	m.t.Helper()
	m.p.ask(line)
	m.answer(allowed...)
}

func (m *model) answer(allowed ...string) {
	m.t.Helper()
	switch answer := m.p.answer(); answer {
	case "granted":
		m.tell(nil)
	case "refused":
		m.tell(ErrBudget)
	default:
		m.tell(errors.New("the other process: "+answer), allowed...)
	}
}

// verify reads the file anew, and compares it with what was granted.
func (m *model) verify(name string) {
	l, err := Open(context.Background(), m.path)
	if err != nil {
		m.t.Fatalf("after %s: %v", name, err)
	}
	n := l.state.entries
	if n < m.granted || n > m.granted+m.maybe || n > faultMost {
		m.t.Fatalf("after %s: %d entries, where %d were granted, %d perhaps, and %d allowed", name, n, m.granted, m.maybe, faultMost)
	}
	m.granted, m.maybe = n, 0
	data := readFile(m.t, m.path)
	for len(m.copies) <= n {
		m.copies = append(m.copies, nil)
	}
	m.copies[n] = data
}

// known makes both handles know all.
func (m *model) known() {
	for _, l := range []*Ledger{m.a, m.b} {
		if _, err := l.load(context.Background(), nil); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *model) killed() {
	n := 1 + m.rng.IntN(4)
	wait := time.Duration(m.rng.IntN(3000)) * time.Microsecond
	m.p.ask(strings.TrimSuffix(strings.Repeat("spend\n", n), "\n"))
	victim := m.p.cmd.Process // later there is another one
	time.AfterFunc(wait, func() { _ = victim.Kill() })
	m.maybe = n
	for range n {
		answer := m.p.answer()
		if answer == "granted" {
			m.maybe--
			m.granted++
		} else if answer == "refused" {
			m.maybe--
			m.tell(ErrBudget)
		} else if answer != "" {
			m.t.Error(answer)
		}
	}
	m.maybe = min(m.maybe, 1)
	m.p.kill()
	m.tell(m.spend(m.a))
	m.verify("kill")
	m.p = start(m.t, m.path)
}

// lost expects that handles that knew all find that the file has lost entries, and
// that the checksum shows it to everybody else; then the right file is back.
func (m *model) lost(head string) {
	for _, l := range []*Ledger{m.a, m.b, m.a} {
		if err := m.spend(l); err == nil || !strings.Contains(err.Error(), "has lost entries") {
			m.t.Errorf("lost entries: %v", err)
		}
	}
	if _, err := Verify(context.Background(), m.path, head); err == nil {
		m.t.Error("verified with lost entries")
	}
	replace(m.t, m.path, m.copies[m.granted])
	if err := m.spend(m.b); err == nil || !strings.Contains(err.Error(), "has lost entries") {
		m.t.Errorf("lost entries that are back: %v", err)
	}
	m.again()
}

// put changes the file's contents in one of two ways.
func (m *model) put(data []byte) {
	if m.rng.IntN(2) == 0 {
		writeFile(m.t, m.path, data)
	} else {
		replace(m.t, m.path, data)
	}
}

// before takes what is in the file, and tells all handles; it is false if there is
// no entry that could get lost.
func (m *model) before() (head string, ok bool) {
	if m.granted == 0 {
		m.tell(m.spend(m.a))
	}
	m.verify("before")
	m.known()
	return m.a.state.head, m.granted > 0
}

func (m *model) restored() {
	head, _ := m.before()
	old := m.copies[m.rng.IntN(m.granted)]
	if old == nil {
		old = m.copies[0]
	}
	m.put(old)
	m.lost(head)
}

// replaced puts another ledger, or the same one, in the file's place.
func (m *model) replaced() {
	head, _ := m.before()
	if m.rng.IntN(2) == 0 {
		replace(m.t, m.path, m.copies[m.granted])
		m.tell(m.spend(m.a))
		m.tell(m.spend(m.b))
		m.ask("spend")
		return
	}
	other := filepath.Join(m.dir, "other.ledger")
	l, err := Create(other, faultConfig)
	if err != nil {
		m.t.Fatal(err)
	}
	for range m.granted + m.rng.IntN(2) {
		if err := m.spend(l); err != nil && !errors.Is(err, ErrBudget) {
			m.t.Fatal(err)
		}
	}
	_ = os.Remove(other + ".lock")
	if err := os.Rename(other, m.path); err != nil {
		m.t.Fatal(err)
	}
	m.lost(head)
}

// replacedWaiting puts a copy in the file's place while all wait for the lock.
func (m *model) replacedWaiting() {
	m.known()
	info, err := os.Stat(m.path)
	if err != nil {
		m.t.Fatal(err)
	}
	held, err := takeLock(context.Background(), m.path, info)
	if err != nil {
		m.t.Fatal(err)
	}
	answers := make(chan error, 2)
	notes := [2]string{faultNote(m.rng), faultNote(m.rng)}
	for i, l := range []*Ledger{m.a, m.b} {
		go func() { answers <- l.SpendPlan(context.Background(), []byte(faultPlan), notes[i]) }()
	}
	m.p.ask("spend")
	time.Sleep(time.Duration(m.rng.IntN(3)) * time.Millisecond)
	replace(m.t, m.path, readFile(m.t, m.path))
	held.release()
	m.maybe = 3
	for range 2 {
		m.tell(<-answers)
	}
	m.answer()
	m.maybe = 0
}

func (m *model) truncated() {
	head, _ := m.before()
	whole := readFile(m.t, m.path)
	cut := m.rng.IntN(len(whole))
	if m.rng.IntN(2) == 0 {
		cut = len(whole) - 1 - m.rng.IntN(20)
	}
	if err := os.Truncate(m.path, int64(cut)); err != nil {
		m.t.Fatal(err)
	}
	if l, err := Open(context.Background(), m.path); err == nil && (l.state.entries > m.granted || cut >= len(whole)-2 && l.state.entries < m.granted) {
		m.t.Errorf("%d of %d bytes: %d entries, %d granted", cut, len(whole), l.state.entries, m.granted)
	} else if err != nil && cut >= bytes.IndexByte(whole, '\n') {
		m.t.Errorf("%d of %d bytes: %v", cut, len(whole), err)
	}
	if cut >= len(whole)-2 {
		// The entry is there: only those that knew its ending complain.
		if _, err := Verify(context.Background(), m.path, head); err != nil {
			m.t.Error(err)
		}
		m.again()
		m.tell(m.spend(m.a))
		return
	}
	m.lost(head)
}

func (m *model) flipped() {
	m.before()
	whole := readFile(m.t, m.path)
	at := int64(m.rng.IntN(len(whole)))
	if m.rng.IntN(3) == 0 {
		at = int64(len(whole) - 1 - m.rng.IntN(3))
	}
	f, err := os.OpenFile(m.path, os.O_RDWR, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{whole[at] ^ byte(1+m.rng.IntN(255))}, at); err != nil {
		m.t.Fatal(err)
	}
	if l, err := Open(context.Background(), m.path); err == nil && l.state.entries != m.granted {
		m.t.Errorf("byte %d of %d: %d entries, %d granted", at, len(whole), l.state.entries, m.granted)
	}
	// A handle that has read the line before may go on; what it grants is there.
	m.tell(m.spend(m.a), "has lost entries")
	if _, err := f.WriteAt(whole[at:at+1], at); err != nil {
		m.t.Fatal(err)
	}
	m.again()
}

// filled takes all room there is.
func (m *model) filled() {
	filler := filepath.Join(m.dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		m.t.Fatal(err)
	}
	page := make([]byte, 512)
	for err == nil {
		_, err = f.Write(page)
	}
	f.Close()
	for range 1 + m.rng.IntN(4) {
		m.tell(m.spend(m.a), "no space left")
		m.ask("spend", "no space left")
	}
	m.verify("a full disk")
	if err := os.Remove(filler); err != nil {
		m.t.Fatal(err)
	}
	m.tell(m.spend(m.b))
}

// limited lets a write of the other process end after any number of bytes.
func (m *model) limited() {
	info, err := os.Stat(m.path)
	if err != nil {
		m.t.Fatal(err)
	}
	m.p.ask(fmt.Sprintf("limit %d", info.Size()+int64(m.rng.IntN(300))))
	if answer := m.p.answer(); answer != "limit: <nil>" {
		m.t.Fatal(answer)
	}
	m.ask("spend", "file too large")
	m.verify("a limit")
	m.again()
	m.tell(m.spend(m.a))
}

// together lets all spend at once.
func (m *model) together() {
	answers := make(chan error)
	n := 1 + m.rng.IntN(3)
	seeds := [2]uint64{m.rng.Uint64(), m.rng.Uint64()}
	for i, l := range []*Ledger{m.a, m.b} {
		go func() {
			rng := rand.New(rand.NewPCG(seeds[i], 0))
			for range n {
				answers <- l.SpendPlan(context.Background(), []byte(faultPlan), faultNote(rng))
			}
		}()
	}
	m.p.ask(strings.TrimSuffix(strings.Repeat("spend\n", n), "\n"))
	m.maybe = 3 * n // a refusal may be told before a grant is
	for range 2 * n {
		m.tell(<-answers)
	}
	for range n {
		m.answer()
	}
	m.maybe = 0
}

// stopped stops the other process while it holds the lock.
func (m *model) stopped() {
	if m.granted == faultMost {
		return
	}
	m.p.ask("hold")
	pid := m.p.cmd.Process.Pid
	for i := 0; ; i++ {
		if i == 10_000 {
			m.t.Fatal("the other process does not stop")
		}
		var status syscall.WaitStatus
		if got, err := syscall.Wait4(pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil); err != nil {
			m.t.Fatal(err)
		} else if got == pid && status.Stopped() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	old := lockWait
	lockWait = 5 * time.Millisecond
	err := m.spend(m.a)
	lockWait = old
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("is locked by process %d ", pid)) {
		m.t.Errorf("a stopped holder: %v", err)
	}
	if m.rng.IntN(2) == 0 {
		m.p.kill()
		m.tell(m.spend(m.a))
		m.p = start(m.t, m.path)
		return
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		m.t.Fatal(err)
	}
	m.answer()
	m.tell(m.spend(m.b))
}
