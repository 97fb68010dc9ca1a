package main

import (
	"context"
	"errors"
	"fmt"
	"io"

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
		changes("checkpoint", func(ctx context.Context, l *ledger.Ledger, _ *asking) (st ledger.Status, err error) {
			if err := l.Checkpoint(ctx); err != nil {
				return st, err
			}
			return l.Status(ctx)
		}),
		changes("backup", func(ctx context.Context, l *ledger.Ledger, a *asking) (ledger.Status, error) {
			return l.Backup(ctx, a.args[1])
		}, "file for the copy"))
}

// changes returns a command that changes a ledger, whose file is its first argument, and prints what it then holds.
func changes(name string, run func(context.Context, *ledger.Ledger, *asking) (ledger.Status, error), more ...string) *cobra.Command {
	path := new(service.LedgerOpenRequest)
	return question{name: name, request: path, what: "composing", onLedger: true, text: printing(printLedger), extra: func(a *asking) {
		a.cmd.Args = exactly(append([]string{"ledger file"}, more...)...)
		a.compute = func(ctx context.Context, _ *service.Service, _ *meter) (any, error) {
			l, err := ledger.Open(ctx, ledger.File(path.Path))
			if err != nil {
				return nil, err
			}
			st, err := run(ctx, l, a)
			return service.LedgerStateOf(st), err
		}
	}}.command()
}

func newLedgerInitCmd() *cobra.Command {
	return question{name: "init", op: "ledger-create", what: "composing", onLedger: true, except: []string{"mode", "neighbors", "menu"}, text: printing(printLedger), extra: func(a *asking) {
		q, cmd := a.request.(*service.LedgerCreateRequest), a.cmd
		menu := fileFlag(cmd, "menu", "`file` of the menu of an adaptive-menu ledger, which has its budget and relation")
		q.Mode, q.Neighbors = string(ledger.Planned), "add-remove"
		addChoice(cmd, &q.Mode, "mode", "planned; if steps may depend on earlier outputs adaptive, or adaptive-gaussian if all are Gaussian, Laplace or whole-number noise on the whole data set, or adaptive-menu if all are of the types of a menu", q.Mode, string(ledger.Adaptive), string(ledger.AdaptiveGaussian), string(ledger.AdaptiveMenu))
		addChoice(cmd, &q.Neighbors, "neighbors", "neighbouring `relation`: add-remove, substitute or zero-out", q.Neighbors, "substitute", "zero-out")
		a.late = true
		a.read = func() (err error) {
			if *menu != "" {
				q.Menu, _, err = readInput(cmd, *menu)
			}
			if q.Mode == string(ledger.AdaptiveMenu) && !cmd.Flags().Changed("neighbors") {
				q.Neighbors = ""
			}
			return err
		}
		a.compute = func(ctx context.Context, s *service.Service, _ *meter) (any, error) {
			h, err := service.Ask[service.LedgerHandle](ctx, s, *q)
			if err != nil {
				return nil, err
			}
			return service.Ask[service.LedgerState](ctx, s, service.LedgerStatusRequest{LedgerHandle: h})
		}
	}}.command()
}

// ledgerAdd are the arguments and flags of ledger add.
type ledgerAdd struct {
	Path   string           `json:"path"`
	Plan   service.PlanText `json:"plan"`
	Type   string           `json:"type,omitempty" help:"{name} of a type of an adaptive-menu ledger, which is spent in place of a plan"`
	Note   string           `json:"note,omitempty" help:"free {text} for the readers of the file"`
	Key    string           `json:"key,omitempty" help:"{name} of this spend: however often add runs with it, the plan is spent once"`
	DryRun bool             `json:"dry-run,omitempty" help:"spend nothing; fail if the plan would not fit"`
}

// printAdded says what ledger add has done.
func printAdded(w io.Writer, answer any, a *asking) {
	if state, ok := answer.(service.LedgerState); ok {
		printLedger(w, state, a)
	} else {
		fmt.Fprintf(w, "%s fits; nothing was spent\n", a.name)
	}
}

func newLedgerAddCmd() *cobra.Command {
	q := new(ledgerAdd)
	return question{name: "add", request: q, what: "composing", onLedger: true, under: true, text: printAdded, extra: func(a *asking) {
		var l *ledger.Ledger
		typed := func() bool { return a.cmd.Flags().Changed("type") }
		a.cmd.Args = func(cmd *cobra.Command, args []string) error {
			if typed() {
				return exactly("ledger file")(cmd, args)
			}
			return exactly("ledger file", ofPlan)(cmd, args)
		}
		a.read = func() (err error) {
			if typed() {
				q.Plan, a.name = ledger.TypeText(q.Type), q.Type
			}
			l, err = ledger.Open(a.cmd.Context(), ledger.File(q.Path))
			return err
		}
		a.compute = func(ctx context.Context, _ *service.Service, _ *meter) (any, error) {
			switch {
			case q.DryRun:
				_, refusal, err := l.Fits(ctx, q.Plan, 1)
				return map[string]bool{"fits": true}, errors.Join(err, refusal)
			case a.cmd.Flags().Changed("key"):
				return l.SpendOnce(ctx, q.Key, q.Plan, q.Note)
			}
			return false, l.SpendPlan(ctx, q.Plan, q.Note)
		}
		a.wrote = func(answer any) (any, error) {
			again, spent := answer.(bool)
			if !spent {
				return answer, nil
			}
			if again {
				fmt.Fprintf(a.cmd.ErrOrStderr(), "accountant: %s: was spent under this key before; nothing was spent now\n", a.name)
			}
			m := startMeter(a.cmd, a.meter, a.what)
			st, err := l.Status(a.cmd.Context())
			m.stop()
			if err != nil {
				fmt.Fprintf(a.cmd.ErrOrStderr(), "accountant: %s: is spent, and may run; what follows is about the status\n", a.name)
				return nil, err
			}
			return service.LedgerStateOf(st), nil
		}
	}}.command()
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
		q := a.request.(*service.LedgerCheckRequest)
		a.verdict = func(answer any) error {
			if torn := answer.(service.LedgerState).Torn; torn != "" {
				return tornError{fmt.Errorf("%s: %s", q.Path, torn)}
			}
			return nil
		}
		a.cmd.Aliases = []string{"verify"}
		a.cmd.Flags().StringVar(&q.Head, "head", "", "`checksum` that the file must contain, as status printed it earlier")
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
	rows, told := x.Units.Odometer, false
	fmt.Fprintf(w, "\nhad the budget been these units, at δ = %s:\n", short(x.Budget.Delta))
	printUnits(w, len(rows), func(i int) (units int, cost, mark string) {
		switch {
		case i == len(rows)-1:
			mark = "the promise"
		case !told && rows[i].Units >= x.Units.Spent && x.Units.Spent > 0:
			mark, told = "spent by now: a guarantee only if it had been fixed", true
		}
		return rows[i].Units, "ε ≤ " + rounded(rows[i].Epsilon, 6, up), mark
	})
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
		f.Add("spent:", "%s at δ = %s%s", tabled(w, x.Spent.Lower, x.Spent.Upper, 0, " ≤ ε ≤ "), short(x.Budget.Delta), gap)
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
