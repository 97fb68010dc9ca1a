// The Adult data as Zhao and Liu prepared them: the file adult_processed2.csv of their
// repository github.com/zhao-xingyuan/MUST (MIT), which is not part of this one.

package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/lab/try"
)

// adultColumns is the header of the file; the last column is the label.
var adultColumns = []string{"age", "workclass", "fnlwgt", "educational.num", "marital.status", "race", "gender", "capital.gain", "capital.loss",
	"hours.per.week", "occupation_office", "occupation_Prof", "occupation_worker", "income"}

// An adultTable is rows of an intercept and 13 columns, each divided by its maximum,
// with labels 0 and 1. The first three quarters are for training, as in the paper.
type adultTable struct {
	x [][]float64
	y []float64
}

func (a adultTable) train() int { return len(a.x) / 4 * 3 }

// withLabel returns the table with the label as one more column, as the authors'
// first program has it.
func (a adultTable) withLabel() adultTable {
	out := adultTable{y: a.y, x: make([][]float64, len(a.x))}
	for i, row := range a.x {
		out.x[i] = append(slices.Clone(row), a.y[i])
	}
	return out
}

// openAdult reads the file.
func openAdult(path string) adultTable {
	f := try.Must(os.Open(path))
	defer f.Close()
	a, err := readAdult(f)
	if err == nil && len(a.x) != incomeN+incomeTest {
		err = fmt.Errorf("rows: %d is not in [%d, %[2]d]", len(a.x), incomeN+incomeTest)
	}
	if err != nil {
		try.Check(fmt.Errorf("%s: %w", path, err))
	}
	return a
}

// readAdult reads a file with the columns above, in which every entry is a number of 0 or
// more.
func readAdult(r io.Reader) (adultTable, error) {
	var a adultTable
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return a, fmt.Errorf("header: %w", err)
	}
	if !slices.Equal(header, adultColumns) {
		return a, fmt.Errorf("header: %q is not in [%q]", header, adultColumns)
	}
	top := make([]float64, len(adultColumns))
	for {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return a, err
		}
		row := make([]float64, 1, len(adultColumns))
		row[0] = 1
		for j, s := range fields {
			v, err := decimal.Plain(s)
			label := j == len(adultColumns)-1
			if err != nil || !(v >= 0 && v <= math.MaxFloat32) || label && v != 0 && v != 1 {
				line, _ := in.FieldPos(j)
				return a, fmt.Errorf("line %d: %s: %q is not in [0, %s]", line, adultColumns[j], s, map[bool]string{false: "∞)", true: "1], a label"}[label])
			}
			top[j] = max(top[j], v)
			if label {
				a.y = append(a.y, v)
			} else {
				row = append(row, v)
			}
		}
		a.x = append(a.x, row)
	}
	if len(a.x) < 4 {
		return a, fmt.Errorf("rows: %d is not in [4, ∞)", len(a.x))
	}
	for _, row := range a.x {
		for j := range row[1:] {
			if top[j] > 0 {
				row[1+j] /= top[j]
			}
		}
	}
	return a, nil
}
