package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newGDPCmd() *cobra.Command {
	cmd := question{name: "gdp", what: "computing", text: printing(printGDP)}.command()
	cmd.AddCommand(question{name: "solve", op: "gdp-solve", what: "calibrating", text: printing(printGDPSolution)}.command())
	return cmd
}

func printGDP(w io.Writer, a service.GDPAnswer, _ *asking) {
	d := digitsFor(a.Mu)
	fmt.Fprintf(w, "neighbors: %s\n\n  %s ≤ μ ≤ %s at tolerance %s %s\n  regret ≤ %s\n", a.Unit.Text(),
		rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), short(a.Tolerance), titleOf(a.Mu), rounded(a.Regret.Upper, 3, up))
}

func printGDPSolution(w io.Writer, a service.GDPSolution, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\nbudget: μ ≤ %s at tolerance %s\n\n", a.Unit.Text(), short(a.Budget), short(a.Tolerance))
	for _, x := range a.Settings {
		fmt.Fprintf(w, "  %s %s: %s\n", x.Step, cmp.Or(x.Quantity, a.Solve), short(x.Value))
	}
	d := digitsFor(a.Mu)
	fmt.Fprintf(w, "  %s %s: %s ≤ μ ≤ %s %s\n", a.Solve, short(a.Value), rounded(a.Mu.Lower, d, down), rounded(a.Mu.Upper, d, up), titleOf(a.Mu))
}
