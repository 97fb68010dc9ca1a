package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

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
