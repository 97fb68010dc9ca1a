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
)

func newLabelCmd() *cobra.Command {
	cmd := question{name: "label", what: "designing", under: true, picture: "the output law of each label", width: 18, height: 11,
		text: printing(printLabel), draw: drawing(labelPicture), rows: listing(labelRows), extra: func(a *asking) {
			prior := fileFlag(a.cmd, "prior", "CSV file with the header label,weight or group,label,weight", "csv")
			classes := a.cmd.Flags().Bool("classes", false, "labels are names of classes")
			required(a.cmd, "prior")
			a.late = true
			a.read = func() error {
				data, name, err := readSmall(a.cmd, *prior, labelMaxFile)
				if err != nil {
					return err
				}
				a.of = name
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
