package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/labeldp"
)

// A labelJob is one run of label apply.
type labelJob struct {
	epsilon, priorEpsilon, floor float64
	prior, labels, method        string
	in, out, column, group       string
	seed                         uint64
	seeded, round, classes       bool
	progress                     string
	output

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
	var j labelJob
	cmd := &cobra.Command{
		Use:  "apply",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			j.seeded = cmd.Flags().Changed("seed")
			if j.classes && !cmd.Flags().Changed("method") {
				j.method = "rr-with-prior"
			}
			if j.in == "-" {
				if err := j.readAll(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			report := cmd.OutOrStdout()
			var held bytes.Buffer // what goes to standard output, whole or not at all
			if j.out == "-" {
				report = cmd.ErrOrStderr()
			}
			a, err := measuredIf(cmd, j.progress, "randomizing", func(m *meter) (*labelApplied, error) { return j.run(cmd.Context(), m, &held) })
			if err != nil {
				return flagged(cmd, err)
			}
			if _, err := held.WriteTo(cmd.OutOrStdout()); err != nil {
				return err
			}
			return j.print(report, a, func(w io.Writer) error { return a.print(w, j.out) })
		},
	}
	f := cmd.Flags()
	f.Float64Var(&j.epsilon, "epsilon", 0, "whole budget")
	f.StringVar(&j.prior, "prior", "", "public prior: CSV file with the header label,weight")
	f.StringVar(&j.labels, "labels", "", "public set of labels, as 1..52, 0..10..2 (step 2) or 0,1,5; of classes, as cat,dog")
	f.Float64Var(&j.priorEpsilon, "prior-epsilon", 0, "part of the budget for the prior (0: sqrt(labels/rows))")
	f.Float64Var(&j.floor, "floor", 1e-3, "share of the uniform prior mixed into an estimated one, in [0, 1]")
	j.method = "optimal"
	addChoice(cmd, &j.method, "method", "one of optimal, debiased-rr, two-point, randomized-response, rr-on-bins, rp-with-prior, rr-with-prior",
		"optimal", "debiased-rr", "two-point", "randomized-response", "rr-on-bins", "rp-with-prior", "rr-with-prior")
	f.StringVar(&j.in, "in", "", "CSV file with a header, or -")
	f.StringVar(&j.out, "out", "", "CSV file to write, or -")
	f.StringVar(&j.column, "column", "label", "column of labels")
	f.StringVar(&j.group, "group", "", "public column whose values have a prior each; needs --labels")
	f.BoolVar(&j.round, "round", false, "round labels between two of the set, without bias")
	f.BoolVar(&j.classes, "classes", false, "labels are names of classes")
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

// labelMaxStdin bounds what is read of standard input, which is held in memory: with
// --labels it is read twice, and its output is written whole or not at all.
const labelMaxStdin = 1 << 28

func (j *labelJob) readAll(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, labelMaxStdin+1))
	if err != nil {
		return pathProblem(inputName("-"), err)
	}
	if len(data) > labelMaxStdin {
		return fmt.Errorf("--in: standard input is larger than %d bytes, must be a file", labelMaxStdin)
	}
	j.stdin = append([]byte{}, data...)
	return nil
}

func (j *labelJob) check() error {
	onlyClasses := j.method == "rr-with-prior"
	switch {
	case j.prior == "" && j.labels == "":
		return usageError{errors.New("missing --prior or --labels")}
	case j.prior != "" && j.labels != "":
		return usageError{errors.New("--prior and --labels exclude each other")}
	case j.prior != "" && j.priorEpsilon != 0:
		return usageError{errors.New("--prior-epsilon is of no use with --prior, which is public")}
	case j.group != "" && j.labels == "":
		return usageError{errors.New("--group needs --labels: a public prior is one for all")}
	case j.group != "" && j.group == j.column:
		return usageError{errors.New("--group is the column of labels, must be a public one")}
	case j.classes && (j.round || !onlyClasses && j.method != "randomized-response"):
		return usageError{errors.New("--classes needs --method rr-with-prior or randomized-response, and no --round")}
	case onlyClasses && !j.classes:
		return usageError{errors.New("--method rr-with-prior needs --classes")}
	case j.out == "-" && j.json && j.csv:
		return usageError{errors.New("--json and --csv exclude each other")}
	}
	return nil
}

func (j *labelJob) run(ctx context.Context, m *meter, held io.Writer) (*labelApplied, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	src := random.Source(nil)
	if j.seeded {
		src = random.Seeded(j.seed)
	}
	a := &labelApplied{Epsilon: j.epsilon, Randomizer: j.epsilon, Seeded: j.seeded}
	m.inBytes()
	size := len(j.stdin)
	if info, err := os.Stat(j.in); err == nil && j.stdin == nil {
		if j.labels != "" && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("--in: %s is no regular file; with --labels it is read twice", printable(j.in))
		}
		size = int(info.Size())
	}
	pass := &labelPass{job: j, src: src, read: func(read int) { m.at(read, size) }}
	var priors []labeldp.Prior
	var err error
	if j.prior != "" {
		priors, err = j.public()
	} else {
		pass.read = func(read int) { m.at(read, 2*size) }
		priors, err = j.estimate(ctx, a, pass)
		pass.read = func(read int) { m.at(size+read, 2*size) }
	}
	if err != nil {
		return nil, err
	}
	for _, p := range priors {
		method, err := labelMethod(ctx, j.method, p, a.Randomizer)
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
		if j.labels != "" && pass.n != counted {
			return fault.New(inputName(j.in), "had %d rows when they were counted, and %d later", counted, pass.n)
		}
		return buf.Flush()
	}
	if j.out == "-" {
		err = produce(held)
	} else {
		err = produceFileAtomic(j.out, produce)
	}
	if err != nil {
		return nil, err
	}
	return a, j.tell(ctx, a, pass, priors)
}

// public reads the prior of the file.
func (j *labelJob) public() ([]labeldp.Prior, error) {
	var p labeldp.Prior
	var err error
	if j.classes {
		p, j.names, err = labelReadClasses(j.prior)
	} else {
		p, err = labelReadPrior(j.prior)
	}
	return []labeldp.Prior{p}, err
}

// estimate makes the first pass: the noisy histogram, of each group.
func (j *labelJob) estimate(ctx context.Context, a *labelApplied, pass *labelPass) ([]labeldp.Prior, error) {
	var labels []float64
	var err error
	if j.classes {
		labels, j.names, err = classSet(j.labels)
	} else {
		labels, err = labelSet(j.labels)
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
	if eps1 := j.priorEpsilon; eps1 != 0 && !(eps1 > 0 && eps1 < j.epsilon) {
		return nil, fault.New("prior-epsilon", "%v is not in (0, %v), the budget", eps1, j.epsilon)
	}
	plan := labeldp.Plan{Labels: pass.r.Labels(), Epsilon: j.epsilon, PriorEpsilon: j.priorEpsilon, Floor: j.floor}
	priors, stages, err := plan.GroupPriors(pass.counts, pass.src)
	if err != nil {
		return nil, err
	}
	a.PriorEpsilon = stages[0].Mechanism.(labeldp.Histogram).Epsilon
	a.Randomizer = stages[1].Mechanism.(labeldp.WorstCase).Epsilon
	a.Charge = []labelCost{{labeldp.Histogram{}.Name(), a.PriorEpsilon, 2}}
	return priors, nil
}

// tell fills in what was done and what it loses.
func (j *labelJob) tell(ctx context.Context, a *labelApplied, pass *labelPass, priors []labeldp.Prior) error {
	a.Rows, a.Method, a.Classes = pass.n, service.LabelMethod(pass.methods[0]), j.names
	if r, ok := pass.methods[0].(*labeldp.Randomizer); ok {
		a.Outputs = len(r.Outputs())
	}
	a.Labels, a.Prior = priors[0].Labels(), priors[0].Probs()
	for g, p := range priors {
		loss, err := labeldp.HalfLoss(pass.methods[g], p)
		if err != nil {
			return err
		}
		kept := service.Kept(pass.methods[g], p)
		if j.group == "" {
			a.Loss, a.Kept = loss, kept
			continue
		}
		rows := int64(0)
		for _, c := range pass.counts[g] {
			rows += c
		}
		a.Loss += loss * float64(rows) / float64(pass.n)
		a.Kept += kept * float64(rows) / float64(pass.n)
		a.Groups = append(a.Groups, labelGroup{Rows: rows, Loss: loss, Prior: p.Probs()})
	}
	for name, g := range pass.groups {
		if j.group != "" {
			a.Groups[g].Name = name
		}
	}
	if j.group != "" {
		a.Prior = nil
	}
	if j.classes {
		a.Loss = 0
	} else {
		a.Kept = 0
	}
	// A fixed randomizer is charged for what it is.
	charged := pass.methods[0].Name()
	if j.labels != "" {
		charged = labeldp.WorstCase{}.Name()
	}
	a.Charge = append(a.Charge, labelCost{charged, a.Randomizer, 1})
	if j.group != "" || j.classes || j.method == "rp-with-prior" || j.prior != "" && j.method == "optimal" {
		return nil
	}
	n := int64(0)
	if j.labels != "" && j.priorEpsilon == 0 {
		n = a.Rows
	}
	eps := j.epsilon
	if j.priorEpsilon != 0 {
		eps = a.Randomizer
	}
	var err error
	a.Coarser, err = service.CoarserLabels(ctx, priors[0], eps, a.Loss, n, func(ctx context.Context, p labeldp.Prior, eps float64) (labeldp.Method, error) {
		return labelMethod(ctx, j.method, p, eps)
	})
	return err
}

func labelMethod(ctx context.Context, name string, p labeldp.Prior, eps float64) (labeldp.Method, error) {
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
	case "rp-with-prior":
		return labeldp.RPWithPrior(p, eps, 0)
	case "rr-with-prior":
		return labeldp.RRWithPrior(p, eps, 0)
	}
	return nil, fmt.Errorf("--method: %s is unknown", show(name))
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

func (a *labelApplied) print(w io.Writer, out string) error {
	name := printable(out)
	if out == "-" {
		name = "standard output"
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
	for _, c := range a.Charge {
		if c.Mechanism == (labeldp.Histogram{}).Name() {
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
		_, err := fmt.Fprintln(w, "seeded: whoever knows the seed can undo the noise")
		return err
	}
	return nil
}
