package main

import (
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

// riskPicture has a row for each measure of the attack.
func riskPicture(risk service.RiskAnswer) figure.Picture {
	var rows []figure.Row
	add := func(name string, v service.RiskValue) {
		rows = append(rows, figure.Row{Name: name, Lower: float64(v.Lower), Upper: float64(v.Upper)})
	}
	add("advantage", risk.Advantage)
	for _, v := range risk.TruePositive {
		add("true positives at "+percent(float64(v.FalsePositive))+" false ones", v.RiskValue)
	}
	for _, v := range risk.Bayes {
		add("right with prior "+percent(float64(v.Prior)), v.RiskValue)
	}
	return figure.Rows("The best attacker, "+risk.Unit.Text(), "probability (advantage: difference of two)", rows)
}

func printRisk(w io.Writer, risk service.RiskAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\n\n", risk.Unit.Text())
	tw := print.NewTable(w, 3, 0)
	row := func(what string, v service.RiskValue) {
		d := digitsFor(v.Bounds)
		certified := fmt.Sprintf("%s … %s", rounded(v.Lower, d, down), rounded(v.Upper, d, up))
		if v.Lower == v.Upper {
			certified = short(v.Upper)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", what, certified, v.WorstDirection)
	}
	fmt.Fprintf(tw, "  the best attacker's\t%s\tworst direction\n", titleOf(risk.Advantage.Bounds))
	row("advantage", risk.Advantage)
	for _, v := range risk.TruePositive {
		row("true-positive rate at "+percent(float64(v.FalsePositive))+" false positives", v.RiskValue)
	}
	for _, v := range risk.Bayes {
		row("probability to guess right with prior "+percent(float64(v.Prior)), v.RiskValue)
	}
	tw.Flush()
	if risk.TheoryGap {
		fmt.Fprint(w, gapNote)
	}
	fmt.Fprintln(w, "\nWithout the release: advantage 0, true-positive rate = false-positive rate, and\nright as often as the likelier data set comes up. The best attacker can always guess\nthat way, so that no end is below.")
}

// percent writes a probability the way people say it.
func percent(p float64) string {
	if p < 1e-4 {
		return short(p)
	}
	return rounded(100*p, 6, near) + " %"
}
