package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/plan"
)

// This file has the commands that run what is priced. A ledger is spent before anything is shown.

// registerRun defines the flags of the ledger of a request, and of the file that is written.
func (a *asking) registerRun() {
	if a.spend, _ = fieldOf(a.request, "ledger").(*string); a.spend != nil && !a.onLedger {
		a.cmd.Flags().StringVar(&a.ledger, "ledger", "", "`file` of a ledger that the run is spent from before anything is shown")
		_ = a.cmd.MarkFlagFilename("ledger")
	}
	if a.out = "-"; a.writes != "" {
		a.cmd.Flags().StringVar(&a.out, "out", "-", a.writes+" to write, or -")
		_ = a.cmd.MarkFlagFilename("out", "csv")
		a.files = append(a.files, outFile{flag: "--out", path: &a.out, standard: true})
	}
}

// open returns a service that has opened the ledger.
func (a *asking) open(ctx context.Context) (*service.Service, error) {
	s := service.New(ledgerFiles{})
	if a.ledger == "" {
		return s, nil
	}
	h, err := s.LedgerOpen(ctx, service.LedgerOpenRequest{Path: a.ledger})
	*a.spend = h.Ledger
	return s, err
}

// show writes the answer, its table or as JSON: to the file whole or not at all.
func (a *asking) show(answer any) error {
	write := func(w io.Writer) error {
		if a.json {
			return printJSON(w, answer)
		}
		return a.table(w, answer, a)
	}
	if a.out == "-" {
		return a.told(write(a.cmd.OutOrStdout()))
	}
	return a.told(writeDraft(a.out, false, write))
}

// told says that what was not written is spent all the same.
func (a *asking) told(err error) error {
	if err != nil && a.ledger != "" {
		fmt.Fprintln(a.cmd.ErrOrStderr(), "accountant: the run is spent, though its answer was not written")
	}
	return err
}

// withCommands adds commands to one that runs without them and takes no arguments.
func withCommands(cmd *cobra.Command, more ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && nearest.Word(args[0], commandNames(cmd)) != "" {
			return unknownCommand(cmd, args[0])
		}
		return noArgs(cmd, args)
	}
	cmd.AddCommand(more...)
	return cmd
}

// numbersOf parses a row of numbers.
func numbersOf(cells []string) ([]float64, error) {
	row := make([]float64, len(cells))
	for i, cell := range cells {
		var err error
		if row[i], err = decimal.Plain(strings.TrimSpace(cell)); err != nil {
			return nil, fmt.Errorf("%s is not a number", show(cell))
		}
	}
	return row, nil
}

// readVotes reads rows of whole numbers.
func readVotes(cmd *cobra.Command, path string) (votes [][]int, err error) {
	err = readRows(cmd, path, func(cells []string, first bool) error {
		if first && tables.IsHeader(cells) {
			return nil
		}
		numbers, err := numbersOf(cells)
		row := make([]int, len(numbers))
		for i, x := range numbers {
			if row[i] = int(x); float64(row[i]) != x || math.Abs(x) > 1<<31 {
				return fmt.Errorf("%v is not a vote", x)
			}
		}
		votes = append(votes, row)
		return err
	})
	return votes, needRows(path, len(votes), err)
}

// readValues reads a table of numbers that may be behind keys.
func readValues(cmd *cobra.Command, path string) (keys []string, values []float64, err error) {
	err = readRows(cmd, path, func(cells []string, first bool) error {
		last := cells[len(cells)-1:]
		switch {
		case len(cells) > 2:
			return fmt.Errorf("%d columns are not a number, or a key and a number", len(cells))
		case first && tables.IsHeader(last):
			return nil
		case len(cells) == 2:
			keys = append(keys, strings.Clone(cells[0]))
		}
		number, err := numbersOf(last)
		values = append(values, number...)
		return err
	})
	return keys, values, needRows(path, len(values), err)
}

// needRows is the error of a table without rows, if there is no other one.
func needRows(path string, rows int, err error) error {
	if err == nil && rows == 0 {
		err = fmt.Errorf("%s: has no rows", inputName(path))
	}
	return err
}

// oneStep reads a plan of one step: one that runs once, or one that is on samples.
func oneStep(cmd *cobra.Command, path string, once bool) (text []byte, mechanism, sampling json.RawMessage, err error) {
	text, name, err := readInput(cmd, path)
	if err != nil {
		return nil, nil, nil, err
	}
	mechanism, sampling, err = service.OneStep(text, once)
	if err == nil && sampling == nil && !once {
		err = fault.New("plan", "has a step on all records, must have one with sampling")
	}
	if err != nil {
		err = planProblem(name, err)
	}
	return text, mechanism, sampling, err
}

func newReleaseCmd() *cobra.Command {
	var keys []string
	return question{name: "release", what: "running", except: []string{"plan"}, writes: "CSV `file`", table: showing(func(x service.ReleaseAnswer, _ *asking) [][]string { return released(x, keys) }), extra: func(a *asking) {
		q := a.request.(*service.ReleaseRequest)
		a.cmd.Args, a.cmd.ValidArgsFunction = exactly(ofPlan, "file of values"), completePlans(0, 0)
		a.read = func() (err error) {
			var mechanism json.RawMessage
			if q.Plan, mechanism, _, err = oneStep(a.cmd, a.args[0], true); err != nil {
				return err
			}
			if strings.HasPrefix(string(mechanism), "{majority:") {
				q.Queries, err = readVotes(a.cmd, a.args[1])
			} else {
				keys, q.Values, err = readValues(a.cmd, a.args[1])
			}
			return err
		}
	}}.command()
}

// released has the rows of what a mechanism shows of values with these keys, or without.
func released(x service.ReleaseAnswer, keys []string) [][]string {
	named := func(i int) string {
		if keys == nil {
			return strconv.Itoa(i)
		}
		return keys[i]
	}
	switch {
	case x.Chosen != nil:
		return [][]string{{"chosen"}, {named(*x.Chosen)}}
	case x.Answers != nil:
		table := [][]string{{"answer"}}
		for _, answer := range x.Answers {
			table = append(table, []string{strconv.Itoa(answer)})
		}
		return table
	}
	table := [][]string{{"key", "value"}}
	for i, value := range x.Values {
		if value != nil {
			table = append(table, []string{named(i), decimal.Short(*value)})
		}
	}
	return table
}

func newMajorityReleaseCmd() *cobra.Command {
	p := struct {
		Mechanisms int     `json:"mechanisms" help:"number {K} of mechanisms"`
		Epsilon    float64 `json:"epsilon" help:"{ε} of each mechanism"`
		Allowance  float64 `json:"allowance" help:"{m}: an answer is mε-DP"`
		Answers    int     `json:"answers,omitempty" help:"{number} of answers that are priced together (default: the rows of the file)"`
		Classes    int     `json:"classes,omitempty" help:"{number} of labels, for votes that are labels"`
		Gamma      string  `json:"gamma,omitempty" one:"optimal,constant,subsampling" help:"noise function: optimal, constant or subsampling"`
		Delta      float64 `json:"delta,omitempty" help:"{δ} of each mechanism"`
	}{}
	return question{name: "release", what: "running", except: []string{"plan", "sensitivity", "monotone"}, writes: "CSV `file`", table: showing(func(x service.ReleaseAnswer, _ *asking) [][]string { return released(x, nil) }), extra: func(a *asking) {
		q := a.request.(*service.ReleaseRequest)
		bind(a.cmd, &p)
		a.cmd.Args, a.within = exactly("file of votes"), "mechanism.majority."
		a.read = func() (err error) {
			if q.Queries, err = readVotes(a.cmd, a.args[0]); err != nil {
				return err
			}
			p.Answers = cmp.Or(p.Answers, len(q.Queries))
			text, err := json.Marshal(p)
			q.Mechanism = fmt.Appendf(nil, `{"majority": %s}`, text)
			return err
		}
	}}.command()
}

// keyed names an error of a plan that was made of flags by its key.
func keyed(err error, prefix string) error {
	if e := new(plan.Error); errors.As(err, &e) && e.Field != "" {
		return &fault.Error{Path: []string{strings.TrimPrefix(e.Field, prefix)}, Problem: e.Problem}
	}
	return err
}

func newPateAnswerCmd() *cobra.Command {
	return question{name: "answer", op: "pate-answer", what: "answering", writes: "CSV `file`", table: showing(answered), extra: func(a *asking) {
		q := a.request.(*service.PateAnswerRequest)
		read, baseline := ofBallots(a, "votes", &q.Ballots), baselineFlag(a)
		a.read = func() (err error) {
			if *baseline != "" {
				q.Baseline = [][]float64{} // of the file
			}
			if err = read(); err != nil || *baseline == "" {
				return err
			}
			q.Baseline, err = readFile(a.cmd, *baseline, func(in io.Reader) (rows [][]float64, err error) {
				scores, err := ballots.ReadScores(in, 1, false) // as they are
				for i := 0; err == nil && i < scores.Queries(); i++ {
					rows = append(rows, scores.Row(i))
				}
				return rows, err
			})
			return err
		}
	}}.command()
}

// answered has the rows of the labels that teachers gave.
func answered(x service.PateLabels, _ *asking) [][]string {
	table := [][]string{{"label", "answered"}}
	for i, label := range x.Labels {
		row := []string{"", "0"}
		if label >= 0 {
			row[0] = strconv.Itoa(label)
		}
		if x.Answered[i] {
			row[1] = "1"
		}
		table = append(table, row)
	}
	return table
}

// A lawFlags is the law of the number of candidates, as plans have it.
type lawFlags struct {
	Law   string  `json:"law,omitempty" one:"geometric,logarithmic,negative-binomial,poisson,binomial,fixed" help:"law of the number of runs: geometric, logarithmic, negative-binomial, poisson, binomial or fixed"`
	Mean  float64 `json:"mean,omitempty" help:"expected {number} of runs"`
	Gamma float64 `json:"gamma,omitempty" help:"parameter {γ} of the law, in place of the mean"`
	Shape float64 `json:"shape,omitempty" help:"{shape} of negative-binomial"`
	Max   int     `json:"max,omitempty" help:"largest {number} of runs; that of fixed and binomial"`
}

// A shownTrial is an outcome that a search shows: what the command printed.
type shownTrial struct {
	Score  *service.Number `json:"score"` // null for NaN
	Output string          `json:"output"`
}

// shownTrials is the JSON of select run.
type shownTrials struct {
	Found []shownTrial `json:"found"`
}

// A search runs a command as often as a law says and shows what it may.
type search struct {
	q     service.RunOpenRequest
	law   lawFlags
	plan  string
	calls int
	trial []string

	threshold float64 // of the calls of adaptive
}

func newSelectRunCmd() *cobra.Command {
	j := new(search)
	return question{name: "run", request: &j.q, what: "running", except: []string{"kind", "clip", "dimension", "plan"}, writes: "`file`", table: writeTrials, extra: func(a *asking) {
		f := a.cmd.Flags()
		j.q.Kind = "best"
		addChoice(a.cmd, &j.q.Kind, "kind", "what is shown: best, top, first-above, adaptive or sparse-vector", "best", "top", "first-above", "adaptive", "sparse-vector")
		reword(a.cmd, "threshold", ", of first-above", ", of first-above and adaptive")
		bind(a.cmd, &j.law)
		f.StringVar(&j.plan, "plan", "", "`file` of the plan of one run, by which best is charged")
		_ = a.cmd.MarkFlagFilename("plan", planEndings...)
		f.IntVar(&j.calls, "calls", 1000, "largest `number` of calls of adaptive")
		f.SetInterspersed(false)
		a.within, a.late = "selection.", true
		a.cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("missing the command of a trial")
			}
			return nil
		}
		a.read = func() error {
			j.trial = a.args
			return j.read(a.cmd)
		}
		a.compute = func(ctx context.Context, s *service.Service, _ *meter) (any, error) {
			run, err := s.OpenSearch(ctx, j.q)
			if err != nil {
				return nil, err
			}
			shown := shownTrials{Found: []shownTrial{}}
			found, err := service.Play(ctx, run, j.calls, j.threshold, j.try)
			if shown.Found = append(shown.Found, found...); len(found) == 0 && err == nil {
				fmt.Fprintln(a.cmd.ErrOrStderr(), "accountant: the search has found nothing")
			}
			return shown, a.told(err)
		}
	}}.command()
}

// read checks what the flags say beside the request, and reads the plan.
func (j *search) read(cmd *cobra.Command) (err error) {
	if j.plan != "" {
		var name string
		if j.q.Plan, name, err = readInput(cmd, j.plan); err != nil {
			return err
		}
		if err := service.CheckPlan(j.q.Plan); err != nil {
			return planProblem(name, err)
		}
	}
	adaptive := j.q.Kind == "adaptive"
	switch {
	case j.law == (lawFlags{}) && !adaptive && j.q.Kind != "sparse-vector":
		err = fault.New("law", "is missing; %s needs it", j.q.Kind)
	case adaptive && j.q.Threshold == nil:
		err = fault.New("threshold", "is missing; adaptive needs it")
	case adaptive && j.calls < 1:
		err = fault.New("calls", "%d is not in [1, ∞)", j.calls)
	case j.law != (lawFlags{}):
		j.q.Selection, err = json.Marshal(j.law)
	}
	if err == nil && adaptive {
		j.threshold, j.q.Threshold = *j.q.Threshold, nil
	}
	return flagged(cmd, err)
}

// maxTrial bounds what a trial prints.
const maxTrial = 1 << 24

// try runs the command once. Nothing of a trial that fails is shown, as that can tell of the data.
func (j *search) try(ctx context.Context, n int) (t shownTrial, score float64, err error) {
	c := exec.CommandContext(ctx, j.trial[0], j.trial[1:]...)
	var out, problem limitedBuffer
	out.left, problem.left = maxTrial, 1<<12
	c.Stdout, c.Stderr, c.WaitDelay = &out, &problem, time.Second/2 // a process that it has started may hold them
	if j.q.Kind == "sparse-vector" || j.q.Kind == "adaptive" {
		c.Env = append(os.Environ(), "ACCOUNTANT_CALL="+strconv.Itoa(n))
	}
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return t, 0, ctx.Err()
		}
		said := ""
		if lines := strings.Split(strings.TrimSpace(problem.String()), "\n"); lines[len(lines)-1] != "" {
			said = ": " + oneLine(lines[len(lines)-1])
		}
		return t, 0, fmt.Errorf("trial: %s: %w%s; nothing is shown", printable(j.trial[0]), err, said)
	}
	if out.full {
		return t, 0, fmt.Errorf("trial: %s: prints more than %d bytes", printable(j.trial[0]), maxTrial)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	score, err = strconv.ParseFloat(last, 64)
	if err != nil && !math.IsInf(score, 0) {
		return t, 0, fmt.Errorf("trial: %s: the last line of what it prints is %s, must be its score, a number", printable(j.trial[0]), show(last))
	}
	t.Output = out.String()
	if math.IsNaN(score) {
		return t, math.Inf(-1), nil
	}
	shown := service.Number(score)
	t.Score = &shown
	return t, score, nil
}

// A limitedBuffer keeps the first bytes that are written to it.
type limitedBuffer struct {
	bytes.Buffer
	left int
	full bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.full = b.full || n < len(p)
	b.left -= n
	b.Buffer.Write(p[:n])
	return len(p), nil
}

// writeTrials writes what the trials printed.
func writeTrials(w io.Writer, answer any, _ *asking) error {
	for _, t := range answer.(shownTrials).Found {
		if _, err := io.WriteString(w, t.Output); err != nil {
			return err
		}
	}
	return nil
}

func newMatrixStreamCmd() *cobra.Command {
	q := &service.RunOpenRequest{Kind: "matrix"}
	return question{name: "stream", request: q, except: []string{"kind", "threshold", "top", "hits", "padding", "percentile", "candidate-epsilon", "candidate-delta", "epsilon", "queries", "delta", "dimension", "plan"}, extra: func(a *asking) {
		a.cmd.Args, a.cmd.ValidArgsFunction = exactly("plan file", "file of vectors (- reads standard input)"), completePlans(0, 0)
		required(a.cmd, "clip")
		a.late, a.meter = true, "off" // the first line has the dimension, and every line an answer
		a.read = func() (err error) {
			q.Plan, _, _, err = oneStep(a.cmd, a.args[0], true)
			return err
		}
		a.compute = func(ctx context.Context, s *service.Service, _ *meter) (any, error) { return nil, a.stream(ctx, s, q) }
	}}.command()
}

// stream adds correlated noise to vectors, a line each, and writes each before it reads the next.
func (a *asking) stream(ctx context.Context, s *service.Service, q *service.RunOpenRequest) error {
	out := csv.NewWriter(a.cmd.OutOrStdout())
	var next service.RunNextRequest
	var refused error // which is about no line
	err := readRows(a.cmd, a.args[1], func(cells []string, first bool) (err error) {
		if first && tables.IsHeader(cells) {
			return errors.New("is a header, must be the first vector")
		}
		if next.X, err = numbersOf(cells); err == nil && first {
			dimension := len(cells)
			q.Dimension = &dimension
			var run service.RunOpened
			run, refused = service.Ask[service.RunOpened](ctx, s, *q)
			next.Run, err = run.Run, refused
		}
		if err != nil {
			return err
		}
		x, err := s.RunNext(ctx, next)
		if err != nil {
			return err
		}
		row := make([]string, len(x.Values))
		for i, y := range x.Values {
			row[i] = decimal.Short(y)
		}
		err = out.Write(row)
		out.Flush()
		return errors.Join(err, out.Error())
	})
	if refused != nil {
		return refused
	}
	return err
}

func newSamplingDrawCmd() *cobra.Command {
	return question{name: "draw", what: "drawing", table: showing(batchesOf), extra: func(a *asking) {
		a.cmd.Args, a.cmd.ValidArgsFunction = planArg, completePlans(0, 0)
		a.read = func() (err error) {
			_, _, a.request.(*service.DrawRequest).Sampling, err = oneStep(a.cmd, a.args[0], false)
			return err
		}
	}}.command()
}

// batchesOf has a row for each batch.
func batchesOf(x service.DrawAnswer, _ *asking) (table [][]string) {
	for _, batch := range x.Batches {
		table = append(table, strings.Fields(strings.Trim(fmt.Sprint(batch), "[]")))
	}
	return table
}

// newQueryCmd returns the command that answers a query of a CSV file. The table goes to standard output or a file, whole or
// not at all; what it promises is told beside it.
func newQueryCmd() *cobra.Command {
	return question{name: "query", what: "reading", progress: true, except: []string{"accuracy", "transform"}, writes: "CSV `file`", table: showing(queryTable), text: printing(printQuery), extra: func(a *asking) {
		q := a.request.(*service.QueryRequest)
		a.cmd.Args = exactly("data.csv")
		keys := fileFlag(a.cmd, "keys", "CSV `file` of the groups, which must be public, with the columns of --group as header (default: the groups are private)", "csv")
		a.read = func() error {
			q.In = a.args[0]
			if *keys == "" {
				return nil
			}
			q.Keys = [][]string{}
			return readRows(a.cmd, *keys, func(cells []string, first bool) error {
				switch {
				case !first:
					for i := range cells {
						cells[i] = strings.Clone(cells[i])
					}
					q.Keys = append(q.Keys, cells)
				case !slices.Equal(cells, q.Group):
					return fmt.Errorf("the header is not that of --group: %s", strings.Join(q.Group, ","))
				}
				return nil
			})
		}
	}}.command()
}

func queryTable(x service.QueryAnswer, _ *asking) [][]string {
	return append([][]string{x.Columns}, x.Rows...)
}

// printQuery tells what the table promises.
func printQuery(w io.Writer, x service.QueryAnswer, _ *asking) {
	for _, n := range x.Noise {
		fmt.Fprintf(w, "noise of %s: %s, standard deviation %s\n", printable(n.Name), n.Law, rounded(float64(n.SD), 5, up))
	}
	for _, line := range x.Statement {
		fmt.Fprintln(w, line)
	}
}

// localRun is the JSON of local run: what the messages say of the number of users with each value.
type localRun struct {
	Users     int             `json:"users"`
	Mechanism string          `json:"mechanism"`
	Epsilon   service.Decimal `json:"epsilon"`
	Seeded    bool            `json:"seeded"`
	service.LocalEstimates
}

func newLocalCmd() *cobra.Command {
	return group("local", question{name: "run", op: "local-messages", what: "drawing", except: []string{"test-seed"}, text: printing(printLocal), extra: func(a *asking) {
		q := a.request.(*service.LocalMessagesRequest)
		a.cmd.Args = exactly("file of values", "file for messages")
		a.cmd.Flags().Var(&word{to: (*string)(&q.TestSeed)}, "seed", "`seed` that makes the run reproducible; whoever knows the seed can undo the noise")
		a.read = func() error {
			if sameFile(a.args[0], a.args[1]) {
				return fmt.Errorf("%s: is what is read here; messages must go to another file", printable(a.args[1]))
			}
			k, err := decimal.Whole(string(q.Categories))
			if err != nil {
				return err
			}
			return readRows(a.cmd, a.args[0], func(cells []string, first bool) error {
				if first && tables.IsHeader(cells) {
					return nil
				}
				value, err := strconv.Atoi(cells[0])
				if err != nil || value < 0 || int64(value) >= k || len(cells) > 1 {
					return fmt.Errorf("%s is not a value in [0, %d]", printable(strings.Join(cells, ",")), k-1)
				}
				q.Values = append(q.Values, value)
				return nil
			})
		}
		a.wrote = func(answer any) (_ any, err error) {
			messages := answer.(service.LocalMessages).Messages
			x := localRun{Users: len(q.Values), Mechanism: q.Mechanism, Epsilon: q.Epsilon, Seeded: q.TestSeed != ""}
			if x.LocalEstimates, err = service.Ask[service.LocalEstimates](a.cmd.Context(), service.New(nil), service.LocalEstimatesRequest{LocalKind: q.LocalKind, Messages: messages}); err != nil {
				return nil, flagged(a.cmd, err)
			}
			return x, writeDraft(a.args[1], false, func(w io.Writer) error {
				buf := bufio.NewWriter(w)
				fmt.Fprintln(buf, "message")
				for _, m := range messages {
					fmt.Fprintln(buf, strings.Trim(fmt.Sprint(m), "[]"))
				}
				return buf.Flush()
			})
		}
	}}.command())
}

func printLocal(w io.Writer, a localRun, _ *asking) {
	fmt.Fprintf(w, "%s with local ε %v: messages of %d users\n\n", a.Mechanism, a.Epsilon, a.Users)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprint(t, "value\testimate\tdeviation\t\n")
	for _, e := range a.Estimates {
		fmt.Fprintf(t, "%d\t%.1f\t%.1f\t\n", e.Value, float64(e.Count), float64(e.Deviation))
	}
	t.Flush()
}
