package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

// mostRows is how many rows of a table are printed as text; --json has all.
const mostRows = 20

func printFilter(w io.Writer, a service.FilterAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\nunits: %d, each step chosen by the results so far\n\n", a.Unit.Text(), a.Units)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintln(t, "type\tcost\truns\talone\tefficiency\t")
	for _, x := range a.Types {
		alone, efficiency := "–", "–"
		if x.Alone != nil {
			alone, efficiency = fmt.Sprintf("%.2f", *x.Alone), fmt.Sprintf("%.3f", *x.Efficiency)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t\n", printable(x.Name), x.Cost, x.Runs, alone, efficiency)
	}
	t.Flush()
	if a.Without != "" {
		fmt.Fprintf(w, "most efficient without %s\n", printable(a.Without))
	}
	fmt.Fprintln(w)
	for _, x := range a.Deltas {
		fmt.Fprintf(w, "  %s ≤ δ ≤ %s at ε = %s %s\n", rounded(x.Delta.Lower, 6, down), rounded(x.Delta.Upper, 6, up), short(x.Epsilon), titleOf(x.Delta))
	}
	for _, x := range a.Epsilons {
		fmt.Fprintf(w, "  %s ≤ ε ≤ %s at δ = %s %s\n", rounded(x.Epsilon.Lower, 6, down), rounded(x.Epsilon.Upper, 6, up), short(x.Delta), titleOf(x.Epsilon))
	}
	printRows(w, a.Odometer, "had the budget been these units, at δ = %s:", a.Units)
	printRows(w, a.Levels, "fixed beforehand, what may be shown at the stop (δ = %s each):", 0)
}

// printRows prints some of the rows: the last and others at equal distances. The one of the budget, if there is one, is the promise.
func printRows(w io.Writer, rows []service.FilterRow, title string, budget int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, title+"\n", short(rows[0].Delta))
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	every := max(1, (len(rows)+mostRows-1)/mostRows)
	for i, r := range rows {
		if (len(rows)-1-i)%every != 0 || r.Units == 0 {
			continue
		}
		mark := ""
		if r.Units == budget {
			mark = "the promise"
		}
		fmt.Fprintf(t, "%d\t%s ≤ ε ≤ %s\t%s\t\n", r.Units, rounded(r.Epsilon.Lower, 6, down), rounded(r.Epsilon.Upper, 6, up), mark)
	}
	t.Flush()
}
