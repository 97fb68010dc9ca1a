package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/pate"
)

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
			return picture.show(cmd, f.output, a, func() figure.Picture { return pic }, func(w io.Writer) error { return writePate(w, a) })
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

func writePate(w io.Writer, a service.PateAnswer) error {
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
	if err := f.Flush(); err != nil {
		return err
	}
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
	if err := t.Flush(); err != nil {
		return err
	}
	if e := a.Exact; e != nil {
		fmt.Fprintf(w, "\nexact ε at this data set: to its neighbours in %s, back in %s\n(for votes that are fixed beforehand; it is no bound where a teacher's next votes\ndepend on earlier outputs)\n", pateInterval(e.Forward), pateInterval(e.Reverse))
	}
	if r.Answered != nil {
		k := len(a.Head.Cost.Total.Orders)
		fmt.Fprintf(w, "\nEx post: which queries were answered is random. Except with probability %s\nthe privacy loss of the answers that came is at most ε, if the %s\nfixed in advance (classic conversion).\n",
			short(a.Delta), map[bool]string{true: "order was", false: fmt.Sprintf("%d orders (which share δ) were", k)}[k == 1])
	}
	_, err := fmt.Fprintf(w, "\nCosts are Rényi divergences at the order of the line. Publish the independent\nline only; of the others: %s%s\n", paint(w, red, pateNotSafe), pateNotSafeWhy)
	return err
}
