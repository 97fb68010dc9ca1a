package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

func newServeCmd() *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Answer JSON requests from another program, one a line",
		Long: `serve reads one JSON request a line from standard input and writes one JSON
answer a line to standard output, until the input ends. A bad request is
answered by an error and changes nothing. docs/cli.md has the requests;
python/dpaccountant.py speaks them for Python programs.`,
		Example: `  echo '{"op": "version"}' | accountant serve --stdio`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !stdio {
				return usageError{errors.New("missing --stdio, the only place where requests are read")}
			}
			// A server has nothing to finish: a signal ends it at once, even while it
			// waits for a request.
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			return newServer().serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "read from standard input and write to standard output (required)")
	return cmd
}

// maxRequest is the longest line of a request: a plan, and twice the room that
// quoting it usually takes.
const maxRequest = 4 * plan.MaxSize

// A server keeps what requests have opened.
type server struct {
	ledgers map[string]*ledger.Ledger
	opened  int
	// The accountants of the latest plans, oldest first: a question about the same
	// plan does not start anew.
	recent []*served
}

// A served plan keeps its accountant and the latest answers.
type served struct {
	plan    string
	acct    *accountant.Accountant
	answers map[string]json.RawMessage
	size    int // of all answers and what they answer, in bytes
}

const (
	maxServed  = 8
	maxLedgers = 1000
	// maxAnswers bounds the answers kept for a plan, in bytes: some two thousand.
	maxAnswers = 1 << 20
)

// remember returns the answer to a question that was asked before, or finds it.
// It is for questions about one number: a list is seldom asked twice.
func (sv *served) remember(op string, at float64, find func() (any, error)) (any, error) {
	key := op + " " + short(at)
	if a, ok := sv.answers[key]; ok {
		return a, nil
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	a, err := marshal(found)
	if err != nil {
		return nil, err
	}
	size := len(key) + len(a)
	if sv.answers == nil || sv.size+size > maxAnswers {
		sv.answers, sv.size = map[string]json.RawMessage{}, 0
	}
	if size <= maxAnswers {
		sv.answers[key] = a
		sv.size += size
	}
	return a, nil
}

func newServer() *server { return &server{ledgers: map[string]*ledger.Ledger{}} }

// An op takes a request whole, and returns what to answer.
type op func(s *server, ctx context.Context, line []byte) (any, error)

var ops = []struct {
	name string
	do   op
}{
	{"version", (*server).version},
	{"epsilon", (*server).epsilon},
	{"delta", (*server).delta},
	{"risk", (*server).risk},
	{"curve", (*server).curve},
	{"calibrate", (*server).calibrate},
	{"compare", (*server).compare},
	{"ledger-create", (*server).ledgerCreate},
	{"ledger-open", (*server).ledgerOpen},
	{"ledger-spend", (*server).ledgerSpend},
	{"ledger-status", (*server).ledgerStatus},
	{"ledger-check", (*server).ledgerCheck},
	{"ledger-close", (*server).ledgerClose},
	{"cancel", (*server).cancel},
}

// requestHead is part of every request.
type requestHead struct {
	ID      json.RawMessage `json:"id"`
	Op      string          `json:"op"`
	Timeout *float64        `json:"timeout"` // in seconds
}

type (
	resultAnswer struct {
		ID     json.RawMessage `json:"id"`
		Result any             `json:"result"`
	}
	errorAnswer struct {
		ID    json.RawMessage `json:"id"`
		Error errorJSON       `json:"error"`
	}
	// errorJSON tells errors apart by kind: input (the request is wrong, or a
	// file), budget (a ledger refused a spend), infeasible (no value meets a
	// calibration's budget), timeout and cancelled (there is no answer),
	// internal (a defect).
	errorJSON struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	}
)

var errInternal = errors.New("internal error")

// readLine returns a line, or tooLong after the end of one that is.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > maxRequest {
			line, tooLong = nil, true
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

// marshal is json.Marshal for what no HTML page holds.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func writeLine(out io.Writer, answer any) error {
	text, err := marshal(answer)
	if err != nil {
		if text, err = marshal(errorAnswer{Error: errorJSON{"internal", oneLine(err.Error())}}); err != nil {
			return err
		}
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// answer never fails and never panics.
func (s *server) answer(ctx context.Context, line []byte) any {
	var head requestHead
	result, err := func() (result any, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%w: %v", errInternal, r)
			}
		}()
		if err := checkText(line); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return nil, requestProblem(err)
		}
		if err := checkKeys(line); err != nil {
			return nil, err
		}
		ctx, stop, err := head.limited(ctx)
		if err != nil {
			return nil, err
		}
		defer stop()
		var names []string
		for _, o := range ops {
			if o.name == head.Op {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				return o.do(s, ctx, line)
			}
			names = append(names, o.name)
		}
		if head.Op == "" {
			return nil, fmt.Errorf("op: is missing; must be one of %s", strings.Join(names, ", "))
		}
		return nil, fmt.Errorf("op: %s is unknown; %s", show(head.Op), nearest.Hint(head.Op, names))
	}()
	if err == nil {
		return resultAnswer{head.ID, result}
	}
	if kind, message := head.interruption(err); kind != "" {
		return errorAnswer{head.ID, errorJSON{kind, message}}
	}
	kind := "input"
	switch {
	case errors.Is(err, ledger.ErrBudget):
		kind = "budget"
	case errors.Is(err, accountant.ErrInfeasible):
		kind = "infeasible"
	case errors.Is(err, errInternal):
		kind = "internal"
	}
	return errorAnswer{head.ID, errorJSON{kind, oneLine(err.Error())}}
}

// decode reads the request of an operation that has the given keys, written as
// they are here: encoding/json would take them in any case.
func decode(line []byte, v any, keys ...string) error {
	keys = append([]string{"id", "op", "timeout"}, keys...)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(line, &given); err != nil {
		return requestProblem(err)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("request: unknown key %s; %s", show(key), nearest.Hint(key, keys))
		}
	}
	return requestProblem(json.Unmarshal(line, v))
}

// requestProblem puts the errors of encoding/json into words.
func requestProblem(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		what := map[string]string{"float64": "a number that fits 64 bits", "string": "a string", "[]float64": "a list of numbers", "bool": "true or false"}[wrong.Type.String()]
		if what == "" {
			what = "a JSON value of the right type"
		}
		return fmt.Errorf("%s: a JSON %s is not %s", wrong.Field, wrong.Value, what)
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: invalid number literal, trying to unmarshal "); ok {
		text, _, _ = strings.Cut(text, " into ")
		return fmt.Errorf("request: %s is not a number", text)
	}
	return fmt.Errorf("request: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// planOf is the text of a plan: a JSON object as it stands, or YAML in a string.
func planOf(raw json.RawMessage) ([]byte, error) {
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, errors.New("plan: is missing; must be a plan as JSON, or a string with one as YAML")
	case raw[0] == '{':
		return raw, nil
	case json.Unmarshal(raw, &text) == nil:
		return []byte(text), nil
	}
	return nil, errors.New("plan: is not a JSON object or a string")
}

func requestPlan(raw json.RawMessage) (*accountant.Plan, error) {
	text, err := planOf(raw)
	if err != nil {
		return nil, err
	}
	return plan.Parse(text)
}

// given checks a number of a request.
func given(name string, x *float64, r interval) (float64, error) {
	if x == nil {
		return 0, fmt.Errorf("%s: is missing; must be in %v", name, r)
	}
	if !r.contains(*x) {
		return 0, fmt.Errorf("%s: %s is not in %v", name, short(*x), r)
	}
	return *x, nil
}

func (s *server) version(_ context.Context, line []byte) (any, error) {
	if err := decode(line, &requestHead{}); err != nil {
		return nil, err
	}
	return readVersion(), nil
}

func (s *server) epsilon(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan      json.RawMessage `json:"plan"`
		Delta     *float64        `json:"delta"`
		Recursion json.Number     `json:"recursion"`
	}
	if err := decode(line, &q, "plan", "delta", "recursion"); err != nil {
		return nil, err
	}
	at, err := given("delta", q.Delta, deltaRange)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, "epsilon", q.Plan, q.Recursion, at, askEpsilon)
}

func (s *server) delta(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Plan      json.RawMessage `json:"plan"`
		Epsilon   *float64        `json:"epsilon"`
		Recursion json.Number     `json:"recursion"`
	}
	if err := decode(line, &q, "plan", "epsilon", "recursion"); err != nil {
		return nil, err
	}
	at, err := given("epsilon", q.Epsilon, epsilonRange)
	if err != nil {
		return nil, err
	}
	return s.ask(ctx, "delta", q.Plan, q.Recursion, at, askDelta)
}

func (s *server) ask(ctx context.Context, op string, raw json.RawMessage, recursion json.Number, at float64, ask func(context.Context, *accountant.Accountant, []float64) ([]answer, error)) (any, error) {
	sv, err := s.served(ctx, raw, recursion)
	if err != nil {
		return nil, err
	}
	return sv.remember(op, at, func() (any, error) {
		answers, err := ask(ctx, sv.acct, []float64{at})
		if err != nil {
			return nil, err
		}
		return resultsJSON(answers)[0], nil
	})
}

// withRecursion adds the key recursion of a request, if it is there.
func withRecursion(runs json.Number, opts []accountant.Option) ([]accountant.Option, error) {
	if runs == "" {
		return opts, nil
	}
	f := recursionFlag{string(runs)}
	opts, err := f.add(opts)
	return opts, asKey(err)
}

// served returns an accountant that holds the plan of a request, and remembers it.
func (s *server) served(ctx context.Context, raw json.RawMessage, recursion json.Number) (*served, error) {
	data, err := planOf(raw)
	if err != nil {
		return nil, err
	}
	opts, err := withRecursion(recursion, nil)
	if err != nil {
		return nil, err
	}
	text := string(recursion) + " " + string(data)
	for i, r := range s.recent {
		if r.plan == text {
			s.recent = append(append(s.recent[:i:i], s.recent[i+1:]...), r)
			return r, nil
		}
	}
	plan, err := plan.Parse(data)
	if err != nil {
		return nil, err
	}
	acct, err := newAccountant(ctx, plan, opts)
	if err != nil {
		return nil, err
	}
	sv := &served{plan: text, acct: acct}
	if s.recent = append(s.recent, sv); len(s.recent) > maxServed {
		s.recent = s.recent[1:]
	}
	return sv, nil
}

func (s *server) ledgerCreate(_ context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Path      string   `json:"path"`
		Neighbors string   `json:"neighbors"`
		Epsilon   *float64 `json:"epsilon"`
		Delta     *float64 `json:"delta"`
		Mode      string   `json:"mode"`
	}
	if err := decode(line, &q, "path", "neighbors", "epsilon", "delta", "mode"); err != nil {
		return nil, err
	}
	c := ledger.Config{Mode: ledger.Mode(q.Mode)}
	var err error
	if c.Neighbors, err = profiles.ParseRelation(q.Neighbors); err != nil {
		return nil, err
	}
	if c.Epsilon, err = given("epsilon", q.Epsilon, epsilonRange); err != nil {
		return nil, err
	}
	if c.Delta, err = given("delta", q.Delta, deltaRange); err != nil {
		return nil, err
	}
	return s.open(func() (*ledger.Ledger, error) {
		if q.Path == "" {
			return ledger.New(c)
		}
		return ledger.Create(q.Path, c)
	})
}

func (s *server) ledgerOpen(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Path string `json:"path"`
	}
	if err := decode(line, &q, "path"); err != nil {
		return nil, err
	}
	if q.Path == "" {
		return nil, errors.New("path: is missing; must be that of a ledger file")
	}
	return s.open(func() (*ledger.Ledger, error) { return ledger.Open(ctx, q.Path) })
}

type handleJSON struct {
	Ledger string `json:"ledger"`
}

// open gives a ledger a name to ask for it by.
func (s *server) open(get func() (*ledger.Ledger, error)) (any, error) {
	if len(s.ledgers) >= maxLedgers {
		return nil, fmt.Errorf("ledger: %d are open already; close some", maxLedgers)
	}
	l, err := get()
	if err != nil {
		return nil, err
	}
	s.opened++
	name := fmt.Sprintf("ledger-%d", s.opened)
	s.ledgers[name] = l
	return handleJSON{name}, nil
}

func (s *server) find(name string) (*ledger.Ledger, error) {
	if l := s.ledgers[name]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("ledger: %s is not open; ledger-create and ledger-open answer with a name", show(name))
}

func (s *server) ledgerSpend(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Ledger string          `json:"ledger"`
		Plan   json.RawMessage `json:"plan"`
		Note   string          `json:"note"`
	}
	if err := decode(line, &q, "ledger", "plan", "note"); err != nil {
		return nil, err
	}
	l, err := s.find(q.Ledger)
	if err != nil {
		return nil, err
	}
	text, err := planOf(q.Plan)
	if err != nil {
		return nil, err
	}
	if err := l.SpendPlan(ctx, text, q.Note); err != nil {
		return nil, err
	}
	return struct {
		Spent bool `json:"spent"`
	}{true}, nil
}

func (s *server) ledgerStatus(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Ledger string `json:"ledger"`
	}
	if err := decode(line, &q, "ledger"); err != nil {
		return nil, err
	}
	l, err := s.find(q.Ledger)
	if err != nil {
		return nil, err
	}
	st, err := l.Status(ctx)
	if err != nil {
		return nil, err
	}
	return statusJSON(st), nil
}

func (s *server) ledgerCheck(ctx context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Path string `json:"path"`
		Head string `json:"head"`
	}
	if err := decode(line, &q, "path", "head"); err != nil {
		return nil, err
	}
	if q.Path == "" {
		return nil, errors.New("path: is missing; must be that of a ledger file")
	}
	st, err := ledger.Verify(ctx, q.Path, q.Head)
	if err != nil {
		return nil, err
	}
	return statusJSON(st), nil
}

func (s *server) ledgerClose(_ context.Context, line []byte) (any, error) {
	var q struct {
		requestHead
		Ledger string `json:"ledger"`
	}
	if err := decode(line, &q, "ledger"); err != nil {
		return nil, err
	}
	if _, err := s.find(q.Ledger); err != nil {
		return nil, err
	}
	delete(s.ledgers, q.Ledger)
	return handleJSON{q.Ledger}, nil
}
