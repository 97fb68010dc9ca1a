package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/plan"
)

// This file has the commands that check, tidy, describe and compare the text of plans.

func newPlanCheckCmd() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use: "check",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("missing the plan file (- reads standard input)")
			}
			return nil
		},
		ValidArgsFunction: completePlans(0, maxArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			type row struct {
				Plan string `json:"plan"`
				service.PlanSummary
			}
			list := struct {
				Plans []row `json:"plans"`
			}{Plans: []row{}}
			var wrong error
			for _, path := range args {
				var q service.PlanCheckRequest
				data, name, err := readInput(cmd, path)
				if err == nil {
					q.Plan = data
					var a service.PlanSummary
					if a, err = service.New(nil).PlanCheck(cmd.Context(), q); err == nil {
						list.Plans = append(list.Plans, row{name, a})
						continue
					}
					err = planProblem(name, path, err)
				}
				wrong = errors.Join(wrong, err)
			}
			if wrong != nil {
				return wrong
			}
			return out.print(cmd.OutOrStdout(), list, func(w io.Writer) error {
				t := newTable(w, 3, 0)
				fmt.Fprint(t, "plan\tneighbors\tsteps\truns\n")
				for _, r := range list.Plans {
					fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", r.Plan, ofUnit(r.Neighbors, r.RecordsPerPerson), r.Steps, r.Runs)
				}
				return t.Flush()
			})
		},
	}
	out.register(cmd)
	return cmd
}

// maxArgs is more arguments than a command line has.
const maxArgs = 1 << 20

func newPlanFmtCmd() *cobra.Command {
	write := false
	cmd := &cobra.Command{
		Use:  "fmt",
		Args: planArg, ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if write && args[0] == "-" {
				return usageError{errors.New("--write needs a file")}
			}
			data, name, err := readInput(cmd, args[0])
			if err != nil {
				return err
			}
			text, err := plan.Tidy(data)
			if err != nil {
				return planProblem(name, args[0], err)
			}
			if write {
				return writeFileAtomic(args[0], text)
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "write the file itself instead of standard output")
	return cmd
}

func newPlanSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:  "schema",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := cmd.OutOrStdout().Write(plan.Schema())
			return err
		},
	}
}

func newDiffCmd() *cobra.Command {
	var flags answerFlags
	var q service.DiffRequest
	cmd := &cobra.Command{
		Use:  "diff",
		Args: ledgerArgs("old plan (- reads standard input)", "new plan"), ValidArgsFunction: completePlans(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Limits = flags.Limits
			if err := q.Check(); err != nil {
				return flagged(cmd, err)
			}
			if args[0] == "-" && args[1] == "-" {
				return usageError{errors.New("both plans are standard input")}
			}
			for i, to := range []*service.PlanText{&q.Old, &q.New} {
				data, name, err := readInput(cmd, args[i])
				if err != nil {
					return err
				}
				if err := service.CheckPlan(data); err != nil {
					return planProblem(name, args[i], err)
				}
				*to = data
			}
			a, err := ask(cmd, "computing", (*service.Service).Diff, q)
			if err != nil {
				return err
			}
			answers := epsilonAnswers([]service.EpsilonAt{a.Old, a.New})
			warn(cmd.ErrOrStderr(), answers)
			return flags.print(cmd.OutOrStdout(), a, func(w io.Writer) error { return printDiff(w, a) })
		},
	}
	number(cmd.Flags(), &q.Delta, "delta", "", "`δ` of both plans (required)")
	_ = cmd.MarkFlagRequired("delta")
	flags.registerPlain(cmd)
	return cmd
}

func printDiff(w io.Writer, a service.Difference) error {
	if len(a.Changes) == 0 {
		_, err := fmt.Fprintf(w, "no difference\nε in [%s, %s] at δ = %s\n", rounded(a.Old.Epsilon.Lower, 6, down), rounded(a.Old.Epsilon.Upper, 6, up), short(a.Delta))
		return err
	}
	t := newTable(w, 3, 0)
	fmt.Fprint(t, "  changed\told\tnew\n")
	for _, c := range a.Changes {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", c.Path, orNothing(c.Old), orNothing(c.New))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	t = newTable(w, 3, 0)
	fmt.Fprintf(t, "  at δ = %s\t%s\n", short(a.Delta), titleOf(a.Old.Epsilon, a.New.Epsilon))
	row := func(name string, b service.Bounds) {
		d := digitsFor(b)
		fmt.Fprintf(t, "  %s\t%s … %s\n", name, rounded(b.Lower, d, down), rounded(b.Upper, d, up))
	}
	row("ε of the old plan", a.Old.Epsilon)
	row("ε of the new plan", a.New.Epsilon)
	if a.More != nil {
		row("new minus old", *a.More)
	}
	return t.Flush()
}

// orNothing is a value, or a dash where there is none.
func orNothing(text string) string {
	if text == "" {
		return "–"
	}
	return printable(text)
}
