package main

import (
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
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/plan"
)

// This file has the commands that run what is priced. A ledger is spent before anything is shown.

// A runner is what these commands share: a service with a ledger, and where the answer goes.
type runner struct {
	ledger, out string
	json        bool
	spend       *service.Spend
}

// register defines the flags of a command: those of its request and its ledger.
func (r *runner) register(cmd *cobra.Command, request any, spend *service.Spend, except ...string) {
	r.spend = spend
	bind(cmd, request, except...)
	cmd.Flags().StringVar(&r.ledger, "ledger", "", "`file` of a ledger that the run is spent from before anything is shown")
}

// writes defines the flags of a command that writes a table.
func (r *runner) writes(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar(&r.out, "out", "-", what+" to write, or -")
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON")
	_ = cmd.MarkFlagFilename("out", "csv")
}

// open returns a service that has opened the ledger.
func (r *runner) open(ctx context.Context) (*service.Service, error) {
	s := service.New(ledgerFiles{})
	if r.ledger == "" {
		return s, nil
	}
	h, err := s.LedgerOpen(ctx, service.LedgerOpenRequest{Path: r.ledger})
	r.spend.Ledger = h.Ledger
	return s, err
}

// write writes the answer as JSON, or a table, whole or not at all.
func (r *runner) write(cmd *cobra.Command, answer any, table [][]string) error {
	err := func() error {
		if r.json {
			return printJSON(cmd.OutOrStdout(), answer)
		}
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll(table); err != nil {
			return err
		}
		if r.out == "-" {
			_, err := text.WriteTo(cmd.OutOrStdout())
			return err
		}
		return produceFileAtomic(r.out, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
	}()
	return r.told(cmd, err)
}

// told says that what was not written is spent all the same.
func (r *runner) told(cmd *cobra.Command, err error) error {
	if err != nil && r.ledger != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "accountant: the run is spent, though its answer was not written")
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

// readRows reads a table of numbers, whose rows may begin with a key.
func readRows(path string, keyed bool) (keys []string, rows [][]float64, err error) {
	f, err := openInput(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	t := tables.NewReader(f)
	for first := true; ; first = false {
		cells, err := t.Row()
		if errors.Is(err, io.EOF) {
			if rows == nil {
				return nil, nil, fmt.Errorf("%s: has no rows", inputName(path))
			}
			return keys, rows, nil
		}
		if err == nil && first {
			if t.Columns = len(cells); keyed && len(cells) > 2 {
				return nil, nil, fmt.Errorf("%s: line %d: %d columns are not a number, or a key and a number", inputName(path), t.Line(), len(cells))
			}
			if tables.IsHeader(cells[len(cells)-1:]) {
				continue
			}
		}
		if err == nil && keyed && len(cells) == 2 {
			keys, cells = append(keys, strings.Clone(cells[0])), cells[1:]
		}
		var row []float64
		if err == nil {
			row, err = numbersOf(cells)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %w", inputName(path), t.Line(), err)
		}
		rows = append(rows, row)
	}
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

// wholeRows are rows of whole numbers.
func wholeRows(path string, rows [][]float64) ([][]int, error) {
	out := make([][]int, len(rows))
	for i, row := range rows {
		for _, x := range row {
			if x != math.Trunc(x) || math.Abs(x) > 1<<31 {
				return nil, fmt.Errorf("%s: row %d: %v is not a vote", inputName(path), i+1, x)
			}
			out[i] = append(out[i], int(x))
		}
	}
	return out, nil
}

func newReleaseCmd() *cobra.Command {
	var q service.ReleaseRequest
	var r runner
	cmd := &cobra.Command{Use: "release", Args: ledgerArgs("plan file (- reads standard input)", "file of values"), ValidArgsFunction: completePlans(0, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, name, err := readInput(cmd, args[0])
		if err != nil {
			return err
		}
		q.Plan = data
		mechanism, _, err := service.OneStep(q.Plan, true)
		if err != nil {
			return planProblem(name, args[0], err)
		}
		votes := strings.HasPrefix(string(mechanism), "{majority:")
		keys, rows, err := readRows(args[1], !votes)
		if err != nil {
			return err
		}
		if votes {
			if q.Queries, err = wholeRows(args[1], rows); err != nil {
				return err
			}
		} else {
			for _, row := range rows {
				q.Values = append(q.Values, row[0])
			}
		}
		return r.release(cmd, q, keys)
	}
	r.register(cmd, &q, &q.Spend)
	r.writes(cmd, "CSV `file`")
	return cmd
}

// release runs a mechanism and writes what it shows.
func (r *runner) release(cmd *cobra.Command, q service.ReleaseRequest, keys []string) error {
	s, err := r.open(cmd.Context())
	if err != nil {
		return flagged(cmd, err)
	}
	q.Spend = *r.spend
	a, err := s.Release(cmd.Context(), q)
	if err != nil {
		return flagged(cmd, err)
	}
	named := func(i int) string {
		if keys == nil {
			return strconv.Itoa(i)
		}
		return keys[i]
	}
	var table [][]string
	switch {
	case a.Chosen != nil:
		table = [][]string{{"chosen"}, {named(*a.Chosen)}}
	case a.Answers != nil:
		table = [][]string{{"answer"}}
		for _, x := range a.Answers {
			table = append(table, []string{strconv.Itoa(x)})
		}
	default:
		table = [][]string{{"key", "value"}}
		for i, x := range a.Values {
			if x != nil {
				table = append(table, []string{named(i), decimal.Short(*x)})
			}
		}
	}
	return r.write(cmd, a, table)
}

func newMajorityReleaseCmd() *cobra.Command {
	var r runner
	var spend service.Spend
	p := struct {
		Mechanisms int     `json:"mechanisms" help:"number {K} of mechanisms"`
		Epsilon    float64 `json:"epsilon" help:"{ε} of each mechanism"`
		Allowance  float64 `json:"allowance" help:"{m}: an answer is mε-DP"`
		Answers    int     `json:"answers,omitempty" help:"number of answers that are priced together (default: the rows of the file)"`
		Classes    int     `json:"classes,omitempty" help:"number of labels, for votes that are labels"`
		Gamma      string  `json:"gamma,omitempty" one:"optimal,constant,subsampling" help:"noise function: optimal, constant or subsampling"`
		Delta      float64 `json:"delta,omitempty" help:"{δ} of each mechanism"`
	}{}
	var seed service.ReleaseRequest
	cmd := &cobra.Command{Use: "release", Args: ledgerArgs("file of votes")}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, rows, err := readRows(args[0], false)
		if err != nil {
			return err
		}
		q := service.ReleaseRequest{TestSeed: seed.TestSeed}
		if q.Queries, err = wholeRows(args[0], rows); err != nil {
			return err
		}
		if p.Answers == 0 {
			p.Answers = len(rows)
		}
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		q.Mechanism = fmt.Appendf(nil, `{"majority": %s}`, text)
		return flagged(cmd, keyed(r.release(cmd, q, nil), "mechanism.majority."))
	}
	r.register(cmd, &p, &spend)
	bind(cmd, &seed, "sensitivity", "monotone", "note")
	bind(cmd, &spend)
	r.writes(cmd, "CSV `file`")
	return cmd
}

// keyed names an error of a plan that was made of flags by its key.
func keyed(err error, prefix string) error {
	if e := new(plan.Error); errors.As(err, &e) && e.Field != "" {
		return &fault.Error{Path: []string{strings.TrimPrefix(e.Field, prefix)}, Problem: e.Problem}
	}
	return err
}

func newPateAnswerCmd() *cobra.Command {
	var q service.PateAnswerRequest
	var r runner
	files := pateFiles{format: "counts"}
	cmd := &cobra.Command{Use: "answer", Args: noArgs}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q.Labels = files.format == "labels"
		if err := files.tables(&q); err != nil {
			return flagged(cmd, err)
		}
		s, err := r.open(cmd.Context())
		if err != nil {
			return flagged(cmd, err)
		}
		a, err := s.PateAnswer(cmd.Context(), q)
		if err != nil {
			return flagged(cmd, err)
		}
		table := [][]string{{"label", "answered"}}
		for i, x := range a.Labels {
			label := ""
			if x >= 0 {
				label = strconv.Itoa(x)
			}
			table = append(table, []string{label, map[bool]string{false: "0", true: "1"}[a.Answered[i]]})
		}
		return r.write(cmd, a, table)
	}
	r.register(cmd, &q, &q.Spend)
	r.writes(cmd, "CSV `file`")
	files.register(cmd)
	required(cmd, "votes")
	return cmd
}

// tables reads the files of an answer.
func (f *pateFiles) tables(q *service.PateAnswerRequest) error {
	if f.baseline != "" {
		q.Baseline = [][]float64{} // of the file
	}
	if err := service.Check(q); err != nil {
		return err
	}
	err := pateRead(f.votes, func(in io.Reader) (err error) {
		q.Table, err = ballots.ReadVotes(in, ballots.Format{Labels: q.Labels, Classes: q.Classes, Teachers: q.Teachers})
		return err
	})
	if err != nil || f.baseline == "" {
		return err
	}
	return pateRead(f.baseline, func(in io.Reader) error {
		scores, err := ballots.ReadScores(in, 1, false) // as they are
		for i := 0; err == nil && i < scores.Queries(); i++ {
			q.Baseline = append(q.Baseline, scores.Row(i))
		}
		return err
	})
}

// A lawFlags is the law of the number of candidates, as plans have it.
type lawFlags struct {
	Law   string  `json:"law,omitempty" one:"geometric,logarithmic,negative-binomial,poisson,binomial,fixed" help:"law of the number of runs: geometric, logarithmic, negative-binomial, poisson, binomial or fixed"`
	Mean  float64 `json:"mean,omitempty" help:"expected number of runs"`
	Gamma float64 `json:"gamma,omitempty" help:"parameter {γ} of the law, in place of the mean"`
	Shape float64 `json:"shape,omitempty" help:"{shape} of negative-binomial"`
	Max   int     `json:"max,omitempty" help:"largest number of runs; that of fixed and binomial"`
}

// A shownTrial is an outcome that a search shows: what the command printed.
type shownTrial struct {
	Score  *service.Number `json:"score"` // null for NaN
	Output string          `json:"output"`
	score  float64
}

// A search runs a command as often as a law says and shows what it may.
type search struct {
	runner
	open    service.RunOpenRequest
	law     lawFlags
	plan    string
	calls   int
	trial   []string
	printed []shownTrial
	kept    map[int]shownTrial
}

func newSelectRunCmd() *cobra.Command {
	j := search{kept: map[int]shownTrial{}}
	j.open.Kind = "best"
	cmd := &cobra.Command{Use: "run", Args: func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New("missing the command of a trial")
		}
		return nil
	}}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		j.trial = args
		if err := j.run(cmd); err != nil {
			return flagged(cmd, err)
		}
		return nil
	}
	j.register(cmd, &j.open, &j.open.Spend, "kind", "clip", "dimension")
	f := cmd.Flags()
	addChoice(cmd, &j.open.Kind, "kind", "what is shown: best, top, first-above, adaptive or sparse-vector", "best", "top", "first-above", "adaptive", "sparse-vector")
	j.writes(cmd, "`file`")
	reword(cmd, "threshold", ", of first-above", ", of first-above and adaptive")
	bind(cmd, &j.law)
	f.StringVar(&j.plan, "plan", "", "`file` of the plan of one run, by which best is charged")
	_ = cmd.MarkFlagFilename("plan", planEndings...)
	f.IntVar(&j.calls, "calls", 1000, "largest number of calls of adaptive")
	f.SetInterspersed(false)
	return cmd
}

func (j *search) run(cmd *cobra.Command) (err error) {
	if j.plan != "" {
		var name string
		if j.open.Plan, name, err = readInput(cmd, j.plan); err != nil {
			return err
		}
		if err := service.CheckPlan(j.open.Plan); err != nil {
			return planProblem(name, j.plan, err)
		}
	}
	switch {
	case j.law != (lawFlags{}):
		if j.open.Selection, err = json.Marshal(j.law); err != nil {
			return err
		}
	case j.open.Kind != "adaptive" && j.open.Kind != "sparse-vector":
		return fault.New("law", "is missing; %s needs it", j.open.Kind)
	}
	var threshold *float64
	if j.open.Kind == "adaptive" {
		if threshold = j.open.Threshold; threshold == nil {
			return fault.New("threshold", "is missing; adaptive needs it")
		}
		if j.calls < 1 {
			return fault.New("calls", "%d is not in [1, ∞)", j.calls)
		}
		j.open.Threshold = nil
	}
	s, err := j.runner.open(cmd.Context())
	if err != nil {
		return err
	}
	run, err := s.RunOpen(cmd.Context(), j.open)
	if err != nil {
		return keyed(err, "selection.")
	}
	found, err := j.play(cmd.Context(), s, service.RunNextRequest{RunHandle: service.RunHandle{Run: run.Run}, Threshold: threshold})
	if err != nil {
		return j.told(cmd, err)
	}
	for _, i := range found {
		j.printed = append(j.printed, j.kept[i])
	}
	return j.show(cmd)
}

// play runs trials while the search asks for them, and returns the numbers of those to show.
func (j *search) play(ctx context.Context, s *service.Service, next service.RunNextRequest) (found []int, err error) {
	adaptive := j.open.Kind == "adaptive"
	var a service.RunNextAnswer
	if !adaptive {
		if a, err = s.RunNext(ctx, next); err != nil {
			return nil, err
		}
	}
	for n := 0; a.Try || adaptive && n < j.calls; n++ {
		t, err := j.try(ctx, n)
		if err != nil {
			return nil, err
		}
		j.keep(n, t)
		score := t.score
		next.Score = &score
		if a, err = s.RunNext(ctx, next); err != nil {
			return nil, err
		}
		if adaptive {
			if found = append(found, a.Found...); *a.Left == 0 {
				return found, nil
			}
			if a.Found == nil {
				delete(j.kept, n)
			}
		}
	}
	return append(found, a.Found...), nil
}

// keep keeps a trial, and forgets one that will not be shown. With padding only the search knows which.
func (j *search) keep(n int, t shownTrial) {
	j.kept[n] = t
	most := 1
	switch {
	case j.open.Padding || j.open.Kind == "adaptive":
		return
	case j.open.Kind == "first-above" || j.open.Kind == "sparse-vector": // they end with what they show
		delete(j.kept, n-1)
		return
	case j.open.Top != nil:
		most = *j.open.Top
	}
	if len(j.kept) <= most {
		return
	}
	worst := n
	for i, other := range j.kept {
		if c := cmp.Compare(other.score, j.kept[worst].score); c < 0 || c == 0 && i > worst { // of equals the first is shown
			worst = i
		}
	}
	delete(j.kept, worst)
}

// maxTrial bounds what a trial prints.
const maxTrial = 1 << 24

// try runs the command once. Nothing of a trial that fails is shown, as that can tell of the data.
func (j *search) try(ctx context.Context, n int) (t shownTrial, err error) {
	c := exec.CommandContext(ctx, j.trial[0], j.trial[1:]...)
	var out, problem limitedBuffer
	out.left, problem.left = maxTrial, 1<<12
	c.Stdout, c.Stderr, c.WaitDelay = &out, &problem, time.Second/2 // a process that it has started may hold them
	if j.open.Kind == "sparse-vector" || j.open.Kind == "adaptive" {
		c.Env = append(os.Environ(), "ACCOUNTANT_CALL="+strconv.Itoa(n))
	}
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		said := ""
		if lines := strings.Split(strings.TrimSpace(problem.String()), "\n"); lines[len(lines)-1] != "" {
			said = ": " + oneLine(lines[len(lines)-1])
		}
		return t, fmt.Errorf("trial: %s: %w%s; nothing is shown", printable(j.trial[0]), err, said)
	}
	if out.full {
		return t, fmt.Errorf("trial: %s: prints more than %d bytes", printable(j.trial[0]), maxTrial)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	score, err := strconv.ParseFloat(last, 64)
	if err != nil && !math.IsInf(score, 0) {
		return t, fmt.Errorf("trial: %s: the last line of what it prints is %s, must be its score, a number", printable(j.trial[0]), show(last))
	}
	if math.IsNaN(score) {
		return shownTrial{Output: out.String(), score: math.Inf(-1)}, nil
	}
	shown := service.Number(score)
	return shownTrial{Score: &shown, Output: out.String(), score: score}, nil
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

// show writes what the search has found.
func (j *search) show(cmd *cobra.Command) error {
	if len(j.printed) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "accountant: the search has found nothing")
	}
	return j.told(cmd, func() error {
		if j.json {
			return printJSON(cmd.OutOrStdout(), struct {
				Found []shownTrial `json:"found"`
			}{append([]shownTrial{}, j.printed...)})
		}
		write := func(w io.Writer) error {
			for _, t := range j.printed {
				if _, err := io.WriteString(w, t.Output); err != nil {
					return err
				}
			}
			return nil
		}
		if j.out == "-" {
			return write(cmd.OutOrStdout())
		}
		return produceFileAtomic(j.out, write)
	}())
}

func newMatrixStreamCmd() *cobra.Command {
	var q service.RunOpenRequest
	var r runner
	cmd := &cobra.Command{Use: "stream", Args: ledgerArgs("plan file", "file of vectors (- reads standard input)"), ValidArgsFunction: completePlans(0, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, name, err := readInput(cmd, args[0])
		if err != nil {
			return err
		}
		q.Kind, q.Plan = "matrix", data
		if _, _, err := service.OneStep(q.Plan, true); err != nil {
			return planProblem(name, args[0], err)
		}
		in := io.Reader(cmd.InOrStdin())
		if args[1] != "-" {
			f, err := openInput(args[1])
			if err != nil {
				return err
			}
			defer f.Close()
			in = f
		}
		return flagged(cmd, r.stream(cmd, q, in, inputName(args[1])))
	}
	r.register(cmd, &q, &q.Spend, "kind", "threshold", "top", "hits", "padding", "percentile", "candidate-epsilon", "candidate-delta", "epsilon", "queries", "delta", "dimension")
	required(cmd, "clip")
	return cmd
}

// stream adds correlated noise to vectors, a line each, and writes each before it reads the next.
func (r *runner) stream(cmd *cobra.Command, q service.RunOpenRequest, in io.Reader, name string) error {
	ctx, t, out := cmd.Context(), tables.NewReader(in), csv.NewWriter(cmd.OutOrStdout())
	var s *service.Service
	var next service.RunNextRequest
	for first := true; ; first = false {
		cells, err := t.Row()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && first && tables.IsHeader(cells) {
			err = errors.New("is a header, must be the first vector")
		}
		if err == nil {
			next.X, err = numbersOf(cells)
		}
		if err == nil && first {
			dimension := len(cells)
			q.Dimension, t.Columns = &dimension, dimension
			if s, err = r.open(ctx); err != nil {
				return err
			}
			q.Spend = *r.spend
			run, err := s.RunOpen(ctx, q)
			if err != nil {
				return err
			}
			next.RunHandle = service.RunHandle{Run: run.Run}
		}
		var a service.RunNextAnswer
		if err == nil {
			a, err = s.RunNext(ctx, next)
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", name, t.Line(), err)
		}
		row := make([]string, len(a.Values))
		for i, y := range a.Values {
			row[i] = decimal.Short(y)
		}
		if err := out.Write(row); err != nil {
			return err
		}
		if out.Flush(); out.Error() != nil {
			return out.Error()
		}
	}
}

func newSamplingDrawCmd() *cobra.Command {
	var q service.DrawRequest
	var r runner
	cmd := &cobra.Command{Use: "draw", Args: planArg, ValidArgsFunction: completePlans(0, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		data, name, err := readInput(cmd, args[0])
		if err != nil {
			return err
		}
		_, sampling, err := service.OneStep(data, false)
		if err == nil && sampling == nil {
			err = fault.New("plan", "has a step on all records, must have one with sampling")
		}
		if err != nil {
			return planProblem(name, args[0], err)
		}
		q.Sampling = sampling
		a, err := service.Ask[service.DrawAnswer](cmd.Context(), service.New(nil), q)
		if err != nil {
			return flagged(cmd, err)
		}
		if r.json {
			return printJSON(cmd.OutOrStdout(), a)
		}
		var text bytes.Buffer
		for _, batch := range a.Batches {
			text.WriteString(strings.Trim(strings.ReplaceAll(fmt.Sprint(batch), " ", ","), "[]") + "\n")
		}
		_, err = text.WriteTo(cmd.OutOrStdout())
		return err
	}
	bind(cmd, &q)
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}
