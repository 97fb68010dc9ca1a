package main

import (
	"bytes"
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
	return struct {
		Neighbors string `json:"neighbors"`
		Results   []At   `json:"results"`
	}{x.Neighbors, x.Results}
}

// dpsgdRows has a row for each δ, and another for the same run in any order.
func dpsgdRows(d service.DPSGDAnswer) any {
	type row struct {
		service.DPSGDRun
		Sampling string `json:"sampling"`
		service.EpsilonAt
	}
	var rows []row
	for _, e := range d.Results {
		rows = append(rows, row{d.DPSGDRun, d.Batching, e})
	}
	for _, e := range d.AnyOrder.Results {
		rows = append(rows, row{d.DPSGDRun, "any-order", e})
	}
	return rows
}

func shuffleRows(a service.ShuffleAnswer) any { return a.Results }

// riskRows has a row for each measure, and at says of which rate or prior.
func riskRows(r service.RiskAnswer) any {
	type row struct {
		Neighbors string          `json:"neighbors"`
		Measure   string          `json:"measure"`
		At        *service.Number `json:"at"`
		service.RiskValue
		TheoryGap bool `json:"theory-gap"`
	}
	rows := []row{{r.Neighbors, "advantage", nil, r.Advantage, r.TheoryGap}}
	for _, v := range r.TruePositive {
		rows = append(rows, row{r.Neighbors, "true-positive-rate", &v.FalsePositive, v.RiskValue, r.TheoryGap})
	}
	for _, v := range r.Bayes {
		rows = append(rows, row{r.Neighbors, "bayes-success", &v.Prior, v.RiskValue, r.TheoryGap})
	}
	return rows
}

// curveRows has one row for each point, its columns named after the axes.
func curveRows(c service.Curves) any {
	t := print.Rows{Columns: []string{"plan", "neighbors", c.X, c.Y + "-lower", c.Y + "-estimate", c.Y + "-upper", "worst-direction"}}
	rdp := false
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			rdp = rdp || p.RDP != nil
		}
	}
	if rdp {
		t.Columns = append(t.Columns, "rdp-upper", "rdp-classic-upper")
	}
	for _, curve := range c.Curves {
		for _, p := range curve.Points {
			row := []string{curve.Plan, curve.Neighbors, p.X.String(), p.Lower.String(), p.Estimate.String(), p.Upper.String(), p.WorstDirection}
			switch {
			case p.RDP != nil:
				row = append(row, p.RDP.Upper.String(), p.RDP.ClassicUpper.String())
			case rdp:
				row = append(row, "", "")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// majorityRows has a row for each number of votes.
func majorityRows(a *service.MajorityAnswer) any {
	type row struct {
		Votes int     `json:"votes"`
		Gamma float64 `json:"gamma"`
	}
	var t struct {
		Objective float64            `json:"objective"`
		MaxF      float64            `json:"max-f"`
		BudgetF   float64            `json:"budget-f"`
		Certified bool               `json:"certified"`
		Error     map[string]float64 `json:"error"`
		Rows      []row
	}
	t.Objective, t.MaxF, t.BudgetF, t.Certified, t.Error = a.Objective, a.MaxF, a.BudgetF, a.Certified, a.Error
	for votes, gamma := range a.Gamma {
		t.Rows = append(t.Rows, row{votes, gamma})
	}
	return t
}

// pateRows has a row for each Rényi order.
func pateRows(a service.PateAnswer) any {
	type row struct {
		Delta       float64 `json:"delta"`
		Report      string  `json:"report"`
		Bound       bool    `json:"bound"`
		Epsilon     float64 `json:"epsilon"`
		Order       float64 `json:"order"`
		Independent float64 `json:"data-independent-epsilon"`
		Answered    float64 `json:"answered"`
		At          float64 `json:"rdp-order"`
		RDP         float64 `json:"rdp"`
		Threshold   float64 `json:"threshold-rdp"`
		Answer      float64 `json:"answer-rdp"`
		Guarantee   string  `json:"guarantee"`
	}
	rows := make([]row, len(a.Orders))
	for i, order := range a.Orders {
		rows[i] = row{a.Delta, a.Report, a.Bound, a.Epsilon, a.Order, a.Independent, a.Answered, order, a.RDP[i], a.Threshold[i], a.Answer[i], a.Guarantee}
	}
	return rows
}

// labelRows has a row for each label and output: the law itself.
func labelRows(a *service.LabelAnswer) any {
	type row struct {
		Epsilon     float64 `json:"epsilon"`
		Label       float64 `json:"label"`
		Prior       float64 `json:"prior"`
		Output      float64 `json:"output"`
		Probability float64 `json:"probability"`
	}
	rows := []row{}
	for i, label := range a.Labels {
		for j, output := range a.Outputs {
			rows = append(rows, row{a.Epsilon, label, a.Prior[i], output, a.Probabilities[i][j]})
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
			out = append(out, answer{"δ", "ε", r.Delta, r.Epsilon, r.Basis})
		case service.DeltaAt:
			out = append(out, answer{"ε", "δ", r.Epsilon, r.Delta, r.Basis})
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
		warn(w, answers(x.Results))
		warn(w, answers(x.AnyOrder.Results))
	case service.ShuffleAnswer:
		warn(w, answers(x.Results))
	case service.Difference:
		warn(w, answers([]service.EpsilonAt{x.Old, x.New}))
	case service.Solution:
		c := comparedWith(x)
		warn(w, []answer{{asked: c.asked, told: c.told, at: c.at, Basis: service.Basis{Warnings: x.Notes}}})
	case service.SamplingAnswer:
		for _, text := range samplingWarnings(x.Schemes) {
			fmt.Fprintf(w, "%s%s\n", warning(w), text)
		}
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

// printTable prints one line for each answer, and what each width is made of.
func printTable(w io.Writer, answers []answer, verbose bool) {
	tw := print.NewTable(w, 3, 0)
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
		certified := ends(a.Lower, a.Upper, d, " ≤ "+a.told+" ≤ ")
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
