package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

func newLedgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Spend one privacy budget over months, from one file",
		Long: `ledger keeps a privacy budget in an append-only file, which several people and
programs may use at the same time. A plan is added before it runs; one that would
pass the budget is refused (exit status 1), and must not run.

  planned    tight (Fourier accountant); what is added, and whether, must not
             depend on the outputs of what was added before
  adaptive   looser (Rényi filter); each plan may be chosen in the light of all
             earlier outputs`,
		Example: `  accountant ledger init --neighbors add-remove --epsilon 3 --delta 1e-5 budget.ledger
  accountant ledger add --note "training, May" budget.ledger examples/dpsgd.yaml
  accountant ledger status budget.ledger
  accountant ledger check budget.ledger`,
		Args: needCommand,
		RunE: missingCommand,
	}
	cmd.AddCommand(newLedgerInitCmd(), newLedgerAddCmd(), newLedgerStatusCmd(), newLedgerCheckCmd())
	return cmd
}

// ledgerArgs is the cobra.PositionalArgs of a command with these arguments.
func ledgerArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("missing the %s", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

func newLedgerInitCmd() *cobra.Command {
	var neighbors, epsilon, delta, mode string
	var form output
	cmd := &cobra.Command{
		Use:   "init --epsilon ε --delta δ FILE",
		Short: "Make a new ledger",
		Long: `init makes a new ledger file. Relation, budget and mode are fixed from then on. A
file that exists is never overwritten.`,
		Args: ledgerArgs("ledger file"), ValidArgsFunction: completePlans(1, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := ledger.Config{Mode: ledger.Mode(mode)}
			var err error
			if c.Neighbors, err = profiles.ParseRelation(neighbors); err != nil {
				return err
			}
			if c.Epsilon, err = parseNumber("epsilon", epsilon, epsilonRange); err != nil {
				return err
			}
			if c.Delta, err = parseNumber("delta", delta, deltaRange); err != nil {
				return err
			}
			l, err := ledger.Create(args[0], c)
			if err != nil {
				return err
			}
			return printLedger(cmd, l, form)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&epsilon, "epsilon", "", "`ε` of the budget (required)")
	fs.StringVar(&delta, "delta", "", "`δ` of the budget (required)")
	mode = string(ledger.Planned)
	addChoice(cmd, &mode, "mode", "planned, or adaptive if steps may depend on earlier outputs", mode, string(ledger.Adaptive))
	addNeighbors(cmd, &neighbors)
	form.register(cmd)
	_ = cmd.MarkFlagRequired("epsilon")
	_ = cmd.MarkFlagRequired("delta")
	return cmd
}

func newLedgerAddCmd() *cobra.Command {
	var note string
	var form output
	cmd := &cobra.Command{
		Use:   "add FILE plan.yaml",
		Short: "Spend a plan, before it runs",
		Long: `add spends all steps of a plan, or none: when it would pass the budget, add
fails and the plan must not run. When add succeeds the spend is on disk. - reads
the plan from standard input.`,
		Args: ledgerArgs("ledger file", "plan file (- reads standard input)"), ValidArgsFunction: completePlans(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := ledger.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			data, name, err := readInput(cmd, args[1])
			if err != nil {
				return err
			}
			if _, err := parsePlan(data, name); err != nil {
				return err
			}
			_, err = measured(cmd, "composing", func(*meter) (any, error) { return nil, l.SpendPlan(cmd.Context(), data, note) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err = printLedger(cmd, l, form); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "accountant: %s: is spent, and may run; what follows is about the status\n", name)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "free `text` for the readers of the file")
	form.register(cmd)
	return cmd
}

func newLedgerStatusCmd() *cobra.Command {
	var form output
	cmd := &cobra.Command{
		Use:   "status FILE",
		Short: "Tell what is spent, what is left and which guarantee holds",
		Args:  ledgerArgs("ledger file"), ValidArgsFunction: completePlans(1, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := ledger.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printLedger(cmd, l, form)
		},
	}
	form.register(cmd)
	return cmd
}

func newLedgerCheckCmd() *cobra.Command {
	var head string
	var form output
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Verify every checksum and recompute the total",
		Long: `check reads the file from its beginning, verifies the chain of checksums and
recomputes what the entries cost. It fails at the first line that is wrong (exit
status 1). A file that is right but ends in a spend that was interrupted, and
never reported, has exit status 3; the next spend removes what is torn.

The chain does not show that entries at the end were taken away, nor that
somebody rewrote the whole file. Keep the head that status prints somewhere
else, and give it to --head later.`,
		Args: ledgerArgs("ledger file"), ValidArgsFunction: completePlans(1, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := measured(cmd, "checking", func(*meter) (ledger.Status, error) { return ledger.Verify(cmd.Context(), args[0], head) })
			if err != nil {
				return flagged(cmd, err)
			}
			err = form.print(cmd.OutOrStdout(), statusJSON(st), func(w io.Writer) error {
				printStatus(w, st)
				_, err := fmt.Fprintf(w, "\nEvery checksum is right, and the entries are within the budget.\n")
				return err
			})
			if err == nil && st.Torn > 0 {
				err = tornError{fmt.Errorf("%s: %s", args[0], tornWarning(st.Torn))}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "`checksum` that the file must contain, as status printed it earlier")
	form.register(cmd)
	return cmd
}

// exitTorn is the exit status of check for a ledger that ends in a torn spend.
const exitTorn = 3

// A tornError is about a ledger that is right but for its end.
type tornError struct{ error }

func printLedger(cmd *cobra.Command, l *ledger.Ledger, form output) error {
	st, err := measured(cmd, "composing", func(*meter) (ledger.Status, error) { return l.Status(cmd.Context()) })
	if err != nil {
		return err
	}
	return form.print(cmd.OutOrStdout(), statusJSON(st), func(w io.Writer) error {
		printStatus(w, st)
		return nil
	})
}

type ledgerJSON struct {
	Mode      string     `json:"mode"`
	Neighbors string     `json:"neighbors"`
	Budget    ledgerPair `json:"budget"`
	Entries   int        `json:"entries"`
	Runs      int64      `json:"runs"`
	// Spent is of planned ledgers, Renyi of adaptive ones.
	Spent     *boundsJSON `json:"spent-epsilon,omitempty"`
	Renyi     *renyiJSON  `json:"spent-renyi,omitempty"`
	Left      number      `json:"left"`
	Last      string      `json:"last,omitempty"`
	Head      string      `json:"head,omitempty"`
	Guarantee string      `json:"guarantee"`
	// TheoryGap says that the ends are an attack and a theorem, which no
	// computation brings together.
	TheoryGap bool     `json:"theory-gap,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
}

type ledgerPair struct {
	Epsilon number `json:"epsilon"`
	Delta   number `json:"delta"`
}

type renyiJSON struct {
	Order  number `json:"order"`
	Spent  number `json:"spent"`
	Budget number `json:"budget"`
}

func statusJSON(st ledger.Status) ledgerJSON {
	c := st.Config
	out := ledgerJSON{Mode: string(c.Mode), Neighbors: c.Neighbors.String(), Budget: ledgerPair{number(c.Epsilon), number(c.Delta)},
		Entries: st.Entries, Runs: st.Runs, Left: number(st.Left), Last: st.Last, Head: st.Head, Guarantee: st.Guarantee}
	if e := st.Spent.Epsilon; c.Mode == ledger.Planned {
		out.Spent = &boundsJSON{number(e.Lower), number(e.Estimate), number(e.Upper)}
		out.Warnings, out.TheoryGap = e.Warnings, e.Gap != nil
	} else {
		out.Renyi = &renyiJSON{number(st.Spent.Order), number(st.Spent.Renyi), number(st.Spent.RenyiBudget)}
	}
	if st.Torn > 0 {
		out.Warnings = append(out.Warnings, tornWarning(st.Torn))
	}
	return out
}

func tornWarning(n int64) string {
	return fmt.Sprintf("the last %d bytes are of a spend that was interrupted; they do not count, and the next spend removes them", n)
}

func printStatus(w io.Writer, st ledger.Status) {
	c := st.Config
	fmt.Fprintf(w, "budget:    ε = %s, δ = %s; neighbors: %v\n", short(c.Epsilon), short(c.Delta), c.Neighbors)
	fmt.Fprintf(w, "mode:      %s\n", c.Mode)
	fmt.Fprintf(w, "entries:   %d, with %d runs of mechanisms\n", st.Entries, st.Runs)
	if st.Last != "" {
		fmt.Fprintf(w, "last:      %s\n", printable(st.Last))
	}
	if c.Mode == ledger.Planned {
		e := st.Spent.Epsilon
		d := digitsFor(e)
		gap := ""
		if e.Gap != nil {
			gap = "; a gap in theory: the lower end is an attack"
		}
		fmt.Fprintf(w, "spent:     %s ≤ ε ≤ %s at δ = %s%s\n", rounded(e.Lower, d, down), rounded(e.Upper, d, up), short(c.Delta), gap)
		fmt.Fprintf(w, "left:      %s of ε\n", rounded(st.Left, 6, down))
	} else {
		fmt.Fprintf(w, "spent:     %s of %s at Rényi order %s\n", rounded(st.Spent.Renyi, 6, up), rounded(st.Spent.RenyiBudget, 6, down), short(st.Spent.Order))
		fmt.Fprintf(w, "left:      %s at that order\n", rounded(st.Left, 6, down))
	}
	if st.Head != "" {
		fmt.Fprintf(w, "head:      %s\n", st.Head)
	}
	fmt.Fprintf(w, "guarantee: %s\n", st.Guarantee)
	if st.Torn > 0 {
		fmt.Fprintf(w, "%s   %s\n", paint(w, yellow, "warning:"), tornWarning(st.Torn))
	}
}
