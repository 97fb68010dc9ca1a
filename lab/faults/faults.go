// Package faults asks what ledgers keep when processes are killed, disks are full, files are
// replaced and clocks are wrong. It has one model of what must hold, for ledgers in files, in
// databases and behind servers.
//
// Whatever happens, nothing that was granted is missing, there twice or beyond the budget, and
// nobody is refused what fits. Whoever has seen a newer state of a ledger does not spend from an
// older one. Each package that keeps ledgers has a short share of it as a test. The program
// ledger/sqlledger/internal/faults has all of it:
//
//	cd ledger/sqlledger && go run ./internal/faults -time 1h
package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// The budget allows exactly most spends of plan.
const (
	plan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.01}}}]}`
	most = 150
)

// Budget is that of the ledgers that places make.
var Budget = ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 0.01*most + 0.005, Mode: ledger.Planned}

// A Spender is a handle of a ledger.
type Spender interface {
	SpendOnce(ctx context.Context, key string, plan []byte, note string) (again bool, err error)
}

// A Place holds one ledger after the other.
type Place interface {
	// Create makes a new ledger with Budget.
	Create(ctx context.Context) error
	// Spec names the ledger to Open, in this process and others.
	Spec() string
	// Log reads and verifies the ledger where it is kept.
	Log(ctx context.Context, each func(ledger.Entry)) error
	// Copy returns a function that puts the ledger back to what it is now.
	Copy() (restore func() error, err error)
	// Append adds a line without asking anybody, while nobody spends.
	Append(line ledger.Line) error
	// Fill takes all room that there is, and returns a function that frees it; the error says why it cannot.
	Fill() (free func() error, err error)
	// Own returns the faults that only this place has.
	Own() []Fault
	// Close frees everything.
	Close() error
}

// A Fault is one kind of trouble. Run makes it once; it may end by what package try does.
type Fault struct {
	Name string
	Run  func(*Round) error
}

// A Round is one fault that happens to one ledger.
type Round struct {
	Rand  *rand.Rand
	Place Place
	self  string // the program, which is the processes of writers as well
	a, b  Spender
	w     *world
	limit int64 // of the files that a process of writers may write, 0 for none
}

// A world is what is known of a ledger.
type world struct {
	mu      sync.Mutex
	number  int // of the ledger
	next    int
	asked   map[string]bool
	granted map[string]bool
	anew    map[string]int // how often a key was charged, by the answers
	refused bool           // since the last look
	found   []string       // violations
}

func (w *world) violated(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, fmt.Sprintf(format, args...))
}

// key returns a new key.
func (w *world) key() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	key := fmt.Sprintf("%d-%d", w.number, w.next)
	w.asked[key] = true
	return key
}

// told enters an answer.
func (w *world) told(key string, again bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[key] = true
	switch {
	case err == nil && again:
		w.granted[key] = true
	case err == nil:
		w.granted[key] = true
		w.anew[key]++
		if w.anew[key] > 1 {
			w.found = append(w.found, key+" was granted anew twice")
		}
	case errors.Is(err, ledger.ErrBudget):
		w.refused = true
	}
}

// look compares what is kept with what was granted.
func (w *world) look(ctx context.Context, p Place) (total int, err error) {
	there := map[string]int{}
	if err := p.Log(ctx, func(e ledger.Entry) { there[e.Key]++; total++ }); err != nil {
		w.violated("the ledger cannot be read: %v", err)
		return total, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	bad := func(format string, args ...any) { w.found = append(w.found, fmt.Sprintf(format, args...)) }
	for key := range w.granted {
		if there[key] == 0 {
			bad("%s was granted and is missing", key)
		}
	}
	for key, n := range there {
		if n > 1 {
			bad("%s is there %d times", key, n)
		}
		if !w.asked[key] {
			bad("%s is there and nobody asked for it", key)
		}
	}
	if total > most {
		bad("%d spends are there, and %d are within the budget", total, most)
	}
	if w.refused && total < most {
		bad("one was refused although only %d of %d are there", total, most)
	}
	w.refused = false
	return total, nil
}

// spendLimit is how long a spend may take: longer than a ledger waits for its lock.
const spendLimit = 20 * time.Second

// spend asks for one new spend. An error is what a fault may cause.
func (r *Round) spend(s Spender) error { return r.spendKey(s, r.w.key()) }

// spendKey asks for a spend under a key.
func (r *Round) spendKey(s Spender, key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), spendLimit)
	defer cancel()
	length := 0 // lines are of many lengths
	for _, c := range key {
		length = (31*length + int(c)) % 40
	}
	again, err := s.SpendOnce(ctx, key, []byte(plan), strings.Repeat("n", length))
	r.w.told(key, again, err)
	if errors.Is(err, ledger.ErrBudget) {
		return nil
	}
	return err
}

// must spends on both handles, which must work.
func (r *Round) must(what string) {
	for _, s := range []Spender{r.a, r.b} {
		if err := r.spend(s); err != nil {
			r.w.violated("%s a spend fails: %v", what, err)
		}
	}
}

// reopen opens both handles anew.
func (r *Round) reopen() (err error) {
	for _, s := range []*Spender{&r.a, &r.b} {
		if *s, err = Open(context.Background(), r.Place.Spec()); err != nil {
			r.w.violated("it cannot be opened: %v", err)
			return err
		}
	}
	return nil
}

// A Count is what became of one kind of fault in one kind of place.
type Count struct {
	Rounds, Violations int
	First              string // violation
}

// A Report counts faults.
type Report struct {
	Place   string
	Counts  map[string]*Count
	Ledgers int
	Granted int
	Skipped map[string]string // why
}

// Clone returns a copy.
func (r *Report) Clone() *Report {
	c := *r
	c.Counts = map[string]*Count{}
	for name, n := range r.Counts {
		count := *n
		c.Counts[name] = &count
	}
	c.Skipped = maps.Clone(r.Skipped)
	return &c
}

// Torment has one place go through faults until ctx ends or each has had its number of rounds, 0 for no end. rest is how many times
// as long as a round took it sleeps afterwards.
func Torment(ctx context.Context, name string, p Place, seed uint64, rounds int, rest float64, seen func(*Report, string)) (*Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out := &Report{Place: name, Counts: map[string]*Count{}, Skipped: map[string]string{}}
	r := &Round{Rand: rand.New(rand.NewPCG(seed, 31)), Place: p, self: self, w: &world{}}
	faults := slices.Concat(common, p.Own())
	total := 0
	for number := 0; ctx.Err() == nil && (rounds == 0 || number < rounds*len(faults)); number++ {
		begin := time.Now()
		if number == 0 || total == most { // no fault begins where nothing can be granted
			if err := try.Run(r.begin); err != nil {
				return out, fmt.Errorf("%s: a new ledger: %w", name, err)
			}
			out.Ledgers++
		}
		f := faults[number%len(faults)] // each as often
		before := len(r.w.granted)
		err := try.Run(func() { try.Check(f.Run(r)) })
		var why skipped
		switch {
		case errors.As(err, &why):
			out.Skipped[f.Name] = string(why)
			continue
		case err != nil:
			r.w.violated("%v", err)
		}
		if total, err = r.w.look(context.Background(), p); err == nil {
			_ = r.reopen() // its error is entered
		}
		out.Granted += len(r.w.granted) - before
		c := out.Counts[f.Name]
		if c == nil {
			c = &Count{}
			out.Counts[f.Name] = c
		}
		c.Rounds++
		if found := r.w.found; len(found) > 0 {
			if c.Violations++; c.First == "" {
				c.First = strings.Join(found, "; ")
			}
			if seen != nil {
				seen(out, f.Name+": "+strings.Join(found, "; "))
			}
			total = most // what was found is not found again
		} else if seen != nil {
			seen(out, "")
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rest * float64(time.Since(begin)))):
		}
	}
	return out, nil
}

// begin makes a new ledger.
func (r *Round) begin() {
	r.w = &world{number: r.w.number + 1, asked: map[string]bool{}, granted: map[string]bool{}, anew: map[string]int{}}
	try.Check(r.Place.Create(context.Background()))
	try.Check(r.reopen())
}

// skipped is why a fault cannot be made here.
type skipped string

func (s skipped) Error() string { return string(s) }

// Skip is the error of a fault that cannot be made here.
func Skip(format string, args ...any) error { return skipped(fmt.Sprintf(format, args...)) }

// Skipped reports whether an error is one of Skip.
func Skipped(err error) bool { return errors.As(err, new(skipped)) }

// common are the faults that every place knows.
var common = []Fault{
	{"writer killed", (*Round).killed}, {"writer stopped", (*Round).stopped}, {"same keys at once", (*Round).together}, {"processes compete", (*Round).compete},
	{"older state put back", (*Round).older}, {"same state put back", (*Round).same}, {"disk full", (*Round).full}, {"wrong clock", (*Round).clock},
}

// killed kills a process that spends, at a random moment.
func (r *Round) killed() error {
	return r.With(func(w *Writers) error {
		w.Wait(r.Rand.IntN(4) > 0)
		time.Sleep(time.Duration(r.Rand.IntN(60)) * time.Millisecond)
		return nil
	})
}

// stopped stops a process that spends, which may hold a lock, while others spend; those may wait in vain.
func (r *Round) stopped() error {
	return r.With(func(w *Writers) error {
		w.Wait(true)
		time.Sleep(time.Duration(r.Rand.IntN(20)) * time.Millisecond)
		try.Check(w.Stop())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = r.spend(r.a)
		}()
		time.Sleep(time.Duration(r.Rand.IntN(150)) * time.Millisecond)
		err := w.Continue()
		<-done
		return err
	})
}

// together has both handles spend under the same keys at the same time, twice.
func (r *Round) together() error {
	var all sync.WaitGroup
	for range 4 {
		key := r.w.key()
		for _, s := range []Spender{r.a, r.b, r.a, r.b} {
			all.Go(func() {
				if err := r.spendKey(s, key); err != nil && !errors.Is(err, ledger.ErrBusy) {
					r.w.violated("together: %v", err)
				}
			})
		}
	}
	all.Wait()
	return nil
}

// compete has several processes ask at once, each for a part of the budget, and then for all that is left: exactly that is granted.
func (r *Round) compete() error {
	var race func(n int) error
	race = func(n int) error {
		return r.With(func(w *Writers) error {
			defer func() { <-w.done }()
			if n == 1 {
				return nil
			}
			return race(n - 1)
		})
	}
	try.Check(race(3))
	for n := 0; !r.w.wasRefused(); n++ {
		if n > most {
			r.w.violated("nobody is refused after %d", n)
			break
		}
		if err := r.spend([]Spender{r.a, r.b}[n%2]); err != nil {
			r.w.violated("after others have ended a spend fails: %v", err)
			break
		}
	}
	return nil
}

// wasRefused reports whether a spend was refused since the last look.
func (w *world) wasRefused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// older puts an older state back, which handles that have seen a newer one must not spend from. Then the newer one is put back.
func (r *Round) older() error { return r.Rollback(func() error { return nil }, r.Place.Copy) }

// Rollback is older with something in between, and another old state.
func (r *Round) Rollback(between func() error, state func() (func() error, error)) error {
	old := try.Must(state())
	before, err := r.w.look(context.Background(), r.Place)
	if err != nil {
		return nil // is entered
	}
	r.must("before a copy")
	_ = r.spend(r.a) // both know all
	_ = r.spend(r.b)
	now, err := r.w.look(context.Background(), r.Place)
	if err != nil {
		return nil
	}
	if now == before {
		return nil // the budget was used up before
	}
	newer := try.Must(r.Place.Copy())
	try.Check(errors.Join(between(), old()))
	for _, s := range []Spender{r.a, r.b, r.a} {
		key := r.w.key()
		if _, err := s.SpendOnce(context.Background(), key, []byte(plan), ""); err == nil {
			r.w.violated("%s was granted from an older state", key)
		} else if errors.Is(err, ledger.ErrBudget) {
			r.w.violated("an older state was believed: %v", err)
		}
	}
	return errors.Join(newer(), restart(r.Place))
}

// same puts the state back that there is, from which all go on.
func (r *Round) same() error {
	try.Check(try.Must(r.Place.Copy())())
	r.must("after the same state was put back")
	return nil
}

// full fills the disk while a process spends, frees it, and spends.
func (r *Round) full() error {
	return r.With(func(w *Writers) error {
		w.Wait(true)
		free := try.Must(r.Place.Fill())
		for range 1 + r.Rand.IntN(4) {
			_ = r.spend(r.a)
			_ = r.spend(r.b)
		}
		if r.Rand.IntN(2) == 0 {
			w.Kill()
		}
		try.Check(free())
		w.Kill()
		if err := r.reopen(); err == nil {
			r.must("with room again")
		}
		return nil
	})
}

// clock enters a spend as a program does whose clock is wrong.
func (r *Round) clock() error {
	total, head := 0, ""
	try.Check(r.Place.Log(context.Background(), func(e ledger.Entry) { total++; head = e.Sum }))
	if total >= most {
		return nil
	}
	if total == 0 {
		r.must("in a new ledger")
		try.Check(r.Place.Log(context.Background(), func(e ledger.Entry) { head = e.Sum }))
	}
	key := r.w.key()
	times := []string{"1970-01-01T00:00:00Z", "2106-02-07T06:28:15Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}
	content := try.Must(json.Marshal(struct {
		Time string          `json:"time"`
		Key  string          `json:"key"`
		Plan json.RawMessage `json:"plan"`
	}{times[r.Rand.IntN(len(times))], key, []byte(plan)}))
	sum := sha256.Sum256(append([]byte(head+"\n"), content...))
	try.Check(r.Place.Append(ledger.Line{Sum: hex.EncodeToString(sum[:]), Content: content}))
	r.w.told(key, true, nil)
	r.must("after a line of a wrong clock")
	return nil
}
