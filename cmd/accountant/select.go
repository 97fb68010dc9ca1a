package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

type selectFlags struct {
	service.SelectRequest
	plan                      string
	shape, delta              float64
	candidateEps, candidateDl float64
	picture                   pictureFlags
	output
}

func newSelectCmd() *cobra.Command {
	var f selectFlags
	q := &f.SelectRequest
	cmd := &cobra.Command{
		Use:  "select",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.plan, "plan", "", "plan `file` of one run (- reads standard input)")
	q.Laws = slices.Clone(service.SelectLaws)
	addChoices(cmd, &q.Laws, "law", "`laws` to compare: geometric, logarithmic, negative-binomial, poisson, binomial, fixed",
		"geometric", "logarithmic", "negative-binomial", "poisson", "binomial", "fixed")
	fs.Float64Var(&f.shape, "shape", 0.5, "shape of the negative-binomial law, above -1")
	fs.Float64SliceVar(&q.Means, "mean", []float64{10}, "expected `runs`; several with commas")
	fs.IntVar(&q.Max, "max", 0, "largest number of `runs`: the law is conditioned on it (fixed, binomial: number of runs, of trials)")
	fs.BoolVar(&q.FirstAbove, "first-above", false, "price the first outcome above a threshold instead of the best (geometric laws)")
	fs.Float64Var(&f.delta, "delta", 0, "`δ` that ε is asked for")
	fs.Float64Var(&f.candidateEps, "candidate-epsilon", 0, "`ε` of one run")
	fs.Float64Var(&f.candidateDl, "candidate-delta", 0, "`δ` of one run")
	f.output.register(cmd)
	underCaps(cmd)
	f.picture.register(cmd, "ε of the search by each law", 17, 10)
	_ = cmd.MarkFlagFilename("plan", "yaml", "yml", "json")
	return cmd
}

func (f *selectFlags) run(cmd *cobra.Command) error {
	if err := f.picture.check(f.output); err != nil {
		return err
	}
	q := f.SelectRequest
	if q.FirstAbove && !cmd.Flags().Changed("law") {
		q.Laws = nil // geometric
	}
	q.Shape = given(cmd, "shape", f.shape)
	q.Delta = given(cmd, "delta", f.delta)
	q.CandidateEpsilon = given(cmd, "candidate-epsilon", f.candidateEps)
	q.CandidateDelta = given(cmd, "candidate-delta", f.candidateDl)
	var a service.SelectAnswer
	var err error
	if f.plan == "" {
		a, err = ask(cmd, "pricing", (*service.Service).Select, q)
	} else {
		q.Plan = service.PlanText{} // of the file
		a, err = askPlan(cmd, "pricing", (*service.Service).Select, &q, &q.Plan, f.plan)
	}
	if err != nil {
		return err
	}
	return f.picture.show(cmd, f.output, a, func() figure.Picture { return selectPicture(a) }, func(w io.Writer) { selectWriteTable(w, a) })
}

// selectPicture has a row for each law: from what an attack reaches to what is proved.
func selectPicture(a service.SelectAnswer) figure.Picture {
	var rows []figure.Row
	for _, r := range a.Laws {
		row := figure.Row{Name: fmt.Sprintf("%s, %.4g runs", r.Law, r.Mean), Lower: math.NaN(), Upper: math.NaN()}
		if r.Epsilon.Lower != nil {
			row.Lower = *r.Epsilon.Lower
		}
		if r.Epsilon.Tight != nil {
			row.Upper = *r.Epsilon.Tight
		}
		rows = append(rows, row)
	}
	return figure.Rows("Private selection", "ε of the search, from an attack to what is proved", rows)
}

func selectWriteTable(w io.Writer, out service.SelectAnswer) {
	t := newTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintln(t, "law\tshape\tγ\truns\tmiss 1 %\tmiss 5 %\tε paper\tε Papernot–Steinke\tε attack\tε proved\tδ\t")
	for _, r := range out.Laws {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4f\t%.4f\t%s\t%s\t%s\t%s\t%s\t\n", r.Law, selectCell(r.Shape, "%g"),
			selectCell(r.Gamma, "%.4g"), r.Mean, r.Miss1, r.Miss5,
			selectUp(r.Epsilon.Paper), selectUp(r.Epsilon.PapernotSteinke), selectDown(r.Epsilon.Lower), selectUp(r.Epsilon.Tight), rounded(r.Delta, 4, up))
	}
	t.Flush()
	for _, n := range out.Notes {
		fmt.Fprintln(w, n)
	}
}

func selectCell(x *float64, format string) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf(format, *x)
}

// selectDown prints what an attack reaches with five digits, rounded down.
func selectDown(x *float64) string {
	if x == nil {
		return "–"
	}
	return rounded(*x, 5, down)
}

// selectUp prints an upper bound with five digits, rounded up.
func selectUp(x *float64) string {
	if x == nil {
		return "–"
	}
	return rounded(*x, 5, up)
}
