package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// newQueryCmd returns the command that answers a query of a CSV file. The table goes to standard output or a file, whole or
// not at all; what it promises is told beside it.
func newQueryCmd() *cobra.Command {
	return question{name: "query", what: "reading", progress: true, except: []string{"accuracy", "transform"}, writes: "CSV `file`", table: showing(queryTable), text: printing(printQuery), extra: func(a *asking) {
		q, keys := a.request.(*service.QueryRequest), ""
		a.cmd.Args = exactly("data.csv")
		a.cmd.Flags().StringVar(&keys, "keys", "", "CSV `file` of the groups, which must be public, with the columns of --group as header (default: the groups are private)")
		_ = a.cmd.MarkFlagFilename("keys", "csv")
		a.read = func() error {
			q.In = a.args[0]
			if keys == "" {
				return nil
			}
			q.Keys = [][]string{}
			return readRows(a.cmd, keys, func(cells []string, first bool) error {
				switch {
				case !first:
					for i := range cells {
						cells[i] = strings.Clone(cells[i])
					}
					q.Keys = append(q.Keys, cells)
				case !slices.Equal(cells, q.Group):
					return fmt.Errorf("the header is not that of --group: %s", strings.Join(q.Group, ","))
				}
				return nil
			})
		}
	}}.command()
}

func queryTable(x service.QueryAnswer, _ *asking) [][]string {
	return append([][]string{x.Columns}, x.Rows...)
}

// printQuery tells what the table promises.
func printQuery(w io.Writer, x service.QueryAnswer, _ *asking) {
	for _, n := range x.Noise {
		fmt.Fprintf(w, "noise of %s: %s, standard deviation %s\n", printable(n.Name), n.Law, rounded(float64(n.SD), 5, up))
	}
	for _, line := range x.Statement {
		fmt.Fprintln(w, line)
	}
}
