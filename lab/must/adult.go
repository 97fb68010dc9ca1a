// The Adult data as Zhao and Liu prepared them: the file adult_processed2.csv of their
// repository github.com/zhao-xingyuan/MUST (MIT), which is not part of this one, and
// a synthetic stand-in of the same form for where the file is not at hand.

package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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
	x    [][]float64
	y    []float64
	real bool // not the stand-in
}

func (a adultTable) train() int { return len(a.x) / 4 * 3 }

// withLabel returns the table with the label as one more column, as the authors'
// first program has it.
func (a adultTable) withLabel() adultTable {
	out := adultTable{y: a.y, real: a.real, x: make([][]float64, len(a.x))}
	for i, row := range a.x {
		out.x[i] = append(slices.Clone(row), a.y[i])
	}
	return out
}

// openAdult reads the file, or draws the stand-in if the path is empty.
func openAdult(path string) adultTable {
	if path == "" {
		return income(rand.New(rand.NewPCG(5, 0)), incomeN+incomeTest)
	}
	f := try.Must(os.Open(path))
	defer f.Close()
	a, err := readAdult(f)
	if err == nil && len(a.x) != incomeN+incomeTest {
		err = fmt.Errorf("rows: %d is not in [%d, %[2]d]", len(a.x), incomeN+incomeTest)
	}
	if err != nil {
		try.Check(fmt.Errorf("%s: %w", path, err))
	}
	a.real = true
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

// income draws the stand-in: with about the means and spreads of the data, and a label
// that is positive for a quarter of the rows by a logistic model.
func income(rng *rand.Rand, rows int) adultTable {
	coin := func(p float64) float64 {
		if rng.Float64() < p {
			return 1
		}
		return 0
	}
	x, y := make([][]float64, rows), make([]float64, rows)
	for i := range x {
		age := min(90, 17+21.6*math.Abs(rng.NormFloat64()+1)/1.17)
		married := coin(min(0.75, max(0, (age-20)/30)))
		years := min(16, max(1, math.Round(10.1+2.5*rng.NormFloat64())))
		male := coin(0.55 + 0.25*married)
		gain, loss := 0., 0.
		if rng.Float64() < 0.03+0.1*coin(years/40) {
			gain = min(99999, 4000*math.Exp(rng.NormFloat64()))
		} else if rng.Float64() < 0.047 {
			loss = min(4356, max(0, 1870+370*rng.NormFloat64()))
		}
		hours := min(99, max(1, 41+12*rng.NormFloat64()))
		job := rng.Float64() + (years-10)/20
		class := [3]float64{}
		switch {
		case job > 0.75:
			class[0] = 1
		case job > 0.5:
			class[1] = 1
		case job > 0.25:
			class[2] = 1
		}
		x[i] = []float64{1, age / 90, coin(0.74), min(1, 0.126*math.Exp(0.5*rng.NormFloat64())), years / 16, married, coin(0.86), male,
			gain / 99999, loss / 4356, hours / 99, class[0], class[1], class[2]}
		score := -8.95 + 0.025*age + 0.36*years + 2.2*married + 0.1*male + 0.0003*gain + 0.0007*loss + 0.03*hours + 0.6*class[0] + 0.2*class[1] - 0.2*class[2]
		y[i] = coin(logit(score))
	}
	return adultTable{x: x, y: y}
}
