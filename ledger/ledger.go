// Package ledger keeps a privacy budget that is spent over months, by several
// people or programs, in one append-only file.
//
//	l, err := ledger.Create("budget.ledger", ledger.Config{
//		Neighbors: accountant.AddRemove, Epsilon: 2, Delta: 1e-5, Mode: ledger.Planned})
//	…
//	if err := l.Spend(step); err != nil {
//		return err // not spent: the step must not run
//	}
//	// run the step
//
// Spend comes before the step runs. When it returns nil, the step is on disk and
// the total is within the budget; when it returns an error, nothing was spent
// and the step must not run.
//
// A ledger has one of two modes, for which different guarantees hold. Planned
// ledgers are accounted for by the Fourier accountant: tight, but what a step
// is, and whether it runs, must not depend on the outputs of earlier steps.
// Adaptive ones are kept by a Rényi filter: looser, and steps may be chosen in
// the light of all earlier outputs.
//
// Do not use it as a defence against people who can write the file: the checksum
// chain shows damage and edits, but whoever can edit can also compute a new
// chain. Keep the head of the chain (Status.Head) elsewhere, and look for it
// with Verify, to notice that as well.
package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// A Mode says how spends are accounted for, and so what may be spent.
type Mode string

const (
	// Planned: no step's parameters, nor whether it runs, depend on outputs of
	// earlier steps. Accounted for by the Fourier accountant.
	Planned Mode = "planned"
	// Adaptive: steps may depend on all earlier outputs. Kept by an rdp.Filter.
	Adaptive Mode = "adaptive"
)

// A Config fixes what a ledger promises. It cannot be changed later.
type Config struct {
	Neighbors      profiles.Relation
	Epsilon, Delta float64
	Mode           Mode
	// Orders are the Rényi orders of an adaptive ledger; nil picks a handful that
	// suit the budget. A planned ledger has none.
	Orders []float64
}

// ErrBudget is wrapped by the error of a spend that would pass the budget.
var ErrBudget = errors.New("the privacy budget does not allow this step")

// A Ledger is an open ledger. It holds no lock between calls: several processes
// may have the same file open, and each call sees what the others have spent.
// It is safe for use by several goroutines.
type Ledger struct {
	mu    sync.Mutex
	path  string // "" in memory
	state *state // nil: read the file from its beginning
}

// A state is what the lines read so far amount to.
type state struct {
	config  Config
	header  bool
	entries int
	runs    int64
	head    string // checksum of the last line
	offset  int64  // end of the last line
	unended bool   // the last line lacks its line feed
	last    string // time of the last entry
	judge   judge
	plans   map[string]*accountant.Plan // seen lately, by text
}

// A judge decides about spends. try leaves the judge unchanged when it returns
// an error; restore takes over an entry of the file.
type judge interface {
	try(text string, p *accountant.Plan) error
	restore(text string, p *accountant.Plan) error
	// recheck recomputes whether everything restored is within the budget.
	recheck() error
	spent() (Spent, error)
}

// New returns a ledger in memory, which ends with the process.
func New(c Config) (*Ledger, error) {
	s := &state{}
	if err := s.begin(&c); err != nil {
		return nil, err
	}
	return &Ledger{state: s}, nil
}

// begin checks the configuration, completes it, and starts with it.
func (s *state) begin(c *Config) error {
	if c.Neighbors != accountant.AddRemove && c.Neighbors != accountant.Substitute {
		return fmt.Errorf("neighbors: %v is not one of add-remove, substitute", c.Neighbors)
	}
	if !(c.Epsilon >= 0 && !math.IsInf(c.Epsilon, 1)) {
		return fmt.Errorf("epsilon: %v is not in [0, +Inf)", c.Epsilon)
	}
	var err error
	switch c.Mode {
	case Planned:
		if !(c.Delta >= 0 && c.Delta < 1) {
			return fmt.Errorf("delta: %v is not in [0, 1)", c.Delta)
		}
		if len(c.Orders) > 0 {
			return fmt.Errorf("orders: are for adaptive ledgers, this one is planned")
		}
		s.judge = newPlanned(*c)
	case Adaptive:
		s.judge, err = newAdaptive(c)
	default:
		err = fmt.Errorf("mode: %q is not one of planned, adaptive", c.Mode)
	}
	s.config, s.header = *c, true
	return err
}

// Config returns what the ledger promises.
func (l *Ledger) Config() (Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.load(nil); err != nil {
		return Config{}, err
	}
	return l.state.config, nil
}

// Spend charges a step to the budget. It accepts what it can write down: the
// Gaussian and the Laplace mechanism on the whole data set or a Poisson sample,
// and groups of them; SpendPlan takes everything that a plan file can say.
func (l *Ledger) Spend(s accountant.Step) error {
	c, err := l.Config()
	if err != nil {
		return err
	}
	text, err := planText(s, c.Neighbors)
	if err != nil {
		return err
	}
	return l.SpendPlan(text, s.Name)
}

// maxNote is the largest note in bytes.
const maxNote = 1000

// SpendPlan charges all steps of a plan file, or none of them. The plan must
// have the ledger's relation. The note is free text for the readers of the file.
func (l *Ledger) SpendPlan(plan []byte, note string) error {
	if len(note) > maxNote || !utf8.ValidString(note) {
		return fmt.Errorf("note: is not UTF-8 text of at most %d bytes", maxNote)
	}
	e := entry{Time: time.Now().UTC().Format(time.RFC3339), Note: note, Plan: storedPlan(plan)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path == "" {
		return l.state.spend(e)
	}
	return l.append(e)
}

// spend judges an entry, and takes it over.
func (s *state) spend(e entry) error {
	p, text, err := s.parse(e)
	if err != nil {
		return err
	}
	if err := s.judge.try(text, p); err != nil {
		return err
	}
	s.count(e, p)
	return nil
}

func (s *state) restore(e entry) error {
	p, text, err := s.parse(e)
	if err != nil {
		return err
	}
	if err := s.judge.restore(text, p); err != nil {
		return err
	}
	s.count(e, p)
	return nil
}

func (s *state) count(e entry, p *accountant.Plan) {
	s.entries++
	s.last = e.Time
	s.runs += runs(p.Steps)
}

func (s *state) parse(e entry) (*accountant.Plan, string, error) {
	text := e.planText()
	p := s.plans[text]
	if p == nil {
		var err error
		if p, err = accountant.ParsePlan([]byte(text)); err != nil {
			return nil, "", err
		}
		if s.plans == nil || len(s.plans) >= maxPlans {
			s.plans = map[string]*accountant.Plan{}
		}
		s.plans[text] = p
	}
	if p.Neighbors != s.config.Neighbors {
		return nil, "", fmt.Errorf("neighbors: %v is not the ledger's relation, %v", p.Neighbors, s.config.Neighbors)
	}
	if n := runs(p.Steps); n > maxRuns-s.runs {
		return nil, "", fmt.Errorf("count: %d runs on top of %d are above 2^53", n, s.runs)
	}
	return p, text, nil
}

const maxRuns = 1 << 53

// maxPlans is how many plans a ledger remembers in case they come again.
const maxPlans = 100

// runs is the number of runs of steps that ParsePlan has found to be at most
// 2^53.
func runs(steps []accountant.Step) int64 {
	var n int64
	for _, s := range steps {
		if s.Mechanism != nil {
			n += s.Count
		} else {
			n += s.Count * runs(s.Steps)
		}
	}
	return n
}

// storedPlan is the plan as the file has it: JSON as JSON, YAML as a string.
func storedPlan(plan []byte) json.RawMessage {
	if t := strings.TrimSpace(string(plan)); strings.HasPrefix(t, "{") && utf8.ValidString(t) && json.Valid([]byte(t)) {
		var b bytes.Buffer
		if json.Compact(&b, []byte(t)) == nil {
			return b.Bytes()
		}
	}
	text, _ := json.Marshal(string(plan)) // bytes that are not UTF-8 turn into U+FFFD
	return text
}
