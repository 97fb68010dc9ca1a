package faults

// Other processes: writers, and servers.

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/ledger"
)

// A Kind is where a ledger may be kept, by the word before the colon of its spec.
type Kind struct {
	Open  func(ctx context.Context, where string) (Spender, error)
	Serve func(where string) (c server.Config, name string, err error) // of a server that has the ledger
}

var kinds = map[string]Kind{
	"file": {
		func(ctx context.Context, where string) (Spender, error) { return ledger.Open(ctx, ledger.File(where)) },
		serveFile,
	},
	"http": {Open: func(_ context.Context, where string) (Spender, error) { return visitor(where), nil }},
}

// Register adds a kind.
func Register(word string, k Kind) { kinds[word] = k }

// Open opens a ledger by its spec.
func Open(ctx context.Context, spec string) (Spender, error) {
	word, where, _ := strings.Cut(spec, ":")
	k, ok := kinds[word]
	if !ok {
		return nil, fmt.Errorf("%q is no kind of ledger", word)
	}
	return k.Open(ctx, where)
}

// The variables of other processes.
const (
	spendVar   = "LEDGER_FAULTS_SPEND"
	serveVar   = "LEDGER_FAULTS_SERVE"
	addressVar = "LEDGER_FAULTS_ADDRESS"
	limitVar   = "LEDGER_FAULTS_LIMIT"
)

// Process is called first by programs and tests, as they are the other processes as well: it reports whether this was one, which has ended.
func Process() bool {
	if spec := os.Getenv(spendVar); spec != "" {
		write(spec)
		return true
	}
	if spec := os.Getenv(serveVar); spec != "" {
		if err := try.Run(func() { serve(spec) }); err != nil {
			fmt.Println("error:", err)
		}
		return true
	}
	return false
}

// write spends in several goroutines until it is killed or refused, and prints each answer. A ledger in a file gets checkpoints.
func write(spec string) {
	go func() { // it ends with who began it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	s, err := Open(context.Background(), spec)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	if n, err := strconv.ParseInt(os.Getenv(limitVar), 10, 64); err == nil && n > 0 {
		limitFiles(n)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := 0; n < 12; n++ {
				key := fmt.Sprintf("w%d-%d-%d", os.Getpid(), i, n)
				_, _ = os.Stdout.WriteString("asked " + key + "\n")
				again, err := s.SpendOnce(context.Background(), key, []byte(plan), "")
				switch {
				case errors.Is(err, ledger.ErrBudget):
					_, _ = os.Stdout.WriteString("refused " + key + "\n")
					return
				case err != nil:
					_, _ = os.Stdout.WriteString("failed " + fault.Line(err.Error()) + "\n")
					time.Sleep(5 * time.Millisecond)
					if s2, err := Open(context.Background(), spec); err == nil && i == 0 {
						_, _ = s2.SpendOnce(context.Background(), key, []byte(plan), "")
					}
					continue
				case again:
					_, _ = os.Stdout.WriteString("again " + key + "\n")
				default:
					_, _ = os.Stdout.WriteString("granted " + key + "\n")
				}
				if l, ok := s.(interface{ Checkpoint(context.Context) error }); ok && i == 0 && n%8 == 0 {
					_ = l.Checkpoint(context.Background()) // among others that spend there may be no moment for it
				}
			}
		})
	}
	all.Wait()
}

// Writers are a process that spends.
type Writers struct {
	cmd   *exec.Cmd
	begun chan struct{}
	done  chan struct{}
	once  sync.Once
}

// With runs a process that spends while do runs, kills it, and enters its answers.
func (r *Round) With(do func(*Writers) error) error {
	w := &Writers{cmd: exec.Command(r.self), begun: make(chan struct{}), done: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), spendVar+"="+r.Place.Spec(), limitVar+"="+strconv.FormatInt(r.limit, 10))
	in := try.Must(w.cmd.StdinPipe())
	defer in.Close()
	out := try.Must(w.cmd.StdoutPipe())
	try.Check(w.cmd.Start())
	defer w.Kill()
	go func() {
		defer close(w.done)
		var first sync.Once
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			if err != nil { // a last line that is not whole says nothing
				return
			}
			what, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch what {
			case "asked":
				r.w.mu.Lock()
				r.w.asked[key] = true
				r.w.mu.Unlock()
				continue
			case "granted":
				r.w.told(key, false, nil)
			case "again":
				r.w.told(key, true, nil)
			case "refused":
				r.w.told(key, false, ledger.ErrBudget)
			}
			first.Do(func() { close(w.begun) })
		}
	}()
	return do(w)
}

// Wait waits for the first answer, unless it is not to.
func (w *Writers) Wait(first bool) {
	if !first {
		return
	}
	select {
	case <-w.begun:
	case <-w.done:
	case <-time.After(10 * time.Second):
	}
}

// Kill kills the process and waits for what it has written.
func (w *Writers) Kill() {
	w.once.Do(func() {
		_ = w.cmd.Process.Kill()
		<-w.done
		_ = w.cmd.Wait()
	})
}

// A visitor asks a server: its address and the name of the ledger with a space between.
type visitor string

var client = &http.Client{Timeout: spendLimit}

// post sends a request to a server.
func post(address, operation string, request any) (status int, answer []byte, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return 0, nil, err
	}
	resp, err := client.Post("http://"+address+"/v1/"+operation, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// SpendOnce implements Spender. A request whose answer is lost is sent again, under its key.
func (v visitor) SpendOnce(_ context.Context, key string, text []byte, note string) (again bool, err error) {
	address, name, _ := strings.Cut(string(v), " ")
	for n := 0; ; n++ {
		status, answer, err := post(address, "ledger-spend", map[string]any{"ledger": name, "plan": json.RawMessage(text), "key": key, "note": note})
		var lost *url.Error
		if errors.As(err, &lost) && n < 3 || status == http.StatusServiceUnavailable && n < 50 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			return false, err
		}
		switch status {
		case http.StatusOK:
			var a struct{ Spent, Again bool }
			if err := json.Unmarshal(answer, &a); err != nil || !a.Spent {
				return false, fmt.Errorf("%s: %w", answer, err)
			}
			return a.Again, nil
		case http.StatusConflict:
			return false, fmt.Errorf("%w: %s", ledger.ErrBudget, answer)
		}
		return false, fmt.Errorf("status %d: %s", status, answer)
	}
}

// A served is a Place behind a server, which is a process of its own.
type served struct {
	Place
	self    string
	cmd     *exec.Cmd
	in      io.Closer
	address string
	name    string
	suffix  string // of names of ledgers
	flooded int
}

// Serve returns a place whose ledgers are asked for through a server; suffix is what their names end in.
func Serve(p Place, suffix string) (Place, error) {
	self, err := os.Executable()
	return &served{Place: p, self: self, suffix: suffix}, err
}

// serve is the process of a server.
func serve(spec string) {
	word, where, _ := strings.Cut(spec, ":")
	c, name := try.Must2(kinds[word].Serve(where))
	c.Addr, c.Open = cmp.Or(os.Getenv(addressVar), "0"), 4
	s := try.Must(server.New(c))
	ln, err := s.Listen()
	for n := 0; err != nil && n < 50; n++ { // the one before may not be gone
		time.Sleep(20 * time.Millisecond)
		ln, err = s.Listen()
	}
	try.Check(err)
	fmt.Println(ln.Addr().String() + " " + name)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with who began it
		stop()
	}()
	try.Check(s.Serve(ctx, ln))
}

// start starts a server.
func (s *served) start() error {
	s.cmd = exec.Command(s.self)
	s.cmd.Env = append(os.Environ(), serveVar+"="+s.Place.Spec())
	if s.address != "" {
		s.cmd.Env = append(s.cmd.Env, addressVar+"="+s.address)
	}
	s.in = try.Must(s.cmd.StdinPipe())
	out := try.Must(s.cmd.StdoutPipe())
	try.Check(s.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server: %s%w", line, err)
	}
	var ok bool
	if s.address, s.name, ok = strings.Cut(strings.TrimSuffix(line, "\n"), " "); !ok || strings.HasPrefix(line, "error:") {
		return fmt.Errorf("the server: %s", line)
	}
	return nil
}

func (s *served) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.in.Close()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// Restart has a server that knows nothing.
func (s *served) Restart() error {
	s.kill()
	return s.start()
}

// restart restarts the server of a place, if it has one.
func restart(p Place) error {
	if s, ok := p.(*served); ok {
		return s.Restart()
	}
	return nil
}

func (s *served) Create(ctx context.Context) error {
	s.flooded = 0
	try.Check(s.Place.Create(ctx))
	return s.Restart()
}

func (s *served) Spec() string { return "http:" + s.address + " " + s.name }

func (s *served) Close() error {
	s.kill()
	return s.Place.Close()
}

func (s *served) Own() []Fault {
	return append(s.Place.Own(),
		Fault{"server killed", s.killed},
		Fault{"server stopped", s.stopped},
		Fault{"older state after evictions", func(r *Round) error { return r.Rollback(s.flood, s.Copy) }})
}

// killed kills the server while a process spends, and starts another at the same address.
func (s *served) killed(r *Round) error {
	return r.With(func(w *Writers) error {
		w.Wait(true)
		time.Sleep(time.Duration(r.Rand.IntN(50)) * time.Millisecond)
		try.Check(s.Restart())
		time.Sleep(time.Duration(r.Rand.IntN(50)) * time.Millisecond)
		r.must("after the server was killed")
		return nil
	})
}

// stopped stops the server for a while.
func (s *served) stopped(r *Round) error {
	return r.With(func(w *Writers) error {
		w.Wait(true)
		other := &Writers{cmd: s.cmd}
		try.Check(other.Stop())
		time.Sleep(time.Duration(r.Rand.IntN(150)) * time.Millisecond)
		try.Check(other.Continue())
		r.must("after the server was stopped")
		return nil
	})
}

// flood asks the server for names that no ledger has, and for more ledgers than it has in memory.
func (s *served) flood() error {
	for n := range 40 {
		status, answer := try.Must2(post(s.address, "ledger-status", map[string]any{"ledger": fmt.Sprintf("none-%d%s", n, s.suffix)}))
		if status == 200 {
			return fmt.Errorf("a ledger that is none: %s", answer)
		}
	}
	for n := range 12 {
		name := fmt.Sprintf("other-%s-%d%s", strings.TrimSuffix(s.name, s.suffix), n, s.suffix)
		if s.flooded <= n {
			if status, answer, err := post(s.address, "ledger-create", map[string]any{"path": name, "neighbors": "add-remove", "epsilon": 1, "delta": 0, "mode": "planned"}); err != nil || status != 200 {
				return errors.Join(err, fmt.Errorf("making a ledger: %d: %s", status, answer))
			}
			s.flooded = n + 1
		}
		if status, answer, err := post(s.address, "ledger-status", map[string]any{"ledger": name}); err != nil || status != 200 {
			return errors.Join(err, fmt.Errorf("a ledger that is there: %d: %s", status, answer))
		}
	}
	return nil
}
