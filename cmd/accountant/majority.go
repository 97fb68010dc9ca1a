package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

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
		f.Add("answers", "%d cost %s, %s", a.Answers, ends(*a.EpsilonLower, *a.EpsilonUpper, 5, " ≤ ε ≤ "), how)
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
			b.X, b.Proved = append(b.X, float64(l)), append(b.Proved, v)
		}
		pic.Bands = append(pic.Bands, b)
	}
	return pic
}
