package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/labeldp"
)

func newLabelCmd() *cobra.Command {
	cmd := question{name: "label", what: "designing", under: true, picture: "the output law of each label", width: 18, height: 11,
		text: printing(printLabel), draw: drawing(labelPicture), rows: listing(labelRows), extra: func(a *asking) {
			prior := fileFlag(a.cmd, "prior", "CSV `file` with the header label,weight or group,label,weight", "csv")
			classes := a.cmd.Flags().Bool("classes", false, "labels are names of classes")
			required(a.cmd, "prior")
			a.late = true
			a.read = func() error {
				data, name, err := readSmall(a.cmd, *prior, labelMaxFile)
				if err != nil {
					return err
				}
				a.name = name
				if err := parsePrior(a.request.(*service.LabelRequest), name, data, *classes); err != nil {
					return err
				}
				return flagged(a.cmd, service.Check(a.request))
			}
		}}.command()
	return withCommands(cmd, newLabelApplyCmd())
}

// printLabel writes the report as text. Beyond a dozen labels the matrix is left to
// --json.
func printLabel(w io.Writer, r *service.LabelAnswer, _ *asking) {
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	name := func(y float64) string { return fmt.Sprint(y) }
	if r.Classes != nil {
		name = func(y float64) string { return printable(r.Classes[int(y)]) }
		fmt.Fprintf(w, "epsilon %v, %d classes, %d outputs\n\n", r.Epsilon, len(r.Labels), len(r.Outputs))
	} else {
		fmt.Fprintf(w, "epsilon %v, %d labels, %d outputs; certified within %.1e of the optimum\n\n", r.Epsilon, len(r.Labels), len(r.Outputs), r.Gap)
	}
	number := func(y float64) string {
		if r.Classes != nil {
			return name(y)
		}
		return fmt.Sprintf("%.6g", y)
	}
	if len(r.Labels) <= 12 {
		fmt.Fprint(t, "output\t")
		for _, y := range r.Labels {
			fmt.Fprintf(t, "P(·|%s)\t", name(y))
		}
		fmt.Fprintln(t)
		for j, out := range r.Outputs {
			fmt.Fprintf(t, "%s\t", number(out))
			for i := range r.Labels {
				fmt.Fprintf(t, "%.6f\t", r.Probabilities[i][j])
			}
			fmt.Fprintln(t)
		}
	} else {
		fmt.Fprintf(t, "outputs from %s to %s; --json lists them with their probabilities\n", number(r.Outputs[0]), number(r.Outputs[len(r.Outputs)-1]))
	}
	printLabelMethods(t, r)
	t.Flush()
	if len(r.Groups) > 0 {
		printLabelGroups(w, r)
	}
	for _, method := range r.Methods {
		if c, ok := r.Coarser[method]; ok {
			fmt.Fprintf(w, "\nhint: %s loses less if labels are first rounded without bias to %d of the %d: half-loss %.6g on %s\n",
				method, len(c.Labels), len(r.Labels), c.Loss, spaced(c.Labels))
		}
	}
	fmt.Fprintf(w, "\nprivacy loss of one label: ±%v with probabilities %.6g and %.6g, else 0 (worst pair %s, %s; replacing one label)\n",
		r.Epsilon, r.Tau*math.Exp(r.Epsilon), r.Tau, name(r.WorstPair[0]), name(r.WorstPair[1]))
}

// printLabelMethods compares the methods.
func printLabelMethods(t io.Writer, r *service.LabelAnswer) {
	fmt.Fprintln(t, "")
	if r.Classes != nil {
		fmt.Fprintln(t, "method\tkept\t")
		for _, name := range r.Methods {
			fmt.Fprintf(t, "%s\t%.6f\t\n", name, r.Kept[name])
		}
		return
	}
	fmt.Fprintln(t, "method\thalf-loss\tMSE\tlargest bias\t")
	for _, name := range r.Methods {
		bias := fmt.Sprintf("%.4g", r.Bias[name])
		if r.Bias[name] <= 1e-10*(r.Labels[len(r.Labels)-1]-r.Labels[0])/math.Tanh(r.Epsilon/2) {
			bias = "0"
		}
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%s\t\n", name, r.Loss[name], 2*r.Loss[name], bias)
	}
}

// printLabelGroups shows what a prior for each group gains.
func printLabelGroups(w io.Writer, r *service.LabelAnswer) {
	fmt.Fprintf(w, "\nA randomizer for each group, for the same epsilon: half-loss %.6g\n\n", r.GroupedLoss)
	t := print.NewTable(w, 2, tabwriter.AlignRight)
	fmt.Fprintln(t, "group\tshare\toutputs\thalf-loss\t")
	for _, g := range r.Groups {
		fmt.Fprintf(t, "%s\t%.4f\t%d\t%.6g\t\n", printable(g.Name), g.Share, len(g.Outputs), g.Loss)
	}
	t.Flush()
}

// parsePrior reads a prior file, called path in errors, into a request: rows label,weight with numbers or, of classes, names as labels, or group,label,weight.
func parsePrior(q *service.LabelRequest, path string, data []byte, classes bool) error {
	columns := []string{"label", "weight"}
	var groups []string // of each row
	err := eachRow(bytes.NewReader(data), path, func(cells []string, first bool) error {
		n := len(cells)
		if first {
			if n == 3 && !classes {
				columns = []string{"group", "label", "weight"}
			}
			if !slices.Equal(cells, columns) {
				return fmt.Errorf("header: %q is not %s", strings.Join(cells, ","), strings.Join(columns, ","))
			}
			return nil
		}
		weight, err := labelNumber(cells[n-1])
		switch {
		case err != nil:
			return fmt.Errorf("weight: %w", err)
		case weight < 0:
			return fmt.Errorf("weight: %v is not in [0, ∞)", weight)
		case classes && (cells[0] == "" || slices.Contains(q.Classes, cells[0])):
			return fmt.Errorf("label: class %s is empty or repeated", show(cells[0]))
		}
		q.Weights = append(q.Weights, weight)
		if classes {
			q.Classes = append(q.Classes, cells[0])
			return nil
		}
		label, err := labelNumber(cells[n-2])
		if err != nil {
			return fmt.Errorf("label: %w", err)
		}
		q.Labels, groups = append(q.Labels, label), append(groups, cells[0])
		return nil
	})
	if err == nil && len(q.Weights) == 0 {
		err = fmt.Errorf("%s: labels: is empty, must have at least one label", path)
	}
	if err != nil || len(columns) == 2 {
		return err
	}
	values, weights := q.Labels, q.Weights
	q.Labels, q.Weights = slices.Compact(slices.Sorted(slices.Values(values))), nil
	at := map[string]int{}
	for i, name := range groups {
		g, ok := at[name]
		if !ok {
			if len(q.Groups)*len(q.Labels) > 1<<20 {
				return fmt.Errorf("%s: group: too many groups", path)
			}
			g = len(q.Groups)
			at[name] = g
			q.Groups = append(q.Groups, service.LabelGroup{Name: name, Weights: make([]float64, len(q.Labels))})
		}
		j, _ := slices.BinarySearch(q.Labels, values[i])
		q.Groups[g].Weights[j] += weights[i]
	}
	return nil
}

// labelMaxFile bounds the size of a prior file.
const labelMaxFile = 1 << 20

func labelNumber(s string) (float64, error) {
	v, err := decimal.Plain(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("%q is not a finite number", s)
	}
	return v, nil
}

func labelCSVError(path string, err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s:%d: %w", printable(path), pe.Line, pe.Err)
	}
	return pathProblem(path, err)
}

// spaced writes evenly spaced labels, two or more.
func spaced(labels []float64) string {
	last := labels[len(labels)-1]
	if len(labels) == 2 {
		return fmt.Sprintf("%v and %v", labels[0], last)
	}
	return fmt.Sprintf("%v, %v … %v", labels[0], labels[1], last)
}

// labelPicture draws the output law of each label.
func labelPicture(a *service.LabelAnswer) figure.Picture {
	r := a.Randomizer
	pic := figure.Law(r.Labels(), r.Outputs(), r.Row)
	pic.Title = fmt.Sprintf("Output law per label: %s, ε = %v", r.Name(), r.Epsilon())
	return pic
}

// A labelJob is one run of label apply. Its keys are the flags.
type labelJob struct {
	Epsilon      float64 `json:"epsilon" help:"{ε}, the whole budget"`
	Prior        string  `json:"prior,omitempty" not:"labels,prior-epsilon" or:"labels" help:"public prior: CSV with the header label,weight"`
	Labels       string  `json:"labels,omitempty" help:"public set of labels, as 1..52, 0..10..2 (step 2) or 0,1,5; of classes, as cat,dog"`
	PriorEpsilon float64 `json:"prior-epsilon,omitempty" help:"{part} of the budget for the prior (0: sqrt(labels/rows))"`
	Floor        float64 `json:"floor,omitempty" preset:"0.001" help:"{share} of the uniform prior mixed into an estimated one, in [0, 1]"`
	Method       string  `json:"method,omitempty" one:"optimal,debiased-rr,two-point,randomized-response,rr-on-bins,rp-with-prior,rr-with-prior" help:"one of optimal, debiased-rr, two-point, randomized-response, rr-on-bins, rp-with-prior, rr-with-prior"`
	In           string  `json:"in" help:"CSV with a header, or -"`
	Out          string  `json:"out" help:"CSV to write, or -"`
	Column       string  `json:"column,omitempty" help:"column of labels"`
	Group        string  `json:"group,omitempty" with:"labels" help:"public column whose values have a prior each; needs --labels"`
	Round        bool    `json:"round,omitempty" help:"round labels between two of the set, without bias"`
	Classes      bool    `json:"classes,omitempty" of:"method=rr-with-prior!,randomized-response" not:"round" help:"labels are names of classes"`
	Seed         *uint64 `json:"seed,omitempty" help:"{seed} that makes the run reproducible; whoever knows the seed can undo the noise"`
	Ledger       string  `json:"ledger,omitempty"`
	Note         string  `json:"note,omitempty" help:"free {text} for the readers of the ledger"`

	names []string // of classes, in the order of their numbers
	stdin []byte   // what was read of it, not nil if the input is standard input
}

// labelApplied is the JSON of label apply.
type labelApplied struct {
	Rows         int64              `json:"rows"`
	Method       string             `json:"method"`
	Epsilon      float64            `json:"epsilon"`
	PriorEpsilon float64            `json:"prior-epsilon"`
	Randomizer   float64            `json:"randomizer-epsilon"`
	Loss         float64            `json:"loss"`
	Kept         float64            `json:"kept,omitempty"` // of classes
	Outputs      int                `json:"outputs"`
	Labels       []float64          `json:"labels"`
	Classes      []string           `json:"classes,omitempty"`
	Prior        []float64          `json:"prior"`
	Groups       []labelGroup       `json:"groups,omitempty"`
	Coarser      *service.LabelHint `json:"coarser,omitempty"`
	Seeded       bool               `json:"seeded"`
	Charge       []labelCost        `json:"charge"`
}

// labelGroup is a group of rows and the prior that its labels were estimated to have.
type labelGroup struct {
	Name  string    `json:"name"`
	Rows  int64     `json:"rows"`
	Loss  float64   `json:"loss"`
	Prior []float64 `json:"prior"`
}

// labelCost is an entry of a plan that accounts for the run.
type labelCost struct {
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"`
	Count     int64   `json:"count"`
}

func newLabelApplyCmd() *cobra.Command {
	j := new(labelJob)
	return question{name: "apply", request: j, what: "randomizing", progress: true, text: printing(printApplied), extra: func(a *asking) {
		var held bytes.Buffer // what goes to standard output, whole or not at all
		preset(a.cmd, "method", "optimal")
		preset(a.cmd, "column", "label")
		a.cmd.Flags().Lookup("ledger").Usage = "`file` of a ledger under substitute that the run is spent from before anything is written"
		for _, name := range []string{"prior", "in", "out"} {
			_ = a.cmd.MarkFlagFilename(name, "csv")
		}
		_ = a.cmd.MarkFlagFilename("ledger")
		a.files = append(a.files, outFile{flag: "--out", path: &j.Out, standard: true})
		a.late = true
		a.read = func() error {
			if j.Classes && !a.cmd.Flags().Changed("method") {
				j.Method = "rr-with-prior"
			}
			if err := service.Check(j); err != nil {
				return flagged(a.cmd, err)
			}
			if j.Group != "" && j.Group == j.Column {
				return usageError{errors.New("--group is the column of labels, must be a public one")}
			}
			if j.In == "-" {
				data, _, err := readSmall(a.cmd, j.In, labelMaxStdin)
				if err != nil {
					return err
				}
				j.stdin = append([]byte{}, data...)
			}
			return nil
		}
		a.compute = func(ctx context.Context, s *service.Service, m *meter) (any, error) {
			return j.run(ctx, a.cmd, s, m, &held)
		}
		a.wrote = func(answer any) (any, error) {
			if j.Out == "-" {
				a.to = a.cmd.ErrOrStderr()
			}
			_, err := held.WriteTo(a.cmd.OutOrStdout())
			return answer, err
		}
	}}.command()
}

// labelMaxStdin bounds what is read of standard input, which is held in memory: with
// --labels it is read twice, and its output is written whole or not at all.
const labelMaxStdin = 1 << 28

func (j *labelJob) run(ctx context.Context, cmd *cobra.Command, s *service.Service, m *meter, held io.Writer) (*labelApplied, error) {
	src := random.Source(nil)
	if j.Seed != nil {
		src = random.Seeded(*j.Seed)
	}
	a := &labelApplied{Epsilon: j.Epsilon, Randomizer: j.Epsilon, Seeded: j.Seed != nil}
	m.inBytes()
	size := len(j.stdin)
	if info, err := os.Stat(j.In); err == nil && j.stdin == nil {
		if j.Labels != "" && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("--in: %s is no regular file; with --labels it is read twice", printable(j.In))
		}
		size = int(info.Size())
	}
	pass := &labelPass{job: j, src: src, m: m, size: size, groups: map[string]int{"": 0}}
	var priors []labeldp.Prior
	var err error
	if j.Prior != "" {
		priors, err = j.public(cmd)
	} else {
		pass.size = 2 * size
		priors, err = j.estimate(ctx, a, pass)
		pass.done = size
	}
	if err != nil {
		return nil, err
	}
	for _, p := range priors {
		method, err := service.NewLabelMethod(ctx, j.Method, p, a.Randomizer)
		if err != nil {
			return nil, err
		}
		pass.methods = append(pass.methods, method)
	}
	if pass.r == nil {
		if pass.r, err = labeldp.RandomizedResponse(priors[0].Labels(), 1); err != nil {
			return nil, err
		}
	}
	counted := a.Rows
	produce := func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<16)
		if err := pass.rows(ctx, buf); err != nil {
			return err
		}
		if j.Labels != "" && pass.n != counted {
			return fault.New(inputName(j.In), "had %d rows when they were counted, and %d later", counted, pass.n)
		}
		if j.Ledger != "" { // while what was written has no name yet
			if _, err := s.PayLabels(ctx, service.Spend{Ledger: j.Ledger, Note: j.Note}, j.Epsilon); err != nil {
				return err
			}
		}
		return buf.Flush()
	}
	if j.Out == "-" {
		err = produce(held)
	} else {
		err = writeDraft(j.Out, false, produce)
	}
	if err != nil {
		return nil, err
	}
	return a, j.tell(ctx, a, pass, priors)
}

// public reads the prior of the file.
func (j *labelJob) public(cmd *cobra.Command) ([]labeldp.Prior, error) {
	data, name, err := readSmall(cmd, j.Prior, labelMaxFile)
	if err != nil {
		return nil, err
	}
	p, names, err := publicPrior(name, data, j.Classes)
	j.names = names
	return []labeldp.Prior{p}, err
}

// publicPrior returns the prior of a file, and the names of its classes, whose numbers are 0, 1, ….
func publicPrior(path string, data []byte, classes bool) (labeldp.Prior, []string, error) {
	var q service.LabelRequest
	err := parsePrior(&q, path, data, classes)
	if err == nil && q.Groups != nil {
		err = fmt.Errorf("%s: has groups; a public prior is one for all", path)
	}
	if err != nil {
		return labeldp.Prior{}, nil, err
	}
	for i := range q.Classes {
		q.Labels = append(q.Labels, float64(i))
	}
	p, err := labeldp.NewPrior(q.Labels, q.Weights)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return p, q.Classes, err
}

// estimate makes the first pass: the noisy histogram, of each group.
func (j *labelJob) estimate(ctx context.Context, a *labelApplied, pass *labelPass) ([]labeldp.Prior, error) {
	var labels []float64
	var err error
	if j.Classes {
		labels, j.names, err = classSet(j.Labels)
	} else {
		labels, err = spread("labels", j.Labels, "..", labeldp.MaxLabels)
	}
	if err != nil {
		return nil, err
	}
	// Any randomizer with these labels does for finding and rounding them.
	if pass.r, err = labeldp.RandomizedResponse(labels, 1); err != nil {
		return nil, err
	}
	if err := pass.rows(ctx, nil); err != nil {
		return nil, err
	}
	a.Rows = pass.n
	if eps1 := j.PriorEpsilon; eps1 != 0 && !(eps1 > 0 && eps1 < j.Epsilon) {
		return nil, fault.New("prior-epsilon", "%v is not in (0, %v), the budget", eps1, j.Epsilon)
	}
	plan := labeldp.Plan{Labels: pass.r.Labels(), Epsilon: j.Epsilon, PriorEpsilon: j.PriorEpsilon, Floor: j.Floor}
	priors, stages, err := plan.GroupPriors(pass.counts, pass.src)
	if err != nil {
		return nil, err
	}
	a.PriorEpsilon = stages[0].Epsilon
	a.Randomizer = stages[1].Epsilon
	for _, s := range stages {
		a.Charge = append(a.Charge, labelCost{Mechanism: s.Mechanism.Name(), Epsilon: s.Epsilon, Count: s.Count})
	}
	return priors, nil
}

// tell fills in what was done and what it loses.
func (j *labelJob) tell(ctx context.Context, a *labelApplied, pass *labelPass, priors []labeldp.Prior) error {
	a.Rows, a.Method, a.Classes = pass.n, service.LabelMethod(pass.methods[0]), j.names
	if r, ok := pass.methods[0].(labeldp.Randomizer); ok {
		a.Outputs = len(r.Outputs())
	}
	a.Labels, a.Prior = priors[0].Labels(), priors[0].Probs()
	if j.Group != "" {
		a.Prior, a.Groups = nil, make([]labelGroup, len(priors))
		for name, g := range pass.groups {
			a.Groups[g].Name = name
		}
	}
	for g, p := range priors {
		loss, err := labeldp.HalfLoss(pass.methods[g], p)
		if err != nil {
			return err
		}
		share := 1.0
		if j.Group != "" {
			of := &a.Groups[g]
			of.Loss, of.Prior = loss, p.Probs()
			for _, c := range pass.counts[g] {
				of.Rows += c
			}
			share = float64(of.Rows) / float64(pass.n)
		}
		if j.Classes {
			a.Kept += share * service.Kept(pass.methods[g], p)
		} else {
			a.Loss += share * loss
		}
	}
	if j.Labels == "" { // a fixed randomizer is charged for what it is
		a.Charge = append(a.Charge, labelCost{Mechanism: pass.methods[0].Name(), Epsilon: a.Randomizer, Count: 1})
	}
	if j.Group != "" || j.Classes || j.Method == "rp-with-prior" || j.Prior != "" && j.Method == "optimal" {
		return nil
	}
	n := int64(0)
	if j.Labels != "" && j.PriorEpsilon == 0 {
		n = a.Rows
	}
	eps := j.Epsilon
	if j.PriorEpsilon != 0 {
		eps = a.Randomizer
	}
	var err error
	a.Coarser, err = service.CoarserLabels(ctx, priors[0], eps, a.Loss, n, j.Method)
	return err
}

// classSet parses names of classes, whose numbers are 0, 1, ….
func classSet(s string) (codes []float64, names []string, err error) {
	for i, name := range strings.Split(s, ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(names, name) {
			return nil, nil, fault.New("labels", "class %s is empty or repeated", show(name))
		}
		codes, names = append(codes, float64(i)), append(names, name)
	}
	return codes, names, nil
}

func printApplied(w io.Writer, a *labelApplied, of *asking) {
	name := "standard output"
	if out := of.request.(*labelJob).Out; out != "-" {
		name = printable(out)
	}
	fmt.Fprintf(w, "%s: %d labels randomized by %s", name, a.Rows, a.Method)
	switch {
	case len(a.Groups) > 0:
		fmt.Fprintf(w, ", one for each of %d groups\n", len(a.Groups))
	case a.Outputs > 0:
		fmt.Fprintf(w, " (%d outputs)\n", a.Outputs)
	default:
		fmt.Fprintln(w)
	}
	if a.Classes != nil {
		fmt.Fprintf(w, "%.4g of labels are kept on the prior\n", a.Kept)
	} else {
		fmt.Fprintf(w, "half-loss %.6g on the prior\n", a.Loss)
	}
	fmt.Fprintf(w, "epsilon %v in total, replacing one label:\n", a.Epsilon)
	for i, c := range a.Charge {
		if i < len(a.Charge)-1 { // the labels are last
			fmt.Fprintf(w, "  %v for the prior, as two Laplace mechanisms of %v\n", c.Epsilon, c.Epsilon/2)
		} else {
			fmt.Fprintf(w, "  %v for the labels\n", c.Epsilon)
		}
	}
	if c := a.Coarser; c != nil {
		fmt.Fprintf(w, "hint: rounded without bias to %d of the %d labels, %s, half-loss %.6g\n",
			len(c.Labels), len(a.Labels), spaced(c.Labels), c.Loss)
	}
	if a.Seeded {
		fmt.Fprintln(w, "seeded: whoever knows the seed can undo the noise")
	}
}

// What follows reads a CSV file row by row, counts its column of labels or writes it anew with
// noisy ones. Every row comes out, in its place, or none does.

// A labelPass reads the column once: to count it, or to randomize it.
type labelPass struct {
	job *labelJob
	r   labeldp.Randomizer // its labels are those of the column
	src rand.Source
	n   int64

	m          *meter
	done, size int // bytes read by an earlier pass, and of all passes

	counts  [][]int64        // by group and label
	groups  map[string]int   // the groups met, or those to expect
	methods []labeldp.Method // by group
}

// maxGroups bounds the groups of a file.
const maxGroups = 1 << 16

// group returns the number of a group, which is new only where groups are counted.
func (p *labelPass) group(text string) (int, error) {
	g, ok := p.groups[text]
	if ok {
		return g, nil
	}
	if p.methods != nil {
		return 0, fmt.Errorf("%s is new, it was not there when groups were counted", show(text))
	}
	if g = len(p.groups); g >= maxGroups {
		return 0, fmt.Errorf("more than %d groups", maxGroups)
	}
	p.groups[strings.Clone(text)] = g
	p.counts = append(p.counts, make([]int64, len(p.r.Labels())))
	return g, nil
}

// draw returns a noisy label of a group as text, from the label of index i or, for continuous ones, from y.
func (p *labelPass) draw(g, i int, y float64) (string, error) {
	m := p.methods[g]
	if r, ok := m.(labeldp.Randomizer); ok {
		y = r.Labels()[i]
	}
	v, err := m.Sample(y, p.src)
	if err != nil || p.job.names == nil {
		return strconv.FormatFloat(v, 'g', -1, 64), err
	}
	return p.job.names[int(v)], nil
}

func (p *labelPass) rows(ctx context.Context, w io.Writer) error {
	if p.job.stdin != nil {
		return p.rowsOf(ctx, bytes.NewReader(p.job.stdin), w)
	}
	f, err := openInput(p.job.In)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.rowsOf(ctx, f, w)
}

// rowsOf is rows for the contents of the file. It is long because a row is read, judged and
// written in one pass.
func (p *labelPass) rowsOf(ctx context.Context, r io.Reader, w io.Writer) error {
	path := inputName(p.job.In)
	lines := bufio.NewReaderSize(r, 1<<16)
	mark := ""
	if start, _ := lines.Peek(len(tables.ByteOrderMark)); string(start) == tables.ByteOrderMark {
		mark = tables.ByteOrderMark
		lines.Discard(len(mark))
	}
	in := csv.NewReader(lines)
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return fault.New(path, "is empty, must have a header")
	}
	if err != nil {
		return labelCSVError(path, err)
	}
	next := lineBehind(in, header)
	place := func(flag, column string) (int, error) {
		at := slices.Index(header, column)
		if at < 0 {
			// What the first line has is private where it is no header, and is not shown.
			hint := fmt.Sprintf("its first line has %d columns", len(header))
			if near := nearest.Word(column, header); near != "" {
				hint = fmt.Sprintf("did you mean %s?", show(near))
			}
			return at, fmt.Errorf("--%s: %s is not in %s; %s", flag, show(column), path, hint)
		}
		return at, nil
	}
	at, err := place("column", p.job.Column)
	if err != nil {
		return err
	}
	byGroup := -1
	if p.job.Group != "" {
		if byGroup, err = place("group", p.job.Group); err != nil {
			return err
		}
	}
	counting := w == nil
	if counting {
		w, p.groups, p.counts = io.Discard, map[string]int{}, nil
	}
	if _, err := io.WriteString(w, mark); err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	wrong := func(field int, column string, err error) error {
		line, _ := in.FieldPos(field)
		return fmt.Errorf("%s:%d: %s: %w", path, line, column, err)
	}
	rounder := labeldp.NewRounder(p.r)
	end := int64(0) // of the latest row
	for p.n = 0; ; p.n++ {
		rec, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return labelCSVError(path, err)
		}
		if line, _ := in.FieldPos(0); line > next { // encoding/csv leaves blank lines out
			return fmt.Errorf("%s:%d: is blank, must be a row", path, next)
		}
		next, end = lineBehind(in, rec), in.InputOffset()
		i, y, err := p.label(rec[at], rounder)
		if err != nil {
			return wrong(at, p.job.Column, fmt.Errorf("%w; what stands there is private and not shown", err))
		}
		text := ""
		if byGroup >= 0 {
			text = rec[byGroup]
		}
		g, err := p.group(text)
		if err != nil {
			return wrong(max(byGroup, 0), p.job.Group, err)
		}
		if counting {
			p.counts[g][i]++
		} else if rec[at], err = p.draw(g, i, y); err != nil {
			return wrong(at, p.job.Column, err)
		}
		if err := out.Write(rec); err != nil {
			return err
		}
		if p.n%4096 == 0 {
			p.m.show(service.Progress{Done: p.done + int(in.InputOffset()), Total: p.size})
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if p.n == 0 {
		return fault.New(path, "has no rows below the header")
	}
	// Blank lines at the end are no rows, unless a row is one label.
	if in.InputOffset() > end && len(header) == 1 {
		return fmt.Errorf("%s:%d: %s: is empty", path, next, p.job.Column)
	}
	p.m.show(service.Progress{Done: p.done + int(in.InputOffset()), Total: p.size})
	out.Flush()
	return out.Error()
}

// lineBehind returns the line behind a record that was read, whose last cell may have line feeds.
func lineBehind(in *csv.Reader, rec []string) int {
	line, _ := in.FieldPos(len(rec) - 1)
	return line + 1 + strings.Count(rec[len(rec)-1], "\n")
}

// label returns the index of the label a text stands for, rounded if asked, and the label
// itself. The label is private: no error shows it.
func (p *labelPass) label(text string, rounder labeldp.Rounded) (int, float64, error) {
	labels := p.r.Labels()
	i, y, ok := 0, 0.0, false
	if p.job.names != nil {
		i = slices.Index(p.job.names, strings.TrimSpace(text))
		if ok = i >= 0; !ok {
			return 0, 0, fmt.Errorf("is not one of the %d classes", len(p.job.names))
		}
		y = labels[i]
	} else {
		var err error
		if y, err = labelNumber(text); err != nil {
			return 0, 0, errors.New("is not a finite number")
		}
		i, ok = slices.BinarySearch(labels, y)
	}
	if ok {
		return i, y, nil
	}
	if p.job.Round {
		i, err := rounder.Round(y, p.src)
		if err != nil {
			return 0, 0, fmt.Errorf("is not in [%v, %v]", labels[0], labels[len(labels)-1])
		}
		return i, y, nil
	}
	return 0, 0, fmt.Errorf("is not one of the %d labels in [%v, %v] (--round allows labels between)", len(labels), labels[0], labels[len(labels)-1])
}
