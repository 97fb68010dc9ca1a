package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/fourier"
)

// This file prints the tables of certified intervals.

// An answer is an interval for ε at a δ, or for δ at an ε.
type answer struct {
	asked, told string // "δ" and "ε", or "ε" and "δ"
	at          service.Number
	service.Bounds
	service.Basis
}

func epsilonAnswers(results []service.EpsilonAt) (answers []answer) {
	for _, r := range results {
		answers = append(answers, answer{"δ", "ε", r.Delta, r.Epsilon, r.Basis})
	}
	return answers
}

func deltaAnswers(results []service.DeltaAt) (answers []answer) {
	for _, r := range results {
		answers = append(answers, answer{"ε", "δ", r.Epsilon, r.Delta, r.Basis})
	}
	return answers
}

// warn prints the warnings of all answers.
func warn(w io.Writer, answers []answer) {
	var texts []string
	for _, a := range answers {
		for _, text := range a.Warnings {
			texts = append(texts, fmt.Sprintf("at %s = %s: %s", a.asked, short(a.at), text))
		}
	}
	warnAll(w, texts)
}

// warnAll prints warnings, the first of those that differ in the width of an interval alone.
func warnAll(w io.Writer, texts []string) {
	seen := map[string]bool{}
	for _, text := range texts {
		if reason := fourier.Reason(text); !seen[reason] {
			seen[reason] = true
			fmt.Fprintf(w, "%s%s\n", warning(w), oneLine(text))
		}
	}
}

// gapSeen is the part of an upper end below which a gap in theory is not told of: the finest accuracy that can be
// asked for.
const gapSeen = 1e-12

// gapNote says what the ends of an interval mean where theory leaves a gap.
const gapNote = `
The upper end is proved; the lower end is what known attacks reach. Between the
two nothing is proved.
`

// noteGap prints gapNote, and which steps the attacks of an answer leave out.
func noteGap(w io.Writer, a answer) {
	fmt.Fprint(w, gapNote)
	if len(a.Unattacked) > 0 {
		fmt.Fprintf(w, "%s: no attack is known here, so that its runs count as nothing in the lower end.\n", strings.Join(a.Unattacked, ", "))
	}
	if len(a.Apart) > 0 {
		fmt.Fprintf(w, "%s: where nothing else runs, better attacks may be known than the one used here.\n", strings.Join(a.Apart, ", "))
	}
}

// titleOf returns what stands above intervals, or behind one: that both ends are proved, or that one has no upper end.
func titleOf(all ...service.Bounds) string {
	for _, b := range all {
		if math.IsInf(float64(b.Upper), 1) && !math.IsInf(float64(b.Lower), 1) {
			return "not bounded from above"
		}
	}
	return "certified"
}

// printTable prints one line for each answer, and what each width is made of.
func printTable(w io.Writer, answers []answer, verbose bool) error {
	tw := newTable(w, 3, 0)
	gap := -1
	var all []service.Bounds
	for _, a := range answers {
		all = append(all, a.Bounds)
	}
	for i, a := range answers {
		if i == 0 {
			fmt.Fprintf(tw, "  %s\t%s\testimate\tworst direction\n", a.asked, titleOf(all...))
		}
		d := digitsFor(a.Bounds)
		certified := fmt.Sprintf("%s ≤ %s ≤ %s", rounded(a.Lower, d, down), a.told, rounded(a.Upper, d, up))
		if a.Lower == a.Upper && (a.Lower == 0 || math.IsInf(float64(a.Lower), 0)) {
			certified = a.told + " = " + short(a.Lower)
		}
		estimate := rounded(a.Estimate, d+1, near)
		if a.Loose {
			estimate = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", short(a.at), certified, estimate, a.WorstDirection)
		if a.TheoryGap && (math.IsInf(float64(a.Upper), 1) || float64(a.Upper-a.Lower) > gapSeen*float64(a.Upper)) {
			gap = i
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if gap >= 0 {
		noteGap(w, answers[gap])
	}
	if !verbose {
		return nil
	}
	for _, a := range answers {
		b := a.ErrorBudget
		fmt.Fprintf(w, "\nwidth of the interval at %s = %s: %s (engine: %s)\n", a.asked, short(a.at), rounded(a.Upper-a.Lower, 3, up), a.Engine)
		f := newFacts(w, 18)
		for _, part := range []struct {
			name string
			x    service.Number
		}{
			{"discretization", b.Discretization}, {"quadrature", b.Quadrature}, {"truncation", b.Truncation}, {"aliasing", b.Aliasing},
			{"round-off", b.RoundOff}, {"theory gap", b.TheoryGap},
		} {
			f.add("  "+part.name, "%s", rounded(part.x, 3, up))
		}
		if err := f.Flush(); err != nil {
			return err
		}
	}
	return nil
}
