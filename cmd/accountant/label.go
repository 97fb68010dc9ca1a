package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/labeldp"
	"github.com/dpaccountant/accountant/service"
)

const labelLong = `label designs the optimal unbiased randomizer for labels with a given prior: the
epsilon-DP law on outputs with mean equal to the true label and least variance.
It prints outputs, probabilities and what other methods would lose.

The prior file has the header label,weight and a row for each label. It must be
public; for a private column use label apply --labels, which estimates a prior
with a part of the budget.

Losses are half the mean squared error. The guarantee is under replacement of
one label; features are public.`

func newLabelCmd() *cobra.Command {
	var q service.LabelRequest
	var bias float64
	var prior, plot string
	var form output
	cmd := &cobra.Command{
		Use:   "label --epsilon E --prior FILE",
		Short: "Design the optimal unbiased randomizer of private labels",
		Long:  labelLong,
		Example: `  accountant label --epsilon 1 --prior prior.csv
  accountant label apply --epsilon 1 --labels 0..52 --column weeks --in data.csv --out noisy.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && nearest.Word(args[0], commandNames(cmd)) != "" {
				return unknownCommand(cmd, args[0])
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if plot != "" {
				if err := pictureFormat("plot", plot); err != nil {
					return err
				}
			}
			q.Bias = given(cmd, "bias", bias)
			p, err := labelReadPrior(prior)
			if err != nil {
				return err
			}
			q.Prior = &p
			a, err := ask(cmd, "designing", (*service.Service).Label, q)
			if err != nil {
				return err
			}
			if plot != "" {
				if err := labelPlot(a.Randomizer, plot); err != nil {
					return err
				}
			}
			return form.print(cmd.OutOrStdout(), a, func(w io.Writer) error { return printLabel(w, a) })
		},
	}
	f := cmd.Flags()
	f.Float64Var(&q.Epsilon, "epsilon", 0, "privacy of the randomizer, in [1e-6, 28]")
	f.StringVar(&prior, "prior", "", "CSV file with the header label,weight")
	f.IntVar(&q.Grid, "grid", 0, "restrict outputs to this many evenly spaced ones (0: anywhere)")
	f.Float64Var(&bias, "bias", 0, "allow this much bias; needs --grid")
	f.StringVar(&plot, "plot", "", "draw the output law of each label into this file (.svg, .png, .pdf)")
	form.register(cmd)
	_ = cmd.MarkFlagRequired("epsilon")
	_ = cmd.MarkFlagRequired("prior")
	_ = cmd.MarkFlagFilename("prior", "csv")
	_ = cmd.MarkFlagFilename("plot", pictures...)
	cmd.AddCommand(newLabelApplyCmd())
	return cmd
}

// printLabel writes the report as text. Beyond a dozen labels the matrix is left to
// --json.
func printLabel(w io.Writer, r *service.LabelAnswer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "epsilon %v, %d labels, %d outputs; certified within %.1e of the optimum\n\n", r.Epsilon, len(r.Labels), len(r.Outputs), r.Gap)
	if len(r.Labels) <= 12 {
		fmt.Fprint(t, "output\t")
		for _, y := range r.Labels {
			fmt.Fprintf(t, "P(·|%v)\t", y)
		}
		fmt.Fprintln(t)
		for j, out := range r.Outputs {
			fmt.Fprintf(t, "%.6g\t", out)
			for i := range r.Labels {
				fmt.Fprintf(t, "%.6f\t", r.Probabilities[i][j])
			}
			fmt.Fprintln(t)
		}
	} else {
		fmt.Fprintf(t, "outputs from %.6g to %.6g; --json lists them with their probabilities\n", r.Outputs[0], r.Outputs[len(r.Outputs)-1])
	}
	fmt.Fprintln(t, "")
	fmt.Fprintln(t, "method\thalf-loss\tMSE\tlargest bias\t")
	for _, name := range r.Methods {
		bias := fmt.Sprintf("%.4g", r.Bias[name])
		if r.Bias[name] <= 1e-10*(r.Labels[len(r.Labels)-1]-r.Labels[0])/math.Tanh(r.Epsilon/2) {
			bias = "0"
		}
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%s\t\n", name, r.Loss[name], 2*r.Loss[name], bias)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nprivacy loss of one label: ±%v with probabilities %.6g and %.6g, else 0 (worst pair %v, %v; replacing one label)\n",
		r.Epsilon, r.Tau*math.Exp(r.Epsilon), r.Tau, r.WorstPair[0], r.WorstPair[1])
	return err
}

// labelMaxFile bounds the size of a prior file.
const labelMaxFile = 1 << 20

// labelReadPrior reads label,weight rows.
func labelReadPrior(path string) (labeldp.Prior, error) {
	data, err := readSmall(path, labelMaxFile)
	if err != nil {
		return labeldp.Prior{}, err
	}
	return labelParsePrior(printable(path), bytes.NewReader(data))
}

// labelParsePrior is labelReadPrior for the contents of a file of that name.
func labelParsePrior(path string, r io.Reader) (labeldp.Prior, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = 2
	in.TrimLeadingSpace = true
	var labels, weights []float64
	for first := true; ; first = false {
		rec, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return labeldp.Prior{}, labelCSVError(path, err)
		}
		line, _ := in.FieldPos(0)
		if first {
			if strings.TrimSpace(rec[0]) != "label" || strings.TrimSpace(rec[1]) != "weight" {
				return labeldp.Prior{}, fmt.Errorf("%s:%d: header: %q is not label,weight", path, line, strings.Join(rec, ","))
			}
			continue
		}
		var v [2]float64
		for i, name := range [2]string{"label", "weight"} {
			if v[i], err = labelNumber(rec[i]); err != nil {
				return labeldp.Prior{}, fmt.Errorf("%s:%d: %s: %w", path, line, name, err)
			}
		}
		if v[1] < 0 {
			return labeldp.Prior{}, fmt.Errorf("%s:%d: weight: %v is not in [0, ∞)", path, line, v[1])
		}
		labels, weights = append(labels, v[0]), append(weights, v[1])
	}
	p, err := labeldp.NewPrior(labels, weights)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func labelNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
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
