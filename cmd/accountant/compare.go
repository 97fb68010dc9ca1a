package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

// comparisonPicture has a row for each method that applies.
func comparisonPicture(a service.CompareAnswer) figure.Picture {
	var rows []figure.Row
	for _, r := range a.Methods {
		row := figure.Row{Name: r.Method, Lower: math.NaN(), Upper: math.NaN(), Method: figure.Named("accounting", r.Method)}
		if r.Epsilon == nil {
			continue
		}
		if r.Of == accountant.Certified {
			row.Lower = float64(*r.Lower)
		}
		row.Upper, row.Estimate = float64(*r.Epsilon), r.Of == accountant.Approximate
		rows = append(rows, row)
	}
	return figure.Rows("ε by method, "+a.Unit.Text(), "ε at δ = "+short(a.Delta), rows)
}

func printComparison(w io.Writer, a service.CompareAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\nδ = %s\n\n", a.Unit.Text(), short(a.Delta))
	tw := print.NewTable(w, 3, 0)
	fmt.Fprintf(tw, "  method\tε\t\tnote\n")
	for _, r := range a.Methods {
		value, kind := "", fmt.Sprint(r.Kind)
		switch r.Of {
		case accountant.Certified:
			b := service.Bounds{Lower: *r.Lower, Upper: *r.Epsilon}
			d := digitsFor(b)
			kind = titleOf(b)
			value = fmt.Sprintf("%s ≤ ε ≤ %s", rounded(*r.Lower, d, down), rounded(*r.Epsilon, d, up))
			if math.IsInf(float64(*r.Lower), 1) {
				value = "ε = ∞"
			}
		case accountant.UpperBound:
			value = "ε ≤ " + rounded(*r.Epsilon, 6, up)
		case accountant.Approximate:
			value = "ε ≈ " + rounded(*r.Epsilon, 6, near)
		default:
			value = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", r.Method, value, kind, strings.ReplaceAll(oneLine(r.Note), "no bound", print.Paint(w, print.Yellow, "no bound")))
	}
	tw.Flush()
	fmt.Fprintln(w, "\nBy:")
	for _, r := range a.Methods {
		fmt.Fprintf(w, "  %s: %s\n", r.Method, r.Theorem)
	}
}
