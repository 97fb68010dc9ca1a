package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/plan"
)

// This file has the commands about the text of a plan, which ask for no privacy.

func newPlanCmd() *cobra.Command {
	return group("plan", newPlanInitCmd(), newPlanCheckCmd(), newPlanFmtCmd(),
		&cobra.Command{Use: "schema", Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(plan.Schema())
			return err
		}},
		question{name: "convert", op: "plan-convert", what: "converting", text: printing(func(w io.Writer, x service.ConvertAnswer, _ *asking) { io.WriteString(w, x.Text) })}.command())
}

// What follows has the commands that check, tidy, describe and compare the text of plans.

// A checkedPlan is a plan that can be read, by the name of its file.
type checkedPlan struct {
	Plan string `json:"plan"`
	service.PlanSummary
}

// checkedPlans is the JSON of plan check.
type checkedPlans struct {
	Plans []checkedPlan `json:"plans"`
}

func newPlanCheckCmd() *cobra.Command {
	return question{name: "check", request: new(struct{}), what: "reading", text: printing(printPlans), extra: func(a *asking) {
		a.cmd.ValidArgsFunction = completePlans(0, maxArgs)
		a.cmd.Args = func(cmd *cobra.Command, args []string) error {
			return planArg(cmd, args[:min(len(args), 1)])
		}
		a.compute = func(ctx context.Context, s *service.Service, _ *meter) (any, error) {
			list := checkedPlans{Plans: []checkedPlan{}}
			var wrong error
			for _, path := range a.args {
				data, name, err := readInput(a.cmd, path)
				if err == nil {
					var x service.PlanSummary
					x, err = service.Ask[service.PlanSummary](ctx, s, service.PlanCheckRequest{Plan: data})
					list.Plans, err = append(list.Plans, checkedPlan{name, x}), planProblem(name, err)
				}
				wrong = errors.Join(wrong, err)
			}
			return list, wrong
		}
	}}.command()
}

func printPlans(w io.Writer, list checkedPlans, _ *asking) {
	t := print.NewTable(w, 3, 0)
	fmt.Fprint(t, "plan\tneighbors\tsteps\truns\n")
	for _, r := range list.Plans {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", r.Plan, r.Unit.Text(), r.Steps, r.Runs)
	}
	t.Flush()
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
				return planProblem(name, err)
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

func printDiff(w io.Writer, a service.Difference, _ *asking) {
	if len(a.Changes) == 0 {
		fmt.Fprintf(w, "no difference\nε in [%s] at δ = %s\n", ends(a.Old.Epsilon.Lower, a.Old.Epsilon.Upper, 6, ", "), short(a.Delta))
		return
	}
	t := print.NewTable(w, 3, 0)
	fmt.Fprint(t, "  changed\told\tnew\n")
	for _, c := range a.Changes {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", c.Path, orNothing(c.Old), orNothing(c.New))
	}
	t.Flush()
	fmt.Fprintln(w)
	t = print.NewTable(w, 3, 0)
	fmt.Fprintf(t, "  at δ = %s\t%s\n", short(a.Delta), titleOf(a.Old.Epsilon, a.New.Epsilon))
	fmt.Fprintf(t, "  ε of the old plan\t%s\n  ε of the new plan\t%s\n", tabled(w, a.Old.Epsilon.Lower, a.Old.Epsilon.Upper, 0, " … "), tabled(w, a.New.Epsilon.Lower, a.New.Epsilon.Upper, 0, " … "))
	if a.More != nil {
		fmt.Fprintf(t, "  new minus old\t%s\n", tabled(w, a.More.Lower, a.More.Upper, 0, " … "))
	}
	t.Flush()
}

// orNothing is a value, or a dash where there is none.
func orNothing(text string) string {
	if text == "" {
		return "–"
	}
	return printable(text)
}

// What follows makes a first plan by asking a few questions. What comes out is an ordinary
// plan, with what was answered written as it was answered.

func newPlanInitCmd() *cobra.Command {
	return &cobra.Command{
		Use:  "init",
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: completePlans(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := writable(args[0], true); err != nil {
					return err
				}
			}
			in := &interview{in: bufio.NewReader(cmd.InOrStdin()), out: cmd.ErrOrStderr()}
			text := in.plan()
			if in.err != nil {
				return in.err
			}
			if _, err := plan.Parse(cmd.Context(), []byte(text)); err != nil {
				return fmt.Errorf("the answers make no plan: %w", err)
			}
			if len(args) == 1 {
				if err := writeDraft(args[0], true, func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				}); err != nil {
					return err
				}
				fmt.Fprintf(in.out, "wrote %s; next: accountant epsilon --delta 1e-5 %[1]s\n", printable(args[0]))
				return nil
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
}

// An interview asks questions and takes answers. After an error it asks nothing more, and
// all its answers are presets.
type interview struct {
	in  *bufio.Reader
	out io.Writer
	err error
}

// attempts is how often a question is asked.
const attempts = 3

// ask returns the answer to a question, one that check has nothing against.
func (i *interview) ask(question, preset string, check func(string) error) string {
	for n := 0; n < attempts && i.err == nil; n++ {
		fmt.Fprintf(i.out, "%s [%s]: ", question, preset)
		line, err := i.in.ReadString('\n')
		line = strings.TrimSpace(line)
		if err != nil && line == "" {
			i.err = fmt.Errorf("standard input ended before the question %q was answered", question)
			break
		}
		if line == "" {
			line = preset
		}
		if err := check(line); err != nil {
			fmt.Fprintf(i.out, "  %s %v\n", show(line), err)
			continue
		}
		return line
	}
	if i.err == nil {
		i.err = fmt.Errorf("no answer to %q after %d attempts", question, attempts)
	}
	return preset
}

// choose asks for one of some words.
func (i *interview) choose(question string, words ...string) string {
	return i.ask(fmt.Sprintf("%s (%s)", question, strings.Join(words, ", ")), words[0], func(s string) error {
		if !slices.Contains(words, s) {
			return errors.New("is not one of them; " + nearest.Hint(s, words))
		}
		return nil
	})
}

// number asks for a number above 0, which read reads.
func number[N int64 | float64](i *interview, read func(string) (N, error), question, preset string) string {
	return i.ask(question, preset, func(s string) error {
		x, err := read(s)
		if err == nil && !(x > 0) {
			err = errors.New("is not above 0")
		}
		return err
	})
}

// plan asks what a plan needs and returns its text.
func (i *interview) plan() string {
	if i.choose("What runs?", "training", "statistics") == "training" {
		return i.training()
	}
	return i.statistics()
}

// training returns a plan for DP-SGD.
func (i *interview) training() string {
	examples, batch := number(i, decimal.Whole, "How many training examples?", "60000"), number(i, decimal.Whole, "Examples in a batch, on average?", "256")
	epochs := number(i, decimal.Parse, "Epochs?", "60")
	sampling := i.choose("How are batches drawn? Each example tosses a coin at each step; draws a step of each epoch;\nor the data set is shuffled and cut", "poisson", "random-allocation", "shuffle")
	noise := number(i, decimal.Parse, "Noise multiplier (standard deviation of the noise over the clipping norm)?", "1.1")
	neighbors := "add-remove"
	if sampling == "shuffle" {
		neighbors = "zero-out" // there is no statement under add-remove
	}
	each, count := "batches", fmt.Sprintf("ceil(%s) # epochs", epochs)
	scheme := fmt.Sprintf("ceil(%s/%s)", examples, batch)
	switch sampling {
	case "poisson":
		each, scheme, count = "rate", batch+"/"+examples, fmt.Sprintf("ceil(%s/%s*%s)", examples, batch, epochs)
	case "random-allocation":
		each = "steps"
	}
	return fmt.Sprintf("# DP-SGD: %s examples, batches of %s, %s epochs.\nneighbors: %s\nsteps:\n  - name: training\n", examples, batch, epochs, neighbors) +
		fmt.Sprintf("    mechanism: {gaussian: {noise-multiplier: %s}} # over the clipping norm\n", noise) +
		fmt.Sprintf("    sampling: {%s: {%s: %s}}\n    count: %s\n", sampling, each, scheme, count)
}

// statistics returns a plan for numbers that are released with noise.
func (i *interview) statistics() string {
	neighbors := i.choose("What is protected? One record more or less, or another value of a record", "add-remove", "substitute")
	kind := i.choose("Which noise?", "gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
	noise := number(i, decimal.Parse, "Noise multiplier (its scale over what one record can change)?", "20")
	count := number(i, decimal.Whole, "How many releases?", "1")
	return fmt.Sprintf("# Statistics with noise.\nneighbors: %s\nsteps:\n  - name: statistics\n    mechanism: {%s: {noise-multiplier: %s}}\n    count: %s\n", neighbors, kind, noise, count)
}
