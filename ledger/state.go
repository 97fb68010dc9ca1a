package ledger

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A state is what the lines read so far amount to.
type state struct {
	config  Config
	header  bool
	lines   int64 // with the header and checkpoints
	entries int
	until   int  // how many of them the checkpoint stands for that is believed, 0 if none is
	summed  int  // until, once that was read
	marked  mark // the last checkpoint
	runs    int64
	before  string // checksum of the line before the last
	head    string // checksum of the last line
	last    string // time of the last entry
	policy  policy
	visit   func(e entry, sum string) // is called with each entry, if set
	check   func(sums) error          // is called with the sums of each checkpoint of this program, if set
	stored  map[string]*admission     // plans seen lately, by the bytes that the line has
	parsed  int                       // the bytes of those and of their texts
	keys    map[digest]digest         // of the entries that have one: their plans
	added   []digest                  // the keys of spends since the state was marked
}

// A mark is where a checkpoint stands: behind how many entries, and which program has written it; number counts them.
type mark struct {
	number, entries int
	program         string
}

// mark returns a function that takes the state back to what it is now.
func (s *state) mark() (undo func()) {
	s.added = nil
	old, back := *s, s.policy.mark()
	return func() {
		for _, key := range s.added {
			delete(s.keys, key)
		}
		*s = old
		back()
	}
}

// replay adds a line that was read.
func (s *state) replay(line Line, quick bool) (err error) {
	switch {
	case !s.header:
		err = s.readHeader(line.Content)
	case isCheckpoint(line.Content):
		err = s.pass(line.Content)
	default:
		var e entry
		if e, err = s.entry(line.Content); err == nil {
			err = s.count(e, quick)
		}
		if err == nil && s.visit != nil {
			s.visit(e, line.Sum)
		}
	}
	if err == nil {
		s.moved(line)
	}
	return err
}

// moved makes a line the last one.
func (s *state) moved(line Line) {
	s.lines++
	s.before, s.head = s.head, line.Sum
}

func (s *state) readHeader(content []byte) error {
	var h header
	if len(content) > maxHeader {
		return fault.New("header", "has more than %d bytes", maxHeader)
	}
	if err := strict(content, &h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fault.New("ledger", "%d is not a known version, must be 1", h.Version)
	}
	r, err := profiles.ParseRelation(h.Neighbors)
	if err != nil {
		return err
	}
	if h.RecordsPerPerson < 0 || h.RecordsPerPerson == 1 {
		return fault.New("records-per-person", "%d is not a whole number above 1", h.RecordsPerPerson)
	}
	return s.begin(&Config{r, h.RecordsPerPerson, h.Epsilon, h.Delta, h.Mode, h.Orders})
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
		s.policy = newPlanned(*c)
	case Adaptive:
		s.policy, err = newFiltered(c)
	case AdaptiveGaussian:
		if len(c.Orders) > 0 {
			return fault.New("orders", "are for adaptive ledgers, this one is %s", c.Mode)
		}
		s.policy, err = newGaussian(*c)
	default:
		err = fault.New("mode", "%.60q is not one of planned, adaptive, adaptive-gaussian", c.Mode)
	}
	if err == nil {
		s.config, s.header, s.keys = *c, true, map[digest]digest{}
	}
	return err
}

// firstLine completes a configuration and returns the line that a ledger with it begins with.
func firstLine(c *Config) (Line, error) {
	if err := (&state{}).begin(c); err != nil {
		return Line{}, err
	}
	return newLine("", header{1, c.Neighbors.String(), unit(c.RecordsPerPerson), c.Epsilon, c.Delta, c.Mode, c.Orders, now()})
}

// admission reads the plan of an entry.
func (s *state) admission(e entry) (a *admission, err error) {
	a, ok := s.stored[string(e.Plan)]
	if !ok {
		a = &admission{text: e.planText()}
		if a.plan, err = plan.Parse([]byte(a.text)); err != nil {
			return nil, err
		}
		a.runs = runs(a.plan.Steps)
		if s.stored == nil || len(s.stored) >= maxPlans || s.parsed > maxPlanText {
			s.stored, s.parsed = map[string]*admission{}, 0
		}
		s.stored[string(e.Plan)] = a
		s.parsed += len(a.text) + len(e.Plan)
	}
	switch p := a.plan; {
	case p.Neighbors != s.config.Neighbors:
		err = fault.New("neighbors", "%v is not the ledger's relation, %v", p.Neighbors, s.config.Neighbors)
	case p.Records() != s.config.RecordsPerPerson:
		err = fault.New("records-per-person", "%d is not the ledger's unit, %d", p.Records(), s.config.RecordsPerPerson)
	case a.runs > maxRuns-s.runs:
		err = fault.New("count", "%d runs on top of %d are above 2^53", a.runs, s.runs)
	}
	return a, err
}

// judged returns an error unless the entry may be counted now.
func (s *state) judged(ctx context.Context, e entry) error {
	if err := s.repeated(e); err != nil {
		return err
	}
	a, err := s.admission(e)
	if err == nil {
		err = s.policy.prepare(ctx, a)
	}
	return err
}

// count takes over an entry; one that was read may have its cost in a checkpoint.
func (s *state) count(e entry, quick bool) error {
	if s.summed >= s.until {
		a, err := s.admission(e)
		if err == nil {
			err = s.policy.count(a, quick)
		}
		if err != nil {
			return err
		}
		s.runs += a.runs
	}
	s.keep(e)
	s.entries++
	s.last = e.Time
	return nil
}

const maxRuns = xmath.MaxCount

// maxPlans and maxPlanText are how many plans, of how many bytes of text, a ledger remembers in case
// they come again.
const (
	maxPlans    = 10_000
	maxPlanText = 1 << 24
)

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

// A key lets a request that is repeated because its answer was lost spend once. It is in
// the entry's line, so that it holds for every process and as long as the file does.

// maxKey is the longest key in bytes.
const maxKey = 200

// checkKey returns an error unless the text can be a key.
func checkKey(key string) error {
	bad := func(r rune) bool { return !unicode.IsGraphic(r) }
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, bad) {
		return fault.New("key", "%.60q is not printable UTF-8 text of 1 to %d bytes", key, maxKey)
	}
	return nil
}

// errGranted is of an entry whose key has been spent with the same plan already.
var errGranted = errors.New("was granted before")

// keep remembers the key of an entry that counts, with its plan. Of a key that is in the file
// twice, which no spend writes, the first stays.
func (s *state) keep(e entry) {
	if e.Key == "" {
		return
	}
	key := digestOf(e.Key)
	if _, ok := s.keys[key]; !ok {
		s.keys[key] = digestOf(e.planText())
	}
}

// repeated returns errGranted if the entry was granted before under its key, and another error
// if what was granted under it is another plan.
func (s *state) repeated(e entry) error {
	if e.Key == "" {
		return nil
	}
	switch plan, ok := s.keys[digestOf(e.Key)]; {
	case !ok:
		return nil
	case plan != digestOf(e.planText()):
		return fault.New("key", "%q was granted for another plan; every spend has a key of its own", e.Key)
	}
	return errGranted
}
