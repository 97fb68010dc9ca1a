package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
)

func newPateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pate",
		Short: "Account for private aggregation of teacher ensembles (PATE)",
		Long: `pate tells what labelling queries by the noisy votes of teachers costs.

Costs that depend on the votes are private themselves: only what smooth prints
as sanitized, and the data-independent ε, may be published. A sanitized ε is an
estimate; the data-independent ε is a bound.`,
	}
	cmd.AddCommand(newPateAnalyzeCmd(), newPateSmoothCmd(), newPateSynthCmd())
	cmd.Args, cmd.RunE = needCommand, missingCommand
	return cmd
}

// pateFlags are the flags that say what was run.
type pateFlags struct {
	votes, format    string
	classes, queries int
	teachers         int64
	mechanism        string
	threshold        float64
	sigma1, sigma2   float64
	gamma            float64
	baseline, kind   string
	rounded          bool
	answered         string
	maxAnswers       int
	delta            float64
	conversion       string
	report           string
	progress         string
	output
}

func (f *pateFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.votes, "votes", "", "`file` of votes, CSV or NPY: a row per query, a column per class (required)")
	f.format, f.kind, f.conversion = "counts", "probs", "cks"
	addChoice(cmd, &f.format, "format", "what the votes file holds: counts, or labels (a row per teacher, a column per query)", "counts", "labels")
	fs.IntVar(&f.classes, "classes", 0, "number of classes, for --format labels")
	fs.IntVar(&f.queries, "queries", 0, "account for the first `K` queries only")
	fs.Int64Var(&f.teachers, "teachers", 0, "number of teachers, if some abstain")
	addChoice(cmd, &f.mechanism, "mechanism", "gnmax, confident, interactive or lnmax (required)", "gnmax", "confident", "interactive", "lnmax")
	fs.Float64Var(&f.threshold, "threshold", 0, "threshold `T` of the check, in votes")
	fs.Float64Var(&f.sigma1, "sigma1", 0, "standard deviation of the check's noise, in votes")
	fs.Float64Var(&f.sigma2, "sigma2", 0, "standard deviation of the answers' noise, in votes")
	fs.Float64Var(&f.gamma, "gamma", 0, "inverse scale of lnmax's noise")
	fs.StringVar(&f.baseline, "baseline", "", "`file` of the student's scores, for interactive")
	addChoice(cmd, &f.kind, "baseline-kind", "what the scores are: probs, or votes (already multiplied by the number of teachers)", "probs", "votes")
	fs.BoolVar(&f.rounded, "rounded", false, "interactive rounds its statistic to a whole number, which smooth needs")
	fs.StringVar(&f.answered, "answered", "", "`file` that tells which queries were answered: a 0 or 1 per query, or their numbers from 0")
	fs.IntVar(&f.maxAnswers, "max-answers", 0, "the `number` of answers after which no query is answered any more, fixed in advance")
	fs.Float64Var(&f.delta, "delta", 0, "δ (required)")
	addChoice(cmd, &f.conversion, "conversion", "from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper", "cks", "classic")
	addChoice(cmd, &f.report, "report", "expected (not a bound), realised, worst or independent (default: realised with --answered, worst without)", "expected", "realised", "worst", "independent")
	addProgress(cmd, &f.progress)
	f.output.register(cmd)
	for _, name := range []string{"votes", "baseline"} {
		_ = cmd.MarkFlagFilename(name, "csv", "npy")
	}
	_ = cmd.MarkFlagFilename("answered")
	_ = cmd.MarkFlagRequired("votes")
	_ = cmd.MarkFlagRequired("mechanism")
	_ = cmd.MarkFlagRequired("delta")
}

// A pateRun is what the flags say.
type pateRun struct {
	votes      *pate.Votes
	aggregator pate.Aggregator
	scores     *pate.Scores
	answered   []bool
	report     pate.Report
	conversion pate.Conversion
	maxAnswers int
	warnings   []string
}

func (f *pateFlags) parse(cmd *cobra.Command) (*pateRun, error) {
	r := &pateRun{}
	var err error
	if !(f.delta > 0 && f.delta < 1) {
		return nil, fmt.Errorf("--delta: %v is not in (0, 1)", f.delta)
	}
	r.conversion = pate.Improved
	if f.conversion == "classic" {
		r.conversion = pate.Classic
	}
	if r.aggregator, err = f.aggregator(cmd); err != nil {
		return nil, err
	}
	err = pateRead(f.votes, func(in io.Reader) (err error) {
		r.votes, err = pate.ReadVotes(in, pate.Format{Labels: f.format == "labels", Classes: f.classes, Teachers: f.teachers})
		return err
	})
	if err != nil {
		return nil, err
	}
	truncated := cmd.Flags().Changed("queries")
	if truncated {
		if r.votes, err = r.votes.First(f.queries); err != nil {
			return nil, flagged(cmd, err)
		}
	}
	if n := r.votes.Short(); n > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%d of %d queries have fewer than %d votes", n, r.votes.Queries(), r.votes.Teachers()))
	}
	if f.baseline != "" {
		err := pateRead(f.baseline, func(in io.Reader) (err error) {
			r.scores, err = pate.ReadScores(in, r.votes.Teachers(), f.kind == "votes")
			return err
		})
		if err == nil && truncated {
			r.scores, err = r.scores.First(f.queries)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.answered != "" {
		err := pateRead(f.answered, func(in io.Reader) (err error) {
			r.answered, err = pate.ReadAnswered(in, r.votes.Queries())
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if cmd.Flags().Changed("max-answers") {
		if f.maxAnswers < 1 {
			return nil, fmt.Errorf("--max-answers: %d is not in [1, ∞)", f.maxAnswers)
		}
		r.maxAnswers = f.maxAnswers
	}
	if f.report == "" {
		r.report = pate.Worst
		if r.answered != nil {
			r.report = pate.Realised
		}
		return r, nil
	}
	if r.report, err = pate.ParseReport(f.report); err != nil {
		return nil, flagged(cmd, err)
	}
	return r, nil
}

// aggregator checks that the mechanism's own flags are there, and no others.
func (f *pateFlags) aggregator(cmd *cobra.Command) (pate.Aggregator, error) {
	needs := map[string][]string{
		"gnmax":       {"sigma2"},
		"lnmax":       {"gamma"},
		"confident":   {"threshold", "sigma1", "sigma2"},
		"interactive": {"threshold", "sigma1", "sigma2", "baseline"},
	}
	optional := map[string]string{"rounded": "interactive", "baseline-kind": "interactive"}
	own := needs[f.mechanism]
	has := map[string]bool{}
	for _, name := range own {
		has[name] = true
		if !cmd.Flags().Changed(name) {
			return nil, usageError{fmt.Errorf("missing --%s, which %s needs", name, f.mechanism)}
		}
	}
	for _, name := range []string{"sigma1", "sigma2", "threshold", "gamma", "baseline", "rounded", "baseline-kind"} {
		if cmd.Flags().Changed(name) && !has[name] && optional[name] != f.mechanism {
			return nil, usageError{fmt.Errorf("--%s is of no use to %s", name, f.mechanism)}
		}
	}
	var a pate.Aggregator
	var err error
	switch f.mechanism {
	case "gnmax":
		a, err = pate.NewGNMax(f.sigma2)
	case "lnmax":
		a, err = pate.NewLNMax(f.gamma)
	case "confident":
		a, err = pate.NewConfident(f.threshold, f.sigma1, f.sigma2)
	case "interactive":
		// Whether the student is reinforced costs nothing: its confidence does
		// not enter.
		a, err = pate.NewInteractive(f.threshold, 1, f.sigma1, f.sigma2, f.rounded)
	}
	return a, flagged(cmd, err)
}

// ledger returns the ledger of the run, which shows its progress.
func (r *pateRun) ledger(cmd *cobra.Command, orders []float64, m *meter) (*pate.Ledger, error) {
	l, err := pate.Account(cmd.Context(), r.votes, r.aggregator, pate.Options{Orders: orders, Scores: r.scores, MaxAnswers: r.maxAnswers, Progress: m.at})
	return l, flagged(cmd, err)
}

// transcript returns what the report takes of --answered.
func (r *pateRun) transcript(report pate.Report) []bool {
	if report == pate.Realised {
		return r.answered
	}
	return nil
}

// flagged puts the dashes of a flag before an error about the field of its name.
func flagged(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	outermost := true
	return fault.Rename(err, func(field string) string {
		name, _, _ := strings.Cut(field, "[")
		isFile := name == "votes" || name == "baseline" || name == "answered"
		if outermost && !isFile && cmd.Flags().Lookup(name) != nil {
			field = "--" + field
		}
		outermost = false
		return field
	})
}

// pateRead opens a file for read; errors of its contents start with its name.
func pateRead(path string, read func(io.Reader) error) error {
	in, err := openInput(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := read(in); err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			return pathProblem(path, err)
		}
		return fmt.Errorf("%s: %w", printable(path), err)
	}
	return nil
}

// pateOrders parses "1.5:100:0.5" or a list with commas; "" is nil.
func pateOrders(s string) ([]float64, error) {
	if s == "" {
		return nil, nil
	}
	number := func(s string) (float64, error) {
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("--orders: %q is not a finite number", strings.TrimSpace(s))
		}
		return x, nil
	}
	if !strings.Contains(s, ":") {
		var orders []float64
		for _, f := range strings.Split(s, ",") {
			x, err := number(f)
			if err != nil {
				return nil, err
			}
			orders = append(orders, x)
		}
		return orders, nil
	}
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("--orders: %q is not first:last:step or a list with commas", s)
	}
	var v [3]float64
	for i, p := range parts {
		x, err := number(p)
		if err != nil {
			return nil, err
		}
		v[i] = x
	}
	n := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0 && n >= 0 && n < 100_000) {
		return nil, fmt.Errorf("--orders: %q does not give 1 to 100000 orders", s)
	}
	orders := make([]float64, int(n)+1)
	for i := range orders {
		orders[i] = v[0] + float64(i)*v[2]
	}
	return orders, nil
}
