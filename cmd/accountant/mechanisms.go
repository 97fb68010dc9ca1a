package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/matrix"
)

func newMatrixCmd() *cobra.Command {
	optimize := question{name: "optimize", op: "matrix-optimize", what: "searching", text: printing(printMatrixOptimum), extra: func(a *asking) {
		var file *string
		file = a.outFlag("out", "`file` for the strategy, .json or .csv, or for a plan, .yaml", func(answer any) ([]byte, error) {
			// The strategy is the same at every budget; a plan has the noise of the first.
			return strategyText(answer.(service.Answers[service.MatrixOptimizeAnswer]).Results[0], a.request.(*service.MatrixOptimizeRequest).Participation, *file)
		}, "json", "csv", "yaml")
		a.read = func() error {
			if *file != "" && strategyFormat(*file) == "" {
				return usageError{fmt.Errorf("--out: %s does not end in .json, .csv or .yaml", printable(*file))}
			}
			return nil
		}
	}}
	return group("matrix", optimize.command(), newMatrixStreamCmd())
}

// strategyFormat returns the format of a file by its ending, "" for another.
func strategyFormat(file string) string {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".json", ".csv", ".yaml":
		return ext
	case "":
		return ".json"
	}
	return ""
}

// strategyText returns what a file has of an answer: the strategy as JSON or CSV, or a plan.
func strategyText(r service.MatrixOptimizeAnswer, schema, file string) ([]byte, error) {
	s := r.Strategy.(matrix.Strategy)
	var b bytes.Buffer
	if strategyFormat(file) == ".csv" {
		err := s.WriteCSV(&b)
		return b.Bytes(), err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if strategyFormat(file) == ".json" {
		return append(text, '\n'), nil
	}
	fmt.Fprintf(&b, "neighbors: %s\nsteps:\n  - mechanism:\n      matrix:\n        noise-multiplier: %s\n        steps: %d\n        strategy: %s\n        participation: %s\n",
		r.Neighbors, float(r.NoiseMultiplier), r.Steps, text, strings.Join(strings.Fields(schema), " "))
	if b.Len() > service.MaxPlan {
		return nil, errors.New("a plan with this matrix is longer than 1 MiB; write .csv or .json, or search toeplitz or blt")
	}
	return b.Bytes(), nil
}

func float(x service.Number) string { return fmt.Sprint(float64(x)) }

func printMatrixOptimum(w io.Writer, r service.MatrixOptimizeAnswer, _ *asking) {
	s := r.Strategy.(matrix.Strategy)
	fmt.Fprintf(w, "neighbors: %s\n%d steps, %s\n\n", r.Neighbors, r.Steps, r.Participation)
	f := print.NewFacts(w, 18)
	f.Add("strategy", "%v", s)
	f.Add("sensitivity", "in [%s]", tabled(w, r.Sensitivity.Lower, r.Sensitivity.Upper, 10, ", "))
	f.Add("noise multiplier", "%s", short(r.NoiseMultiplier))
	f.Add("prefix sums", "root mean squared error %s, worst %s", rounded(r.RMSE, 6, near), rounded(r.MaxError, 6, near))
	f.Add("price", "%s at δ = %s", tabled(w, r.Epsilon.Lower, r.Epsilon.Upper, 9, " ≤ ε ≤ "), short(r.Delta))
	f.Flush()
	text, err := json.Marshal(s)
	if err == nil && len(text) <= 400 {
		fmt.Fprintf(w, "\nstrategy: %s\n", text)
	} else {
		fmt.Fprintln(w, "\nThe strategy has many numbers: --out writes it, and --json prints it.")
	}
	if r.TheoryGap {
		fmt.Fprint(w, gapNote)
	}
}

func newMajorityCmd() *cobra.Command {
	return withCommands(question{name: "majority", what: "linear programs", under: true, picture: "the noise functions", width: 15, height: 10,
		text: printing(printMajority), draw: drawing(majorityPicture), rows: listing(majorityRows)}.command(), newMajorityReleaseCmd())
}

func printMajority(w io.Writer, a *service.MajorityAnswer, _ *asking) {
	p := a.Params
	kind := fmt.Sprintf("each (%g, %g)-DP", p.Epsilon, p.Delta)
	switch {
	case p.Voters != nil && p.Voters[0].Profile != nil:
		kind = "each with the profile of the plan"
	case p.Voters != nil:
		kind = fmt.Sprintf("of %d kinds", len(p.Voters))
	}
	f := print.NewFacts(w, 12)
	f.Add("budget", "(%.6g, %.6g)-DP for the majority of %d mechanisms, %s", p.Allowance*p.Epsilon, p.OutputDelta, p.Mechanisms, kind)
	if p.Classes > 2 {
		f.Add("votes", "for one of %d labels; without an absolute majority, or else, a uniform one is told", p.Classes)
	}
	f.Add("certified", "%v: %s", a.Certified, a.Proof)
	f.Add("max f", "%.12g of at most %.12g", a.MaxF, a.BudgetF)
	if a.MaxF-a.Attained > 1e-9*a.MaxF {
		f.Add("attained", "%.6g of max f for certain: the certificate has this gap", a.Attained)
	}
	f.Add("objective", "%.12g", a.Objective)
	// What rounding leaves is not worth a line.
	if a.Gap != nil && *a.Gap > 1e-9*a.Objective {
		f.Add("gap", "the largest objective is at most %s more", rounded(*a.Gap, 2, up))
	}
	if a.EpsilonUpper != nil {
		how := "whatever families are chosen in the light of earlier answers"
		if p.Classes > 2 {
			how = "by composing the bound of one"
		}
		f.Add("answers", "%d cost %s, %s", a.Answers, tabled(w, *a.EpsilonLower, *a.EpsilonUpper, 5, " ≤ ε ≤ "), how)
	}
	f.Flush()
	fmt.Fprintln(w, "expected error")
	f = print.NewFacts(w, 15)
	for _, fam := range a.Families {
		f.Add("  "+fam.Name, "%.6g", a.Error[fam.Name])
	}
	f.Flush()
	fmt.Fprintln(w, "votes for the majority, probability γ of telling it")
	f = print.NewFacts(w, 13)
	for l := (p.Mechanisms + 1) / 2; l <= p.Mechanisms; l++ {
		f.Add(fmt.Sprintf("  %5d", l), "%.15g", a.Gamma[l])
	}
	f.Flush()
}

// majorityPicture draws noise functions, which are defined at whole numbers of votes.
func majorityPicture(a *service.MajorityAnswer) figure.Picture {
	pic := figure.Picture{Title: "Noise functions of equal budget", X: figure.Axis{Label: "votes for 1", Whole: true},
		Y: figure.Axis{Label: "γ, probability of telling the majority", Max: 1.04}}
	for _, fam := range a.Families {
		b := figure.Band{Name: fam.Name, Method: figure.Named("private majority", fam.Name), Dots: true}
		for l, v := range fam.Gamma {
			b.Add(float64(l), v)
		}
		pic.Bands = append(pic.Bands, b)
	}
	return pic
}

func newSelectCmd() *cobra.Command {
	return withCommands(question{name: "select", what: "pricing", under: true, picture: "ε of the search by each law", width: 17, height: 10, text: printing(selectWriteTable), draw: drawing(selectPicture), extra: func(a *asking) {
		showPreset(a.cmd, "law", strings.Join(service.SelectLaws, ","))
	}}.command(), newSelectRunCmd())
}

// selectPicture has a row for each law: from what an attack reaches to what is proved.
func selectPicture(a service.SelectAnswer) figure.Picture {
	var rows []figure.Row
	for _, r := range a.Laws {
		row := figure.Row{Name: fmt.Sprintf("%s, %.4g runs", r.Law, r.Mean), Lower: math.NaN(), Upper: math.NaN()}
		if slices.ContainsFunc(a.Laws, func(other service.SelectedLaw) bool {
			return other.Law == r.Law && other.Mean == r.Mean && other.Delta != r.Delta
		}) {
			row.Name += ", δ = " + short(r.Delta)
		}
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

func selectWriteTable(w io.Writer, out service.SelectAnswer, _ *asking) {
	shape := func(x float64) string { return fmt.Sprintf("%g", x) }
	four := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	above := func(x float64) string { return rounded(x, 5, up) }
	attack := func(x float64) string { return rounded(x, 5, down) }
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintln(t, "law\tshape\tγ\truns\tmiss 1 %\tmiss 5 %\tε paper\tε Papernot–Steinke\tε attack\tε proved\tδ\t")
	for _, r := range out.Laws {
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4f\t%.4f\t%s\t%s\t%s\t%s\t%s\t\n", r.Law, dashed(r.Shape, shape),
			dashed(r.Gamma, four), r.Mean, r.Miss1, r.Miss5,
			dashed(r.Epsilon.Paper, above), dashed(r.Epsilon.PapernotSteinke, above), dashed(r.Epsilon.Lower, attack), dashed(r.Epsilon.Tight, above), rounded(r.Delta, 4, up))
	}
	t.Flush()
	for _, n := range out.Notes {
		fmt.Fprintln(w, n)
	}
}

// dashed writes a number, or a dash where there is none.
func dashed(x *float64, write func(x float64) string) string {
	if x == nil {
		return "–"
	}
	return write(*x)
}
