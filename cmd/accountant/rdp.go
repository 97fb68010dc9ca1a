package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/rdp"
)

// The accountants that --accountant names.
const (
	fourierAccountant = "fourier"
	rdpAccountant     = "rdp"
)

type rdpJSON struct {
	Neighbors  string `json:"neighbors"`
	Accountant string `json:"accountant"`
	Results    []any  `json:"results"`
}

type rdpEpsilonJSON struct {
	Delta   number    `json:"delta"`
	Epsilon upperJSON `json:"epsilon"`
	Order   number    `json:"order"`
}

type rdpDeltaJSON struct {
	Epsilon number    `json:"epsilon"`
	Delta   upperJSON `json:"delta"`
	Order   number    `json:"order"`
}

type upperJSON struct {
	Upper number `json:"upper"`
}

// answerRDP prints upper bounds by Rényi accounting: of ε at each δ (told "ε"),
// or of δ at each ε.
func answerRDP(cmd *cobra.Command, plan *accountant.Plan, told string, at []float64, form output) error {
	curve, err := plan.RDP()
	if err != nil {
		return err
	}
	asked, ask := "δ", rdp.Epsilon
	if told == "δ" {
		asked, ask = "ε", rdp.Delta
	}
	out := rdpJSON{plan.Neighbors.String(), rdpAccountant, nil}
	var table strings.Builder
	for _, x := range at {
		bound, order, err := ask(curve, x)
		if err != nil {
			return err
		}
		if told == "ε" {
			out.Results = append(out.Results, rdpEpsilonJSON{number(x), upperJSON{number(bound)}, number(order)})
		} else {
			out.Results = append(out.Results, rdpDeltaJSON{number(x), upperJSON{number(bound)}, number(order)})
		}
		fmt.Fprintf(&table, "  %s\t%s ≤ %s\t%s\n", short(x), told, rounded(bound, 6, up), rounded(order, 4, near))
	}
	return form.print(cmd.OutOrStdout(), out, func(w io.Writer) error {
		fmt.Fprintf(w, "neighbors: %v\naccountant: rdp (upper bounds)\n\n", plan.Neighbors)
		tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		fmt.Fprintf(tw, "  %s\tproved\torder\n%s", asked, table.String())
		return tw.Flush()
	})
}
