package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newCalibrateCmd() *cobra.Command {
	var flags answerFlags
	var q service.CalibrateRequest
	write := ""
	cmd := &cobra.Command{
		Use:  "calibrate",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			a, err := askPlan(cmd, "calibrating", (*service.Service).Calibrate, &q, &q.Plan, args[0])
			if err != nil {
				return err
			}
			if write != "" {
				if err := writeCalibrated(write, q, a); err != nil {
					return err
				}
			}
			c := comparedWith(a)
			warn(cmd.ErrOrStderr(), []answer{{asked: c.asked, told: c.told, at: c.at, Basis: service.Basis{Warnings: a.Notes}}})
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) {
				fmt.Fprintf(w, "neighbors: %s\nbudget: %s\n\n", ofUnit(a.Neighbors, a.RecordsPerPerson), c.budget)
				printCalibration(w, a, flags.verbose)
				if a.TheoryGap && q.Recursion == "0" && a.CanNarrow {
					fmt.Fprint(w, "--recursion 2000 narrows the gap, and so can find a better value; it takes a minute\nor more where a step runs 1000 times.\n")
				}
			})
		},
	}
	fs := cmd.Flags()
	number(fs, &q.Epsilon, "epsilon", "", "the budget's `ε`")
	number(fs, &q.Delta, "delta", "", "the budget's `δ`")
	addAttackTarget(fs, &q.AttackTarget, "--epsilon and --delta")
	addChoice(cmd, &q.Solve, "solve", "`quantity` to turn: noise-multiplier, count, rate, batch or records-per-person (required)", "noise-multiplier", "count", "rate", "batch", "records-per-person")
	fs.StringVar(&q.Step, "step", "", "`name` of the step or group to turn, or its place such as steps[0]; all steps if left out")
	number(fs, &q.Examples, "examples", "", "number `N` of examples, to turn the batch of Poisson sampling")
	fs.StringVar(&write, "write", "", "write the plan with the value that was found to this `file`; it may be the plan itself")
	_ = cmd.MarkFlagFilename("write", "yaml", "yml", "json")
	required(cmd, "solve")
	flags.register(cmd)
	addRecursion(cmd, &q.Recursion, "0", "takes a minute or more for 1000")
	fs.Lookup("accuracy").Usage = "relative `width` of the intervals that decide (default 5e-7, or what can be had)"
	return cmd
}

// writeCalibrated writes the plan of a request with the values that meet its budget.
func writeCalibrated(path string, q service.CalibrateRequest, a service.Solution) error {
	text, err := a.Write(q)
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	return writeFileAtomic(path, text)
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
		return compared{"ε", "advantage", 0, "advantage ≤ " + short(*a.Attack.Advantage)}
	case a.Attack != nil:
		return compared{"false-positive rate", "true-positive rate", *a.Attack.FalsePositive,
			fmt.Sprintf("true-positive rate ≤ %s at a false-positive rate of %s", short(*a.Attack.TruePositive), short(*a.Attack.FalsePositive))}
	}
	budget := fmt.Sprintf("ε ≤ %s at δ = %s", short(a.Budget.Epsilon), short(a.Budget.Delta))
	if a.Meets.Delta != nil {
		return compared{"ε", "δ", a.Budget.Epsilon, budget}
	}
	return compared{"δ", "ε", a.Budget.Delta, budget}
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
	t := newTable(w, 3, 0).headless()
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
		f := newFacts(w, 0)
		for _, s := range a.Steps {
			label := s.Path
			if s.Name != "" {
				label += " (" + oneLine(s.Name) + ")"
			}
			f.add("  "+label+": ", "%s %s", a.Solve, short(s.Value))
		}
		f.Flush()
	}
	if verbose {
		fmt.Fprintf(w, "\n%d evaluations; the last at an accuracy of %s\n", a.Evaluations, short(a.Accuracy))
	}
}
