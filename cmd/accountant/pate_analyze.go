package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/rdp"
)

const pateNotSafe = "NOT SAFE TO PUBLISH"

const pateNotSafeWhy = ": this depends on the private votes (see accountant pate smooth)"

func newPateAnalyzeCmd() *cobra.Command {
	var f pateFlags
	var orders, plotFile string
	cmd := &cobra.Command{
		Use:   "analyze --votes FILE --mechanism M --delta δ",
		Short: "Tell the ε that labelling a table of votes cost",
		Long: `analyze adds up the Rényi cost of every query from its votes, and converts the
sum to (ε, δ). The reports differ in which queries are charged for an answer:

  worst        every query, or the dearest --max-answers of them: a bound at
               this data set
  independent  the same at the cost that no votes enter: a bound at every data
               set, and the only one that may be published as it stands
  realised     those that --answered lists. Which queries pass the check is
               random, so this is no (ε, δ) bound of what ran. What holds, ex
               post: except with probability δ the privacy loss of the answers
               that came is at most ε. The orders must have been fixed in
               advance; K of them share δ, and the conversion is the classic one
  expected     every query, times the probability that it is answered: what
               the tables of the PATE paper print, and no bound on anything

Fix --max-answers before looking at any answer, and stop labelling there: then
worst and independent charge no more answers than that.`,
		Example: `  accountant pate synth --rule s1 --teachers 250 --classes 10 --queries 640 --out votes.csv
  accountant pate analyze --votes votes.csv --mechanism confident --threshold 200 --sigma1 150 --sigma2 40 --delta 1e-5`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			grid, err := pateOrders(orders)
			if err != nil {
				return err
			}
			if plotFile != "" {
				if err := pictureFormat("plot", plotFile); err != nil {
					return err
				}
			}
			run, err := f.parse(cmd)
			if err != nil {
				return err
			}
			a, err := measuredIf(cmd, f.progress, "accounting", func(m *meter) (*pateAnalysis, error) {
				l, err := run.ledger(cmd, grid, m)
				if err != nil {
					return nil, err
				}
				a, err := run.analyze(cmd, l, f.delta)
				if err == nil && plotFile != "" {
					err = run.plot(cmd, l, f.delta, plotFile)
				}
				return a, err
			})
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), a.json(), func(w io.Writer) error { return a.write(w, run) })
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&orders, "orders", "", "Rényi orders: first:last:step or a list with commas (default 1.5:100:0.5)")
	cmd.Flags().StringVar(&plotFile, "plot", "", "draw ε against answered queries into this `file` (.svg, .png or .pdf)")
	_ = cmd.MarkFlagFilename("plot", pictures...)
	return cmd
}

// A pateLine is one report.
type pateLine struct {
	cost         pate.Cost
	eps, order   float64
	check, label float64 // cost of checks and answers at that order
}

// epsilon writes ε so that a bound stays one.
func (x pateLine) epsilon() string {
	if x.cost.Report == pate.ExpectedNotABound {
		return rounded(x.eps, 6, near)
	}
	return rounded(x.eps, 6, up)
}

// guarantee says what holds.
func (x pateLine) guarantee() string {
	switch {
	case x.cost.ExPost:
		return "ex post"
	case x.cost.Report == pate.DataIndependent:
		return "an upper bound at every data set"
	case x.cost.Report == pate.ExpectedNotABound:
		return "none"
	}
	return "an upper bound at this data set"
}

type pateAnalysis struct {
	delta       float64
	head        pateLine
	lines       []pateLine
	independent pateLine
}

func (r *pateRun) line(ctx context.Context, l *pate.Ledger, report pate.Report, delta float64) (pateLine, error) {
	c, err := l.Cost(ctx, report, r.transcript(report))
	if err != nil {
		return pateLine{}, err
	}
	x := pateLine{cost: c}
	if x.eps, x.order, err = r.epsilon(c, c.Total, delta); err != nil {
		return pateLine{}, err
	}
	x.check, x.label = c.Threshold.RDP(x.order), c.Answer.RDP(x.order)
	if x.order == 1 { // ε = 0 follows from the total variation distance
		x.check, x.label = c.Threshold.Values[0], c.Answer.Values[0]
	}
	return x, nil
}

// epsilon converts a part of a cost into ε.
func (r *pateRun) epsilon(c pate.Cost, part rdp.Grid, delta float64) (eps, order float64, err error) {
	if c.ExPost {
		return pate.EpsilonExPost(part, delta)
	}
	return r.conversion.Epsilon(part, delta)
}

func (r *pateRun) analyze(cmd *cobra.Command, l *pate.Ledger, delta float64) (*pateAnalysis, error) {
	a := &pateAnalysis{delta: delta}
	reports := []pate.Report{pate.Worst, pate.ExpectedNotABound, pate.DataIndependent}
	if r.answered != nil {
		reports = append([]pate.Report{pate.Realised}, reports...)
	}
	if _, threshold := r.aggregator.(interface {
		ThresholdAtDistance(v, teachers int64, order float64) ([]float64, error)
	}); !threshold {
		reports = []pate.Report{pate.Worst, pate.DataIndependent}
		if r.report != pate.DataIndependent {
			// Every query is answered, for certain: the reports are one.
			reports[0] = r.report
		}
	}
	if r.report == pate.Realised && r.answered == nil {
		return nil, usageError{errors.New("missing --answered, which the realised report needs")}
	}
	for _, report := range reports {
		x, err := r.line(cmd.Context(), l, report, delta)
		if err != nil {
			return nil, flagged(cmd, err)
		}
		a.lines = append(a.lines, x)
		if report == r.report {
			a.head = x
		}
		if report == pate.DataIndependent {
			a.independent = x
		}
	}
	return a, nil
}

type pateAnalysisJSON struct {
	Delta       float64   `json:"delta"`
	Report      string    `json:"report"`
	Bound       bool      `json:"bound"`
	Guarantee   string    `json:"guarantee"`
	Epsilon     float64   `json:"epsilon"`
	Order       float64   `json:"order"`
	Orders      []float64 `json:"orders"`
	RDP         []float64 `json:"rdp"`
	Independent float64   `json:"data-independent-epsilon"`
	Threshold   []float64 `json:"threshold-rdp"`
	Answer      []float64 `json:"answer-rdp"`
	Answered    float64   `json:"answered"`
}

func (a *pateAnalysis) json() pateAnalysisJSON {
	c := a.head.cost
	return pateAnalysisJSON{a.delta, c.Report.String(), c.Bound(), a.head.guarantee(), a.head.eps, a.head.order, c.Total.Orders, c.Total.Values,
		a.independent.eps, c.Threshold.Values, c.Answer.Values, c.Answered}
}

// rows has a row for each Rényi order.
func (a pateAnalysisJSON) rows() any {
	type row struct {
		Delta       float64 `json:"delta"`
		Report      string  `json:"report"`
		Bound       bool    `json:"bound"`
		Epsilon     float64 `json:"epsilon"`
		Order       float64 `json:"order"`
		Independent float64 `json:"data-independent-epsilon"`
		Answered    float64 `json:"answered"`
		At          float64 `json:"rdp-order"`
		RDP         float64 `json:"rdp"`
		Threshold   float64 `json:"threshold-rdp"`
		Answer      float64 `json:"answer-rdp"`
		Guarantee   string  `json:"guarantee"`
	}
	rows := make([]row, len(a.Orders))
	for i, order := range a.Orders {
		rows[i] = row{a.Delta, a.Report, a.Bound, a.Epsilon, a.Order, a.Independent, a.Answered, order, a.RDP[i], a.Threshold[i], a.Answer[i], a.Guarantee}
	}
	return rows
}

func (a *pateAnalysis) write(w io.Writer, r *pateRun) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mechanism  %v\n", r.aggregator)
	fmt.Fprintf(&b, "votes      %d queries, %d classes, %d teachers\n", r.votes.Queries(), r.votes.Classes(), r.votes.Teachers())
	for _, x := range r.warnings {
		fmt.Fprintf(&b, "%s    %s\n", paint(w, yellow, "warning"), x)
	}
	kind := a.head.guarantee()
	switch {
	case a.head.cost.ExPost:
		kind += ", " + paint(w, red, "NOT AN (ε, δ) BOUND") + " of what ran"
	case a.head.cost.Report == pate.ExpectedNotABound:
		kind = "an estimate, " + paint(w, red, "NOT A BOUND")
	}
	fmt.Fprintf(&b, "epsilon    %s at delta %s (%v report: %s)\n\n", a.head.epsilon(), short(a.delta), a.head.cost.Report, kind)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "report\tepsilon\torder\tcost of checks\tof answers\tanswered\t\n")
	for _, x := range a.lines {
		answered := fmt.Sprintf("%.0f", x.cost.Answered)
		if x.cost.Report == pate.ExpectedNotABound {
			answered = fmt.Sprintf("%.2f", x.cost.Answered)
		}
		name := x.cost.Report.String()
		switch {
		case x.cost.ExPost:
			name += " (ex post)"
		case !x.cost.Bound():
			name += " (not a bound)"
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%.5g\t%.5g\t%s\t\n", name, x.epsilon(), x.order, x.check, x.label, answered)
	}
	t.Flush()
	if r.answered != nil {
		k := len(a.head.cost.Total.Orders)
		fmt.Fprintf(&b, "\nEx post: which queries were answered is random. Except with probability %s\nthe privacy loss of the answers that came is at most ε, if the %s\nfixed in advance (classic conversion).\n",
			short(a.delta), map[bool]string{true: "order was", false: fmt.Sprintf("%d orders (which share δ) were", k)}[k == 1])
	}
	fmt.Fprintf(&b, "\nCosts are Rényi divergences at the order of the line. Publish the independent\nline only; of the others: %s%s\n", paint(w, red, pateNotSafe), pateNotSafeWhy)
	_, err := io.WriteString(w, b.String())
	return err
}
