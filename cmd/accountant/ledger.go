package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/ledger"
)

func newLedgerCmd() *cobra.Command {
	return group("ledger", newLedgerInitCmd(), newLedgerAddCmd(),
		question{name: "fits", op: "ledger-fits", what: "composing", onLedger: true, text: printing(printFits)}.command(),
		question{name: "status", op: "ledger-status", what: "composing", onLedger: true, text: printing(printLedger)}.command(),
		question{name: "log", op: "ledger-log", what: "reading", onLedger: true, text: printing(printEntries)}.command(),
		newLedgerCheckCmd(),
		ledgerCmd("checkpoint", func(cmd *cobra.Command, l *ledger.Ledger, _ []string) (ledger.Status, error) {
			if err := l.Checkpoint(cmd.Context()); err != nil {
				return ledger.Status{}, err
			}
			return l.Status(cmd.Context())
		}),
		ledgerCmd("backup", func(cmd *cobra.Command, l *ledger.Ledger, args []string) (ledger.Status, error) {
			return l.Backup(cmd.Context(), args[0])
		}, "file for the copy"))
}

// ledgerCmd returns a command that changes a ledger, whose file is its first argument, and prints what it then holds.
func ledgerCmd(name string, run func(cmd *cobra.Command, l *ledger.Ledger, args []string) (ledger.Status, error), more ...string) *cobra.Command {
	form := new(output)
	cmd := &cobra.Command{Use: name, Args: exactly(append([]string{"ledger file"}, more...)...), ValidArgsFunction: completePlans(1, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		st, err := measured(cmd, "composing", func(*meter) (st ledger.Status, err error) {
			l, err := ledger.Open(cmd.Context(), args[0])
			if err == nil {
				st, err = run(cmd, l, args[1:])
			}
			return st, err
		})
		if err != nil {
			return err
		}
		return printState(cmd, st, *form)
	}
	form.register(cmd)
	return cmd
}

// printState prints what a ledger holds in the form that was asked for.
func printState(cmd *cobra.Command, st ledger.Status, form output) error {
	state := service.LedgerStateOf(st)
	return form.print(cmd.OutOrStdout(), state, func(w io.Writer) { printLedger(w, state, nil) })
}

// ofPlan is what the second argument of a command about a ledger and a plan is.
const ofPlan = "plan file (- reads standard input)"

func newLedgerInitCmd() *cobra.Command {
	var q service.LedgerCreateRequest
	var form output
	var menu *string
	cmd := &cobra.Command{Use: "init", Args: exactly("ledger file"), ValidArgsFunction: completePlans(1, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if *menu != "" {
			if q.Menu, _, err = readInput(cmd, *menu); err != nil {
				return err
			}
		}
		if q.Mode == string(ledger.AdaptiveMenu) && !cmd.Flags().Changed("neighbors") {
			q.Neighbors = ""
		}
		c, err := q.Config()
		if err != nil {
			return flagged(cmd, err)
		}
		l, err := ledger.Create(args[0], c)
		if err != nil {
			return err
		}
		return printNow(cmd, l, form)
	}
	form.register(cmd)
	bind(cmd, &q, "mode", "neighbors", "menu")
	menu = fileFlag(cmd, "menu", "`file` of the menu of an adaptive-menu ledger, which has its budget and relation")
	q.Mode, q.Neighbors = string(ledger.Planned), "add-remove"
	addChoice(cmd, &q.Mode, "mode", "planned; if steps may depend on earlier outputs adaptive, or adaptive-gaussian if all are Gaussian, Laplace or whole-number noise on the whole data set, or adaptive-menu if all are of the types of a menu", q.Mode, string(ledger.Adaptive), string(ledger.AdaptiveGaussian), string(ledger.AdaptiveMenu))
	addChoice(cmd, &q.Neighbors, "neighbors", "neighbouring `relation`: add-remove, substitute or zero-out", q.Neighbors, "substitute", "zero-out")
	return cmd
}

// printNow prints what a ledger holds now.
func printNow(cmd *cobra.Command, l *ledger.Ledger, form output) error {
	st, err := measured(cmd, "composing", func(*meter) (ledger.Status, error) { return l.Status(cmd.Context()) })
	if err != nil {
		return err
	}
	return printState(cmd, st, form)
}

func newLedgerAddCmd() *cobra.Command {
	var note, key, kind string
	var dryRun bool
	var form output
	cmd := &cobra.Command{Use: "add", ValidArgsFunction: completePlans(1, 1)}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("type") {
			return exactly("ledger file")(cmd, args)
		}
		return exactly("ledger file", ofPlan)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		l, err := ledger.Open(ctx, args[0])
		if err != nil {
			return err
		}
		data, name := ledger.TypeText(kind), kind
		if len(args) == 2 {
			if data, name, err = readInput(cmd, args[1]); err != nil {
				return err
			}
		}
		again, err := measured(cmd, "composing", func(*meter) (bool, error) {
			switch {
			case dryRun:
				_, refusal, err := l.Fits(ctx, data, 1)
				return false, errors.Join(err, refusal)
			case cmd.Flags().Changed("key"):
				return l.SpendOnce(ctx, key, data, note)
			}
			return false, l.SpendPlan(ctx, data, note)
		})
		if err != nil {
			return planProblem(name, name, flagged(cmd, err))
		}
		if dryRun {
			return form.print(cmd.OutOrStdout(), struct {
				Fits bool `json:"fits"`
			}{true}, func(w io.Writer) {
				fmt.Fprintf(w, "%s fits; nothing was spent\n", name)
			})
		}
		if again {
			fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s: was spent under this key before; nothing was spent now\n", name)
		}
		if err = printNow(cmd, l, form); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s: is spent, and may run; what follows is about the status\n", name)
		}
		return err
	}
	form.register(cmd)
	underCaps(cmd)
	cmd.Flags().StringVar(&kind, "type", "", "`name` of a type of an adaptive-menu ledger, which is spent in place of a plan")
	cmd.Flags().StringVar(&note, "note", "", "free `text` for the readers of the file")
	cmd.Flags().StringVar(&key, "key", "", "`name` of this spend: however often add runs with it, the plan is spent once")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "spend nothing; fail if the plan would not fit")
	return cmd
}

func printFits(w io.Writer, x service.LedgerFits, a *asking) {
	name := inputName(a.args[1])
	if x.Limit {
		fmt.Fprintf(w, "%s fits %d times, and perhaps more\n", name, x.Fits)
		return
	}
	fmt.Fprintf(w, "%s fits %d times; for one more,\n%s\n", name, x.Fits, x.Refusal)
}

func newLedgerCheckCmd() *cobra.Command {
	return question{name: "check", op: "ledger-check", what: "checking", onLedger: true, text: printing(func(w io.Writer, x service.LedgerState, _ *asking) {
		printLedger(w, x, nil)
		fmt.Fprintf(w, "\nEvery checksum is right, and the entries are within the budget.\n")
	}), extra: func(a *asking) {
		run := a.cmd.RunE
		a.cmd.RunE = func(cmd *cobra.Command, args []string) error {
			torn := ""
			a.wrote = func(answer any) (any, error) {
				torn = answer.(service.LedgerState).Torn
				return answer, nil
			}
			err := run(cmd, args)
			if err == nil && torn != "" {
				err = tornError{fmt.Errorf("%s: %s", args[0], torn)}
			}
			return err
		}
		a.cmd.Aliases = []string{"verify"}
		a.cmd.Flags().StringVar(&a.request.(*service.LedgerCheckRequest).Head, "head", "", "`checksum` that the file must contain, as status printed it earlier")
	}}.command()
}

// A tornError is about a ledger that is right but for its end.
type tornError struct{ error }

func printEntries(w io.Writer, x service.LedgerEntries, _ *asking) {
	t := print.NewTable(w, 3, 0)
	fmt.Fprint(t, "  time\truns\tnote\n")
	for _, e := range x.Entries {
		fmt.Fprintf(t, "  %s\t%d\t%s\n", printable(e.Time), e.Runs, printable(e.Note))
	}
	t.Flush()
}

// printOdometer prints ε of an adaptive-menu ledger for some of the budgets that it could have had, that of what is spent among
// them.
func printOdometer(w io.Writer, x service.LedgerState) {
	rows := x.Units.Odometer
	fmt.Fprintf(w, "\nhad the budget been these units, at δ = %s:\n", short(x.Budget.Delta))
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	every, told := max(1, (len(rows)+mostRows-1)/mostRows), false
	for i, r := range rows {
		mark := ""
		switch {
		case i == len(rows)-1:
			mark = "the promise"
		case !told && r.Units >= x.Units.Spent && x.Units.Spent > 0:
			mark, told = "spent by now: a guarantee only if it had been fixed", true
		case (len(rows)-1-i)%every != 0:
			continue
		}
		fmt.Fprintf(t, "%d\tε ≤ %s\t%s\t\n", r.Units, rounded(r.Epsilon, 6, up), mark)
	}
	t.Flush()
}

func printLedger(w io.Writer, x service.LedgerState, _ *asking) {
	f := print.NewFacts(w, 11)
	f.Add("budget:", "ε = %s, δ = %s; neighbors: %v", short(x.Budget.Epsilon), short(x.Budget.Delta), x.Neighbors)
	if x.RecordsPerPerson > 1 {
		f.Add("unit:", "a person with at most %d records", x.RecordsPerPerson)
	}
	f.Add("mode:", "%s", x.Mode)
	f.Add("entries:", "%d, with %d runs of mechanisms", x.Entries, x.Runs)
	switch {
	case x.Summed > 0:
		f.Add("summed:", "the first %d entries are counted by a checkpoint; ledger check reads them", x.Summed)
	case x.Checkpoints > 0:
		f.Add("summed:", "every entry was read here; checkpoints in the file: %d", x.Checkpoints)
	}
	if x.Last != "" {
		f.Add("last:", "%s", printable(x.Last))
	}
	switch {
	case x.Spent != nil:
		gap := ""
		if x.TheoryGap {
			gap = "; a gap in theory: the lower end is an attack"
		}
		f.Add("spent:", "%s at δ = %s%s", ends(x.Spent.Lower, x.Spent.Upper, 0, " ≤ ε ≤ "), short(x.Budget.Delta), gap)
		f.Add("left:", "%s of ε", rounded(x.Left, 6, down))
	case x.Units != nil:
		f.Add("spent:", "%d of %d units", x.Units.Spent, x.Units.Budget)
		f.Add("left:", "%d units", x.Units.Budget-x.Units.Spent)
	case x.Mu != nil:
		f.Add("spent:", "μ = %s of %s (Gaussian differential privacy)", rounded(x.Mu.Spent, 6, up), rounded(x.Mu.Budget, 6, down))
		f.Add("left:", "μ = %s for one more step", rounded(x.Left, 6, down))
	default:
		f.Add("spent:", "%s of %s at Rényi order %s", rounded(x.Renyi.Spent, 6, up), rounded(x.Renyi.Budget, 6, down), short(x.Renyi.Order))
		f.Add("left:", "%s at that order", rounded(x.Left, 6, down))
	}
	if x.Head != "" {
		f.Add("head:", "%s", x.Head)
	}
	f.Add("guarantee:", "%s", x.Guarantee)
	if x.Torn != "" {
		f.Add(print.Paint(w, print.Yellow, "warning:")+"   ", "%s", x.Torn)
	}
	f.Flush()
	if x.Units != nil {
		printOdometer(w, x)
	}
}
