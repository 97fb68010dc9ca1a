package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/service"
)

const labelApplyLong = `label apply randomizes a column of a CSV file. The output has the same rows and
columns, with noisy labels; it is written whole or not at all.

With --prior the whole budget goes to the randomizer, designed for that public
prior. With --labels, the public set of labels, a part of the budget
(sqrt(labels/rows), or --prior-epsilon) buys a noisy histogram of the column,
and the rest the randomizer designed for it: epsilon-DP in total under
replacement of one label.

Labels that are not in the set are an error, unless --round rounds them,
without bias, to a neighbour in the set. Release only one noisy version of a
column: every run spends its epsilon again.`

// A labelJob is one run of label apply.
type labelJob struct {
	epsilon, priorEpsilon, floor float64
	prior, labels, method        string
	in, out, column              string
	seed                         uint64
	seeded, round                bool
	progress                     string
	output
}

// labelApplied is the JSON of label apply.
type labelApplied struct {
	Rows         int64       `json:"rows"`
	Method       string      `json:"method"`
	Epsilon      float64     `json:"epsilon"`
	PriorEpsilon float64     `json:"prior-epsilon"`
	Randomizer   float64     `json:"randomizer-epsilon"`
	Loss         float64     `json:"loss"`
	Outputs      int         `json:"outputs"`
	Labels       []float64   `json:"labels"`
	Prior        []float64   `json:"prior"`
	Seeded       bool        `json:"seeded"`
	Charge       []labelCost `json:"charge"`
}

// labelCost is an entry of a plan that accounts for the run.
type labelCost struct {
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"`
	Count     int64   `json:"count"`
}

func newLabelApplyCmd() *cobra.Command {
	var j labelJob
	cmd := &cobra.Command{
		Use:   "apply --epsilon E (--prior FILE | --labels SET) --in FILE --out FILE",
		Short: "Randomize a column of labels in a CSV file",
		Long:  labelApplyLong,
		Example: `  accountant label apply --epsilon 1 --prior prior.csv --in data.csv --out noisy.csv
  accountant label apply --epsilon 2 --labels 0..400 --round --column sales --in data.csv --out noisy.csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j.seeded = cmd.Flags().Changed("seed")
			a, err := measuredIf(cmd, j.progress, "randomizing", func(m *meter) (*labelApplied, error) { return j.run(cmd.Context(), m) })
			if err != nil {
				return flagged(cmd, err)
			}
			return j.print(cmd.OutOrStdout(), a, func(w io.Writer) error { return a.print(w, j.out) })
		},
	}
	f := cmd.Flags()
	f.Float64Var(&j.epsilon, "epsilon", 0, "whole budget")
	f.StringVar(&j.prior, "prior", "", "public prior: CSV file with the header label,weight")
	f.StringVar(&j.labels, "labels", "", "public set of labels, as 1..52, 0..10..2 (step 2) or 0,1,5")
	f.Float64Var(&j.priorEpsilon, "prior-epsilon", 0, "part of the budget for the prior (0: sqrt(labels/rows))")
	f.Float64Var(&j.floor, "floor", 1e-3, "share of the uniform prior mixed into an estimated one, in [0, 1]")
	j.method = "optimal"
	addChoice(cmd, &j.method, "method", "one of optimal, debiased-rr, two-point, randomized-response, rr-on-bins",
		"optimal", "debiased-rr", "two-point", "randomized-response", "rr-on-bins")
	f.StringVar(&j.in, "in", "", "CSV file with a header")
	f.StringVar(&j.out, "out", "", "CSV file to write")
	f.StringVar(&j.column, "column", "label", "column of labels")
	f.BoolVar(&j.round, "round", false, "round labels between two of the set, without bias")
	f.Uint64Var(&j.seed, "seed", 0, "make the run reproducible; whoever knows the seed can undo the noise")
	addProgress(cmd, &j.progress)
	j.register(cmd)
	for _, name := range []string{"epsilon", "in", "out"} {
		_ = cmd.MarkFlagRequired(name)
	}
	for _, name := range []string{"prior", "in", "out"} {
		_ = cmd.MarkFlagFilename(name, "csv")
	}
	return cmd
}

func (j *labelJob) run(ctx context.Context, m *meter) (*labelApplied, error) {
	switch {
	case j.prior == "" && j.labels == "":
		return nil, usageError{errors.New("missing --prior or --labels")}
	case j.prior != "" && j.labels != "":
		return nil, usageError{errors.New("--prior and --labels exclude each other")}
	case j.prior != "" && j.priorEpsilon != 0:
		return nil, usageError{errors.New("--prior-epsilon is of no use with --prior, which is public")}
	}
	src := random.Source(nil)
	if j.seeded {
		src = random.Seeded(j.seed)
	}
	a := &labelApplied{Epsilon: j.epsilon, Randomizer: j.epsilon, Seeded: j.seeded}
	m.inBytes()
	size := 0
	if info, err := os.Stat(j.in); err == nil {
		if j.labels != "" && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("--in: %s is no regular file; with --labels it is read twice", printable(j.in))
		}
		size = int(info.Size())
	}
	var p labeldp.Prior
	var r *labeldp.Randomizer
	var err error
	if j.prior != "" {
		if p, err = labelReadPrior(j.prior); err != nil {
			return nil, err
		}
	} else if p, err = j.estimate(ctx, a, src, func(read int) { m.at(read, 2*size) }); err != nil {
		return nil, err
	}
	if r, err = labelMethod(ctx, j.method, p, a.Randomizer); err != nil {
		return nil, err
	}
	pass := &labelPass{job: j, r: r, src: src, read: func(read int) { m.at(read, size) }}
	if j.labels != "" { // the second pass
		pass.read = func(read int) { m.at(size+read, 2*size) }
	}
	counted := a.Rows
	err = produceFileAtomic(j.out, func(w io.Writer) error {
		buf := bufio.NewWriterSize(w, 1<<16)
		if err := pass.rows(ctx, buf); err != nil {
			return err
		}
		if j.labels != "" && pass.n != counted {
			return fault.New(printable(j.in), "had %d rows when they were counted, and %d later", counted, pass.n)
		}
		return buf.Flush()
	})
	if err != nil {
		return nil, err
	}
	a.Rows, a.Method, a.Outputs = pass.n, service.LabelMethod(r), len(r.Outputs())
	a.Labels, a.Prior = p.Labels(), p.Probs()
	a.Loss, err = labeldp.HalfLoss(r, p)
	if j.labels == "" {
		// A fixed randomizer is charged for what it is.
		a.Charge = append(a.Charge, labelCost{r.Name(), a.Randomizer, 1})
	} else {
		a.Charge = append(a.Charge, labelCost{labeldp.WorstCase{}.Name(), a.Randomizer, 1})
	}
	return a, err
}

// estimate makes the first pass: the noisy histogram.
func (j *labelJob) estimate(ctx context.Context, a *labelApplied, src rand.Source, read func(int)) (labeldp.Prior, error) {
	labels, err := labelSet(j.labels)
	if err != nil {
		return labeldp.Prior{}, err
	}
	// Any randomizer with these labels does for finding and rounding them.
	finder, err := labeldp.RandomizedResponse(labels, 1)
	if err != nil {
		return labeldp.Prior{}, err
	}
	pass := &labelPass{job: j, r: finder, src: src, read: read, counts: make([]int64, len(finder.Labels()))}
	if err := pass.rows(ctx, nil); err != nil {
		return labeldp.Prior{}, err
	}
	a.Rows = pass.n
	a.PriorEpsilon = j.priorEpsilon
	if a.PriorEpsilon == 0 {
		if a.PriorEpsilon, _, err = labeldp.SplitBudget(j.epsilon, len(pass.counts), pass.n); err != nil {
			return labeldp.Prior{}, err
		}
	}
	a.Randomizer = j.epsilon - a.PriorEpsilon
	if !(a.Randomizer > 0) {
		return labeldp.Prior{}, fault.New("prior-epsilon", "%v is not in (0, %v), the budget", j.priorEpsilon, j.epsilon)
	}
	a.Charge = []labelCost{{labeldp.Histogram{}.Name(), a.PriorEpsilon, 2}}
	return labeldp.EstimatePrior(finder.Labels(), pass.counts, a.PriorEpsilon, j.floor, src)
}

func labelMethod(ctx context.Context, name string, p labeldp.Prior, eps float64) (*labeldp.Randomizer, error) {
	switch name {
	case "optimal":
		r, _, err := labeldp.OptimalUnbiased(ctx, p, eps)
		return r, err
	case "debiased-rr":
		return labeldp.DebiasedRR(p.Labels(), eps)
	case "two-point":
		return labeldp.TwoPoint(p.Labels(), eps)
	case "randomized-response":
		return labeldp.RandomizedResponse(p.Labels(), eps)
	case "rr-on-bins":
		return labeldp.RROnBins(p, eps)
	}
	return nil, fmt.Errorf("--method: %s is unknown", show(name))
}

// labelSet parses 1..52, 0..10..2 or a list.
func labelSet(s string) ([]float64, error) {
	if parts := strings.Split(s, ".."); len(parts) == 2 || len(parts) == 3 {
		v := []float64{0, 0, 1}
		for i, x := range parts {
			var err error
			if v[i], err = labelNumber(x); err != nil {
				return nil, fault.In("labels", err)
			}
		}
		n := (v[1] - v[0]) / v[2]
		if !(v[2] > 0 && n >= 0 && n < labeldp.MaxLabels) {
			return nil, fault.New("labels", "%q does not make between 1 and %d labels", s, labeldp.MaxLabels)
		}
		var labels []float64
		for i := 0; float64(i) <= n+1e-9; i++ {
			labels = append(labels, v[0]+float64(i)*v[2])
		}
		return labels, nil
	}
	var labels []float64
	for _, x := range strings.Split(s, ",") {
		v, err := labelNumber(x)
		if err != nil {
			return nil, fault.In("labels", err)
		}
		labels = append(labels, v)
	}
	return labels, nil
}

// A labelPass reads the column once: to count it, or to randomize it.
type labelPass struct {
	job    *labelJob
	r      *labeldp.Randomizer
	src    rand.Source
	read   func(bytes int) // tells how far the file is read
	counts []int64
	n      int64

	seen map[string]int // texts of labels met
}

// labelSeen bounds how many spellings of labels are remembered.
const labelSeen = 1 << 14

func (p *labelPass) rows(ctx context.Context, w io.Writer) error {
	f, err := openInput(p.job.in)
	if err != nil {
		return err
	}
	defer f.Close()
	return p.rowsOf(ctx, f, w)
}

// rowsOf is rows for the contents of the file.
func (p *labelPass) rowsOf(ctx context.Context, r io.Reader, w io.Writer) error {
	path := printable(p.job.in)
	blank := blankLines{r: r}
	in := csv.NewReader(bufio.NewReaderSize(&blank, 1<<16))
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return fault.New(path, "is empty, must have a header")
	}
	if err != nil {
		return labelCSVError(path, err)
	}
	blank.after(in, header)
	at := slices.Index(header, p.job.column)
	if at < 0 {
		return fmt.Errorf("--column: %s is not in %s; %s", show(p.job.column), path, nearest.Hint(p.job.column, header))
	}
	var out *csv.Writer
	var texts []string
	if w != nil {
		out = csv.NewWriter(w)
		if err := out.Write(header); err != nil {
			return err
		}
		for _, v := range p.r.Outputs() {
			texts = append(texts, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	p.seen = make(map[string]int)
	rounder := labeldp.NewRounder(p.r)
	for p.n = 0; ; p.n++ {
		rec, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return labelCSVError(path, err)
		}
		if line := blank.before(in); line > 0 {
			return fmt.Errorf("%s:%d: is blank, must be a row", path, line)
		}
		blank.after(in, rec)
		i, err := p.label(rec[at], rounder)
		if err != nil {
			line, _ := in.FieldPos(at)
			return fmt.Errorf("%s:%d: %s: %w", path, line, p.job.column, err)
		}
		if out == nil {
			p.counts[i]++
		} else {
			rec[at] = texts[p.r.SampleIndex(i, p.src)]
			if err := out.Write(rec); err != nil {
				return err
			}
		}
		if p.n%4096 == 0 {
			p.read(int(in.InputOffset()))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if p.n == 0 {
		return fault.New(path, "has no rows below the header")
	}
	// Blank lines at the end are no rows, unless a row is one label.
	if line := blank.last(); line > 0 && len(header) == 1 {
		return fmt.Errorf("%s:%d: %s: is empty", path, line, p.job.column)
	}
	p.read(int(in.InputOffset()))
	if out != nil {
		out.Flush()
		return out.Error()
	}
	return nil
}

// blankLines finds the blank lines of a CSV file, which encoding/csv leaves out. In
// a file of one column each is a row with an empty label.
type blankLines struct {
	r     io.Reader
	feeds int  // line feeds read
	inner bool // whether the last line read has no line feed
	next  int  // the line after the latest record
}

// Read implements io.Reader.
func (b *blankLines) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.feeds += bytes.Count(p[:n], []byte("\n"))
	if n > 0 {
		b.inner = p[n-1] != '\n'
	}
	return n, err
}

// after is told a record that was read.
func (b *blankLines) after(in *csv.Reader, rec []string) {
	line, _ := in.FieldPos(len(rec) - 1)
	b.next = line + 1 + strings.Count(rec[len(rec)-1], "\n")
}

// before returns the line of a blank line above the record that was read, or 0.
func (b *blankLines) before(in *csv.Reader) int {
	if line, _ := in.FieldPos(0); line > b.next {
		return b.next
	}
	return 0
}

// last returns the line of a blank line at the end of the file, or 0.
func (b *blankLines) last() int {
	lines := b.feeds
	if b.inner {
		lines++
	}
	if lines >= b.next {
		return b.next
	}
	return 0
}

// label returns the index of the label a text stands for, rounded if asked.
func (p *labelPass) label(text string, rounder labeldp.Rounded) (int, error) {
	if i, ok := p.seen[text]; ok {
		return i, nil
	}
	y, err := labelNumber(text)
	if err != nil {
		return 0, err
	}
	labels := p.r.Labels()
	i, ok := slices.BinarySearchFunc(labels, y, cmp.Compare[float64])
	if ok {
		if len(p.seen) < labelSeen {
			p.seen[strings.Clone(text)] = i
		}
		return i, nil
	}
	if p.job.round {
		i, err := rounder.Round(y, p.src)
		if err != nil {
			return 0, fmt.Errorf("%v is not in [%v, %v]", y, labels[0], labels[len(labels)-1])
		}
		return i, nil
	}
	return 0, fmt.Errorf("%v is not one of the %d labels in [%v, %v] (--round allows labels between)", y, len(labels), labels[0], labels[len(labels)-1])
}

func (a *labelApplied) print(w io.Writer, out string) error {
	fmt.Fprintf(w, "%s: %d labels randomized by %s (%d outputs)\n", printable(out), a.Rows, a.Method, a.Outputs)
	fmt.Fprintf(w, "half-loss %.6g on the prior\n", a.Loss)
	fmt.Fprintf(w, "epsilon %v in total, replacing one label:\n", a.Epsilon)
	for _, c := range a.Charge {
		if c.Mechanism == (labeldp.Histogram{}).Name() {
			fmt.Fprintf(w, "  %v for the prior, as two Laplace mechanisms of %v\n", c.Epsilon, c.Epsilon/2)
		} else {
			fmt.Fprintf(w, "  %v for the labels\n", c.Epsilon)
		}
	}
	if a.Seeded {
		_, err := fmt.Fprintln(w, "seeded: whoever knows the seed can undo the noise")
		return err
	}
	return nil
}
