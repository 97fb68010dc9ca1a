package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newSamplingCmd() *cobra.Command {
	return withCommands(question{name: "sampling", what: "comparing", verbose: true, hidden: true, recursion: "2000",
		picture: "the aligned privacy profiles, or with --epochs the intervals of ε,", width: 17, height: 11, text: printing(printSampling), draw: samplingPicture, extra: func(a *asking) {
			showPreset(a.cmd, "neighbors", "add-remove") // zero-out is what epochs are compared under
		}}.command(), newSamplingDrawCmd())
}

// samplingWarnings returns each warning once, after the schemes that it is about.
func samplingWarnings(rows []service.Scheme) []string {
	var texts []string
	about := map[string][]string{}
	for _, row := range rows {
		for _, text := range row.Warnings {
			if about[text] == nil {
				texts = append(texts, text)
			}
			about[text] = append(about[text], row.Scheme)
		}
	}
	for i, text := range texts {
		texts[i] = strings.Join(slices.Compact(about[text]), ", ") + ": " + oneLine(text)
	}
	return texts
}

// schemesTitle is the title of the intervals of all schemes that have one.
func schemesTitle(a service.SamplingAnswer) string {
	var all []service.Bounds
	for _, row := range a.Schemes {
		if row.Epsilon != nil {
			all = append(all, service.Bounds{Lower: row.Epsilon.Lower, Upper: row.Epsilon.Upper})
		}
	}
	return titleOf(all...)
}

// printEpochs prints the table for an epoch budget.
func printEpochs(w io.Writer, a service.SamplingAnswer) {
	fmt.Fprintf(w, "%s noise, multiplier %s; population %d, batch %d, %s epochs; neighbors: %s\n\n",
		a.Mechanism, short(a.NoiseMultiplier), a.Population, a.Batch, short(a.Epochs), a.Neighbors)
	t := print.NewTable(w, 2, 0)
	fmt.Fprintf(t, "batches\tdrawn\tε at δ = %s, %s\tnoise for ε ≤ %s\n", short(a.Delta), schemesTitle(a), rounded(a.TargetEpsilon, 4, up))
	for _, row := range a.Schemes {
		if row.NotApplicable != "" {
			fmt.Fprintf(t, "%s\t–\t%s\t–\n", row.Scheme, row.NotApplicable)
			continue
		}
		if row.Epsilon == nil {
			fmt.Fprintf(t, "%s\t–\t–\t–\n", row.Scheme)
			continue
		}
		drawn, noise := fmt.Sprintf("%d times", row.Steps), "–"
		switch {
		case row.Epochs > 0:
			drawn = fmt.Sprintf("for %d epochs", row.Epochs)
		case row.Scheme == service.FixedOrder:
			drawn = "never"
		}
		if row.NoiseNeeded != nil {
			noise = rounded(*row.NoiseNeeded, 4, up)
		}
		fmt.Fprintf(t, "%s\t%s\t[%s]\t%s\n", row.Scheme, drawn, tabled(w, row.Epsilon.Lower, row.Epsilon.Upper, 5, ", "), noise)
	}
	t.Flush()
	fmt.Fprintf(w, "\nLower ends are attacks, upper ends theorems. The cap of truncated-poisson is %d.\n", a.Cap)
}

func printSampling(w io.Writer, a service.SamplingAnswer, _ *asking) {
	if a.Epochs > 0 {
		printEpochs(w, a)
		return
	}
	fmt.Fprintf(w, "%s noise, multiplier %s; population %d, subset %s, batch %d; neighbors: substitute\n\n",
		a.Mechanism, short(a.NoiseMultiplier), a.Population, orDash(a.Subset), a.Batch)
	t := print.NewTable(w, 2, 0)
	fmt.Fprintf(t, "scheme\tη\tdistinct\tε'\tδ'\tkind\tε after %s, %s\n", steps(a.Steps), schemesTitle(a))
	for _, row := range a.Schemes {
		if row.NotApplicable != "" {
			fmt.Fprintf(t, "%s\t–\t–\t–\t–\t–\t%s\n", row.Scheme, row.NotApplicable)
			continue
		}
		cost := "–"
		if row.Epsilon != nil {
			cost = "[" + tabled(w, row.Epsilon.Lower, row.Epsilon.Upper, 5, ", ") + "]"
		}
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%.6g\t%.4g\t%v\t%s\n", row.Scheme, float64(*row.Eta), float64(*row.ExpectedDistinct), float64(*row.AmplifiedEpsilon), float64(*row.AmplifiedDelta), row.Kind, cost)
	}
	t.Flush()
	fmt.Fprintf(w, "\nε' and δ' belong to base ε = %s; ε' differs from scheme to scheme: no ranking.\nThe last column is at δ = %s: lower ends are attacks, upper ends theorems.\n", short(a.BaseEpsilon), short(a.Delta))
}

func orDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

// samplingPicture draws δ' − δ against ε'/ε, or the intervals of ε after epochs.
func samplingPicture(_ context.Context, of any, _ *asking) (figure.Picture, error) {
	answer := of.(service.SamplingAnswer)
	if answer.Epochs > 0 {
		var rows []figure.Row
		for _, r := range answer.Schemes {
			if r.Epsilon != nil {
				rows = append(rows, figure.Row{Name: r.Scheme, Method: figure.Named("batches", r.Scheme), Lower: float64(r.Epsilon.Lower), Upper: float64(r.Epsilon.Upper)})
			}
		}
		title := fmt.Sprintf("%s noise, multiplier %s, %s epochs: %s", answer.Mechanism, short(answer.NoiseMultiplier), short(answer.Epochs), answer.Neighbors)
		return figure.Rows(title, "ε at δ = "+short(answer.Delta)+", from an attack to a theorem", rows), nil
	}
	pic := figure.Picture{
		Title: fmt.Sprintf("Aligned privacy profiles: %s, noise multiplier %s", answer.Mechanism, short(answer.NoiseMultiplier)),
		X:     figure.Axis{Label: "ε' / ε", Min: math.Inf(1), Max: math.Inf(-1)}, Y: figure.Axis{Label: "δ' − δ"},
	}
	for _, row := range answer.Schemes {
		if len(row.Aligned) == 0 {
			continue
		}
		b := figure.Band{Name: row.Scheme, Method: figure.Named("batches", row.Scheme)}
		for _, a := range row.Aligned {
			x := a.Epsilon2 / a.Epsilon
			b.Add(x, a.Delta2-a.Delta)
			pic.X.Min, pic.X.Max = min(pic.X.Min, x), max(pic.X.Max, x)
		}
		pic.Bands = append(pic.Bands, b)
	}
	if len(pic.Bands) == 0 {
		return pic, fmt.Errorf("--plot: no scheme of a fixed size exists for these numbers")
	}
	pic.X.Log = pic.X.Min > 0 && pic.X.Max > 20*pic.X.Min
	pic.Bands = append(pic.Bands, figure.Band{Name: "unchanged", X: []float64{pic.X.Min, pic.X.Max}, Proved: []float64{0, 0}, Muted: true})
	return pic, nil
}
