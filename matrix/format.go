package matrix

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/dpaccountant/accountant/internal/fault"
)

// This file writes strategies as JSON, which is what the key strategy of a plan has, and as CSV,
// which ReadCSV reads.

// MarshalJSON writes the strategy as the key strategy of a plan has it. Rows of a matrix end at
// the diagonal and begin with the first number that is not 0.
func (s Strategy) MarshalJSON() ([]byte, error) {
	var key string
	var value any
	switch s.kind {
	case squareRoot:
		if s.bands == 1 {
			return []byte(`"identity"`), nil
		}
		key, value = "square-root", map[string]int{"bands": s.bands}
	case toeplitz:
		key, value = "toeplitz", map[string][]float64{"coefficients": s.coefficients}
	case blt:
		key, value = "blt", struct {
			Scales []float64 `json:"scales"`
			Decays []float64 `json:"decays"`
		}{s.scales, s.decays}
	case tree:
		key, value = "tree", map[string]bool{"completion": s.completion}
	case banded:
		key, value = "banded", map[string][][]float64{"rows": s.rowValues()}
	default:
		return nil, fault.New("strategy", "is missing")
	}
	return json.Marshal(map[string]any{key: value})
}

// rowValues returns rows as Rows takes them.
func (s Strategy) rowValues() [][]float64 {
	rows := make([][]float64, len(s.rows))
	for i, r := range s.rows {
		rows[i] = r.values
	}
	return rows
}

// WriteCSV writes a strategy that ReadCSV reads: the rows of a matrix, or the lists of the others,
// each after its name: coefficients, or scales and decays.
func (s Strategy) WriteCSV(w io.Writer) error {
	var text []byte
	line := func(name string, numbers []float64) {
		text = append(text, name...)
		for i, x := range numbers {
			if i > 0 || name != "" {
				text = append(text, ',')
			}
			text = strconv.AppendFloat(text, x, 'g', -1, 64)
		}
		text = append(text, '\n')
	}
	switch s.kind {
	case toeplitz:
		line("coefficients", s.coefficients)
	case blt:
		line("scales", s.scales)
		line("decays", s.decays)
	case banded:
		for _, r := range s.rowValues() {
			line("", r)
		}
	default:
		return fault.New("strategy", "%v has no numbers to write", s)
	}
	_, err := w.Write(text)
	return err
}
