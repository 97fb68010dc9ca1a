package faults

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/lab/try"
)

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
