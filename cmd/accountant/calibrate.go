package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
)

func newCalibrateCmd() *cobra.Command {
	return question{name: "calibrate", what: "calibrating", verbose: true, recursion: "0", text: printing(printSolution), extra: func(a *asking) {
		q := a.request.(*service.CalibrateRequest)
		inPlaceOf(a.cmd, "--epsilon and --delta")
		reword(a.cmd, "recursion", "seconds", "a minute or more")
		a.cmd.Flags().Lookup("accuracy").Usage = "relative `width` of the intervals that decide (default 5e-7, or what can be had)"
		write := fileFlag(a.cmd, "write", "write the plan with the value that was found to this `file`; it may be the plan itself", planEndings...)
		a.wrote = func(answer any) (any, error) {
			if *write == "" {
				return answer, nil
			}
			all := answer.(service.Answers[service.Solution]).Results
			if len(all) > 1 {
				return nil, fault.New("--write", "writes one plan, and there are %d answers", len(all))
			}
			text, err := all[0].Write(*q)
			if err != nil {
				return nil, fmt.Errorf("--write: %w", err)
			}
			return answer, writeFileAtomic(*write, text)
		}
	}}.command()
}

// printSolution prints what meets a budget.
func printSolution(w io.Writer, x service.Solution, a *asking) {
	fmt.Fprintf(w, "neighbors: %s\nbudget: %s\n\n", x.Unit.Text(), comparedWith(x).budget)
	printCalibration(w, x, a.detail)
	if x.TheoryGap && x.CanNarrow && a.request.(*service.CalibrateRequest).Recursion == "0" {
		fmt.Fprint(w, "--recursion 2000 narrows the gap, and so can find a better value; it takes a minute\nor more where a step runs 1000 times.\n")
	}
}

// A compared is what a calibration compares with its budget.
type compared struct {
	asked, told string // as of an answer
	at          service.Number
	budget      string
}

// comparedWith returns what is compared with the budget, and the budget in words.
func comparedWith(a service.Solution) compared {
	switch {
	case a.Attack != nil && a.Attack.Advantage != nil:
		return compared{asked: "ε", told: "advantage", at: 0, budget: "advantage ≤ " + short(*a.Attack.Advantage)}
	case a.Attack != nil:
		return compared{asked: "false-positive rate", told: "true-positive rate", at: *a.Attack.FalsePositive,
			budget: fmt.Sprintf("true-positive rate ≤ %s at a false-positive rate of %s", short(*a.Attack.TruePositive), short(*a.Attack.FalsePositive))}
	}
	budget := fmt.Sprintf("ε ≤ %s at δ = %s", short(a.Budget.Epsilon), short(a.Budget.Delta))
	if a.Meets.Delta != nil {
		return compared{asked: "ε", told: "δ", at: a.Budget.Epsilon, budget: budget}
	}
	return compared{asked: "δ", told: "ε", at: a.Budget.Delta, budget: budget}
}

// certified is what is certified at a probe.
func certified(p service.Probe) service.Bounds {
	return *cmp.Or(p.Epsilon, p.Delta, p.TruePositive)
}

// printCalibration prints the value with its bracket.
func printCalibration(w io.Writer, a service.Solution, verbose bool) {
	what := a.Solve
	if a.Factor {
		what = "common factor on " + what
	}
	fmt.Fprintf(w, "%s: %s\n", what, short(a.Value))
	if a.Unlimited {
		fmt.Fprintf(w, "\nThe least private value allowed meets the budget: nothing limits it.\n")
	}
	t := print.NewTable(w, 3, 0).Headless()
	all := []service.Bounds{certified(a.Meets)}
	if a.Fails != nil {
		all = append(all, certified(*a.Fails))
	}
	fmt.Fprintf(t, "  %s\t%s\tbudget\n", what, titleOf(all...))
	for i, p := range []*service.Probe{&a.Meets, a.Fails} {
		if p == nil {
			continue
		}
		b := certified(*p)
		verdict := []string{"meets the budget", "does not"}[i]
		below := digitsFor(b)
		above := below
		if p.Proved != nil { // the verdict is on the upper end, which is known better
			above = digitsFor(*p.Proved)
		}
		fmt.Fprintf(t, "  %s\t%s ≤ %s ≤ %s\t%s\n", short(p.Value), rounded(b.Lower, below, down), comparedWith(a).told, rounded(b.Upper, above, up), verdict)
	}
	t.Flush()
	switch {
	case a.TheoryGap:
		fmt.Fprint(w, gapNote, "The budget is compared with the upper end.\n")
	case a.Fails != nil && !a.FailsProved && !a.Early:
		fmt.Fprintf(w, "\nThe interval of the second reaches below the budget: that it fails is not proved.\nWhat its width is worth, the first may be too careful.\n")
	}
	if a.Factor || len(a.Steps) > 1 {
		fmt.Fprintln(w)
		f := print.NewFacts(w, 0)
		for _, s := range a.Steps {
			label := s.Path
			if s.Name != "" {
				label += " (" + oneLine(s.Name) + ")"
			}
			f.Add("  "+label+": ", "%s %s", cmp.Or(s.Quantity, a.Solve), short(s.Value))
		}
		f.Flush()
	}
	if verbose {
		fmt.Fprintf(w, "\n%d evaluations; the last at an accuracy of %s\n", a.Evaluations, short(a.Accuracy))
	}
}
