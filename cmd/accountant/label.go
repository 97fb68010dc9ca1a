package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/labeldp"
)

func newLabelCmd() *cobra.Command {
	cmd := question{name: "label", what: "designing", under: true, picture: "the output law of each label", width: 18, height: 11, extra: func(a *asking) {
		prior, classes, f := "", false, a.cmd.Flags()
		f.StringVar(&prior, "prior", "", "CSV file with the header label,weight or group,label,weight")
		f.BoolVar(&classes, "classes", false, "labels are names of classes")
		required(a.cmd, "prior")
		_ = a.cmd.MarkFlagFilename("prior", "csv")
		a.late = true
		a.read = func() error {
			a.of = printable(prior)
			data, err := readSmall(prior, labelMaxFile)
			if err != nil {
				return err
			}
			if err := parsePrior(a.request.(*service.LabelRequest), a.of, data, classes); err != nil {
				return err
			}
			return flagged(a.cmd, service.Check(a.request))
		}
	}}.command()
	return withCommands(cmd, newLabelApplyCmd())
}

// printLabel writes the report as text. Beyond a dozen labels the matrix is left to
// --json.
func printLabel(w io.Writer, r *service.LabelAnswer) {
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

// A weightRow is a row of a prior file: what comes before the weight, and the weight.
type weightRow struct {
	line   int
	names  []string
	weight float64
}

// parseTable reads the rows of a prior file below the header of these columns, the last of
// which is the weight.
func parseTable(path string, data []byte, columns []string) (rows []weightRow, err error) {
	in := tables.NewReader(bytes.NewReader(data))
	in.Columns = len(columns)
	for first := true; ; first = false {
		rec, err := in.Row()
		if err == io.EOF {
			return rows, nil
		}
		line := in.Line()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if first {
			if !slices.Equal(rec, columns) {
				return nil, fmt.Errorf("%s:%d: header: %q is not %s", path, line, strings.Join(rec, ","), strings.Join(columns, ","))
			}
			continue
		}
		last := len(rec) - 1
		w, err := labelNumber(rec[last])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: weight: %w", path, line, err)
		}
		if w < 0 {
			return nil, fmt.Errorf("%s:%d: weight: %v is not in [0, ∞)", path, line, w)
		}
		rows = append(rows, weightRow{line, rec[:last], w})
	}
}

// parsePrior reads a prior file, called path in errors, into a request: rows label,weight with numbers or, of classes, names as labels, or group,label,weight.
func parsePrior(q *service.LabelRequest, path string, data []byte, classes bool) error {
	columns := []string{"label", "weight"}
	header, _, _ := bytes.Cut(data, []byte("\n"))
	byGroup := !classes && bytes.Count(header, []byte(",")) == 2
	if byGroup {
		columns = []string{"group", "label", "weight"}
	}
	rows, err := parseTable(path, data, columns)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: labels: is empty, must have at least one label", path)
	}
	if err != nil {
		return err
	}
	var values []float64
	for _, row := range rows {
		name := row.names[len(row.names)-1]
		if classes {
			if name == "" || slices.Contains(q.Classes, name) {
				return fmt.Errorf("%s: label: class %s is empty or repeated", path, show(name))
			}
			q.Classes, q.Weights = append(q.Classes, name), append(q.Weights, row.weight)
			continue
		}
		y, err := labelNumber(name)
		if err != nil {
			return fmt.Errorf("%s:%d: label: %w", path, row.line, err)
		}
		values, q.Weights = append(values, y), append(q.Weights, row.weight)
	}
	q.Labels = values
	if !byGroup {
		return nil
	}
	q.Labels, q.Weights = slices.Compact(slices.Sorted(slices.Values(values))), nil
	at := map[string]int{}
	for i, row := range rows {
		g, ok := at[row.names[0]]
		if !ok {
			if len(q.Groups)*len(q.Labels) > 1<<20 {
				return fmt.Errorf("%s:%d: group: too many groups", path, row.line)
			}
			g = len(q.Groups)
			at[row.names[0]] = g
			q.Groups = append(q.Groups, service.LabelGroup{Name: row.names[0], Weights: make([]float64, len(q.Labels))})
		}
		j, _ := slices.BinarySearch(q.Labels, values[i])
		q.Groups[g].Weights[j] += row.weight
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
func labelPicture(r *labeldp.Randomizer) figure.Picture {
	pic := figure.Law(r.Labels(), r.Outputs(), r.Row)
	pic.Title = fmt.Sprintf("Output law per label: %s, ε = %v", r.Name(), r.Epsilon())
	return pic
}
