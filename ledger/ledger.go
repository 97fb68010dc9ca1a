// Ledgers: configuration, spending, and what is known of a file. Every method holds the
// lock of the ledger; nothing is spent unless it is in the file.

package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/rdp"
	"github.com/dpaccountant/accountant/subsample"
)

// A Mode says how spends are accounted for, and so what may be spent.
type Mode string

const (
	// Planned: no step's parameters, nor whether it runs, depend on outputs of
	// earlier steps. Accounted for by the Fourier accountant.
	Planned Mode = "planned"
	// Adaptive: steps may depend on all earlier outputs. Kept by an rdp.Filter.
	Adaptive Mode = "adaptive"
	// AdaptiveGaussian: as Adaptive, for Gaussian noise on the whole data set alone, of
	// which the total is then exact. Kept by a gdp.Filter.
	AdaptiveGaussian Mode = "adaptive-gaussian"
)

// A Config fixes what a ledger promises. It cannot be changed later.
type Config struct {
	Neighbors profiles.Relation
	// RecordsPerPerson is how many records a person has at most, where the budget is for
	// each person; 0 and 1 for each record.
	RecordsPerPerson int64
	Epsilon, Delta   float64
	Mode             Mode
	// Orders are the Rényi orders of an adaptive ledger; nil picks a handful that
	// suit the budget. A planned ledger has none.
	Orders []float64
}

// ErrBudget is wrapped by the error of a spend that would pass the budget. It is the
// filter's, so that one errors.Is serves whoever uses both.
var ErrBudget = rdp.ErrBudget

// A Ledger is an open ledger: a handle. It holds no lock between calls: several
// processes may have the same file open, and each call sees what the others have
// spent. It remembers the last line that it has read, and when the file does not
// have it any more every call is an error from then on.
// It is safe for use by several goroutines.
type Ledger struct {
	turn  chan struct{} // holds something during a call
	path  string        // "" in memory
	state *state
	lost  error // why this handle is of no use any more
}

// begin waits until no other call is under way; end must follow.
func (l *Ledger) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Ledger) end() { <-l.turn }

// A state is what the lines read so far amount to.
type state struct {
	config  Config
	header  bool
	entries int
	runs    int64
	file    os.FileInfo // the file, nil before all of it was read
	before  string      // checksum of the line before the last
	head    string      // checksum of the last line
	start   int64       // where the last line begins
	offset  int64       // where it ends, without what is missing
	missing string      // what the last line lacks of its ending
	last    string      // time of the last entry
	judge   judge
	visit   func(entry)                 // is called with each entry of the file, if set
	plans   map[string]*accountant.Plan // seen lately, by text
}

// A judge decides about spends.
type judge interface {
	// prepare does what a spend takes to be admitted, or returns why it cannot be.
	prepare(ctx context.Context, text string, p *accountant.Plan) error
	// admits reports whether a spend fits, as far as that needs no computation.
	admits(text string) bool
	// fits returns why n more spends of a plan would not be admitted, and changes nothing.
	fits(ctx context.Context, text string, p *accountant.Plan, n int64) error
	// take counts a spend that it admits.
	take(text string)
	// restore takes over an entry of the file; quick makes it return errUnknown
	// rather than compute.
	restore(text string, p *accountant.Plan, quick bool) error
	// recheck recomputes whether everything restored is within the budget.
	recheck(ctx context.Context) error
	spent(ctx context.Context) (Spent, error)
}

// errUnknown is of what takes a computation where there is no time for one.
var errUnknown = errors.New("is not known yet")

// New returns a ledger in memory, which ends with the process.
func New(c Config) (*Ledger, error) {
	l := open("")
	if err := l.state.begin(&c); err != nil {
		return nil, err
	}
	return l, nil
}

// begin checks the configuration, completes it, and starts with it.
func (s *state) begin(c *Config) error {
	if !slices.Contains(profiles.Relations(), c.Neighbors) {
		return fault.New("neighbors", "%v is not one of add-remove, substitute, zero-out", c.Neighbors)
	}
	if !(c.Epsilon >= 0 && !math.IsInf(c.Epsilon, 1)) {
		return fault.New("epsilon", "%v is not in [0, +Inf)", c.Epsilon)
	}
	if c.RecordsPerPerson == 0 {
		c.RecordsPerPerson = 1
	}
	err := subsample.CheckRecords(c.RecordsPerPerson)
	if err != nil {
		return err
	}
	switch c.Mode {
	case Planned:
		if !(c.Delta >= 0 && c.Delta < 1) {
			return fault.New("delta", "%v is not in [0, 1)", c.Delta)
		}
		if len(c.Orders) > 0 {
			return fault.New("orders", "are for adaptive ledgers, this one is planned")
		}
		s.judge = newPlanned(*c)
	case Adaptive:
		s.judge, err = newAdaptive(c)
	case AdaptiveGaussian:
		if len(c.Orders) > 0 {
			return fault.New("orders", "are for adaptive ledgers, this one is %s", c.Mode)
		}
		s.judge, err = newGaussian(*c)
	default:
		err = fault.New("mode", "%q is not one of planned, adaptive, adaptive-gaussian", c.Mode)
	}
	if err == nil {
		s.config, s.header = *c, true
	}
	return err
}

// Config returns what the ledger promises.
func (l *Ledger) Config() Config {
	c := l.state.config
	c.Orders = slices.Clone(c.Orders)
	return c
}

// Spend charges a step to the budget. It accepts what it can write down: the
// Gaussian and the Laplace mechanism on the whole data set or a Poisson sample,
// and groups of them; SpendPlan takes everything that a plan file can say.
//
// When ctx ends, or another process holds the file's lock for more than ten
// seconds, it returns an error, and nothing was spent.
func (l *Ledger) Spend(ctx context.Context, s accountant.Step) error {
	text, err := planText(s, l.state.config)
	if err != nil {
		return err
	}
	return l.SpendPlan(ctx, text, s.Name)
}

// maxNote is the largest note in bytes.
const maxNote = 1000

// SpendPlan charges all steps of a plan file, or none of them, as Spend does. The
// plan must have the ledger's relation and unit. The note is free text for the readers of
// the file.
func (l *Ledger) SpendPlan(ctx context.Context, plan []byte, note string) error {
	if len(note) > maxNote || !utf8.ValidString(note) {
		return fault.New("note", "is not UTF-8 text of at most %d bytes", maxNote)
	}
	e := entry{Time: time.Now().UTC().Format(time.RFC3339), Note: note, Plan: storedPlan(plan)}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	if l.path != "" {
		return l.append(ctx, e)
	}
	a, err := l.state.judged(ctx, e)
	if err != nil {
		return err
	}
	l.state.count(e, a)
	return nil
}

// An admission is an entry's plan, with the text that stands for it.
type admission struct {
	text string
	plan *accountant.Plan
}

// admission reads the plan of an entry.
func (s *state) admission(e entry) (a admission, err error) {
	a.plan, a.text, err = s.parse(e)
	return a, err
}

// judged returns an error unless the entry may be counted now.
func (s *state) judged(ctx context.Context, e entry) (a admission, err error) {
	if a, err = s.admission(e); err == nil {
		err = s.judge.prepare(ctx, a.text, a.plan)
	}
	return a, err
}

// count takes over an entry that was admitted.
func (s *state) count(e entry, a admission) {
	s.judge.take(a.text)
	s.counted(e, a)
}

// restore takes over an entry of the file.
func (s *state) restore(e entry, quick bool) error {
	a, err := s.admission(e)
	if err != nil {
		return err
	}
	if err := s.judge.restore(a.text, a.plan, quick); err != nil {
		return err
	}
	s.counted(e, a)
	return nil
}

func (s *state) counted(e entry, a admission) {
	s.entries++
	s.last = e.Time
	s.runs += runs(a.plan.Steps)
}

func (s *state) parse(e entry) (*accountant.Plan, string, error) {
	text := e.planText()
	p := s.plans[text]
	if p == nil {
		var err error
		if p, err = plan.Parse([]byte(text)); err != nil {
			return nil, "", err
		}
		if s.plans == nil || len(s.plans) >= maxPlans {
			s.plans = map[string]*accountant.Plan{}
		}
		s.plans[text] = p
	}
	if p.Neighbors != s.config.Neighbors {
		return nil, "", fault.New("neighbors", "%v is not the ledger's relation, %v", p.Neighbors, s.config.Neighbors)
	}
	if p.Records() != s.config.RecordsPerPerson {
		return nil, "", fault.New("records-per-person", "%d is not the ledger's unit, %d", p.Records(), s.config.RecordsPerPerson)
	}
	if n := runs(p.Steps); n > maxRuns-s.runs {
		return nil, "", fault.New("count", "%d runs on top of %d are above 2^53", n, s.runs)
	}
	return p, text, nil
}

const maxRuns = xmath.MaxCount

// maxPlans is how many plans a ledger remembers in case they come again.
const maxPlans = 100

// runs is the number of runs of steps that plan.Parse has found to be at most
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
