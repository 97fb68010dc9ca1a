package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/matrix"
)

func newMatrixCmd() *cobra.Command {
	optimize := question{name: "optimize", op: "matrix-optimize", what: "searching", text: printing(printMatrixOptimum), extra: func(a *asking) {
		file := fileFlag(a.cmd, "out", "`file` for the strategy, .json or .csv, or for a plan, .yaml", "json", "csv", "yaml")
		a.wrote = func(answer any) (any, error) {
			if *file == "" {
				return answer, nil
			}
			// The strategy is the same at every budget; a plan has the noise of the first.
			text, err := strategyText(answer.(service.Answers[service.MatrixOptimizeAnswer]).Results[0], a.request.(*service.MatrixOptimizeRequest).Participation, *file)
			if err == nil {
				err = writeFileAtomic(*file, text)
			}
			if err != nil {
				return nil, fmt.Errorf("--out: %w", err)
			}
			return answer, nil
		}
		a.read = func() error {
			if *file != "" && strategyFormat(*file) == "" {
				return usageError{fmt.Errorf("--out: %s does not end in .json, .csv or .yaml", printable(*file))}
			}
			return nil
		}
	}}
	return group("matrix", optimize.command(), newMatrixStreamCmd())
}

// strategyFormat returns the format of a file by its ending, "" for another.
func strategyFormat(file string) string {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".json", ".csv", ".yaml":
		return ext
	case "":
		return ".json"
	}
	return ""
}

// strategyText returns what a file has of an answer: the strategy as JSON or CSV, or a plan.
func strategyText(r service.MatrixOptimizeAnswer, schema, file string) ([]byte, error) {
	s := r.Strategy.(matrix.Strategy)
	var b bytes.Buffer
	if strategyFormat(file) == ".csv" {
		err := s.WriteCSV(&b)
		return b.Bytes(), err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if strategyFormat(file) == ".json" {
		return append(text, '\n'), nil
	}
	fmt.Fprintf(&b, "neighbors: %s\nsteps:\n  - mechanism:\n      matrix:\n        noise-multiplier: %s\n        steps: %d\n        strategy: %s\n        participation: %s\n",
		r.Neighbors, float(r.NoiseMultiplier), r.Steps, text, strings.Join(strings.Fields(schema), " "))
	if b.Len() > service.MaxPlan {
		return nil, errors.New("a plan with this matrix is longer than 1 MiB; write .csv or .json, or search toeplitz or blt")
	}
	return b.Bytes(), nil
}

func float(x service.Number) string { return fmt.Sprint(float64(x)) }

func printMatrixOptimum(w io.Writer, r service.MatrixOptimizeAnswer, _ *asking) {
	s := r.Strategy.(matrix.Strategy)
	fmt.Fprintf(w, "neighbors: %s\n%d steps, %s\n\n", r.Neighbors, r.Steps, r.Participation)
	f := print.NewFacts(w, 18)
	f.Add("strategy", "%v", s)
	f.Add("sensitivity", "in [%s]", ends(r.Sensitivity.Lower, r.Sensitivity.Upper, 10, ", "))
	f.Add("noise multiplier", "%s", short(r.NoiseMultiplier))
	f.Add("prefix sums", "root mean squared error %s, worst %s", rounded(r.RMSE, 6, near), rounded(r.MaxError, 6, near))
	f.Add("price", "%s at δ = %s", ends(r.Epsilon.Lower, r.Epsilon.Upper, 9, " ≤ ε ≤ "), short(r.Delta))
	f.Flush()
	text, err := json.Marshal(s)
	if err == nil && len(text) <= 400 {
		fmt.Fprintf(w, "\nstrategy: %s\n", text)
	} else {
		fmt.Fprintln(w, "\nThe strategy has many numbers: --out writes it, and --json prints it.")
	}
	if r.TheoryGap {
		fmt.Fprint(w, gapNote)
	}
}
