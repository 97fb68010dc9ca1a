package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
)

func newCalibrateCmd() *cobra.Command {
	var flags answerFlags
	var recursion recursionFlag
	var epsilon, delta, solve, step, examples string
	cmd := &cobra.Command{
		Use:   "calibrate --epsilon ε --delta δ --solve QUANTITY plan.yaml",
		Short: "Find the noise, count, rate or batch that meets a budget",
		Long: `calibrate turns one quantity of a plan until the plan meets a budget, and prints
the smallest noise multiplier, or the largest count, rate or batch, for which
the upper end of the certified interval is within the budget; and next to it
the value 1e-6 away (1 for whole numbers) that is not.

The value in the plan is where the search starts. Without --step all steps that
have the quantity are turned: noise multipliers and rates by a common factor,
batches to the same size, and the count is that of the whole plan.`,
		Example: `  accountant calibrate --epsilon 2 --delta 1e-5 --solve noise-multiplier examples/dpsgd.yaml
  accountant calibrate --epsilon 3 --delta 1e-5 --solve count --step months examples/mixed.yaml
  accountant calibrate --epsilon 2 --delta 1e-5 --solve batch --examples 60000 examples/dpsgd.yaml`,
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			goal := accountant.Goal{Step: step}
			var err error
			if goal.Epsilon, err = parseNumber("epsilon", epsilon, epsilonRange); err != nil {
				return err
			}
			if goal.Delta, err = parseNumber("delta", delta, deltaRange); err != nil {
				return err
			}
			if goal.Solve, err = accountant.ParseQuantity(solve); err != nil {
				return fmt.Errorf("--%w", err)
			}
			if examples != "" {
				if goal.Examples, err = parseWhole("examples", examples, decimal.MaxWhole); err != nil {
					return err
				}
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if opts, err = recursion.add(opts); err != nil {
				return err
			}
			plan, err := readPlan(cmd, args[0])
			if err != nil {
				return err
			}
			c, err := measured(cmd, "calibrating", func(m *meter) (*accountant.Calibration, error) {
				return accountant.Calibrate(cmd.Context(), plan, goal, append(opts, accountant.WithProgress(m.at))...)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], flagged(cmd, err))
			}
			warn(cmd.ErrOrStderr(), probeAnswers(c, goal)[:1])
			return flags.print(cmd.OutOrStdout(), calibrationJSON(c, goal, plan.Neighbors.String()), func(w io.Writer) error {
				fmt.Fprintf(w, "neighbors: %v\nbudget: ε ≤ %s at δ = %s\n\n", plan.Neighbors, short(goal.Epsilon), short(goal.Delta))
				if err := printCalibration(w, c, goal, flags.verbose); err != nil {
					return err
				}
				if c.Meets.Gap != nil && recursion.runs == "0" && hasRecursion(plan.Neighbors, plan.Steps) {
					fmt.Fprint(w, "--recursion 2000 narrows the gap, and so can find a better value; it takes a minute\nor more where a step runs 1000 times.\n")
				}
				return nil
			})
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&epsilon, "epsilon", "", "the budget's `ε` (required)")
	fs.StringVar(&delta, "delta", "", "the budget's `δ` (required)")
	addChoice(cmd, &solve, "solve", "`quantity` to turn: noise-multiplier, count, rate or batch (required)", "noise-multiplier", "count", "rate", "batch")
	fs.StringVar(&step, "step", "", "`name` of the step or group to turn, or its place such as steps[0]; all steps if left out")
	fs.StringVar(&examples, "examples", "", "number `N` of examples, to turn the batch of Poisson sampling")
	for _, name := range []string{"epsilon", "delta", "solve"} {
		_ = cmd.MarkFlagRequired(name)
	}
	flags.register(cmd)
	recursion.register(cmd, "0", "takes a minute or more for 1000")
	fs.Lookup("accuracy").Usage = "relative `width` of the intervals that decide (default 5e-7, or what can be had)"
	return cmd
}

// hasRecursion reports whether the recursion over data configurations knows a
// step of the plan.
func hasRecursion(r profiles.Relation, steps []accountant.Step) bool {
	return r == profiles.Substitute && slices.ContainsFunc(steps, func(s accountant.Step) bool {
		switch {
		case s.Selection != nil:
			return false
		case s.Mechanism == nil:
			return hasRecursion(r, s.Steps)
		case s.Sampling == nil:
			return false
		}
		scheme := s.Sampling.Name()
		return s.Mechanism.Name() == "gaussian" && (scheme == "without-replacement" || scheme == "with-replacement" || scheme == "must-wo")
	})
}

// probeAnswers returns the intervals at the value that meets the budget and at
// the one that does not, if there is one.
func probeAnswers(c *accountant.Calibration, g accountant.Goal) []answer {
	at := answer{asked: "δ", told: "ε", at: g.Delta}
	if c.Asked == "delta" {
		at = answer{asked: "ε", told: "δ", at: g.Epsilon}
	}
	out := []answer{at}
	out[0].Interval = c.Meets.Interval
	if c.Fails != nil {
		out = append(out, at)
		out[1].Interval = c.Fails.Interval
	}
	if c.Asked == "epsilon" {
		for i := range out {
			out[i].Interval = fromZero(out[i].Interval)
		}
	}
	return out
}

// printCalibration prints the value with its bracket.
func printCalibration(w io.Writer, c *accountant.Calibration, g accountant.Goal, verbose bool) error {
	what := g.Solve.String()
	if c.Factor {
		what = "common factor on " + what
	}
	fmt.Fprintf(w, "%s: %s\n", what, short(c.Value))
	if c.Unlimited {
		fmt.Fprintf(w, "\nThe least private value allowed meets the budget: nothing limits it.\n")
	}
	answers := probeAnswers(c, g)
	for i, p := range []*accountant.Probe{&c.Meets, c.Fails} {
		if p == nil {
			continue
		}
		verdict := []string{"meets the budget", "does not"}[i]
		below := digitsFor(p.Interval)
		above := below
		if p.Gap != nil { // the verdict is on the upper end, which is known better
			above = digitsFor(accountant.Interval{Lower: p.Gap.Proved.Lower, Upper: p.Gap.Proved.Upper})
		}
		fmt.Fprintf(w, "  %-14s %s ≤ %s ≤ %s   %s\n", short(p.Value), rounded(p.Lower, below, down), answers[0].told, rounded(p.Upper, above, up), verdict)
	}
	switch {
	case c.Meets.Gap != nil:
		fmt.Fprint(w, gapNote, "The budget is compared with the upper end.\n")
	case c.Fails != nil && !c.FailsProved(g):
		fmt.Fprintf(w, "\nThe interval of the second reaches below the budget: that it fails is not proved.\nWhat its width is worth, the first may be too careful.\n")
	}
	if c.Factor || len(c.Settings) > 1 {
		fmt.Fprintln(w)
		for _, s := range c.Settings {
			label := s.Path
			if s.Name != "" {
				label += " (" + oneLine(s.Name) + ")"
			}
			fmt.Fprintf(w, "  %s: %v %s\n", label, g.Solve, short(s.Value))
		}
	}
	if verbose {
		fmt.Fprintf(w, "\n%d evaluations; the last at an accuracy of %s\n", c.Evaluations, short(c.Accuracy))
	}
	return nil
}

// The JSON of a calibration. The order of the keys is part of the interface.
type (
	solutionJSON struct {
		Neighbors   string        `json:"neighbors"`
		Budget      budgetOfJSON  `json:"budget"`
		Solve       string        `json:"solve"`
		Value       number        `json:"value"`
		Factor      bool          `json:"common-factor"`
		Unlimited   bool          `json:"unlimited"`
		Meets       probeJSON     `json:"meets"`
		Fails       *probeJSON    `json:"fails"`
		FailsProved bool          `json:"fails-proved"`
		TheoryGap   bool          `json:"theory-gap,omitempty"`
		Steps       []settingJSON `json:"steps"`
		Accuracy    number        `json:"accuracy"`
		Evaluations int           `json:"evaluations"`
		Warnings    []string      `json:"warnings,omitempty"`
	}
	budgetOfJSON struct {
		Epsilon number `json:"epsilon"`
		Delta   number `json:"delta"`
	}
	probeJSON struct {
		Value   number      `json:"value"`
		Epsilon *boundsJSON `json:"epsilon,omitempty"`
		Delta   *boundsJSON `json:"delta,omitempty"`
	}
	settingJSON struct {
		Path  string `json:"path"`
		Name  string `json:"name,omitempty"`
		Value number `json:"value"`
	}
)

func calibrationJSON(c *accountant.Calibration, g accountant.Goal, neighbors string) solutionJSON {
	probe := func(p accountant.Probe) probeJSON {
		b := &boundsJSON{number(p.Lower), number(p.Estimate), number(p.Upper)}
		if c.Asked == "delta" {
			return probeJSON{number(p.Value), nil, b}
		}
		return probeJSON{number(p.Value), b, nil}
	}
	out := solutionJSON{Neighbors: neighbors, Budget: budgetOfJSON{number(g.Epsilon), number(g.Delta)}, Solve: g.Solve.String(),
		Value: number(c.Value), Factor: c.Factor, Unlimited: c.Unlimited, Meets: probe(c.Meets), FailsProved: c.FailsProved(g), TheoryGap: c.Meets.Gap != nil,
		Accuracy: number(c.Accuracy), Evaluations: c.Evaluations, Warnings: c.Meets.Warnings}
	if c.Fails != nil {
		f := probe(*c.Fails)
		out.Fails = &f
	}
	for _, s := range c.Settings {
		out.Steps = append(out.Steps, settingJSON{s.Path, s.Name, number(s.Value)})
	}
	return out
}
