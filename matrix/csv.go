package matrix

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
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

// ReadRows returns the rows of such a file, without the zeros above the diagonal.
func ReadRows(r io.Reader) ([][]float64, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord, lines.ReuseRecord, lines.TrimLeadingSpace = -1, true, true
	var rows [][]float64
	for {
		record, err := lines.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, fault.New("rows", "%w", err)
		}
		if len(rows) == maxRows {
			return nil, fault.New("rows", "has more than %d rows", maxRows)
		}
		if len(record) > maxRows {
			return nil, fault.New(fmt.Sprintf("rows[%d]", len(rows)), "has %d numbers, must have 1 to %d", len(record), maxRows)
		}
		row := make([]float64, len(record))
		for i, text := range record {
			x, err := decimal.Parse(text)
			if err != nil {
				return nil, fault.New(fmt.Sprintf("rows[%d]", len(rows)), "%q in column %d %v", text, i, err)
			}
			row[i] = x
		}
		for len(row) > len(rows)+1 && row[len(row)-1] == 0 { // what is above the diagonal
			row = row[:len(row)-1]
		}
		rows = append(rows, row[:len(row):len(row)])
	}
}
