package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/tables"
)

// newQueryCmd returns the command that answers a query of a CSV file. The table goes to standard output or a file, whole or
// not at all; what it promises is told beside it.
func newQueryCmd() *cobra.Command {
	var q service.QueryRequest
	var r runner
	var spend service.Spend
	var keys, progress string
	cmd := &cobra.Command{
		Use:  "query",
		Args: ledgerArgs("data.csv"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.In = args[0]
			var err error
			if keys != "" {
				if q.Keys, err = readKeys(cmd, keys, q.Group); err != nil {
					return err
				}
			}
			s, err := r.open(cmd.Context())
			if err != nil {
				return flagged(cmd, err)
			}
			q.Ledger = spend.Ledger
			a, err := measuredIf(cmd, progress, "reading", func(m *meter) (service.QueryAnswer, error) {
				return service.Ask[service.QueryAnswer](service.WithProgress(cmd.Context(), m.show), s, q)
			})
			if err != nil {
				return flagged(cmd, err)
			}
			return printQuery(cmd, a, &r)
		},
	}
	r.register(cmd, &q, &spend, "accuracy", "transform")
	r.writes(cmd, "CSV `file`")
	cmd.Flags().StringVar(&keys, "keys", "", "CSV `file` of the groups, which must be public, with the columns of --group as header (default: the groups are private)")
	addProgress(cmd, &progress)
	_ = cmd.MarkFlagFilename("keys", "csv")
	return cmd
}

// readKeys reads the public groups.
func readKeys(cmd *cobra.Command, path string, group []string) ([][]string, error) {
	data, name, err := readInput(cmd, path)
	if err != nil {
		return nil, err
	}
	rows := tables.NewReader(bytes.NewReader(data))
	header, err := rows.Row()
	if err != nil || !slices.Equal(header, group) {
		return nil, fmt.Errorf("%s:1: the header is not that of --group: %s", name, strings.Join(group, ","))
	}
	rows.Columns = len(group)
	out := [][]string{}
	for {
		row, err := rows.Row()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, rows.Line(), err)
		}
		for i := range row {
			row[i] = strings.Clone(row[i])
		}
		out = append(out, row)
	}
}

// printQuery writes the table, and tells what it promises where the table is not.
func printQuery(cmd *cobra.Command, a service.QueryAnswer, r *runner) error {
	if err := r.write(cmd, a, append([][]string{a.Columns}, a.Rows...)); err != nil || r.json {
		return err
	}
	told := cmd.OutOrStdout()
	if r.out == "-" {
		told = cmd.ErrOrStderr()
	}
	for _, n := range a.Noise {
		fmt.Fprintf(told, "noise of %s: %s, standard deviation %s\n", printable(n.Name), n.Law, rounded(float64(n.SD), 5, up))
	}
	for _, line := range a.Statement {
		fmt.Fprintln(told, line)
	}
	return nil
}
