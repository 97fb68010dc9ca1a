package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
)

func newPateCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pate",
	}
	cmd.AddCommand(newPateAnalyzeCmd(), newPatePublishCmd(), newPateSmoothCmd(), newPateSynthCmd())
	cmd.Args, cmd.RunE = needCommand, missingCommand
	return cmd
}

// pateFlags are the flags that say what was run.
type pateFlags struct {
	service.PateVotes
	votes, format       string
	queries, maxAnswers int
	threshold           float64
	sigma1, sigma2      float64
	gamma               float64
	baseline, kind      string
	rounded             bool
	answered            string
	progress            string
	output
}

func (f *pateFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	q := &f.PateVotes
	fs.StringVar(&f.votes, "votes", "", "`file` of votes, CSV or NPY: a row per query, a column per class (required)")
	f.format, f.kind, q.Conversion = "counts", "probs", "cks"
	addChoice(cmd, &f.format, "format", "what the votes file holds: counts, or labels (a row per teacher, a column per query)", "counts", "labels")
	fs.IntVar(&q.Classes, "classes", 0, "number of classes, for --format labels")
	fs.IntVar(&f.queries, "queries", 0, "account for the first `K` queries only")
	fs.Int64Var(&q.Teachers, "teachers", 0, "number of teachers, if some abstain")
	addChoice(cmd, &q.Mechanism, "mechanism", "gnmax, confident, interactive or lnmax (required)", "gnmax", "confident", "interactive", "lnmax")
	fs.Float64Var(&f.threshold, "threshold", 0, "threshold `T` of the check, in votes")
	fs.Float64Var(&f.sigma1, "sigma1", 0, "standard deviation of the check's noise, in votes")
	fs.Float64Var(&f.sigma2, "sigma2", 0, "standard deviation of the answers' noise, in votes")
	fs.Float64Var(&f.gamma, "gamma", 0, "inverse scale of lnmax's noise")
	fs.StringVar(&f.baseline, "baseline", "", "`file` of the student's scores, for interactive")
	addChoice(cmd, &f.kind, "baseline-kind", "what the scores are: probs, or votes (already multiplied by the number of teachers)", "probs", "votes")
	fs.BoolVar(&f.rounded, "rounded", false, "interactive rounds its statistic to a whole number, which smooth needs")
	fs.StringVar(&f.answered, "answered", "", "`file` that tells which queries were answered: a 0 or 1 per query, or their numbers from 0")
	fs.IntVar(&f.maxAnswers, "max-answers", 0, "the `number` of answers after which no query is answered any more, fixed in advance")
	fs.Float64Var(&q.Delta, "delta", 0, "δ (required)")
	addChoice(cmd, &q.Conversion, "conversion", "from Rényi to (ε, δ): cks (improved), or classic as in the tables of the PATE paper", "cks", "classic")
	addChoice(cmd, &q.Report, "report", "joint, expected (not a bound), realised, worst or independent (default: realised with --answered; without, joint if there is a check and else worst)", "joint", "expected", "realised", "worst", "independent")
	addProgress(cmd, &f.progress)
	f.output.register(cmd)
	for _, name := range []string{"votes", "baseline"} {
		_ = cmd.MarkFlagFilename(name, "csv", "npy")
	}
	_ = cmd.MarkFlagFilename("answered")
	required(cmd, "votes", "mechanism", "delta")
}

// request returns what the flags say, with the files that they name.
func (f *pateFlags) request(cmd *cobra.Command) (q service.PateVotes, err error) {
	q = f.PateVotes
	q.Labels = f.format == "labels"
	q.Threshold, q.Sigma1, q.Sigma2 = given(cmd, "threshold", f.threshold), given(cmd, "sigma1", f.sigma1), given(cmd, "sigma2", f.sigma2)
	q.Gamma, q.Rounded = given(cmd, "gamma", f.gamma), given(cmd, "rounded", f.rounded)
	q.Queries, q.MaxAnswers = given(cmd, "queries", f.queries), given(cmd, "max-answers", f.maxAnswers)
	if cmd.Flags().Changed("baseline-kind") {
		q.BaselineKind = f.kind
	}
	if cmd.Flags().Changed("baseline") {
		q.Scores = &ballots.Scores{} // of the file
	}
	if err := q.Check(); err != nil {
		return q, flagged(cmd, err)
	}
	err = pateRead(f.votes, func(in io.Reader) (err error) {
		q.Table, err = ballots.ReadVotes(in, ballots.Format{Labels: q.Labels, Classes: q.Classes, Teachers: q.Teachers})
		return err
	})
	if err != nil {
		return q, err
	}
	votes := q.Table
	if q.Queries != nil {
		if votes, err = q.Table.First(*q.Queries); err != nil {
			return q, flagged(cmd, err)
		}
	}
	if q.Scores = nil; f.baseline != "" {
		err := pateRead(f.baseline, func(in io.Reader) (err error) {
			q.Scores, err = ballots.ReadScores(in, votes.Teachers(), f.kind == "votes")
			return err
		})
		if err != nil {
			return q, err
		}
	}
	if f.answered != "" {
		err := pateRead(f.answered, func(in io.Reader) (err error) {
			q.Answered, err = ballots.ReadAnswered(in, votes.Queries())
			return err
		})
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// pateRead opens a file for read; errors of its contents start with its name.
func pateRead(path string, read func(io.Reader) error) error {
	in, err := openInput(path)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := read(in); err != nil {
		if pe := (*os.PathError)(nil); errors.As(err, &pe) {
			return pathProblem(path, err)
		}
		return fmt.Errorf("%s: %w", printable(path), err)
	}
	return nil
}

// pateOrders parses "1.5:100:0.5" or a list with commas; "" is nil.
func pateOrders(s string) ([]float64, error) {
	if s == "" {
		return nil, nil
	}
	number := func(s string) (float64, error) {
		x, err := decimal.Plain(strings.TrimSpace(s))
		if err != nil {
			return 0, fmt.Errorf("--orders: %q is not a finite number", strings.TrimSpace(s))
		}
		return x, nil
	}
	if !strings.Contains(s, ":") {
		var orders []float64
		for _, f := range strings.Split(s, ",") {
			x, err := number(f)
			if err != nil {
				return nil, err
			}
			orders = append(orders, x)
		}
		return orders, nil
	}
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("--orders: %q is not first:last:step or a list with commas", s)
	}
	var v [3]float64
	for i, p := range parts {
		x, err := number(p)
		if err != nil {
			return nil, err
		}
		v[i] = x
	}
	n := math.Floor((v[1]-v[0])/v[2] + 1e-9)
	if !(v[2] > 0 && n >= 0 && n < 100_000) {
		return nil, fmt.Errorf("--orders: %q does not give 1 to 100000 orders", s)
	}
	orders := make([]float64, int(n)+1)
	for i := range orders {
		orders[i] = v[0] + float64(i)*v[2]
	}
	return orders, nil
}

const pateNotSafe = "NOT SAFE TO PUBLISH"

const pateNotSafeWhy = ": this depends on the private votes (see accountant pate publish)"

func newPateAnalyzeCmd() *cobra.Command {
	var f pateFlags
	var orders string
	var picture pictureFlags
	cmd := &cobra.Command{
		Use:  "analyze",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			grid, err := pateOrders(orders)
			if err != nil {
				return err
			}
			if err := picture.check(f.output); err != nil {
				return err
			}
			votes, err := f.request(cmd)
			if err != nil {
				return err
			}
			var pic figure.Picture
			a, err := measuredIf(cmd, f.progress, "accounting", func(m *meter) (service.PateAnswer, error) {
				ctx := service.WithProgress(cmd.Context(), m.show)
				a, err := service.New(nil).Pate(ctx, service.PateRequest{PateVotes: votes, Orders: grid})
				if err == nil && picture.file != "" {
					pic, err = patePicture(ctx, a)
				}
				return a, err
			})
			if err != nil {
				return flagged(cmd, err)
			}
			return picture.show(cmd, f.output, a, func() figure.Picture { return pic }, func(w io.Writer) { writePate(w, a) })
		},
	}
	f.register(cmd)
	underCaps(cmd)
	f.Price = "best"
	addChoice(cmd, &f.Price, "price", "bound by which a query is priced: best (from q alone), exact (its law), or theorem6 (the paper's)", "best", "exact", "theorem6")
	cmd.Flags().StringVar(&orders, "orders", "", "Rényi orders: first:last:step or a list with commas (default 1.5:100:0.5, and larger ones where the best is the last)")
	picture.register(cmd, "ε against answered queries", 16, 10)
	return cmd
}

// pateEpsilon writes ε so that a bound stays one.
func pateInterval(x service.PateInterval) string {
	return "[" + rounded(x.Lower, 6, down) + ", " + rounded(x.Upper, 6, up) + "]"
}

func pateEpsilon(x service.PateLine) string {
	if x.Cost.Report == pate.ExpectedNotABound {
		return rounded(x.Epsilon, 6, near)
	}
	return rounded(x.Epsilon, 6, up)
}

func writePate(w io.Writer, a service.PateAnswer) {
	r := a.Run
	f := newFacts(w, 11)
	f.add("mechanism", "%v", r.Aggregator)
	f.add("votes", "%d queries, %d classes, %d teachers", r.Votes.Queries(), r.Votes.Classes(), r.Votes.Teachers())
	for _, x := range r.Notes {
		f.add(paint(w, yellow, "warning")+"    ", "%s", x)
	}
	kind := a.Guarantee
	switch {
	case a.Head.Cost.ExPost:
		kind += ", " + paint(w, red, "NOT AN (ε, δ) BOUND") + " of what ran"
	case a.Head.Cost.Report == pate.ExpectedNotABound:
		kind = "an estimate, " + paint(w, red, "NOT A BOUND")
	}
	f.add("epsilon", "%s at delta %s (%v report: %s)", pateEpsilon(a.Head), short(a.Delta), a.Head.Cost.Report, kind)
	f.Flush()
	fmt.Fprintln(w)
	t := newTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintf(t, "report\tepsilon\torder\tcost of checks\tof answers\tanswered\t\n")
	for _, x := range a.Lines {
		answered := fmt.Sprintf("%.0f", x.Cost.Answered)
		if x.Cost.Report == pate.ExpectedNotABound {
			answered = fmt.Sprintf("%.2f", x.Cost.Answered)
		}
		name := x.Cost.Report.String()
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
		fmt.Fprintf(w, "\nexact ε at this data set: to its neighbours in %s, back in %s\n(for votes that are fixed beforehand; it is no bound where a teacher's next votes\ndepend on earlier outputs)\n", pateInterval(e.Forward), pateInterval(e.Reverse))
	}
	if r.Answered != nil {
		k := len(a.Head.Cost.Total.Orders)
		fmt.Fprintf(w, "\nEx post: which queries were answered is random. Except with probability %s\nthe privacy loss of the answers that came is at most ε, if the %s\nfixed in advance (classic conversion).\n",
			short(a.Delta), map[bool]string{true: "order was", false: fmt.Sprintf("%d orders (which share δ) were", k)}[k == 1])
	}
	fmt.Fprintf(w, "\nCosts are Rényi divergences at the order of the line. Publish the independent\nline only; of the others: %s%s\n", paint(w, red, pateNotSafe), pateNotSafeWhy)
}

// This file publishes an upper bound on what a table of votes cost.

func newPatePublishCmd() *cobra.Command {
	var f pateFlags
	var q service.PatePublishRequest
	var confidence float64
	var seed uint64
	cmd := &cobra.Command{
		Use:  "publish",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Confidence, q.Seed = given(cmd, "confidence", confidence), given(cmd, "seed", seed)
			var err error
			if q.PateVotes, err = f.request(cmd); err != nil {
				return err
			}
			a, err := askIf(cmd, f.progress, "smooth bound", (*service.Service).PatePublish, q)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), a, func(w io.Writer) { writePatePublish(w, a, q.Seed != nil) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&q.Order, "order", 0, "Rényi order `λ` (required)")
	fs.Float64Var(&q.Beta, "beta", 0, "smoothness `β`, about one over the distance at which votes still agree (required)")
	fs.Float64Var(&q.Noise, "noise", 0, "standard deviation `s` of the noise on the logarithm of the cost (required)")
	fs.Float64Var(&confidence, "confidence", 0.95, "the `probability` that the bound holds")
	fs.Uint64Var(&seed, "seed", 0, "seed of the noise, for tests: a known seed gives no privacy")
	fs.BoolVar(&q.Private, "private", false, "print also what depends on the private votes and must not be published")
	required(cmd, "order", "beta", "noise")
	return cmd
}

func writePatePublish(w io.Writer, o *service.PatePublishAnswer, seeded bool) {
	f := newFacts(w, 21)
	f.add("mechanism", "%v", o.Run.Aggregator)
	f.add("fixed in advance", "order %v, beta %v, noise %v, confidence %v, delta %s", o.Order, o.Beta, o.Noise, o.Confidence, short(o.Delta))
	may := "may be published, an upper bound"
	if seeded {
		may = "NOT to be published, as its seed is known; an upper bound"
	}
	f.add("published epsilon", "%s: %s except with probability %.3g", rounded(o.Epsilon, 6, up), may, 1-o.Confidence)
	f.add("", "over its noise, at the data set that voted, this number included")
	f.add("cost of the noise", "%.6g, a part of it (Rényi, at the order)", o.NoiseCost)
	f.Flush()
	if p := o.Private; p != nil {
		writePatePublishPrivate(w, p)
	}
}

func writePatePublishPrivate(w io.Writer, p *service.PatePublishedPrivate) {
	fmt.Fprintf(w, "\n%s, these depend on the private votes:\n", paint(w, red, pateNotSafe))
	f := newFacts(w, 23)
	f.add("  Rényi cost", "%.6g (best bound from q)", p.Cost)
	f.add("  smooth bound", "%.6g, at distance %d", p.Smooth, p.Distance)
	f.add("  epsilon at the median of the noise  ", "%.6g", p.Median)
	f.Flush()
}

func newPateSmoothCmd() *cobra.Command {
	var f pateFlags
	var q service.PateSmoothRequest
	var sigma float64
	var seed uint64
	cmd := &cobra.Command{
		Use:  "smooth",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Sigma, q.Seed = given(cmd, "sigma-ss", sigma), given(cmd, "seed", seed)
			if err := q.CheckNoise(); err != nil {
				return flagged(cmd, err)
			}
			var err error
			if q.PateVotes, err = f.request(cmd); err != nil {
				return err
			}
			a, err := askIf(cmd, f.progress, "smooth sensitivity", (*service.Service).PateSmooth, q)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), a, func(w io.Writer) { writePateSmooth(w, a, q.Seed != nil) })
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.Float64Var(&q.Order, "order", 0, "Rényi order `λ` (required)")
	fs.Float64Var(&q.Beta, "beta", 0, "smoothness `β`, about 0.2/λ (required)")
	fs.Float64Var(&sigma, "sigma-ss", 0, "noise scale `σ`, in units of the smooth sensitivity")
	fs.BoolVar(&q.Optimise, "optimise", false, "choose the noise scale from the votes instead; publishes nothing")
	q.GNSS = "exact"
	addChoice(cmd, &q.GNSS, "gnss", "cost of the noise: exact, or paper (Theorem 23 as printed; publishes nothing)", "exact", "paper")
	fs.Uint64Var(&seed, "seed", 0, "seed of the noise, for tests: a known seed gives no privacy")
	fs.BoolVar(&q.Private, "private", false, "print also what depends on the private votes and must not be published")
	required(cmd, "order", "beta")
	return cmd
}

func writePateSmooth(w io.Writer, o *service.PateSmoothAnswer, seeded bool) {
	f := newFacts(w, 21)
	f.add("mechanism", "%v", o.Run.Aggregator)
	when := "fixed in advance"
	if o.Why != "" {
		when = "parameters"
	}
	f.add(when, "order %v, beta %v, sigma-ss %v, delta %s", o.Order, o.Beta, o.Sigma, short(o.Delta))
	if o.Epsilon != nil {
		may := "may be published"
		if seeded {
			may = "NOT to be published, as its seed is known"
		}
		f.add("sanitized epsilon", "%.4g: %s, an estimate and %s", *o.Epsilon, may, paint(w, red, "NOT AN UPPER BOUND"))
		f.add("", "(the noise puts it below the ε that was paid half of the time)")
	} else {
		f.add("sanitized epsilon", "none: %s", o.Why)
	}
	f.Flush()
	if p := o.Private; p != nil {
		writePateSmoothPrivate(w, o, p)
	}
}

func writePateSmoothPrivate(w io.Writer, o *service.PateSmoothAnswer, p *service.PatePrivates) {
	bound := ""
	if !p.Bound {
		bound = ", " + paint(w, red, "NOT A BOUND")
	}
	fmt.Fprintf(w, "\n%s, these depend on the private votes:\n", paint(w, red, pateNotSafe))
	f := newFacts(w, 23)
	f.add("  Rényi cost", "%.6g (%s report)", p.Cost, o.Report)
	f.add("  cost of the noise", "%.6g (%s formula)", p.GNSSCost, o.GNSS)
	f.add("  epsilon of both", "%.6g%s", p.Fixed, bound)
	f.add("  smooth sensitivity", "%.6g, at distance %d", p.Smooth, p.Distance)
	f.add("  noise", "± %.6g", p.StdDev)
	f.Flush()
}

func newPateSynthCmd() *cobra.Command {
	var rule, out string
	var teachers int64
	var classes, queries int
	var form output
	cmd := &cobra.Command{
		Use:  "synth",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := ballots.SynthS1(teachers, classes, queries)
			if err != nil {
				return flagged(cmd, err)
			}
			var b bytes.Buffer
			write := v.WriteCSV
			if strings.EqualFold(filepath.Ext(out), ".npy") {
				write = v.WriteNPY
			}
			if err := write(&b); err != nil {
				return err
			}
			if out == "-" {
				if form.json || form.csv {
					return usageError{errors.New("--json and --csv exclude --out -")}
				}
				_, err := cmd.OutOrStdout().Write(b.Bytes())
				return err
			}
			if err := writeFileAtomic(out, b.Bytes()); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			return form.print(cmd.OutOrStdout(), struct {
				Out      string `json:"out"`
				Rule     string `json:"rule"`
				Teachers int64  `json:"teachers"`
				Classes  int    `json:"classes"`
				Queries  int    `json:"queries"`
			}{out, rule, teachers, classes, queries}, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d queries, %d classes, %d teachers\n", out, queries, classes, teachers)
			})
		},
	}
	fs := cmd.Flags()
	rule = "s1"
	addChoice(cmd, &rule, "rule", "rule of the votes: s1", "s1")
	fs.Int64Var(&teachers, "teachers", 0, "number of teachers (required)")
	fs.IntVar(&classes, "classes", 0, "number of classes (required)")
	fs.IntVar(&queries, "queries", 0, "number of queries (required)")
	fs.StringVar(&out, "out", "", "`file` to write (required)")
	form.register(cmd)
	_ = cmd.MarkFlagFilename("out", "csv", "npy")
	required(cmd, "teachers", "classes", "queries", "out")
	return cmd
}
