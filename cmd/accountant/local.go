package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/tables"
)

func newLocalCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "local", Args: needCommand, RunE: missingCommand}
	cmd.AddCommand(newLocalRunCmd())
	return cmd
}

// localRun is the JSON of local run: what the messages say of the number of users with each value.
type localRun struct {
	Users     int             `json:"users"`
	Mechanism string          `json:"mechanism"`
	Epsilon   service.Decimal `json:"epsilon"`
	Seeded    bool            `json:"seeded"`
	service.LocalEstimates
}

func newLocalRunCmd() *cobra.Command {
	var q service.LocalMessagesRequest
	var form output
	cmd := &cobra.Command{
		Use:  "run",
		Args: exactly("file of values", "file for messages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := service.Check(&q); err != nil {
				return flagged(cmd, err)
			}
			k, err := decimal.Whole(string(q.Categories))
			if err != nil {
				return err
			}
			err = readRows(cmd, args[0], func(cells []string, first bool) error {
				if first && tables.IsHeader(cells) {
					return nil
				}
				value, err := strconv.Atoi(cells[0])
				if err != nil || value < 0 || int64(value) >= k || len(cells) > 1 {
					return fmt.Errorf("%s is not a value in [0, %d]", printable(strings.Join(cells, ",")), k-1)
				}
				q.Values = append(q.Values, value)
				return nil
			})
			if err != nil {
				return err
			}
			s := service.New(nil)
			sent, err := service.Ask[service.LocalMessages](cmd.Context(), s, q)
			if err != nil {
				return flagged(cmd, err)
			}
			a := localRun{Users: len(q.Values), Mechanism: q.Mechanism, Epsilon: q.Epsilon, Seeded: q.TestSeed != ""}
			if a.LocalEstimates, err = service.Ask[service.LocalEstimates](cmd.Context(), s, service.LocalEstimatesRequest{LocalKind: q.LocalKind, Messages: sent.Messages}); err != nil {
				return flagged(cmd, err)
			}
			err = produceFileAtomic(args[1], func(w io.Writer) error {
				buf := bufio.NewWriter(w)
				fmt.Fprintln(buf, "message")
				for _, m := range sent.Messages {
					fmt.Fprintln(buf, strings.Trim(fmt.Sprint(m), "[]"))
				}
				return buf.Flush()
			})
			if err != nil {
				return err
			}
			return form.print(cmd.OutOrStdout(), a, a.print)
		},
	}
	bind(cmd, &q, "test-seed")
	cmd.Flags().Var(&written{to: (*string)(&q.TestSeed)}, "seed", "make the run reproducible; whoever knows the seed can undo the noise")
	form.register(cmd)
	return cmd
}

func (a localRun) print(w io.Writer) {
	fmt.Fprintf(w, "%s with local ε %v: messages of %d users\n\n", a.Mechanism, a.Epsilon, a.Users)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprint(t, "value\testimate\tdeviation\t\n")
	for _, e := range a.Estimates {
		fmt.Fprintf(t, "%d\t%.1f\t%.1f\t\n", e.Value, float64(e.Count), float64(e.Deviation))
	}
	t.Flush()
}
