package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/noiserange"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/internal/trait"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// A state is what the lines read so far amount to.
type state struct {
	config      Config
	header      bool
	lines       int64 // with the header and checkpoints
	entries     int
	until       int // how many of them the checkpoint stands for that is believed, 0 if none is
	summed      int // until, once that was read
	checkpoints int // how many were read
	own         int // how many entries the last checkpoint of this program stands for
	runs        int64
	held        bool   // lines are read under the lock
	before      string // checksum of the line before the last
	head        string // checksum of the last line
	last        string // time of the last entry
	policy      policy
	visit       func(e entry, sum string)               // is called with each entry, if set
	check       func(sums) error                        // is called with the sums of each checkpoint of this program, if set
	stored      map[string]*admission                   // plans seen lately, by the bytes that the line has
	parsed      int                                     // the bytes of those and of their texts
	keys        map[[sha256.Size]byte][sha256.Size]byte // checksums of the keys of entries, and of their plans
}

// replay adds a line that was read.
func (s *state) replay(line Line) (err error) {
	switch {
	case !s.header:
		err = s.readHeader(line.Content)
	case isCheckpoint(line.Content):
		err = s.pass(line.Content)
	default:
		var e entry
		if err = strictjson.Decode(line.Content, &e); err == nil {
			err = s.count(e)
		}
		if err == nil && s.visit != nil {
			s.visit(e, line.Sum)
		}
	}
	if err == nil {
		s.lines++
		s.before, s.head = s.head, line.Sum
	}
	return err
}

func (s *state) readHeader(content []byte) error {
	var h header
	if err := strictjson.Decode(content, &h); err != nil {
		return err
	}
	if h.Version != 1 {
		return fault.New("ledger", "%d is not a known version, must be 1", h.Version)
	}
	r, err := profiles.ParseRelation(h.Neighbors)
	if err != nil {
		return err
	}
	h.Config.Neighbors = r
	return s.begin(&h.Config)
}

// begin checks the configuration, completes it, and starts with it.
func (s *state) begin(c *Config) error {
	if !slices.Contains(profiles.Relations(), c.Neighbors) {
		return fault.New("neighbors", "%v is not one of add-remove, substitute, zero-out", c.Neighbors)
	}
	if !(c.Epsilon >= 0 && !math.IsInf(c.Epsilon, 1)) {
		return fault.New("epsilon", "%v is not in [0, +Inf)", c.Epsilon)
	}
	c.RecordsPerPerson = cmp.Or(c.RecordsPerPerson, 1)
	err := noiserange.CheckRecords(c.RecordsPerPerson)
	if err != nil {
		return err
	}
	switch c.Mode {
	case Planned:
		if !(c.Delta >= 0 && c.Delta < 1) {
			return fault.New("delta", "%v is not in [0, 1)", c.Delta)
		}
		s.policy = &planned{config: *c, index: map[string]int{}, totals: map[float64]*total{}}
	case Adaptive, AdaptiveGaussian, AdaptiveMenu:
		s.policy, err = newFiltered(c)
	default:
		err = fault.New("mode", "%.60q is not one of planned, adaptive, adaptive-gaussian, adaptive-menu", c.Mode)
	}
	switch {
	case err != nil:
		return err
	case len(c.Orders) > 0 && c.Mode != Adaptive:
		return fault.New("orders", "are for adaptive ledgers, this one is %s", c.Mode)
	case c.Menu != nil && c.Mode != AdaptiveMenu:
		return fault.New("menu", "is for ledgers of the mode %s, this one is %s", AdaptiveMenu, c.Mode)
	}
	s.config, s.header, s.keys = *c, true, map[[sha256.Size]byte][sha256.Size]byte{}
	return nil
}

// firstLine completes a configuration and returns the line that a ledger with it begins with.
func firstLine(c *Config) (Line, error) {
	if err := (&state{}).begin(c); err != nil {
		return Line{}, err
	}
	h := header{Version: 1, Neighbors: c.Neighbors.String(), Config: *c, Time: now()}
	if h.RecordsPerPerson == 1 {
		h.RecordsPerPerson = 0
	}
	return newLine("", h)
}

// admission reads the plan of an entry.
func (s *state) admission(e entry) (a *admission, err error) {
	a, ok := s.stored[string(e.Plan)]
	if !ok {
		a = &admission{text: e.planText()}
		if name := typeOf(a.text); name != "" && s.config.Mode == AdaptiveMenu {
			err = s.config.Menu.charge(a, name)
		} else {
			a.plan, err = plan.Parse(context.Background(), []byte(a.text))
		}
		if err != nil {
			return nil, err
		}
		walk(a.plan.Steps, 1, func(s accountant.Step, times int64) {
			if s.Mechanism != nil {
				a.runs += times
			}
			if b, ok := s.Mechanism.(trait.GaussianBounded); ok {
				_, leak := b.Above()
				a.leaks = a.leaks || leak > 0
			}
			a.branched = a.branched || s.Disjoint != nil
		})
		if s.stored == nil || len(s.stored) >= maxPlans || s.parsed > maxPlanText {
			s.stored, s.parsed = map[string]*admission{}, 0
		}
		s.stored[string(e.Plan)] = a
		s.parsed += len(a.text) + len(e.Plan)
	}
	switch p := a.plan; {
	case a.branched:
		return nil, fault.New("disjoint", "is not for a ledger, which does not know whether later spends are on the same parts of the records")
	case p.Neighbors != s.config.Neighbors:
		err = fault.New("neighbors", "%v is not the ledger's relation, %v", p.Neighbors, s.config.Neighbors)
	case p.Records() != s.config.RecordsPerPerson:
		err = fault.New("records-per-person", "%d is not the ledger's unit, %d", p.Records(), s.config.RecordsPerPerson)
	case a.runs > maxRuns-s.runs:
		err = fault.New("count", "%d runs on top of %d are above 2^53", a.runs, s.runs)
	case s.held && a.cost == nil && s.config.Mode != Planned:
		err = ErrConflict // as others cannot spend meanwhile
	case a.cost == nil:
		err = s.policy.price(a)
	}
	return a, err
}

// asked returns the admission of an entry that has not been granted before.
func (s *state) asked(e entry) (*admission, error) {
	if err := s.repeated(e); err != nil {
		return nil, err
	}
	return s.admission(e)
}

// judged returns an error unless the entry may be counted now.
func (s *state) judged(ctx context.Context, e entry) error {
	a, err := s.asked(e)
	if err == nil {
		err = s.policy.fits(ctx, 1, a)
	}
	return err
}

// count takes over an entry; one that was read may have its cost in a checkpoint.
func (s *state) count(e entry) error {
	if s.summed >= s.until {
		a, err := s.admission(e)
		if err == nil {
			err = s.policy.count(a)
		}
		if err != nil {
			return err
		}
		s.runs += a.runs
	}
	if e.Key != "" {
		// Of a key that is in the file twice, which no spend writes, the first stays.
		key := sha256.Sum256([]byte(e.Key))
		if _, ok := s.keys[key]; !ok {
			s.keys[key] = sha256.Sum256([]byte(e.planText()))
		}
	}
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

// walk calls visit with every step, the inner ones too, and how often it is run. plan.Parse has found all together to be at most 2^53.
func walk(steps []accountant.Step, times int64, visit func(s accountant.Step, times int64)) {
	for _, s := range steps {
		visit(s, times*s.Count)
		walk(s.Steps, times*s.Count, visit)
	}
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

// repeated returns errGranted if the entry was granted before under its key, and another error
// if what was granted under it is another plan.
func (s *state) repeated(e entry) error {
	if e.Key == "" {
		return nil
	}
	switch plan, ok := s.keys[sha256.Sum256([]byte(e.Key))]; {
	case !ok:
		return nil
	case plan != sha256.Sum256([]byte(e.planText())):
		return fault.New("key", "%q was granted for another plan; every spend has a key of its own", e.Key)
	}
	return errGranted
}

// Checkpoint adds a line to the file that says what all entries before it cost. No entry is removed. When the program that has
// written it opens the file again, it verifies every checksum as always, but computes the cost of later entries only; Verify, and any
// other program or version of it, computes that of all.
//
// A planned ledger adds the cost of later entries to that of the checkpoint by basic composition, which is enough to admit
// most spends; before it refuses one it reads and composes all entries. The checkpoint itself takes as long as
// Verify, without keeping a spend waiting.
func (l *Ledger) Checkpoint(ctx context.Context) error {
	if _, ok := l.store.(*file); !ok {
		return fault.New("ledger", "is not a file, and only files have checkpoints")
	}
	if program() == "" {
		return fault.New("checkpoint", "cannot be made by a program that cannot read its own file")
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	defer l.end()
	for range 2 * tries {
		if err := l.load(ctx); err != nil {
			return err
		}
		if err := l.whole(ctx); err != nil {
			return err
		}
		s := l.state
		if s.checkpoints > 0 && s.own == s.entries {
			return nil
		}
		spent, _, err := s.policy.spent(ctx)
		if err == nil {
			err = s.config.within(spent)
		}
		if err != nil {
			return err
		}
		sums, err := s.policy.sums(ctx)
		if err != nil {
			return err
		}
		head := s.head
		done, err := l.change(ctx, func(context.Context) ([]Line, error) {
			if s.head != head {
				return nil, ErrConflict
			}
			line, err := newLine(head, checkpoint{Entries: int64(s.entries), Time: now(), Program: program(), Runs: s.runs, Sums: sums})
			return []Line{line}, err
		})
		if err != nil || done {
			return err
		}
	}
	return l.overtaken()
}

// trusted returns how many entries the last checkpoint of this program stands for, 0 if there is none: they are read all the same,
// but need not be computed. If the lines cannot be read, who goes on to read them learns why.
func (l *Ledger) trusted(ctx context.Context) (entries int) {
	_ = l.store.Lines(ctx, 0, func(line Line) error {
		var c checkpoint
		if isCheckpoint(line.Content) && strictjson.Decode(line.Content, &c) == nil && c.Program != "" && c.Program == program() {
			entries = int(c.Entries)
		}
		return nil
	})
	return entries
}

// pass takes over a checkpoint. That which is believed stands for the entries before it; any other one is passed by, or checked.
func (s *state) pass(content []byte) error {
	var c checkpoint
	if err := strictjson.Decode(content, &c); err != nil {
		return err
	}
	mine := c.Program != "" && c.Program == program()
	switch {
	case c.Entries != int64(s.entries):
		return fault.New("checkpoint", "%d is not the number of entries before it, %d", c.Entries, s.entries)
	case s.summed < s.until && (s.entries < s.until || !mine): // the one that is believed comes
	case s.summed < s.until:
		if c.Runs < 0 || c.Runs > maxRuns {
			return fault.New("runs", "%d is not in [0, 2^53]", c.Runs)
		}
		if err := s.policy.resume(c.Sums); err != nil {
			return err
		}
		s.runs, s.summed = c.Runs, s.entries
	case c.Runs != s.runs:
		return fault.New("runs", "%d is not the number of runs before it, %d", c.Runs, s.runs)
	case s.check != nil && mine:
		if err := s.check(c.Sums); err != nil {
			return err
		}
	}
	s.checkpoints++
	if mine {
		s.own = s.entries
	}
	return nil
}

// A checkpoint is the content of a line that says what all entries before it cost, so that a program that opens the file need not
// compute that again. It is in the chain of checksums like every line, and removes nothing. It proves nothing by itself: it is the claim
// of the program that wrote it, which only the same program believes, and which Verify computes again from the entries. Its
// first key tells it from an entry.
type checkpoint struct {
	Entries int64  `json:"checkpoint"` // before it
	Time    string `json:"time"`
	Program string `json:"program"`
	Runs    int64  `json:"runs"` // of mechanisms, in the entries
	Sums    sums   `json:"sums"`
}

// sums are upper bounds of what entries cost: one of them is there, by the ledger's mode.
type sums struct {
	// Epsilon has bounds of ε at some δ, the first at the ledger's own, at which Lower is a lower one: planned.
	Epsilon []point `json:"epsilon,omitempty"`
	Lower   float64 `json:"lower,omitempty"`
	// Renyi has the totals of a filter, null for +Inf: the divergence at each of its orders, or Σμ², or the units.
	Renyi []*float64 `json:"renyi,omitempty"`
	// SquaredMu and Units are what earlier versions had for the last two.
	SquaredMu *float64 `json:"squared-mu,omitempty"`
	Units     *float64 `json:"units,omitempty"`
}

// A point says that entries are (Epsilon, Delta)-differentially private.
type point struct {
	Delta   float64 `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

const checkpointBegin = `{"checkpoint":`

// isCheckpoint reports whether a content is that of a checkpoint, and not an entry.
func isCheckpoint(content []byte) bool { return bytes.HasPrefix(content, []byte(checkpointBegin)) }

// program names what computes here, by the checksum of the program's file: the same program computes the same bounds. It is "" if the
// file cannot be read, which no checkpoint believes. On Linux that is the file that runs, also where its name has been given to a
// newer program: a checkpoint with that one's checksum would be believed by it, and not be its own.
var program = sync.OnceValue(func() string {
	name, _ := os.Executable()
	if runtime.GOOS == "linux" {
		name = "/proc/self/exe"
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
})
