package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// An answer is an interval for ε at a δ, or for δ at an ε.
type answer struct {
	asked, told string // "δ" and "ε", or "ε" and "δ"
	at          float64
	accountant.Interval
}

func askEpsilon(ctx context.Context, acct *accountant.Accountant, deltas []float64) ([]answer, error) {
	points, err := acct.EpsilonCurve(ctx, deltas)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(points))
	for i, p := range points {
		answers[i] = answer{"δ", "ε", p.At, fromZero(p.Interval)}
	}
	return answers, nil
}

// fromZero returns an interval of ε without what is below 0. Differential privacy
// is defined for ε from 0 on; the accountant goes on below, where δ alone is more
// than the plan needs.
func fromZero(iv accountant.Interval) accountant.Interval {
	if iv.Upper < 0 {
		iv.Warnings = append(slices.Clone(iv.Warnings), fmt.Sprintf("ε is reported as 0: the plan is (0, δ)-differentially private with less than this δ (the same sum puts ε at %s)", rounded(iv.Upper, 4, up)))
	}
	iv.Lower, iv.Estimate, iv.Upper = max(0, iv.Lower), max(0, iv.Estimate), max(0, iv.Upper)
	return iv
}

func askDelta(ctx context.Context, acct *accountant.Accountant, epsilons []float64) ([]answer, error) {
	points, err := acct.DeltaCurve(ctx, epsilons)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(points))
	for i, p := range points {
		answers[i] = answer{"ε", "δ", p.At, p.Interval}
	}
	return answers, nil
}

// The JSON of the answers. The order of the keys is part of the interface.
type (
	answersJSON struct {
		Neighbors string `json:"neighbors"`
		Results   []any  `json:"results"`
	}
	epsilonJSON struct {
		Delta   number     `json:"delta"`
		Epsilon boundsJSON `json:"epsilon"`
		restJSON
	}
	deltaJSON struct {
		Epsilon number     `json:"epsilon"`
		Delta   boundsJSON `json:"delta"`
		restJSON
	}
	boundsJSON struct {
		Lower    number `json:"lower"`
		Estimate number `json:"estimate"`
		Upper    number `json:"upper"`
	}
	restJSON struct {
		WorstDirection string     `json:"worst-direction"`
		Engine         string     `json:"engine"`
		ErrorBudget    budgetJSON `json:"error-budget"`
		TheoryGap      bool       `json:"theory-gap,omitempty"`
		Pairs          *pairsJSON `json:"pairs,omitempty"`
		Warnings       []string   `json:"warnings,omitempty"`
	}
	// pairsJSON holds the numerical intervals of the two pairs of distributions
	// between which theory leaves a gap.
	pairsJSON struct {
		Proved boundsJSON `json:"proved"`
		Attack boundsJSON `json:"attack"`
	}
	budgetJSON struct {
		Discretization number `json:"discretization"`
		Quadrature     number `json:"quadrature"`
		Truncation     number `json:"truncation"`
		Aliasing       number `json:"aliasing"`
		RoundOff       number `json:"round-off"`
		TheoryGap      number `json:"theory-gap"`
	}
)

func resultsJSON(answers []answer) []any {
	results := make([]any, len(answers))
	for i, a := range answers {
		bounds := boundsJSON{number(a.Lower), number(a.Estimate), number(a.Upper)}
		b := a.Budget
		rest := restJSON{a.Direction, string(a.Engine), budgetJSON{number(b.Discretization), number(b.Quadrature), number(b.Truncation), number(b.Aliasing),
			number(b.RoundOff), number(b.TheoryGap)}, a.Gap != nil, nil, a.Warnings}
		if g := a.Gap; g != nil {
			rest.Pairs = &pairsJSON{
				Proved: boundsJSON{number(g.Proved.Lower), number(g.Proved.Estimate), number(g.Proved.Upper)},
				Attack: boundsJSON{number(g.Attack.Lower), number(g.Attack.Estimate), number(g.Attack.Upper)},
			}
		}
		if a.told == "ε" {
			results[i] = epsilonJSON{number(a.at), bounds, rest}
		} else {
			results[i] = deltaJSON{number(a.at), bounds, rest}
		}
	}
	return results
}

func printAnswers(cmd *cobra.Command, r profiles.Relation, answers []answer, flags answerFlags) error {
	warn(cmd.ErrOrStderr(), answers)
	return flags.print(cmd.OutOrStdout(), answersJSON{r.String(), resultsJSON(answers)}, func(w io.Writer) error {
		fmt.Fprintf(w, "neighbors: %v\n\n", r)
		return printTable(w, answers, flags.verbose)
	})
}

// warn prints the warnings of all answers.
func warn(w io.Writer, answers []answer) {
	for _, a := range answers {
		for _, text := range a.Warnings {
			fmt.Fprintf(w, "%sat %s = %s: %s\n", warning(w), a.asked, short(a.at), oneLine(text))
		}
	}
}

// gapNote says what the ends of an interval mean where theory leaves a gap.
const gapNote = `
The upper end is proved; the lower end is what known attacks reach, and a step
without one counts as nothing there. Theory leaves a gap between the two that no
computation closes.
`

// printTable prints one line for each answer, and what each width is made of.
func printTable(w io.Writer, answers []answer, verbose bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	gap := false
	for i, a := range answers {
		if i == 0 {
			fmt.Fprintf(tw, "  %s\tcertified\testimate\tworst direction\n", a.asked)
		}
		d := digitsFor(a.Interval)
		certified := fmt.Sprintf("%s ≤ %s ≤ %s", rounded(a.Lower, d, down), a.told, rounded(a.Upper, d, up))
		if a.Lower == a.Upper && (a.Lower == 0 || math.IsInf(a.Lower, 0)) {
			certified = a.told + " = " + short(a.Lower)
		}
		estimate := rounded(a.Estimate, d+1, near)
		if a.Loose {
			estimate = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", short(a.at), certified, estimate, a.Direction)
		gap = gap || a.Gap != nil
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if gap {
		fmt.Fprint(w, gapNote)
	}
	if !verbose {
		return nil
	}
	for _, a := range answers {
		b := a.Budget
		fmt.Fprintf(w, "\nwidth of the interval at %s = %s: %s (engine: %s)\n", a.asked, short(a.at), rounded(a.Upper-a.Lower, 3, up), a.Engine)
		for _, part := range []struct {
			name string
			x    float64
		}{
			{"discretization", b.Discretization}, {"quadrature", b.Quadrature}, {"truncation", b.Truncation}, {"aliasing", b.Aliasing},
			{"round-off", b.RoundOff}, {"theory gap", b.TheoryGap},
		} {
			fmt.Fprintf(w, "  %-15s %s\n", part.name, rounded(part.x, 3, up))
		}
	}
	return nil
}
