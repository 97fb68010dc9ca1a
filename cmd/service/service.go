package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
)

// This file has the table of operations and runs them by name. It assumes that a front end
// hands it one JSON object at a time, of at most MaxRequest bytes.

// A Service answers requests; New makes one. It remembers the ledgers and the runs that are open.
type Service struct {
	files  Files
	shared bool // ledgers are named by their paths

	ledgers shelf[Ledger]
	runs    shelf[*Ongoing]
}

// New returns a Service whose ledgers are opened by files; nil has ledgers in memory only.
func New(files Files) *Service {
	return &Service{files: files, ledgers: newShelf[Ledger]("ledger"), runs: newShelf[*Ongoing]("run")}
}

// NewShared returns a Service for a front end with many users, where a name that one of them was given
// must not mean another ledger to the next, or after a restart: ledgers are named by their paths,
// are opened by files for every request, and none is in memory only.
func NewShared(files Files) *Service {
	s := New(files)
	s.shared = true
	return s
}

// A shelf has what is open, by names such as run-1.
type shelf[T any] struct {
	what string

	mu    sync.Mutex
	begun int // so far
	open  map[string]T
}

// maxOpen bounds what is open of a kind, but for what several requests open at the same time.
const maxOpen = 1000

func newShelf[T any](what string) shelf[T] { return shelf[T]{what: what, open: map[string]T{}} }

// put opens something, which may take long, and returns its name. What is not to be kept has none.
func (s *shelf[T]) put(open func() (v T, keep bool, err error)) (name string, err error) {
	s.mu.Lock()
	full := len(s.open) >= maxOpen
	s.mu.Unlock()
	if full {
		return "", fault.New(s.what, "%d are open already; close some", maxOpen)
	}
	v, keep, err := open()
	if err != nil || !keep {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	name = fmt.Sprintf("%s-%d", s.what, s.begun)
	s.open[name] = v
	return name, nil
}

// get returns what has a name.
func (s *shelf[T]) get(name string) (v T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok = s.open[name]
	return v, ok
}

// drop forgets what has a name.
func (s *shelf[T]) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, name)
}

// MaxRequest is the longest request in JSON, in bytes: a plan, and twice the room that
// quoting it usually takes.
const MaxRequest = 4 * MaxPlan

// A Scope is what a user of a shared front end must be allowed to do.
type Scope string

// The scopes of operations.
const (
	ScopeRead   Scope = "read"   // asks, and changes nothing
	ScopeSpend  Scope = "spend"  // spends from a ledger
	ScopeCreate Scope = "create" // makes a ledger, and so a budget
	ScopeOwn    Scope = "own"    // is about what one front end holds for one user; no shared front end has it
)

// An Operation is a line of the table: something that a request can ask for.
type Operation struct {
	Name string
	// Answer says what the answer is, for readers who know the command line.
	Answer string
	// Request and Result are the types of its request and its answer in Go.
	Request, Result reflect.Type
	Keys            []Key
	// Several are the keys that take lists, each of whose values has an answer of its own.
	Several []string
	// Scope is what a user of a shared front end needs to be allowed.
	Scope Scope

	together bool // its questions have the limits together
	do       func(s *Service, ctx context.Context, q any) (any, error)
}

// does makes a line of the table. A request reaches do checked, with its presets, and under the limits that it has by itself
// (Caps), which are for all that do asks; those of Limits are for one accountant, unless the line is all.
func does[Q, A any](name string, do func(*Service, context.Context, Q) (A, error), answer string) Operation {
	q := reflect.TypeFor[Q]()
	caps, ok := q.FieldByName("Caps")
	return Operation{Name: name, Answer: answer, Request: q, Result: reflect.TypeFor[A](), Keys: keysOf(q), Scope: ScopeRead, together: ok && len(caps.Index) == 1,
		do: func(s *Service, ctx context.Context, q any) (any, error) { return do(s, ctx, *q.(*Q)) }}
}

// Answers has an answer for each value of the keys of a request that take several; for one of them it has one.
type Answers[A any] struct {
	Results []A `json:"results"`
}

// All returns the answers as those of any operation.
func (a Answers[A]) All() (all []any) {
	for _, x := range a.Results {
		all = append(all, x)
	}
	return all
}

// maxAsked bounds the answers to one request.
const maxAsked = 1000

// lists makes a line of an operation that takes several values in some keys: do is asked for each of them, and each of one with
// each of the next.
func lists[Q, A any](name string, do func(*Service, context.Context, Q) (A, error), answer string, keys ...string) Operation {
	o := does(name, func(s *Service, ctx context.Context, q Q) (out Answers[A], err error) {
		asked := []Q{q}
		for _, k := range keysOf(reflect.TypeFor[Q]()) {
			if values, ok := k.Field(&q).(*Decimals); ok && slices.Contains(keys, k.Name) && (k.Apart == "" || given(&q, k.Apart) != nil) {
				if asked, err = spread(asked, k.Name, *values, maxAsked); err != nil {
					return out, err
				}
			}
		}
		for _, one := range asked {
			if ctx.Err() != nil && reached(ctx) == nil { // at a limit there may be an answer
				return out, ctx.Err()
			}
			a, err := do(s, ctx, one)
			if err != nil {
				return out, err
			}
			out.Results = append(out.Results, a)
		}
		return out, nil
	}, answer)
	o.Several = keys
	return o
}

// spread returns each request with each value of a key, the values moving fastest; without values the requests are as they were.
// More than most are an error, before any of them is made.
func spread[Q any](asked []Q, key string, values Decimals, most int) (more []Q, err error) {
	if len(values) == 0 {
		return asked, nil
	}
	if len(asked)*len(values) > most {
		return nil, fault.New(key, "makes more than %d answers", most)
	}
	k := KeyOf(new(Q), key)
	for _, one := range asked {
		for _, d := range values {
			switch f := k.Field(&one).(type) {
			case *Decimal:
				*f = d
			case *Decimals:
				*f = Decimals{d}
			}
			more = append(more, one)
		}
	}
	return more, nil
}

// all has the questions of an operation share their limits.
func (o Operation) all() Operation {
	o.together = true
	return o
}

// needs sets the scope of an operation that does more than ask.
func (o Operation) needs(scope Scope) Operation {
	o.Scope = scope
	return o
}

// operations are all that a request can ask for.
var operations = append([]Operation{
	does("version", (*Service).version, "as `version --json`"),
	lists("dpsgd", (*Service).dpsgd, "as `dpsgd --json`", "target-epsilon", "delta"),
	does("epsilon", (*Service).epsilon, "as `epsilon --json`"),
	does("delta", (*Service).delta, "as `delta --json`"),
	does("curve", (*Service).curve, "as `curve --json`; a plan that is given by `plan` has the name `plan`"),
	lists("sampling", (*Service).sampling, "as `sampling --json`", "delta", "target-epsilon").all(),
	lists("calibrate", (*Service).calibrate, "as `calibrate --json`", "epsilon", "delta"),
	does("plan-check", (*Service).planCheck, "as `plan check --json` for one file"),
	does("shuffle", (*Service).shuffle, "as `shuffle --json`"),
	lists("compare", (*Service).compare, "as `compare --json`", "delta"),
	does("cancel", (*Service).cancel, "`{\"request\": ID}`, whether there was one or not").needs(ScopeOwn),
	does("risk", (*Service).risk, "as `risk --json`"),
	does("profile", (*Service).profile, "as `profile --json`").all(),
	does("plan-convert", (*Service).convert, "as `plan convert --json`"),
	lists("diff", (*Service).diff, "as `diff --json`", "delta"),
	lists("gdp", (*Service).gdp, "as `gdp --json`", "tolerance"),
	lists("gdp-solve", (*Service).gdpSolve, "as `gdp solve --json`", "mu", "zcdp"),
	does("filter", (*Service).filter, "as `filter --json`"),
	lists("audit", (*Service).audit, "as `audit --json`", "delta"),
	does("select", (*Service).selection, "as `select --json`"),
	lists("matrix-optimize", (*Service).matrixOptimize, "as `matrix optimize --json`", "epsilon", "delta"),
	lists("majority", (*Service).majority, "as `majority --json`", "delta"),
	lists("pate", (*Service).pate, "as `pate analyze --json`", "delta"),
	lists("pate-calibrate", (*Service).pateCalibrate, "as `pate calibrate --json`", "epsilon", "delta"),
	lists("label", (*Service).label, "as `label --json`", "epsilon"),
	does("explain", (*Service).explain, "as `explain --json`: a list of one topic, or without a name of all"),
}, owned...)

// Operations lists all that requests can ask for.
func Operations() []Operation { return slices.Clone(operations) }

// NewRequest returns a pointer to an empty request of an operation, nil for a name of none.
func NewRequest(name string) any {
	if o := find(name); o != nil {
		return reflect.New(o.Request).Interface()
	}
	return nil
}

func find(name string) *Operation {
	if i := slices.IndexFunc(operations, func(o Operation) bool { return o.Name == name }); i >= 0 {
		return &operations[i]
	}
	return nil
}

// Ask runs an operation for a request of NewRequest.
func (s *Service) Ask(ctx context.Context, name string, request any) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return find(name).ask(s, ctx, request)
}

// Ask is that of a Service for the operation that a request, a struct, belongs to.
func Ask[A, Q any](ctx context.Context, s *Service, request Q) (answer A, err error) {
	for _, o := range operations {
		if o.Request == reflect.TypeFor[Q]() {
			x, err := o.ask(s, ctx, &request)
			if err == nil {
				answer = x.(A)
			}
			return answer, err
		}
	}
	return answer, fault.New("op", "a %T is the request of no operation", request)
}

func (o Operation) ask(s *Service, ctx context.Context, request any) (_ any, err error) {
	if err := ready(request); err != nil {
		return nil, err
	}
	if err := missing(request); err != nil {
		return nil, err
	}
	if q, ok := request.(interface {
		bound(context.Context) error
		Under(context.Context) (context.Context, func(*error), error)
	}); ok {
		if err := q.bound(ctx); err != nil {
			return nil, err
		}
		if o.together {
			under, end, wrong := q.Under(ctx)
			if wrong != nil {
				return nil, wrong
			}
			defer func() { end(&err) }()
			ctx = under
		}
	}
	return o.do(s, ctx, request)
}

// run asks an operation by its name, with the keys of a request.
func (s *Service) run(ctx context.Context, name string, given object) (any, error) {
	o := find(name)
	if o == nil {
		var names []string
		for _, o := range operations {
			names = append(names, o.Name)
		}
		if name == "" {
			return nil, fault.New("op", "is missing; must be one of %s", strings.Join(names, ", "))
		}
		return nil, fault.New("op", "%s is unknown; %s", decimal.Show(name), nearest.Hint(name, names))
	}
	q := NewRequest(name)
	if err := given.decode(q, o.Keys); err != nil {
		return nil, err
	}
	return s.Ask(ctx, name, q)
}

// A Response is what a request is answered by: a result or an error.
type Response struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result,omitempty"`
	Error  *Error          `json:"error,omitempty"`
	// Stack is where an error of the kind internal was raised: it is for the log, and not in the JSON.
	Stack string `json:"-"`
}

// The kinds of errors.
const (
	KindInput      = "input"      // the request is wrong, or a file
	KindBudget     = "budget"     // a ledger refused a spend
	KindInfeasible = "infeasible" // no value meets a calibration's budget
	KindTimeout    = "timeout"    // there is no answer in time
	KindCancelled  = "cancelled"  // there is no answer
	KindInternal   = "internal"   // a defect
	KindStorage    = "storage"    // a ledger's file cannot be read or written; nothing was spent
	KindBusy       = "busy"       // others kept a spend from being made; it may be tried again
)

// An Error tells errors apart by kind.
type Error struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Field is the key, or the place in a plan, that the message is about; Value is what is there
	// and Allowed what may be. Each is left out where the message has no such part.
	Field   string `json:"field,omitempty"`
	Value   string `json:"value,omitempty"`
	Allowed string `json:"allowed,omitempty"`
}

// NewError returns an error of a kind, with the parts that err has.
func NewError(kind string, err error) *Error {
	e := &Error{Kind: kind, Message: fault.Line(err.Error())}
	if f := new(fault.Error); errors.As(err, &f) {
		e.Field, e.Value, e.Allowed = strings.Join(f.Path, ": "), f.Value, f.Allowed
	}
	if wrong := new(plan.Error); errors.As(err, &wrong) {
		e.Field = wrong.Field
	}
	if wrong := new(ShapeError); errors.As(err, &wrong) {
		e.Field = wrong.Keys[0]
	}
	return e
}

// ErrStorage is what a front end's error is that is about a file, and not about the request.
var ErrStorage = errors.New("a file cannot be used")

var errInternal = errors.New("internal error")

// Answer runs a request that is a whole JSON object: its operation is the key op, and id
// comes back unchanged. It never fails and never panics.
func (s *Service) Answer(ctx context.Context, request []byte) Response {
	return s.AnswerTo(ctx, "", request)
}

// AnswerTo is Answer for a front end that has the operation from elsewhere; the key op, if there is
// one, must say the same.
func (s *Service) AnswerTo(ctx context.Context, op string, request []byte) Response {
	var h head
	stack := ""
	result, err := func() (result any, err error) {
		defer func() {
			if p := fault.Caught(recover()); p != nil {
				err, stack = fmt.Errorf("%w: %v", errInternal, p.Value), p.Stack
			}
		}()
		if len(request) > MaxRequest {
			return nil, fault.New("request", "is longer than %d bytes", MaxRequest)
		}
		if err := checkText(request); err != nil {
			return nil, err
		}
		var given object
		if err := json.Unmarshal(request, &given); err != nil {
			return nil, err
		}
		if err := h.read(given); err != nil {
			return nil, err
		}
		if err := strictjson.Keys(request, nil); err != nil {
			return nil, fmt.Errorf("request: %w", err)
		}
		switch {
		case op == "":
			op = h.Op
		case h.Op != "" && h.Op != op:
			return nil, fault.New("op", "%s is not %s, to which it was sent", decimal.Show(h.Op), op)
		}
		ctx, stop, err := h.limited(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
		return s.run(ctx, op, given)
	}()
	if err == nil {
		return Response{ID: h.ID, Result: result}
	}
	return Response{ID: h.ID, Error: h.failure(err), Stack: stack}
}

// read reads the keys that every request may have, and none of the others.
func (h *head) read(given object) error {
	h.ID = given["id"]
	if err := given.read("op", &h.Op); err != nil {
		return err
	}
	return given.read("timeout", &h.Timeout)
}

// limited returns a context that ends when the request has taken as long as it may.
func (h head) limited(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if h.Timeout == "" {
		return ctx, func() {}, nil
	}
	if err := Check(&h); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(h.Timeout.float()*float64(time.Second)))
	return ctx, cancel, nil
}

// kinds are those of errors, the first that fits; of others it is input.
var kinds = []struct {
	err  error
	kind string
}{
	{ledger.ErrBusy, KindBusy}, {fourier.ErrTimeLimit, KindTimeout}, {ledger.ErrBudget, KindBudget}, {accountant.ErrInfeasible, KindInfeasible},
	{labeldp.ErrInfeasible, KindInfeasible}, {errInternal, KindInternal}, {ErrStorage, KindStorage},
}

// KindOf returns the kind of an error.
func KindOf(err error) string {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return KindInput
}

// failure is the error of a request in JSON.
func (h head) failure(err error) *Error {
	switch {
	case errors.Is(err, ledger.ErrBusy): // also if what was waited for is a context of the ledger
	case errors.Is(err, context.DeadlineExceeded) && h.Timeout != "":
		return &Error{Kind: KindTimeout, Message: fmt.Sprintf("timeout: there is no answer after %s seconds", decimal.Short(h.Timeout.float()))}
	case !errors.Is(err, fourier.ErrTimeLimit) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &Error{Kind: KindCancelled, Message: "cancelled"}
	}
	return NewError(KindOf(err), err)
}

// CancelRequest names the request that a front end has cancelled.
type CancelRequest struct {
	Request json.RawMessage `json:"request"`
}

// cancel answers a request to cancel another one. It is the front end that ends the other
// request's context; a front end without a queue has nothing to cancel.
func (s *Service) cancel(_ context.Context, q CancelRequest) (CancelRequest, error) {
	return q, nil
}

// What follows has the version of the program that a Service is part of.

// A release sets these by the linker, as .goreleaser.yaml and python/wheel.py do. Else the Go tool's own
// notes in the binary are taken.
var releaseVersion, releaseCommit, releaseDate string

// VersionRequest asks for the version; it has no keys.
type VersionRequest struct{}

// VersionAnswer is the version of a program, the commit that it was built from and when
// that was made (RFC 3339), and the version of the tools that built it.
type VersionAnswer struct {
	Version  string `json:"version" py:",return"`
	Revision string `json:"revision,omitempty"`
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
}

func (s *Service) version(context.Context, VersionRequest) (VersionAnswer, error) {
	return Version(), nil
}

// Version takes the version from the binary.
func Version() VersionAnswer {
	v := VersionAnswer{Version: releaseVersion, Revision: releaseCommit, Date: releaseDate, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = cmp.Or(v.Revision, s.Value)
		case "vcs.time":
			v.Date = cmp.Or(v.Date, s.Value)
		}
	}
	return v
}
