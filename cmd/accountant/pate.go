package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/dpaccountant/accountant/rdp"
)

func newPateCmd() *cobra.Command {
	return group("pate",
		// Its votes are no secret.
		question{name: "calibrate", op: "pate-calibrate", what: "searching", progress: true, under: true, text: printing(writePateCalibration), extra: func(a *asking) {
			a.read = ofBallots(a, "synthetic or public votes", &a.request.(*service.PateCalibrateRequest).Ballots)
		}}.command(),
		newPateAnalyzeCmd(),
		question{name: "publish", op: "pate-publish", what: "smooth bound", progress: true, except: []string{"price"}, text: printing(writePatePublish), extra: func(a *asking) {
			aboutVotes(a, &a.request.(*service.PatePublishRequest).PateVotes)
		}}.command(),
		question{name: "smooth", op: "pate-smooth", what: "smooth sensitivity", progress: true, except: []string{"price"}, text: printing(writePateSmooth), extra: func(a *asking) {
			aboutVotes(a, &a.request.(*service.PateSmoothRequest).PateVotes)
		}}.command(),
		newPateSynthCmd(), newPateAnswerCmd())
}

// ofBallots adds the file of votes to a question. The function it returns checks the request, whose ballots they are, and reads them.
func ofBallots(a *asking, votes string, q *service.Ballots) func() error {
	form := "counts"
	file := fileFlag(a.cmd, "votes", "`file` of "+votes+", CSV or NPY: a row per query, a column per class (required)", "csv", "npy")
	addChoice(a.cmd, &form, "format", "what the votes file holds: counts, or labels (a row per teacher, a column per query)", "counts", "labels")
	required(a.cmd, "votes")
	a.late = true
	return func() (err error) {
		q.Labels = form == "labels"
		if err := service.Check(a.request); err != nil {
			return flagged(a.cmd, err)
		}
		q.Table, err = readFile(a.cmd, *file, func(in io.Reader) (*ballots.Votes, error) {
			return ballots.ReadVotes(in, ballots.Format{Labels: q.Labels, Classes: q.Classes, Teachers: q.Teachers})
		})
		return err
	}
}

// baselineFlag defines the flag of the student's scores.
func baselineFlag(a *asking) *string {
	return fileFlag(a.cmd, "baseline", "`file` of the student's scores, for interactive", "csv", "npy")
}

// aboutVotes adds the files of votes, and of what goes with them, to a question.
func aboutVotes(a *asking, q *service.PateVotes) {
	read, baseline := ofBallots(a, "votes", &q.Ballots), baselineFlag(a)
	answered := fileFlag(a.cmd, "answered", "`file` that tells which queries were answered: a 0 or 1 per query, or their numbers from 0")
	a.read = func() (err error) {
		if a.cmd.Flags().Changed("baseline") {
			q.Scores = &ballots.Scores{} // of the file
		}
		if err := read(); err != nil {
			return err
		}
		votes := q.Table
		if q.Queries != nil {
			if votes, err = q.Table.First(*q.Queries); err != nil {
				return flagged(a.cmd, err)
			}
		}
		if q.Scores = nil; *baseline != "" {
			q.Scores, err = readFile(a.cmd, *baseline, func(in io.Reader) (*ballots.Scores, error) {
				return ballots.ReadScores(in, votes.Teachers(), q.BaselineKind == "votes")
			})
		}
		if err == nil && *answered != "" {
			q.Answered, err = readFile(a.cmd, *answered, func(in io.Reader) ([]bool, error) { return ballots.ReadAnswered(in, votes.Queries()) })
		}
		return err
	}
}

// spread returns the numbers of a list with commas, or, with something else between them, those from the first to the last by a step of
// 1 or that of the third: at most so many. The last is reached where rounding alone leaves it out.
func spread(key, text, between string, most int) (numbers []float64, err error) {
	separator := ","
	if strings.Contains(text, between) {
		separator = between
	}
	for part := range strings.SplitSeq(text, separator) {
		x, err := decimal.Plain(strings.TrimSpace(part))
		if err != nil {
			return nil, fault.New(key, "%q is not a finite number", strings.TrimSpace(part))
		}
		numbers = append(numbers, x)
	}
	if separator == "," {
		return numbers, nil
	}
	first, last, step := numbers[0], numbers[1], 1.0
	if len(numbers) > 2 {
		step = numbers[2]
	}
	n := math.Floor((last-first)/step + 1e-9)
	if !(step > 0 && n >= 0 && n < float64(most)) || len(numbers) > 3 {
		return nil, fault.New(key, "%q does not make between 1 and %d %s", text, most, strings.TrimLeft(key, "-"))
	}
	numbers = nil
	for i := range int(n) + 1 {
		numbers = append(numbers, first+float64(i)*step)
	}
	return numbers, nil
}

const pateNotSafe = "NOT SAFE TO PUBLISH"

const pateNotSafeWhy = ": this depends on the private votes (see accountant pate publish)"

func newPateAnalyzeCmd() *cobra.Command {
	return question{name: "analyze", op: "pate", what: "accounting", progress: true, under: true, picture: "ε against answered queries", width: 16, height: 10,
		text: printing(writePate), draw: patePicture, rows: listing(pateRows), extra: func(a *asking) {
			q, orders := a.request.(*service.PateRequest), ""
			aboutVotes(a, &q.PateVotes)
			showPreset(a.cmd, "price", "best")
			a.cmd.Flags().StringVar(&orders, "orders", "", "Rényi `orders`: first:last:step or a list with commas (default 1.5:100:0.5, and larger ones where the best is the last)")
			read := a.read
			a.read = func() (err error) {
				if orders != "" {
					q.Orders, err = spread("--orders", orders, ":", 100_000)
				}
				if err != nil {
					return err
				}
				return read()
			}
		}}.command()
}

// pateEpsilon writes ε so that a bound stays one.
func pateEpsilon(x service.PateLine) string {
	if x.Cost.Report == pate.ExpectedNotABound {
		return rounded(x.Epsilon, 6, near)
	}
	return rounded(x.Epsilon, 6, up)
}

func writePate(w io.Writer, a service.PateAnswer, _ *asking) {
	r := a.Run
	f := print.NewFacts(w, 11)
	f.Add("mechanism", "%v", r.Aggregator)
	f.Add("votes", "%d queries, %d classes, %d teachers", r.Votes.Queries(), r.Votes.Classes(), r.Votes.Teachers())
	for _, x := range r.Notes {
		f.Add(print.Paint(w, print.Yellow, "warning")+"    ", "%s", x)
	}
	kind := a.Guarantee
	switch {
	case a.Head.Cost.ExPost:
		kind += ", " + print.Paint(w, print.Red, "NOT AN (ε, δ) BOUND") + " of what ran"
	case a.Head.Cost.Report == pate.ExpectedNotABound:
		kind = "an estimate, " + print.Paint(w, print.Red, "NOT A BOUND")
	}
	f.Add("epsilon", "%s at delta %s (%v report: %s)", pateEpsilon(a.Head), short(a.Delta), a.Head.Cost.Report, kind)
	f.Flush()
	fmt.Fprintln(w)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintf(t, "report\tepsilon\torder\tcost of checks\tof answers\tanswered\t\n")
	for _, x := range a.Lines {
		answered := fmt.Sprintf("%.0f", x.Cost.Answered)
		if x.Cost.Report == pate.ExpectedNotABound {
			answered = fmt.Sprintf("%.2f", x.Cost.Answered)
		}
		name := string(x.Cost.Report)
		switch {
		case x.Cost.ExPost:
			name += " (ex post)"
		case !x.Cost.Bound():
			name += " (not a bound)"
		}
		order, check, label := fmt.Sprintf("%.5g", x.Order), fmt.Sprintf("%.5g", x.Check), fmt.Sprintf("%.5g", x.Label)
		if x.Order == 0 {
			order, check, label = "–", "–", "–"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", name, pateEpsilon(x), order, check, label, answered)
	}
	t.Flush()
	if e := a.Exact; e != nil {
		fmt.Fprintf(w, "\nexact ε at this data set: to its neighbours in [%s], back in [%s]\n(for votes that are fixed beforehand; it is no bound where a teacher's next votes\ndepend on earlier outputs)\n", ends(e.Forward.Lower, e.Forward.Upper, 6, ", "), ends(e.Reverse.Lower, e.Reverse.Upper, 6, ", "))
	}
	if r.Answered != nil {
		k := len(a.Head.Cost.Total.Orders)
		fmt.Fprintf(w, "\nEx post: which queries were answered is random. Except with probability %s\nthe privacy loss of the answers that came is at most ε, if the %s\nfixed in advance (classic conversion).\n",
			short(a.Delta), map[bool]string{true: "order was", false: fmt.Sprintf("%d orders (which share δ) were", k)}[k == 1])
	}
	fmt.Fprintf(w, "\nCosts are Rényi divergences at the order of the line. Publish the independent\nline only; of the others: %s%s\n", print.Paint(w, print.Red, pateNotSafe), pateNotSafeWhy)
}

func writePateCalibration(w io.Writer, o *service.PateCalibration, _ *asking) {
	f := print.NewFacts(w, 24)
	mechanism := fmt.Sprintf("--mechanism %s", o.Mechanism)
	if o.Threshold != nil {
		mechanism += fmt.Sprintf(" --threshold %v --sigma1 %v", *o.Threshold, *o.Sigma1)
	}
	f.Add("mechanism", "%s --sigma2 %v", mechanism, o.Sigma2)
	f.Add("epsilon", "%s at delta %s (%s report)", rounded(o.Epsilon, 6, up), short(o.Delta), o.Report)
	f.Add("at every data set", "%s", rounded(o.Independent, 6, up))
	f.Add("answers expected", "%.1f of %d queries, %.1f of them the plurality's", o.Answered, o.Queries, o.Correct)
	if p := o.Publish; p != nil {
		f.Add("publish", "--order %v --beta %v --noise %v --confidence %v", p.Order, p.Beta, p.Noise, p.Confidence)
		f.Add("published epsilon", "%s at the median of its noise", rounded(p.Median, 6, up))
	}
	f.Flush()
	fmt.Fprintf(w, "\nThese votes must be synthetic or public: parameters that depend on private votes\ntell of them. On the private votes ε is another number; that at every data set holds.\n")
}

func writePatePublish(w io.Writer, o *service.PatePublishAnswer, a *asking) {
	f := print.NewFacts(w, 21)
	f.Add("mechanism", "%v", o.Run.Aggregator)
	f.Add("fixed in advance", "order %v, beta %v, noise %v, confidence %v, delta %s", o.Order, o.Beta, o.Noise, o.Confidence, short(o.Delta))
	may := "may be published, an upper bound"
	if a.request.(*service.PatePublishRequest).Seed != nil {
		may = "NOT to be published, as its seed is known; an upper bound"
	}
	f.Add("published epsilon", "%s: %s except with probability %.3g", rounded(o.Epsilon, 6, up), may, 1-o.Confidence)
	f.Add("", "over its noise, at the data set that voted, this number included")
	f.Add("cost of the noise", "%.6g, a part of it (Rényi, at the order)", o.NoiseCost)
	f.Flush()
	if p := o.Private; p != nil {
		f := privateFacts(w)
		f.Add("  Rényi cost", "%.6g (best bound from q)", p.Cost)
		f.Add("  smooth bound", "%.6g, at distance %d", p.Smooth, p.Distance)
		f.Add("  epsilon at the median of the noise  ", "%.6g", p.Median)
		f.Flush()
	}
}

// privateFacts begins a list of what must not be published.
func privateFacts(w io.Writer) *print.Facts {
	fmt.Fprintf(w, "\n%s, these depend on the private votes:\n", print.Paint(w, print.Red, pateNotSafe))
	return print.NewFacts(w, 23)
}

func writePateSmooth(w io.Writer, o *service.PateSmoothAnswer, a *asking) {
	f := print.NewFacts(w, 21)
	f.Add("mechanism", "%v", o.Run.Aggregator)
	when := "fixed in advance"
	if o.Why != "" {
		when = "parameters"
	}
	f.Add(when, "order %v, beta %v, sigma-ss %v, delta %s", o.Order, o.Beta, o.Sigma, short(o.Delta))
	if o.Epsilon != nil {
		may := "may be published"
		if a.request.(*service.PateSmoothRequest).Seed != nil {
			may = "NOT to be published, as its seed is known"
		}
		f.Add("sanitized epsilon", "%.4g: %s, an estimate and %s", *o.Epsilon, may, print.Paint(w, print.Red, "NOT AN UPPER BOUND"))
		f.Add("", "(the noise puts it below the ε that was paid half of the time)")
	} else {
		f.Add("sanitized epsilon", "none: %s", o.Why)
	}
	f.Flush()
	if p := o.Private; p != nil {
		bound := ""
		if !p.Bound {
			bound = ", " + print.Paint(w, print.Red, "NOT A BOUND")
		}
		f := privateFacts(w)
		f.Add("  Rényi cost", "%.6g (%s report)", p.Cost, o.Report)
		f.Add("  cost of the noise", "%.6g (%s formula)", p.GNSSCost, o.GNSS)
		f.Add("  epsilon of both", "%.6g%s", p.Fixed, bound)
		f.Add("  smooth sensitivity", "%.6g, at distance %d", p.Smooth, p.Distance)
		f.Add("  noise", "± %.6g", p.StdDev)
		f.Flush()
	}
}

// syntheticVotes are the flags and the JSON of pate synth.
type syntheticVotes struct {
	Out      string `json:"out" help:"{file} to write"`
	Rule     string `json:"rule,omitempty" one:"s1" help:"rule of the votes: s1"`
	Teachers int64  `json:"teachers" help:"{number} of teachers"`
	Classes  int    `json:"classes" help:"{number} of classes"`
	Queries  int    `json:"queries" help:"{number} of queries"`
}

func newPateSynthCmd() *cobra.Command {
	q := new(syntheticVotes)
	return question{name: "synth", request: q, what: "writing", text: printing(printSynthetic), extra: func(a *asking) {
		preset(a.cmd, "rule", "s1")
		_ = a.cmd.MarkFlagFilename("out", "csv", "npy")
		a.compute = func(context.Context, *service.Service, *meter) (any, error) {
			v, err := ballots.SynthS1(q.Teachers, q.Classes, q.Queries)
			if err != nil {
				return nil, err
			}
			write := v.WriteCSV
			if strings.EqualFold(filepath.Ext(q.Out), ".npy") {
				write = v.WriteNPY
			}
			if q.Out == "-" {
				if a.json || a.csv {
					return nil, usageError{errors.New("--json and --csv exclude --out -")}
				}
				return *q, write(a.cmd.OutOrStdout())
			}
			if err := writeDraft(q.Out, false, write); err != nil {
				return nil, fmt.Errorf("--out: %w", err)
			}
			return *q, nil
		}
	}}.command()
}

func printSynthetic(w io.Writer, q syntheticVotes, _ *asking) {
	if q.Out != "-" {
		fmt.Fprintf(w, "%s: %d queries, %d classes, %d teachers\n", q.Out, q.Queries, q.Classes, q.Teachers)
	}
}

// patePicture draws ε against the number of answered queries: the report's, what its
// checks alone cost, and the data-independent one. What more queries cost is an upper
// bound for fewer.
func patePicture(ctx context.Context, answer any, _ *asking) (pic figure.Picture, err error) {
	a := answer.(service.PateAnswer)
	r, delta := a.Run, a.Delta
	n := r.Votes.Queries()
	points := min(n, mostPoints)
	cuts := make([]int, points)
	for i := range cuts {
		cuts[i] = (i + 1) * n / points
	}
	between := figure.ToRight
	if points == n {
		between = figure.Straight // there is nothing between whole numbers of queries
	}
	costs, err := r.Running(ctx, r.Report, cuts)
	if err != nil {
		return pic, err
	}
	independent, err := r.Running(ctx, pate.DataIndependent, cuts)
	if err != nil {
		return pic, err
	}
	pic = figure.Picture{Title: fmt.Sprintf("%v, δ = %s", r.Aggregator, short(delta)), X: figure.Axis{Label: "answered queries"}, Y: figure.Axis{Label: "ε"}, LegendLeft: true, LegendUp: true}
	switch r.Report {
	case pate.Worst:
		pic.X.Label = "queries, all of them charged as answered"
	case pate.ExpectedNotABound:
		pic.X.Label = "expected number of answered queries"
	}
	line := func(name string, method figure.Method, costs []pate.Cost, part func(pate.Cost) rdp.Grid) error {
		b := figure.Band{Name: name, Method: method, Between: between}
		for i, x := range costs {
			eps, _, err := r.EpsilonOf(x, part(x), delta)
			if err != nil {
				return err
			}
			at := x.Answered
			if x.Report != r.Report && r.Report == pate.ExpectedNotABound {
				at = float64(cuts[i])
			}
			if x.Report == pate.ExpectedNotABound {
				b.Between = figure.Straight
			}
			b.Add(at, eps)
			pic.X.Max, pic.Y.Max = max(pic.X.Max, at), max(pic.Y.Max, 1.05*eps)
		}
		pic.Bands = append(pic.Bands, b)
		return nil
	}
	total := func(c pate.Cost) rdp.Grid { return c.Total }
	name := string(r.Report)
	switch {
	case r.Report == pate.ExpectedNotABound:
		name += " (not a bound)"
	case costs[0].ExPost:
		name += " (ex post)"
	}
	if r.Report != pate.DataIndependent {
		if err := line(name, pateMethod(r.Mechanism), costs, total); err != nil {
			return pic, err
		}
		if costs[len(costs)-1].Threshold.Values[0] > 0 {
			check := func(c pate.Cost) rdp.Grid { return c.Threshold }
			if err := line("checks alone", figure.Check, costs, check); err != nil {
				return pic, err
			}
		}
	}
	flat := "data-independent"
	if r.Report == pate.ExpectedNotABound || costs[0].ExPost {
		flat += ", every query answered"
	}
	err = line(flat, figure.DataIndependent, independent, total)
	pic.LogWhereNeeded()
	return pic, err
}

// pateMethod is how an aggregator is drawn.
func pateMethod(mechanism string) figure.Method {
	switch mechanism {
	case "lnmax":
		return figure.LNMax
	case "gnmax":
		return figure.GNMax
	}
	return figure.Confident
}
