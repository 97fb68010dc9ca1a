package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// An output is the form that a command prints in: text, unless another is asked for. The
// root refuses two at once.
type output struct {
	json, csv, markdown, latex bool
	digits                     int // of the ends of intervals in tables; 0 for as many as tell them apart
}

// forms are the flags of the forms.
var forms = []string{"json", "csv", "markdown", "latex"}

func (o *output) register(cmd *cobra.Command) {
	o.registerJSON(cmd)
	cmd.Flags().BoolVar(&o.csv, "csv", false, "print CSV")
	cmd.Flags().BoolVar(&o.markdown, "markdown", false, "print tables as Markdown")
	cmd.Flags().BoolVar(&o.latex, "latex", false, "print tables as LaTeX, with the rules of booktabs")
	cmd.Flags().IntVar(&o.digits, "digits", 0, "print the ends of intervals in tables with this `number` of digits, rounded outward (default: as many as tell them apart)")
}

// registerJSON defines the flag of a command whose other form is not this file's.
func (o *output) registerJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
}

// print writes v as JSON or CSV, or else calls text with a page of the form. It returns the first error of writing,
// which text need not look at.
func (o *output) print(w io.Writer, v any, text func(io.Writer)) error {
	out := &print.Checked{Writer: w}
	page := &print.Page{W: out, Digits: o.digits}
	switch {
	case o.json:
		return printJSON(w, v)
	case o.csv:
		return print.CSV(w, v)
	case o.markdown:
		page.Style = print.Markdown
	case o.latex:
		page.Style = print.LaTeX
	case o.digits == 0:
		text(out)
		return out.Err
	}
	text(page)
	return out.Err
}

// printJSON writes v as the service does, with indents and an end of line.
func printJSON(w io.Writer, v any) error {
	data, err := service.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// What follows has the rows of CSV, for answers that suit it better in another order than
// that of their JSON.

// intervalRows has a row for each interval; what matrices are made of is no column.
func intervalRows[At any](x service.Intervals[At]) any {
	return print.Named{"neighbors", x.Neighbors, "results", x.Results}
}

// dpsgdRows has a row for each δ, and another for the same run in any order.
func dpsgdRows(d service.DPSGDAnswer) any {
	var rows []any
	for _, e := range d.Results {
		rows = append(rows, print.Named{"", d.DPSGDRun, "sampling", d.Batching, "", e})
	}
	for _, e := range d.AnyOrder.Results {
		rows = append(rows, print.Named{"", d.DPSGDRun, "sampling", "any-order", "", e})
	}
	return rows
}

func shuffleRows(a service.ShuffleAnswer) any { return a.Results }

// riskRows has a row for each measure, and at says of which rate or prior.
func riskRows(r service.RiskAnswer) any {
	var rows []any
	for _, m := range measures(r) {
		rows = append(rows, print.Named{"neighbors", r.Neighbors, "measure", m.key, "at", m.at, "", m.RiskValue, "theory-gap", r.TheoryGap})
	}
	return rows
}

// curveRows has one row for each point, its columns named after the axes.
func curveRows(c service.Curves) any {
	var rows []any
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			row := print.Named{"plan", curve.Plan, "neighbors", curve.Neighbors}
			if c.Kind == service.StepsKind {
				row = append(row, "delta", curve.Delta)
			}
			row = append(row, c.X, p.X, c.Y+"-lower", p.Lower, c.Y+"-estimate", p.Estimate, c.Y+"-upper", p.Upper, "worst-direction", p.WorstDirection)
			if p.RDP != nil {
				row = append(row, "rdp-upper", p.RDP.Upper, "rdp-classic-upper", p.RDP.ClassicUpper)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// majorityRows has a row for each number of votes.
func majorityRows(a *service.MajorityAnswer) any {
	var rows []any
	for votes, gamma := range a.Gamma {
		rows = append(rows, print.Named{"votes", votes, "gamma", gamma})
	}
	return print.Named{"objective", a.Objective, "max-f", a.MaxF, "budget-f", a.BudgetF, "certified", a.Certified, "error", a.Error, "rows", rows}
}

// pateRows has a row for each Rényi order.
func pateRows(a service.PateAnswer) any {
	var rows []any
	for i, order := range a.Orders {
		rows = append(rows, print.Named{"delta", a.Delta, "report", a.Report, "bound", a.Bound, "epsilon", a.Epsilon, "order", a.Order,
			"data-independent-epsilon", a.Independent, "answered", a.Answered,
			"rdp-order", order, "rdp", a.RDP[i], "threshold-rdp", a.Threshold[i], "answer-rdp", a.Answer[i], "guarantee", a.Guarantee})
	}
	return rows
}

// labelRows has a row for each label and output: the law itself.
func labelRows(a *service.LabelAnswer) any {
	var rows []any
	for i, label := range a.Labels {
		for j, output := range a.Outputs {
			rows = append(rows, print.Named{"epsilon", a.Epsilon, "label", label, "prior", a.Prior[i], "output", output, "probability", a.Probabilities[i][j]})
		}
	}
	return rows
}

// What follows prints the tables of certified intervals.

// An answer is an interval for ε at a δ, or for δ at an ε.
type answer struct {
	asked, told string // "δ" and "ε", or "ε" and "δ"
	at          service.Number
	service.Bounds
	service.Basis
}

// answers returns intervals for ε, or for δ, as tables have them.
func answers[At service.EpsilonAt | service.DeltaAt](results []At) (out []answer) {
	for _, r := range results {
		switch r := any(r).(type) {
		case service.EpsilonAt:
			out = append(out, answer{asked: "δ", told: "ε", at: r.Delta, Bounds: r.Epsilon, Basis: r.Basis})
		case service.DeltaAt:
			out = append(out, answer{asked: "ε", told: "δ", at: r.Epsilon, Bounds: r.Delta, Basis: r.Basis})
		}
	}
	return out
}

// warnAbout prints the warnings of an answer.
func warnAbout(w io.Writer, about any) {
	switch x := about.(type) {
	case list:
		for _, one := range x.All() {
			warnAbout(w, one)
		}
	case service.EpsilonAnswer:
		warn(w, answers(x.Results))
	case service.DeltaAnswer:
		warn(w, answers(x.Results))
	case service.DPSGDAnswer:
		warn(w, append(answers(x.Results), answers(x.AnyOrder.Results)...))
	case service.ShuffleAnswer:
		warn(w, answers(x.Results))
	case service.Difference:
		warn(w, answers([]service.EpsilonAt{x.Old, x.New}))
	case service.Solution:
		c := comparedWith(x)
		warn(w, []answer{{asked: c.asked, told: c.told, at: c.at, Basis: service.Basis{Warnings: x.Notes}}})
	case service.SamplingAnswer:
		warnAll(w, samplingWarnings(x.Schemes))
	case service.Curves:
		warnCurves(w, x.Curves)
	case service.LedgerState: // has them among its facts
	default:
		if v := reflect.Indirect(reflect.ValueOf(about)); v.Kind() == reflect.Struct && v.FieldByName("Warnings").IsValid() {
			warnings, _ := v.FieldByName("Warnings").Interface().([]string)
			warnAll(w, warnings)
		}
	}
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
		fmt.Fprintf(w, "%s: in a plan without other steps that choose, better attacks may be known than the one used here.\n", strings.Join(a.Apart, ", "))
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

// titleOfAll returns what stands above answers.
func titleOfAll(answers []answer) string {
	var all []service.Bounds
	for _, a := range answers {
		all = append(all, a.Bounds)
	}
	return titleOf(all...)
}

// printTable prints one line for each answer, and what each width is made of.
func printTable(w io.Writer, answers []answer, verbose bool) {
	tw := print.NewTable(w, 3, 0)
	gap := -1
	for i, a := range answers {
		if i == 0 {
			fmt.Fprintf(tw, "  %s\t%s\testimate\tworst direction\n", a.asked, titleOfAll(answers))
		}
		d := print.Fewer(w, digitsFor(a.Bounds))
		certified := ends(a.Lower, a.Upper, d, " ≤ "+a.told+" ≤ ")
		if a.Lower == a.Upper && (a.Lower == 0 || math.IsInf(float64(a.Lower), 0)) {
			certified = a.told + " = " + short(a.Lower)
		}
		estimate := rounded(a.Estimate, print.Fewer(w, d+1), near)
		if a.Loose {
			estimate = "–"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", short(a.at), certified, estimate, a.WorstDirection)
		if a.TheoryGap && (math.IsInf(float64(a.Upper), 1) || float64(a.Upper-a.Lower) > gapSeen*float64(a.Upper)) {
			gap = i
		}
	}
	tw.Flush()
	if gap >= 0 {
		noteGap(w, answers[gap])
	}
	if !verbose {
		return
	}
	for _, a := range answers {
		b := a.ErrorBudget
		fmt.Fprintf(w, "\nwidth of the interval at %s = %s: %s (engine: %s)\n", a.asked, short(a.at), rounded(a.Upper-a.Lower, 3, up), a.Engine)
		f := print.NewFacts(w, 18)
		for _, part := range []struct {
			name string
			x    service.Number
		}{
			{"discretization", b.Discretization}, {"quadrature", b.Quadrature}, {"truncation", b.Truncation}, {"aliasing", b.Aliasing},
			{"round-off", b.RoundOff}, {"theory gap", b.TheoryGap},
		} {
			f.Add("  "+part.name, "%s", rounded(part.x, 3, up))
		}
		f.Flush()
	}
}

// warning starts a line of warning on standard error.
func warning(w io.Writer) string {
	return "accountant: " + print.Paint(w, print.Yellow, "warning") + ": "
}

// The numbers of tables.
const (
	down = decimal.Down
	near = decimal.Near
	up   = decimal.Up
)

// short is the shortest decimal that reads back as x.
func short[F ~float64](x F) string { return decimal.Short(float64(x)) }

// rounded writes x with a number of digits, so that a bound stays one.
func rounded[F ~float64](x F, digits int, dir decimal.Direction) string {
	return decimal.Rounded(float64(x), digits, dir)
}

// digitsFor returns how many digits tell the ends of an interval apart.
func digitsFor(b service.Bounds) int { return decimal.Apart(float64(b.Lower), float64(b.Upper)) }

// ends writes an interval with a text between its ends. They have so many digits, or for 0 as many as tell them apart.
func ends[F ~float64](lower, upper F, digits int, between string) string {
	digits = cmp.Or(digits, decimal.Apart(float64(lower), float64(upper)))
	return rounded(lower, digits, down) + between + rounded(upper, digits, up)
}

// tabled is ends in a table, where fewer digits may be asked for.
func tabled[F ~float64](w io.Writer, lower, upper F, digits int, between string) string {
	return ends(lower, upper, print.Fewer(w, cmp.Or(digits, decimal.Apart(float64(lower), float64(upper)))), between)
}

// show quotes what is no number.
func show(text string) string { return decimal.Show(text) }

// oneLine is text as a message has it.
func oneLine(text string) string { return fault.Line(text) }
