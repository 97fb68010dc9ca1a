package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/ledger"
)

func newLedgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "ledger",
		Args: needCommand,
		RunE: missingCommand,
	}
	cmd.AddCommand(newLedgerInitCmd(), newLedgerAddCmd(), newLedgerFitsCmd(), newLedgerStatusCmd(), newLedgerLogCmd(), newLedgerCheckCmd(), newLedgerCheckpointCmd(), newLedgerBackupCmd())
	return cmd
}

// ledgerCmd returns a command about a ledger, whose file is its first argument.
func ledgerCmd(name string, limited bool, run func(cmd *cobra.Command, args []string, form output) error, more ...string) *cobra.Command {
	form := new(output)
	cmd := &cobra.Command{Use: name, Args: exactly(append([]string{"ledger file"}, more...)...), ValidArgsFunction: completePlans(1, 0)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, args, *form) }
	if form.register(cmd); limited {
		underCaps(cmd)
	}
	return cmd
}

// ofPlan is what the second argument of a command about a ledger and a plan is.
const ofPlan = "plan file (- reads standard input)"

func newLedgerInitCmd() *cobra.Command {
	var q service.LedgerCreateRequest
	var menu string
	cmd := ledgerCmd("init", false, func(cmd *cobra.Command, args []string, form output) error {
		if menu != "" {
			var err error
			if q.Menu, _, err = readInput(cmd, menu); err != nil {
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
		return printLedger(cmd, l, form)
	})
	bind(cmd, &q, "mode", "neighbors", "menu")
	cmd.Flags().StringVar(&menu, "menu", "", "`file` of the menu of an adaptive-menu ledger, which has its budget and relation")
	q.Mode, q.Neighbors = string(ledger.Planned), "add-remove"
	addChoice(cmd, &q.Mode, "mode", "planned; if steps may depend on earlier outputs adaptive, or adaptive-gaussian if all are Gaussian, Laplace or whole-number noise on the whole data set, or adaptive-menu if all are of the types of a menu", q.Mode, string(ledger.Adaptive), string(ledger.AdaptiveGaussian), string(ledger.AdaptiveMenu))
	addChoice(cmd, &q.Neighbors, "neighbors", "neighbouring `relation`: add-remove, substitute or zero-out", q.Neighbors, "substitute", "zero-out")
	return cmd
}

// openForPlan opens the ledger of the first argument and reads the plan of the second, and
// returns what to call the plan in messages.
func openForPlan(cmd *cobra.Command, args []string) (l *ledger.Ledger, data []byte, name string, err error) {
	if l, err = ledger.Open(cmd.Context(), args[0]); err != nil {
		return nil, nil, "", err
	}
	if f := cmd.Flags().Lookup("type"); f != nil && f.Changed {
		return l, ledger.TypeText(f.Value.String()), f.Value.String(), nil
	}
	data, name, err = readInput(cmd, args[1])
	return l, data, name, err
}

func newLedgerAddCmd() *cobra.Command {
	var note, key string
	var dryRun bool
	cmd := ledgerCmd("add", true, func(cmd *cobra.Command, args []string, form output) error {
		l, data, name, err := openForPlan(cmd, args)
		if err != nil {
			return err
		}
		if dryRun {
			return tryPlan(cmd, l, data, name, form)
		}
		again, err := measured(cmd, "composing", func(*meter) (bool, error) {
			if cmd.Flags().Changed("key") {
				return l.SpendOnce(cmd.Context(), key, data, note)
			}
			return false, l.SpendPlan(cmd.Context(), data, note)
		})
		if err != nil {
			return planProblem(name, name, flagged(cmd, err))
		}
		if again {
			fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s: was spent under this key before; nothing was spent now\n", name)
		}
		if err = printLedger(cmd, l, form); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s: is spent, and may run; what follows is about the status\n", name)
		}
		return err
	}, ofPlan)
	withPlan := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("type") {
			return exactly("ledger file")(cmd, args)
		}
		return withPlan(cmd, args)
	}
	cmd.ValidArgsFunction = completePlans(1, 1)
	cmd.Flags().String("type", "", "`name` of a type of an adaptive-menu ledger, which is spent in place of a plan")
	cmd.Flags().StringVar(&note, "note", "", "free `text` for the readers of the file")
	cmd.Flags().StringVar(&key, "key", "", "`name` of this spend: however often add runs with it, the plan is spent once")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "spend nothing; fail if the plan would not fit")
	return cmd
}

// tryPlan is add without a spend.
func tryPlan(cmd *cobra.Command, l *ledger.Ledger, data []byte, name string, form output) error {
	a, err := measured(cmd, "composing", func(*meter) (fits struct {
		Fits bool `json:"fits"`
	}, err error) {
		n, refusal, err := l.Fits(cmd.Context(), data, 1)
		fits.Fits = n == 1
		return fits, errors.Join(err, refusal)
	})
	if err != nil {
		return planProblem(name, name, err)
	}
	return form.print(cmd.OutOrStdout(), a, func(w io.Writer) {
		fmt.Fprintf(w, "%s fits; nothing was spent\n", name)
	})
}

func newLedgerFitsCmd() *cobra.Command {
	var q service.LedgerFitsRequest
	cmd := ledgerCmd("fits", true, func(cmd *cobra.Command, args []string, form output) error {
		_, data, name, err := openForPlan(cmd, args)
		if err != nil {
			return err
		}
		q.Ledger, q.Plan = args[0], data
		a, err := measured(cmd, "composing", func(*meter) (service.LedgerFits, error) {
			return service.Ask[service.LedgerFits](cmd.Context(), service.NewShared(ledgerFiles{}), q)
		})
		if err != nil {
			if _, _, ok := service.PlanLine(err); ok {
				return planProblem(name, name, err)
			}
			return flagged(cmd, err)
		}
		return form.print(cmd.OutOrStdout(), a, func(w io.Writer) {
			if a.Limit {
				fmt.Fprintf(w, "%s fits %d times, and perhaps more\n", name, a.Fits)
				return
			}
			fmt.Fprintf(w, "%s fits %d times; for one more,\n%s\n", name, a.Fits, a.Refusal)
		})
	}, ofPlan)
	cmd.ValidArgsFunction = completePlans(1, 1)
	bind(cmd, &q, capsKeys...)
	return cmd
}

func newLedgerLogCmd() *cobra.Command {
	return ledgerCmd("log", false, func(cmd *cobra.Command, args []string, form output) error {
		a, err := measured(cmd, "reading", func(*meter) (service.LedgerEntries, error) {
			return service.Ask[service.LedgerEntries](cmd.Context(), service.New(ledgerFiles{}), service.LedgerLogRequest{Path: args[0]})
		})
		if err != nil {
			return err
		}
		return form.print(cmd.OutOrStdout(), a, func(w io.Writer) {
			t := print.NewTable(w, 3, 0)
			fmt.Fprint(t, "  time\truns\tnote\n")
			for _, e := range a.Entries {
				fmt.Fprintf(t, "  %s\t%d\t%s\n", printable(e.Time), e.Runs, printable(e.Note))
			}
			t.Flush()
		})
	})
}

func newLedgerStatusCmd() *cobra.Command {
	return ledgerCmd("status", true, func(cmd *cobra.Command, args []string, form output) error {
		l, err := ledger.Open(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return printLedger(cmd, l, form)
	})
}

func newLedgerCheckCmd() *cobra.Command {
	var head string
	cmd := ledgerCmd("check", true, func(cmd *cobra.Command, args []string, form output) error {
		st, err := measured(cmd, "checking", func(*meter) (ledger.Status, error) { return ledger.Verify(cmd.Context(), args[0], head) })
		if err != nil {
			return flagged(cmd, err)
		}
		err = form.print(cmd.OutOrStdout(), service.LedgerStateOf(st), func(w io.Writer) {
			printStatus(w, st)
			fmt.Fprintf(w, "\nEvery checksum is right, and the entries are within the budget.\n")
		})
		if err == nil && st.Torn > 0 {
			err = tornError{fmt.Errorf("%s: %s", args[0], service.TornWarning(st.Torn))}
		}
		return err
	})
	cmd.Aliases = []string{"verify"}
	cmd.Flags().StringVar(&head, "head", "", "`checksum` that the file must contain, as status printed it earlier")
	return cmd
}

func newLedgerCheckpointCmd() *cobra.Command {
	return ledgerCmd("checkpoint", false, func(cmd *cobra.Command, args []string, form output) error {
		l, err := measured(cmd, "composing", func(*meter) (*ledger.Ledger, error) {
			l, err := ledger.Open(cmd.Context(), args[0])
			if err != nil {
				return nil, err
			}
			return l, l.Checkpoint(cmd.Context())
		})
		if err != nil {
			return err
		}
		return printLedger(cmd, l, form)
	})
}

func newLedgerBackupCmd() *cobra.Command {
	return ledgerCmd("backup", false, func(cmd *cobra.Command, args []string, form output) error {
		st, err := measured(cmd, "copying", func(*meter) (ledger.Status, error) {
			l, err := ledger.Open(cmd.Context(), args[0])
			if err != nil {
				return ledger.Status{}, err
			}
			return l.Backup(cmd.Context(), args[1])
		})
		if err != nil {
			return err
		}
		return printState(cmd, st, form)
	}, "file for the copy")
}

// A tornError is about a ledger that is right but for its end.
type tornError struct{ error }

func printLedger(cmd *cobra.Command, l *ledger.Ledger, form output) error {
	st, err := measured(cmd, "composing", func(*meter) (ledger.Status, error) { return l.Status(cmd.Context()) })
	if err != nil {
		return err
	}
	return printState(cmd, st, form)
}

func printState(cmd *cobra.Command, st ledger.Status, form output) error {
	return form.print(cmd.OutOrStdout(), service.LedgerStateOf(st), func(w io.Writer) { printStatus(w, st) })
}

// printOdometer prints ε of an adaptive-menu ledger for some of the budgets that it could have had, that of what is spent among
// them.
func printOdometer(w io.Writer, st ledger.Status) {
	if st.Config.Mode != ledger.AdaptiveMenu {
		return
	}
	rows := st.Config.Menu.Odometer
	fmt.Fprintf(w, "\nhad the budget been these units, at δ = %s:\n", short(st.Config.Delta))
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	every, told := max(1, (len(rows)+mostRows-1)/mostRows), false
	for i, r := range rows {
		mark := ""
		switch {
		case i == len(rows)-1:
			mark = "the promise"
		case !told && r.Units >= st.Spent.Units && st.Spent.Units > 0:
			mark, told = "spent by now: a guarantee only if it had been fixed", true
		case (len(rows)-1-i)%every != 0:
			continue
		}
		fmt.Fprintf(t, "%d\tε ≤ %s\t%s\t\n", r.Units, rounded(r.Epsilon, 6, up), mark)
	}
	t.Flush()
}

// summedNote says how many entries are counted by a checkpoint.
func summedNote(st ledger.Status) string {
	if st.Summed == 0 {
		return fmt.Sprintf("every entry was read here; checkpoints in the file: %d", st.Checkpoints)
	}
	return fmt.Sprintf("the first %d entries are counted by a checkpoint; ledger check reads them", st.Summed)
}

func printStatus(w io.Writer, st ledger.Status) {
	c := st.Config
	f := print.NewFacts(w, 11)
	f.Add("budget:", "ε = %s, δ = %s; neighbors: %v", short(c.Epsilon), short(c.Delta), c.Neighbors)
	if c.RecordsPerPerson > 1 {
		f.Add("unit:", "a person with at most %d records", c.RecordsPerPerson)
	}
	f.Add("mode:", "%s", c.Mode)
	f.Add("entries:", "%d, with %d runs of mechanisms", st.Entries, st.Runs)
	if st.Checkpoints > 0 {
		f.Add("summed:", "%s", summedNote(st))
	}
	if st.Last != "" {
		f.Add("last:", "%s", printable(st.Last))
	}
	switch c.Mode {
	case ledger.Planned:
		e := st.Spent.Epsilon
		d := decimal.Apart(e.Lower, e.Upper)
		gap := ""
		if e.Gap != nil {
			gap = "; a gap in theory: the lower end is an attack"
		}
		f.Add("spent:", "%s ≤ ε ≤ %s at δ = %s%s", rounded(e.Lower, d, down), rounded(e.Upper, d, up), short(c.Delta), gap)
		f.Add("left:", "%s of ε", rounded(st.Left, 6, down))
	case ledger.AdaptiveMenu:
		f.Add("spent:", "%d of %d units", st.Spent.Units, st.Spent.UnitsBudget)
		f.Add("left:", "%d units", st.Spent.UnitsBudget-st.Spent.Units)
	case ledger.AdaptiveGaussian:
		f.Add("spent:", "μ = %s of %s (Gaussian differential privacy)", rounded(st.Spent.Mu, 6, up), rounded(st.Spent.MuBudget, 6, down))
		f.Add("left:", "μ = %s for one more step", rounded(st.Left, 6, down))
	default:
		f.Add("spent:", "%s of %s at Rényi order %s", rounded(st.Spent.Renyi, 6, up), rounded(st.Spent.RenyiBudget, 6, down), short(st.Spent.Order))
		f.Add("left:", "%s at that order", rounded(st.Left, 6, down))
	}
	if st.Head != "" {
		f.Add("head:", "%s", st.Head)
	}
	f.Add("guarantee:", "%s", st.Guarantee)
	defer printOdometer(w, st)
	if st.Torn > 0 {
		f.Add(print.Paint(w, print.Yellow, "warning:")+"   ", "%s", service.TornWarning(st.Torn))
	}
	f.Flush()
}
