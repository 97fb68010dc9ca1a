package service

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
)

// This file spends budgets from ledgers, which have names while they are open. Files are
// opened by the front end, which hands a Ledger over.

// A Ledger is an open one; *ledger.Ledger is.
type Ledger interface {
	SpendPlan(ctx context.Context, text []byte, note string) error
	SpendOnce(ctx context.Context, key string, text []byte, note string) (again bool, err error)
	Status(ctx context.Context) (ledger.Status, error)
	Fits(ctx context.Context, text []byte, limit int64) (count int64, refusal, err error)
}

// Files are where a front end keeps ledgers.
type Files interface {
	CreateLedger(ctx context.Context, path string, c ledger.Config) (Ledger, error)
	OpenLedger(ctx context.Context, path string) (Ledger, error)
	VerifyLedger(ctx context.Context, path, head string) (ledger.Status, error)
	LogLedger(ctx context.Context, path string, each func(ledger.Entry)) (ledger.Config, error)
}

// LedgerCreateRequest makes a ledger: in memory, or at a path where the front end has files.
type LedgerCreateRequest struct {
	Path      string  `json:"path,omitempty"`
	Neighbors string  `json:"neighbors,omitempty" of:"mode=planned!,adaptive!,adaptive-gaussian!" one:"add-remove,substitute,zero-out" help:"neighbouring {relation}: add-remove, substitute or zero-out"`
	Epsilon   Decimal `json:"epsilon,omitempty" of:"mode=planned!,adaptive!,adaptive-gaussian!" in:"[0, inf)" help:"{ε} of the budget"`
	Delta     Decimal `json:"delta,omitempty" of:"mode=planned!,adaptive!,adaptive-gaussian!" in:"[0, 1)" help:"{δ} of the budget"`
	Mode      string  `json:"mode" one:"planned,adaptive,adaptive-gaussian,adaptive-menu" help:"planned; if steps may depend on earlier outputs adaptive, or adaptive-gaussian if all are Gaussian, Laplace or whole-number noise on the whole data set, or adaptive-menu if all are of the types of a menu, whose budget and relation it then has"`
	// Menu is that of an adaptive-menu ledger.
	Menu PlanText `json:"menu,omitempty" of:"mode=adaptive-menu!" help:"menu of an adaptive-menu ledger"`
	// RecordsPerPerson is 1 if it is not given.
	RecordsPerPerson Decimal `json:"records-per-person,omitempty" of:"mode=planned,adaptive,adaptive-gaussian" in:"whole [1, 1048576]" help:"how many records {k} a person has at most, for a budget of persons (default 1)"`
}

// LedgerOpenRequest opens a ledger.
type LedgerOpenRequest struct {
	Path string `json:"path"`
}

// LedgerHandle names an open ledger.
type LedgerHandle struct {
	Ledger string `json:"ledger" py:",return"`
}

// LedgerSpendRequest spends a plan before it runs.
type LedgerSpendRequest struct {
	Ledger string   `json:"ledger"`
	Plan   PlanText `json:"plan,omitempty"`
	// Type names a type of the menu, in place of a plan.
	Type string `json:"type,omitempty" not:"plan"`
	Note string `json:"note,omitempty"`
	// Key has the spend made once, however often it is asked for.
	Key string `json:"key,omitempty"`
	Caps
}

// Spent says that a spend was granted, and that the plan may run; Again that it was granted
// before under its key, and nothing was spent now.
type Spent struct {
	Spent bool `json:"spent"`
	Again bool `json:"again,omitempty"`
}

// LedgerCheckRequest has a ledger's file verified; Head is a checksum of earlier.
type LedgerCheckRequest struct {
	Path string `json:"path"`
	Head string `json:"head,omitempty"`
	Caps
}

// LedgerStatusRequest asks for what is spent and what is left.
type LedgerStatusRequest struct {
	LedgerHandle
	Caps
}

// config returns what the ledger promises.
func (q LedgerCreateRequest) config() ledger.Config {
	if q.Menu != nil {
		return ledger.Config{Mode: ledger.AdaptiveMenu, Menu: &ledger.MenuConfig{Text: string(q.Menu)}}
	}
	return ledger.Config{Mode: ledger.Mode(q.Mode), Neighbors: relation(q.Neighbors), RecordsPerPerson: q.RecordsPerPerson.whole(), Epsilon: q.Epsilon.float(), Delta: q.Delta.float()}
}

// ledgerCreate makes a ledger.
func (s *Service) ledgerCreate(ctx context.Context, q LedgerCreateRequest) (LedgerHandle, error) {
	c := q.config()
	return s.open(q.Path, func() (Ledger, error) {
		if q.Path == "" && !s.shared {
			return ledger.New(c)
		}
		if err := s.needPath(q.Path); err != nil {
			return nil, err
		}
		return s.files.CreateLedger(ctx, q.Path, c)
	})
}

var errNoFiles = fault.New("path", "there are no files here; ledgers are in memory only")

// needPath returns an error if there is no path, or nowhere to look for it.
func (s *Service) needPath(path string) error {
	switch {
	case path == "":
		return fault.New("path", "is missing; must be that of a ledger file")
	case s.files == nil:
		return errNoFiles
	}
	return nil
}

// LedgerOpen opens a ledger.
func (s *Service) LedgerOpen(ctx context.Context, q LedgerOpenRequest) (LedgerHandle, error) {
	if err := s.needPath(q.Path); err != nil {
		return LedgerHandle{}, err
	}
	return s.open(q.Path, func() (Ledger, error) { return s.files.OpenLedger(ctx, q.Path) })
}

// open gives a ledger a name to ask for it by.
func (s *Service) open(path string, get func() (Ledger, error)) (LedgerHandle, error) {
	if s.shared {
		_, err := get()
		return LedgerHandle{path}, err
	}
	name, err := s.ledgers.put(func() (Ledger, bool, error) {
		l, err := get()
		return l, true, err
	})
	return LedgerHandle{name}, err
}

func (s *Service) find(ctx context.Context, name string) (Ledger, error) {
	if s.shared {
		if s.files == nil {
			return nil, fault.New("ledger", "there are no ledgers here")
		}
		return s.files.OpenLedger(ctx, name)
	}
	if l, ok := s.ledgers.get(name); ok {
		return l, nil
	}
	return nil, fault.New("ledger", "%s is not open; ledger-create and ledger-open answer with a name", decimal.Show(name))
}

// LedgerSpend spends a plan before it runs.
func (s *Service) LedgerSpend(ctx context.Context, q LedgerSpendRequest) (_ Spent, err error) {
	l, err := s.find(ctx, q.Ledger)
	if err != nil {
		return Spent{}, err
	}
	ctx, end, err := q.Under(ctx)
	if err != nil {
		return Spent{}, err
	}
	defer func() { end(&err) }()
	switch {
	case q.Type != "":
		q.Plan = ledger.TypeText(q.Type)
	case q.Plan == nil:
		return Spent{}, fault.New("plan", "is missing; must be JSON, or a string with YAML")
	}
	again := false
	if q.Key != "" {
		again, err = l.SpendOnce(ctx, q.Key, q.Plan, q.Note)
	} else {
		err = l.SpendPlan(ctx, q.Plan, q.Note)
	}
	if err != nil {
		return Spent{}, err
	}
	return Spent{true, again}, nil
}

// LedgerFitsRequest asks how many times in a row a plan could be spent, at most Limit times.
type LedgerFitsRequest struct {
	Ledger string   `json:"ledger"`
	Plan   PlanText `json:"plan"`
	Limit  Decimal  `json:"limit,omitempty" in:"whole [1, 2^53]" preset:"1000000" help:"stop at this {number} of times"`
	Caps
}

// LedgerFits says how many times in a row a plan could be spent now.
type LedgerFits struct {
	Fits int64 `json:"fits" py:",return"`
	// Limit says that more was not asked for; Refusal is why one more does not fit.
	Limit   bool   `json:"limit"`
	Refusal string `json:"refusal,omitempty"`
}

// ledgerFits returns how much more fits; it spends nothing.
func (s *Service) ledgerFits(ctx context.Context, q LedgerFitsRequest) (LedgerFits, error) {
	l, err := s.find(ctx, q.Ledger)
	if err != nil {
		return LedgerFits{}, err
	}
	n, refusal, err := l.Fits(ctx, q.Plan, q.Limit.whole())
	if err != nil {
		return LedgerFits{}, err
	}
	a := LedgerFits{Fits: n, Limit: refusal == nil}
	if refusal != nil {
		a.Refusal = fault.Line(refusal.Error())
	}
	return a, nil
}

// LedgerLogRequest asks for the entries of a ledger's file.
type LedgerLogRequest struct {
	Path string `json:"path"`
}

// LedgerEntries are the entries of a ledger, in the order in which they were spent.
type LedgerEntries struct {
	Mode string `json:"mode"`
	Unit
	Budget  EpsilonDelta  `json:"budget"`
	Entries []LedgerEntry `json:"entries" py:",return"`
}

// A LedgerEntry is a spend: when, what for, and the plan as it was given.
type LedgerEntry struct {
	Time string `json:"time"`
	Note string `json:"note,omitempty"`
	Key  string `json:"key,omitempty"`
	Runs int64  `json:"runs"`
	Head string `json:"head"`
	Plan string `json:"plan"`
}

// LedgerEntryOf returns an entry in JSON.
func LedgerEntryOf(e ledger.Entry) LedgerEntry {
	return LedgerEntry{Time: e.Time, Note: e.Note, Key: e.Key, Runs: e.Runs, Head: e.Sum, Plan: e.Plan}
}

// ledgerLog returns the entries of a ledger's file, whose checksums it verifies.
func (s *Service) ledgerLog(ctx context.Context, q LedgerLogRequest) (LedgerEntries, error) {
	if err := s.needPath(q.Path); err != nil {
		return LedgerEntries{}, err
	}
	a := LedgerEntries{Entries: []LedgerEntry{}}
	c, err := s.files.LogLedger(ctx, q.Path, func(e ledger.Entry) {
		a.Entries = append(a.Entries, LedgerEntryOf(e))
	})
	a.Mode, a.Unit, a.Budget = string(c.Mode), Unit{c.Neighbors.String(), severalRecords(c.RecordsPerPerson)}, EpsilonDelta{Number(c.Epsilon), Number(c.Delta)}
	return a, err
}

// ledgerStatus returns what is spent and what is left.
func (s *Service) ledgerStatus(ctx context.Context, q LedgerStatusRequest) (LedgerState, error) {
	l, err := s.find(ctx, q.Ledger)
	if err != nil {
		return LedgerState{}, err
	}
	st, err := l.Status(ctx)
	return LedgerStateOf(st), err
}

// ledgerCheck verifies every checksum of a file and recomputes the total.
func (s *Service) ledgerCheck(ctx context.Context, q LedgerCheckRequest) (LedgerState, error) {
	if err := s.needPath(q.Path); err != nil {
		return LedgerState{}, err
	}
	st, err := s.files.VerifyLedger(ctx, q.Path, q.Head)
	return LedgerStateOf(st), err
}

// ledgerClose forgets a ledger; a file stays as it is.
func (s *Service) ledgerClose(ctx context.Context, q LedgerHandle) (LedgerHandle, error) {
	if _, err := s.find(ctx, q.Ledger); err != nil {
		return q, err
	}
	s.ledgers.drop(q.Ledger)
	return q, nil
}

// LedgerState is what a ledger promises and what is spent.
type LedgerState struct {
	Mode      string       `json:"mode"`
	Neighbors string       `json:"neighbors"`
	Budget    EpsilonDelta `json:"budget" py:"budget_*"`
	Entries   int          `json:"entries"`
	Runs      int64        `json:"runs"`
	// Spent is of planned ledgers, Renyi of adaptive ones.
	Spent     *Bounds `json:"spent-epsilon,omitempty" py:",upper"`
	Renyi     *Renyi  `json:"spent-renyi,omitempty" py:"*"`
	Mu        *Mu     `json:"spent-mu,omitempty" py:"*"` // of adaptive-gaussian ones
	Left      Number  `json:"left"`
	Last      string  `json:"last,omitempty"`
	Head      string  `json:"head,omitempty"`
	Guarantee string  `json:"guarantee"`
	// TheoryGap says that the ends are an attack and a theorem, which no
	// computation brings together.
	TheoryGap bool     `json:"theory-gap,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	Torn      string   `json:"-"` // the one of them that is about a spend that was interrupted
	// RecordsPerPerson is that of the unit; left out where it is one record.
	RecordsPerPerson int64 `json:"records-per-person,omitempty"`
	// Checkpoints are those of the file; the first Summed entries were counted by the last one.
	Checkpoints int `json:"checkpoints,omitempty"`
	Summed      int `json:"summed-entries,omitempty"`
	// Units are those of adaptive-menu ledgers.
	Units *Units `json:"spent-units,omitempty" py:",mapping"`
}

// Units is what is spent of a menu. Odometer has ε from above for budgets up to that of the ledger, which is the promise.
type Units struct {
	Spent    int      `json:"spent"`
	Budget   int      `json:"budget"`
	Odometer []UnitAt `json:"odometer"`
}

// UnitAt is ε for a budget.
type UnitAt struct {
	Units   int    `json:"units"`
	Epsilon Number `json:"epsilon"`
}

// Mu is what is spent of a filter of Gaussian differential privacy.
type Mu struct {
	Spent  Number `json:"spent" py:"spent_mu"`
	Budget Number `json:"budget" py:"budget_mu"`
}

// Renyi is what is spent of a Rényi filter.
type Renyi struct {
	Order  Number `json:"order"`
	Spent  Number `json:"spent" py:"spent_renyi"`
	Budget Number `json:"budget" py:"budget_renyi"`
}

// LedgerStateOf returns the state of a ledger in JSON.
func LedgerStateOf(st ledger.Status) LedgerState {
	c := st.Config
	out := LedgerState{Mode: string(c.Mode), Neighbors: c.Neighbors.String(), RecordsPerPerson: severalRecords(c.RecordsPerPerson), Budget: EpsilonDelta{Number(c.Epsilon), Number(c.Delta)},
		Entries: st.Entries, Runs: st.Runs, Checkpoints: st.Checkpoints, Summed: st.Summed, Left: Number(st.Left), Last: st.Last, Head: st.Head, Guarantee: st.Guarantee}
	switch e := st.Spent.Epsilon; c.Mode {
	case ledger.Planned:
		out.Spent = &Bounds{Number(e.Lower), Number(e.Estimate), Number(e.Upper)}
		out.Warnings, out.TheoryGap = e.Warnings, e.Gap != nil
	case ledger.AdaptiveMenu:
		out.Units = &Units{Spent: st.Spent.Units, Budget: st.Spent.UnitsBudget, Odometer: []UnitAt{}}
		for _, r := range c.Menu.Odometer {
			out.Units.Odometer = append(out.Units.Odometer, UnitAt{r.Units, Number(r.Epsilon)})
		}
	case ledger.AdaptiveGaussian:
		out.Mu = &Mu{Number(st.Spent.Mu), Number(st.Spent.MuBudget)}
	default:
		out.Renyi = &Renyi{Number(st.Spent.Order), Number(st.Spent.Renyi), Number(st.Spent.RenyiBudget)}
	}
	if st.Torn > 0 {
		out.Torn = fmt.Sprintf("the last %d bytes are of a spend that was interrupted; they do not count, and the next spend removes them", st.Torn)
		out.Warnings = append(out.Warnings, out.Torn)
	}
	return out
}

// What follows spends what runs from a ledger, before it shows anything.

// Spend has a run spent from a ledger: one that does not fit shows nothing.
type Spend struct {
	// Ledger is the name of an open ledger.
	Ledger string `json:"ledger,omitempty"`
	Note   string `json:"note,omitempty" help:"free {text} for the readers of the ledger"`
	// Charge asks for the plan that a ledger under this relation is charged, for a ledger elsewhere; nothing is shown.
	Charge string `json:"charge,omitempty" not:"ledger" one:"add-remove,substitute,zero-out"`
}

// unit returns the relation of the ledger, or of the one elsewhere, "" for none, and how many records a person has.
func (s *Service) unit(ctx context.Context, q Spend) (relation string, persons int64, err error) {
	if q.Ledger == "" {
		return q.Charge, 1, nil
	}
	l, err := s.find(ctx, q.Ledger)
	if err != nil {
		return "", 0, err
	}
	st, err := l.Status(ctx)
	return st.Config.Neighbors.String(), max(1, st.Config.RecordsPerPerson), err
}

// pay spends steps, a list in JSON, from the ledger of the request, once everything else is known to be right and before
// anything is shown. If only the charge was asked for it returns the plan, and nothing is to be shown.
func (s *Service) pay(ctx context.Context, q Spend, steps string) (charge string, err error) {
	relation, persons, err := s.unit(ctx, q)
	if err != nil || relation == "" {
		return "", err
	}
	of := ""
	if persons > 1 {
		of = fmt.Sprintf(`"records-per-person": %d, `, persons)
	}
	return s.payPlan(ctx, q, fmt.Sprintf(`{"neighbors": %q, %s"steps": %s}`, relation, of, steps))
}

// PayLabels spends private labels of ε from a ledger, which must be under the relation under which they are private, or returns the
// charge that was asked for.
func (s *Service) PayLabels(ctx context.Context, q Spend, epsilon float64) (charge string, err error) {
	got, _, err := s.unit(ctx, q)
	if err == nil && got != "" && got != "substitute" {
		err = fault.New("ledger", "is under %s, must be under substitute, under which labels are private", got)
	}
	if err != nil {
		return "", err
	}
	return s.pay(ctx, q, guaranteed(epsilon, 0))
}

// payPlan is pay for the text of a plan.
func (s *Service) payPlan(ctx context.Context, q Spend, text string) (charge string, err error) {
	if q.Charge != "" {
		return text, nil
	}
	if q.Ledger != "" {
		_, err = s.LedgerSpend(ctx, LedgerSpendRequest{Ledger: q.Ledger, Plan: PlanText(text), Note: q.Note})
	}
	return "", err
}

// guaranteed is a step of which only (ε, δ) is known.
func guaranteed(epsilon, delta float64) string {
	if delta == 0 {
		return fmt.Sprintf(`[{"mechanism": {"pure": {"epsilon": %s}}}]`, decimal.Short(epsilon))
	}
	return fmt.Sprintf(`[{"mechanism": {"approximate": {"epsilon": %s, "delta": %s}}}]`, decimal.Short(epsilon), decimal.Short(delta))
}

// searched is the plan of a search among candidates that run a plan each.
func searched(selection []byte, candidate PlanText) (string, error) {
	text, _, err := plan.Convert(candidate, plan.Steps)
	if err != nil {
		return "", err
	}
	head, steps, _ := bytes.Cut(text, []byte("\nsteps:\n"))
	return fmt.Sprintf("%s\nsteps:\n  - selection: %s\n    steps:\n%s", head, bytes.Join(bytes.Fields(selection), []byte(" ")),
		"    "+strings.TrimSuffix(strings.ReplaceAll(string(steps), "\n", "\n    "), "    ")), nil
}

// OneStep returns the mechanism and the sampling, "" for none, of a plan of one step, as text on a line. A step that is a group,
// or runs more than once where it must not, is refused.
func OneStep(text PlanText, once bool) (mechanism, sampling json.RawMessage, err error) {
	plain, _, err := plan.Convert(text, plan.Steps)
	if err != nil {
		return nil, nil, err
	}
	_, steps, _ := bytes.Cut(plain, []byte("\nsteps:\n"))
	for i, line := range strings.Split(strings.TrimSuffix(string(steps), "\n"), "\n") {
		key, value, _ := strings.Cut(strings.TrimLeft(line, " -"), ": ")
		switch {
		case i > 0 && strings.HasPrefix(line, "  - "):
			return nil, nil, fault.New("plan", "has several steps, must have the one that runs")
		case slices.Contains([]string{"steps:", "disjoint:", "selection", "adaptive"}, key):
			return nil, nil, fault.New("plan", "has a step that is made of others, must have one mechanism")
		case key == "count" && once:
			return nil, nil, fault.New("plan", "runs its step %s times, must run it once", value)
		case key == "mechanism":
			mechanism = json.RawMessage(value)
		case key == "sampling":
			sampling = json.RawMessage(value)
		}
	}
	return mechanism, sampling, nil
}

// runs returns the mechanism of a plan, which runs once on all records.
func (p PlanText) runs() (json.RawMessage, error) {
	m, sampling, err := OneStep(p, true)
	if err == nil && sampling != nil {
		err = fault.New("plan", "has a step on a sample, must have one on all records")
	}
	return m, err
}

// steps are what labels of so many queries cost, whatever the votes: a teacher moves one vote from a class to another,
// which changes the counts by √2 in L2 norm and by 2 in L1 norm, and the largest count by 1.
func (q PateMechanism) steps(queries int) string {
	answers := queries
	if q.MaxAnswers != nil {
		answers = min(answers, *q.MaxAnswers)
	}
	if q.Mechanism == "lnmax" {
		return fmt.Sprintf(`[{"mechanism": {"pure": {"epsilon": %s}}, "count": %d}]`, decimal.Short(2**q.Gamma), answers)
	}
	gaussian := `{"mechanism": {"gaussian": {"noise-multiplier": %s}}, "count": %d}`
	steps := fmt.Sprintf(gaussian, decimal.Short(xmath.Down(*q.Sigma2/math.Sqrt2, 2)), answers)
	if q.Mechanism != "gnmax" {
		steps += ", " + fmt.Sprintf(gaussian, decimal.Short(*q.Sigma1), queries)
	}
	return "[" + steps + "]"
}
