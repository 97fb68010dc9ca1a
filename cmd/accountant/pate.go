package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/pate/ballots"
)

func newPateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pate",
	}
	cmd.AddCommand(newPateAnalyzeCmd(), newPatePublishCmd(), newPateSmoothCmd(), newPateSynthCmd())
	cmd.Args, cmd.RunE = needCommand, missingCommand
	return cmd
}

// pateFlags are the flags that say what was run.
type pateFlags struct {
	service.PateVotes
	votes, format       string
	queries, maxAnswers int
	threshold           float64
	sigma1, sigma2      float64
	gamma               float64
	baseline, kind      string
	rounded             bool
	answered            string
	progress            string
	output
}

func (f *pateFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	q := &f.PateVotes
	fs.StringVar(&f.votes, "votes", "", "`file` of votes, CSV or NPY: a row per query, a column per class (required)")
	f.format, f.kind, q.Conversion = "counts", "probs", "cks"
	addChoice(cmd, &f.format, "format", "what the votes file holds: counts, or labels (a row per teacher, a column per query)", "counts", "labels")
	fs.IntVar(&q.Classes, "classes", 0, "number of classes, for --format labels")
	fs.IntVar(&f.queries, "queries", 0, "account for the first `K` queries only")
	fs.Int64Var(&q.Teachers, "teachers", 0, "number of teachers, if some abstain")
	addChoice(cmd, &q.Mechanism, "mechanism", "gnmax, confident, interactive or lnmax (required)", "gnmax", "confident", "interactive", "lnmax")
	fs.Float64Var(&f.threshold, "threshold", 0, "threshold `T` of the check, in votes")
	fs.Float64Var(&f.sigma1, "sigma1", 0, "standard deviation of the check's noise, in votes")
	fs.Float64Var(&f.sigma2, "sigma2", 0, "standard deviation of the answers' noise, in votes")
	fs.Float64Var(&f.gamma, "gamma", 0, "inverse scale of lnmax's noise")
	fs.StringVar(&f.baseline, "baseline", "", "`file` of the student's scores, for interactive")
	addChoice(cmd, &f.kind, "baseline-kind", "what the scores are: probs, or votes (already multiplied by the number of teachers)", "probs", "votes")
	fs.BoolVar(&f.rounded, "rounded", false, "interactive rounds its statistic to a whole number, which smooth needs")
	fs.StringVar(&f.answered, "answered", "", "`file` that tells which queries were answered: a 0 or 1 per query, or their numbers from 0")
	fs.IntVar(&f.maxAnswers, "max-answers", 0, "the `number` of answers after which no query is answered any more, fixed in advance")
	fs.Float64Var(&q.Delta, "delta", 0, "δ (required)")
	addChoice(cmd, &q.Conversion, "conversion", "from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper", "cks", "classic")
	addChoice(cmd, &q.Report, "report", "joint, expected (not a bound), realised, worst or independent (default: realised with --answered; without, joint if there is a check and else worst)", "joint", "expected", "realised", "worst", "independent")
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

// request returns what the flags say, with the files that they name.
func (f *pateFlags) request(cmd *cobra.Command) (q service.PateVotes, err error) {
	q = f.PateVotes
	q.Labels = f.format == "labels"
	q.Threshold, q.Sigma1, q.Sigma2 = given(cmd, "threshold", f.threshold), given(cmd, "sigma1", f.sigma1), given(cmd, "sigma2", f.sigma2)
	q.Gamma, q.Rounded = given(cmd, "gamma", f.gamma), given(cmd, "rounded", f.rounded)
	q.Queries, q.MaxAnswers = given(cmd, "queries", f.queries), given(cmd, "max-answers", f.maxAnswers)
	if cmd.Flags().Changed("baseline-kind") {
		q.BaselineKind = f.kind
	}
	if cmd.Flags().Changed("baseline") {
		q.Scores = &ballots.Scores{} // of the file
	}
	if err := q.Check(); err != nil {
		return q, flagged(cmd, err)
	}
	err = pateRead(f.votes, func(in io.Reader) (err error) {
		q.Table, err = ballots.ReadVotes(in, ballots.Format{Labels: q.Labels, Classes: q.Classes, Teachers: q.Teachers})
		return err
	})
	if err != nil {
		return q, err
	}
	votes := q.Table
	if q.Queries != nil {
		if votes, err = q.Table.First(*q.Queries); err != nil {
			return q, flagged(cmd, err)
		}
	}
	if q.Scores = nil; f.baseline != "" {
		err := pateRead(f.baseline, func(in io.Reader) (err error) {
			q.Scores, err = ballots.ReadScores(in, votes.Teachers(), f.kind == "votes")
			return err
		})
		if err != nil {
			return q, err
		}
	}
	if f.answered != "" {
		err := pateRead(f.answered, func(in io.Reader) (err error) {
			q.Answered, err = ballots.ReadAnswered(in, votes.Queries())
			return err
		})
		if err != nil {
			return q, err
		}
	}
	return q, nil
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
		x, err := decimal.Plain(strings.TrimSpace(s))
		if err != nil {
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
