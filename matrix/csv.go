package matrix

import (
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/tables"
)

// ReadCSV returns the lower triangular matrix of a file of comma-separated numbers, as
// Rows takes it: one line for each row.
func ReadCSV(r io.Reader) (Strategy, error) {
	rows, err := ReadRows(r)
	if err != nil {
		return Strategy{}, err
	}
	return Rows(rows)
}

// ReadRows returns the rows of such a file, without the zeros above the diagonal. It has no header.
func ReadRows(r io.Reader) ([][]float64, error) {
	in := tables.NewReader(r)
	var rows [][]float64
	for {
		cells, err := in.Row()
		if err == io.EOF {
			return rows, nil
		}
		field := fmt.Sprintf("rows[%d]", len(rows))
		switch {
		case err != nil:
			return nil, fault.New("rows", "line %d: %w", in.Line(), err)
		case len(rows) == maxRows:
			return nil, fault.New("rows", "has more than %d rows", maxRows)
		case len(cells) > maxRows:
			return nil, fault.New(field, "has %d numbers, must have 1 to %d", len(cells), maxRows)
		}
		row := make([]float64, len(cells))
		for i, text := range cells {
			x, err := decimal.Parse(text)
			if err != nil {
				return nil, fault.New(field, "%s in column %d %v", decimal.Show(text), i, err)
			}
			row[i] = x
		}
		for len(row) > len(rows)+1 && row[len(row)-1] == 0 { // what is above the diagonal
			row = row[:len(row)-1]
		}
		rows = append(rows, row[:len(row):len(row)])
	}
}
