package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
)

func newEpsilonCmd() *cobra.Command {
	return question{name: "epsilon", what: "computing", verbose: true, recursion: "2000", except: []string{"certificate"}, text: printing(printIntervals[service.EpsilonAt]), rows: listing(intervalRows[service.EpsilonAt]), extra: func(a *asking) {
		follow := followFlags{}
		q, cmd, compute := a.request.(*service.EpsilonRequest), a.cmd, a.compute
		certificate := a.outFlag("certificate", "write to this `file` what another program needs to prove the interval anew, at one δ (docs/reference/certificates.md)", func(answer any) ([]byte, error) {
			x, _ := answer.(service.EpsilonAnswer)
			return []byte(x.Certificate), nil
		})
		follow.register(cmd)
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().Changed("follow") {
				return nil
			}
			return planArg(cmd, args)
		}
		a.read = func() error {
			if q.Certificate = *certificate != ""; follow.log != "" {
				a.meter = "off" // there is an answer to every line
			}
			return follow.check(cmd, a.output, *q, a.args)
		}
		a.compute = func(ctx context.Context, s *service.Service, m *meter) (any, error) {
			if follow.log != "" {
				return nil, follow.run(ctx, a, service.FollowRequest{Plan: q.Plan, Delta: q.Delta, Narrowing: q.Narrowing, Limits: q.Limits})
			}
			return compute(ctx, s, m)
		}
		a.wrote = func(answer any) (any, error) {
			x, ok := answer.(service.EpsilonAnswer)
			if !ok {
				return answer, nil
			}
			x.Certificate = "" // which is in the file
			return x, nil
		}
	}}.command()
}

// printIntervals prints a table of intervals.
func printIntervals[At service.EpsilonAt | service.DeltaAt](w io.Writer, x service.Intervals[At], a *asking) {
	if x.Method != "" {
		printBounds(w, x.Unit.Text(), x.Method, answers(x.Results))
		return
	}
	fmt.Fprintf(w, "neighbors: %s\n\n", x.Unit.Text())
	printTable(w, answers(x.Results), a.detail)
	if a.detail {
		printMatrices(w, x.Matrix)
	}
}

// printMatrices prints what the prices of matrix mechanisms are made of.
func printMatrices(w io.Writer, runs []service.MatrixRun) {
	for _, r := range runs {
		name := ""
		if r.Name != "" {
			name = ", " + r.Name
		}
		fmt.Fprintf(w, "\nmatrix at %s%s:\n", r.Step, name)
		if r.Sensitivity != nil {
			fmt.Fprintf(w, "  sensitivity in [%s], effective noise multiplier %s\n", ends(r.Sensitivity.Lower, r.Sensitivity.Upper, 12, ", "), rounded(*r.EffectiveNoise, 6, near))
		}
		if r.WorstGroup != nil {
			fmt.Fprintf(w, "  group %d costs most:\n", *r.WorstGroup)
		}
		for _, b := range r.Blocks[:min(len(r.Blocks), maxBlocks)] {
			fmt.Fprintf(w, "  %d × norm %s, effective noise multiplier %s\n", b.Count, rounded(b.Norm.Upper, 9, up), rounded(b.EffectiveNoise, 6, near))
		}
		if more := len(r.Blocks) - maxBlocks; more > 0 {
			fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
}

// maxBlocks is how many different blocks are printed; --json has all.
const maxBlocks = 10

// printBounds prints upper ends that are all that is proved.
func printBounds(w io.Writer, neighbors, method string, answers []answer) {
	label := "method"
	if method == service.RDPAccountant {
		label = "accountant"
	}
	fmt.Fprintf(w, "neighbors: %s\n%s: %s (upper bounds)\n\n", neighbors, label, method)
	t := print.NewTable(w, 3, 0)
	for i, a := range answers {
		head, order := "", ""
		if a.Order != 0 {
			head, order = "\torder", "\t"+rounded(a.Order, 4, near)
		}
		if i == 0 {
			fmt.Fprintf(t, "  %s\tproved%s\n", a.asked, head)
		}
		fmt.Fprintf(t, "  %s\t%s ≤ %s%s\n", short(a.at), a.told, rounded(a.Upper, 6, up), order)
	}
	t.Flush()
}

func newDPSGDCmd() *cobra.Command {
	return question{name: "dpsgd", what: "computing", verbose: true, text: printing(printDPSGD), rows: listing(dpsgdRows), extra: func(a *asking) {
		inPlaceOf(a.cmd, "--noise-multiplier")
		showPreset(a.cmd, "neighbors", "add-remove") // or that of the batching
		a.read = func() error {
			if a.request.(*service.DPSGDRequest).NoiseMultiplier == "" {
				a.what = "calibrating"
			}
			return nil
		}
	}}.command()
}

// inPlaceOf says of the flags of a budget on membership inference which others they stand for.
func inPlaceOf(cmd *cobra.Command, others string) {
	for _, name := range []string{"target-advantage", "target-tpr"} {
		f := cmd.Flags().Lookup(name)
		f.Usage = "in place of " + others + ": " + f.Usage
	}
}

func printDPSGD(w io.Writer, x service.DPSGDAnswer, a *asking) {
	fmt.Fprintf(w, "DP-SGD: noise multiplier %s, %s; neighbors: %s\n\n", short(x.NoiseMultiplier), batches(x), service.Unit{Neighbors: x.Neighbors, RecordsPerPerson: x.RecordsPerPerson}.Text())
	if c := x.Calibration; c != nil {
		fmt.Fprintf(w, "target: %s\n", comparedWith(*c).budget)
		printCalibration(w, *c, false)
		fmt.Fprintln(w)
	}
	printTable(w, answers(x.Results), a.detail)
	fmt.Fprintf(w, "\n%s", x.Statement)
}

// batches says in a few words which batches there are.
func batches(r service.DPSGDAnswer) string {
	drawn := r.Batching
	switch r.Batching {
	case service.RandomAllocation, service.Shuffle:
		drawn += fmt.Sprintf(", %s an epoch", steps(r.StepsPerEpoch))
	case service.TruncatedPoisson:
		drawn = fmt.Sprintf("sampling rate %s, cap %d", short(r.SamplingRate), r.Cap)
	case service.Poisson:
		drawn = "sampling rate " + short(r.SamplingRate)
	}
	return drawn + ", " + steps(r.Steps)
}

// steps returns a number of steps and the word.
func steps(n int64) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

func printShuffle(w io.Writer, x service.ShuffleAnswer, a *asking) {
	rounds := "1 round"
	if x.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", x.Rounds)
	}
	fmt.Fprintf(w, "Shuffle model: %s with local ε %s, %d users, %s; neighbors: %s\n\n", x.Randomizer, short(x.Local), x.Users, rounds, x.Neighbors)
	printTable(w, answers(x.Results), a.detail)
	fmt.Fprintf(w, "\n%s", x.Statement)
}

func newGDPCmd() *cobra.Command {
	cmd := question{name: "gdp", what: "computing", text: printing(printGDP)}.command()
	cmd.AddCommand(question{name: "solve", op: "gdp-solve", what: "calibrating", text: printing(printGDPSolution)}.command())
	return cmd
}

func printGDP(w io.Writer, a service.GDPAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\n\n  %s at tolerance %s %s\n  regret ≤ %s\n", a.Unit.Text(),
		ends(a.Mu.Lower, a.Mu.Upper, 0, " ≤ μ ≤ "), short(a.Tolerance), titleOf(a.Mu), rounded(a.Regret.Upper, 3, up))
}

func printGDPSolution(w io.Writer, a service.GDPSolution, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\nbudget: μ ≤ %s at tolerance %s\n\n", a.Unit.Text(), short(a.Budget), short(a.Tolerance))
	for _, x := range a.Settings {
		fmt.Fprintf(w, "  %s %s: %s\n", x.Step, cmp.Or(x.Quantity, a.Solve), short(x.Value))
	}
	fmt.Fprintf(w, "  %s %s: %s %s\n", a.Solve, short(a.Value), ends(a.Mu.Lower, a.Mu.Upper, 0, " ≤ μ ≤ "), titleOf(a.Mu))
}

// mostRows is how many rows of a table are printed as text; --json has all.
const mostRows = 20

func printFilter(w io.Writer, a service.FilterAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\nunits: %d, each step chosen by the results so far\n\n", a.Unit.Text(), a.Units)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintln(t, "type\tcost\truns\talone\tefficiency\t")
	for _, x := range a.Types {
		alone, efficiency := "–", "–"
		if x.Alone != nil {
			alone, efficiency = fmt.Sprintf("%.2f", *x.Alone), fmt.Sprintf("%.3f", *x.Efficiency)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t\n", printable(x.Name), x.Cost, x.Runs, alone, efficiency)
	}
	t.Flush()
	if a.Without != "" {
		fmt.Fprintf(w, "most efficient without %s\n", printable(a.Without))
	}
	fmt.Fprintln(w)
	for _, x := range a.Deltas {
		fmt.Fprintf(w, "  %s at ε = %s %s\n", ends(x.Delta.Lower, x.Delta.Upper, 6, " ≤ δ ≤ "), short(x.Epsilon), titleOf(x.Delta))
	}
	for _, x := range a.Epsilons {
		fmt.Fprintf(w, "  %s at δ = %s %s\n", ends(x.Epsilon.Lower, x.Epsilon.Upper, 6, " ≤ ε ≤ "), short(x.Delta), titleOf(x.Epsilon))
	}
	printRows(w, a.Odometer, "had the budget been these units, at δ = %s:", a.Units)
	printRows(w, a.Levels, "fixed beforehand, what may be shown at the stop (δ = %s each):", 0)
}

// printRows prints ε of some units; those of the budget, if there is one, are the promise.
func printRows(w io.Writer, rows []service.FilterRow, title string, budget int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, title+"\n", short(rows[0].Delta))
	printUnits(w, len(rows), func(i int) (units int, cost, mark string) {
		if rows[i].Units == budget {
			mark = "the promise"
		}
		return rows[i].Units, tabled(w, rows[i].Epsilon.Lower, rows[i].Epsilon.Upper, 6, " ≤ ε ≤ "), mark
	})
}

// printUnits prints what some of n numbers of units of a menu cost: those with a mark, the last, and others at equal distances
// from it.
func printUnits(w io.Writer, n int, row func(i int) (units int, cost, mark string)) {
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	every := max(1, (n+mostRows-1)/mostRows)
	for i := range n {
		if units, cost, mark := row(i); units > 0 && (mark != "" || (n-1-i)%every == 0) {
			fmt.Fprintf(t, "%d\t%s\t%s\t\n", units, cost, mark)
		}
	}
	t.Flush()
}

// A measure is one of the best attack, at a rate or with a prior.
type measure struct {
	key, drawn, told string // in CSV, in pictures and in tables
	at               *service.Number
	service.RiskValue
}

// measures lists those of an answer.
func measures(r service.RiskAnswer) []measure {
	all := []measure{{"advantage", "advantage", "advantage", nil, r.Advantage}}
	for _, v := range r.TruePositive {
		rate := percent(float64(v.FalsePositive))
		all = append(all, measure{key: "true-positive-rate", drawn: "true positives at " + rate + " false ones", told: "true-positive rate at " + rate + " false positives", at: &v.FalsePositive, RiskValue: v.RiskValue})
	}
	for _, v := range r.Bayes {
		prior := "right with prior " + percent(float64(v.Prior))
		all = append(all, measure{key: "bayes-success", drawn: prior, told: "probability to guess " + prior, at: &v.Prior, RiskValue: v.RiskValue})
	}
	return all
}

// riskPicture has a row for each measure of the attack.
func riskPicture(r service.RiskAnswer) figure.Picture {
	var rows []figure.Row
	for _, m := range measures(r) {
		rows = append(rows, figure.Row{Name: m.drawn, Lower: float64(m.Lower), Upper: float64(m.Upper)})
	}
	return figure.Rows("The best attacker, "+r.Unit.Text(), "probability (advantage: difference of two)", rows)
}

func printRisk(w io.Writer, r service.RiskAnswer, _ *asking) {
	fmt.Fprintf(w, "neighbors: %s\n\n", r.Unit.Text())
	tw := print.NewTable(w, 3, 0)
	fmt.Fprintf(tw, "  the best attacker's\t%s\tworst direction\n", titleOf(r.Advantage.Bounds))
	for _, m := range measures(r) {
		certified := tabled(w, m.Lower, m.Upper, 0, " … ")
		if m.Lower == m.Upper {
			certified = short(m.Upper)
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", m.told, certified, m.WorstDirection)
	}
	tw.Flush()
	if r.TheoryGap {
		fmt.Fprint(w, gapNote)
	}
	fmt.Fprintln(w, "\nWithout the release: advantage 0, true-positive rate = false-positive rate, and\nright as often as the likelier data set comes up. The best attacker can always guess\nthat way, so that no end is below.")
}

// percent writes a probability the way people say it.
func percent(p float64) string {
	if p < 1e-4 {
		return short(p)
	}
	return rounded(100*p, 6, near) + " %"
}

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
			kind, value = titleOf(b), tabled(w, b.Lower, b.Upper, 0, " ≤ ε ≤ ")
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

func newCalibrateCmd() *cobra.Command {
	return question{name: "calibrate", what: "calibrating", verbose: true, recursion: "0", text: printing(printSolution), extra: func(a *asking) {
		q := a.request.(*service.CalibrateRequest)
		inPlaceOf(a.cmd, "--epsilon and --delta")
		reword(a.cmd, "recursion", "seconds", "a minute or more")
		a.cmd.Flags().Lookup("accuracy").Usage = "relative `width` of the intervals that decide (default 5e-7, or what can be had)"
		write := a.outFlag("write", "write the plan with the value that was found to this `file`; it may be the plan itself", func(answer any) ([]byte, error) {
			return answer.(service.Answers[service.Solution]).Results[0].Write(*q)
		}, planEndings...)
		a.files[len(a.files)-1].inPlace = true
		a.read = func() error {
			if n := a.answers(); n > 1 && *write != "" {
				return fault.New("--write", "writes one plan, and there are %d answers", n)
			}
			return nil
		}
	}}.command()
}

// printSolution prints what meets a budget.
func printSolution(w io.Writer, x service.Solution, a *asking) {
	fmt.Fprintf(w, "neighbors: %s\nbudget: %s\n\n", x.Unit.Text(), comparedWith(x).budget)
	printCalibration(w, x, a.detail)
	if x.TheoryGap && x.CanNarrow && a.request.(*service.CalibrateRequest).Recursion == "0" {
		fmt.Fprint(w, "--recursion 2000 narrows the gap, and so can find a better value; it takes a minute\nor more where a step runs 1000 times.\n")
	}
}

// A compared is what a calibration compares with its budget.
type compared struct {
	asked, told string // as of an answer
	at          service.Number
	budget      string
}

// comparedWith returns what is compared with the budget, and the budget in words.
func comparedWith(a service.Solution) compared {
	switch {
	case a.Attack != nil && a.Attack.Advantage != nil:
		return compared{asked: "ε", told: "advantage", at: 0, budget: "advantage ≤ " + short(*a.Attack.Advantage)}
	case a.Attack != nil:
		return compared{asked: "false-positive rate", told: "true-positive rate", at: *a.Attack.FalsePositive,
			budget: fmt.Sprintf("true-positive rate ≤ %s at a false-positive rate of %s", short(*a.Attack.TruePositive), short(*a.Attack.FalsePositive))}
	}
	budget := fmt.Sprintf("ε ≤ %s at δ = %s", short(a.Budget.Epsilon), short(a.Budget.Delta))
	if a.Meets.Delta != nil {
		return compared{asked: "ε", told: "δ", at: a.Budget.Epsilon, budget: budget}
	}
	return compared{asked: "δ", told: "ε", at: a.Budget.Delta, budget: budget}
}

// certified is what is certified at a probe.
func certified(p service.Probe) service.Bounds {
	return *cmp.Or(p.Epsilon, p.Delta, p.TruePositive)
}

// printCalibration prints the value with its bracket.
func printCalibration(w io.Writer, a service.Solution, verbose bool) {
	what := a.Solve
	if a.Factor {
		what = "common factor on " + what
	}
	fmt.Fprintf(w, "%s: %s\n", what, short(a.Value))
	if a.Unlimited {
		fmt.Fprintf(w, "\nThe least private value allowed meets the budget: nothing limits it.\n")
	}
	t := print.NewTable(w, 3, 0).Headless()
	all := []service.Bounds{certified(a.Meets)}
	if a.Fails != nil {
		all = append(all, certified(*a.Fails))
	}
	fmt.Fprintf(t, "  %s\t%s\tbudget\n", what, titleOf(all...))
	for i, p := range []*service.Probe{&a.Meets, a.Fails} {
		if p == nil {
			continue
		}
		b := certified(*p)
		verdict := []string{"meets the budget", "does not"}[i]
		below := print.Fewer(w, digitsFor(b))
		above := below
		if p.Proved != nil { // the verdict is on the upper end, which is known better
			above = print.Fewer(w, digitsFor(*p.Proved))
		}
		fmt.Fprintf(t, "  %s\t%s ≤ %s ≤ %s\t%s\n", short(p.Value), rounded(b.Lower, below, down), comparedWith(a).told, rounded(b.Upper, above, up), verdict)
	}
	t.Flush()
	switch {
	case a.TheoryGap:
		fmt.Fprint(w, gapNote, "The budget is compared with the upper end.\n")
	case a.Fails != nil && !a.FailsProved && !a.Early:
		fmt.Fprintf(w, "\nThe interval of the second reaches below the budget: that it fails is not proved.\nWhat its width is worth, the first may be too careful.\n")
	}
	if a.Factor || len(a.Steps) > 1 {
		fmt.Fprintln(w)
		f := print.NewFacts(w, 0)
		for _, s := range a.Steps {
			label := s.Path
			if s.Name != "" {
				label += " (" + oneLine(s.Name) + ")"
			}
			f.Add("  "+label+": ", "%s %s", cmp.Or(s.Quantity, a.Solve), short(s.Value))
		}
		f.Flush()
	}
	if verbose {
		fmt.Fprintf(w, "\n%d evaluations; the last at an accuracy of %s\n", a.Evaluations, short(a.Accuracy))
	}
}
