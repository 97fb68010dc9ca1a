package matrix

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

// This file writes strategies as JSON, which is what the key strategy of a plan has, and as CSV,
// and reads JSON. ReadCSV reads the other.

// written is a strategy in JSON, by one of its keys; identity is a word.
type written struct {
	SquareRoot *writtenRoot   `json:"square-root,omitempty"`
	Toeplitz   *writtenSeries `json:"toeplitz,omitempty"`
	BLT        *writtenTerms  `json:"blt,omitempty"`
	Tree       *writtenTree   `json:"tree,omitempty"`
	Banded     *writtenRows   `json:"banded,omitempty"`
}

type (
	writtenRoot struct {
		Bands int `json:"bands"`
	}
	writtenSeries struct {
		Coefficients []float64 `json:"coefficients"`
	}
	writtenTerms struct {
		Scales []float64 `json:"scales"`
		Decays []float64 `json:"decays"`
	}
	writtenTree struct {
		Completion bool `json:"completion"`
	}
	writtenRows struct {
		Rows [][]float64 `json:"rows"`
	}
)

// MarshalJSON writes the strategy as the key strategy of a plan has it. Rows of a matrix end at
// the diagonal and begin with the first number that is not 0.
func (s Strategy) MarshalJSON() ([]byte, error) {
	var w written
	switch s.kind {
	case squareRoot:
		if s.bands == 1 {
			return []byte(`"identity"`), nil
		}
		w.SquareRoot = &writtenRoot{s.bands}
	case toeplitz:
		w.Toeplitz = &writtenSeries{s.coefficients}
	case blt:
		w.BLT = &writtenTerms{s.scales, s.decays}
	case tree:
		w.Tree = &writtenTree{s.completion}
	case banded:
		w.Banded = &writtenRows{s.rowValues()}
	default:
		return nil, fault.New("strategy", "is missing")
	}
	return json.Marshal(w)
}

// rowValues returns rows as Rows takes them.
func (s Strategy) rowValues() [][]float64 {
	rows := make([][]float64, len(s.rows))
	for i, r := range s.rows {
		rows[i] = r.values
	}
	return rows
}

// UnmarshalJSON reads what MarshalJSON writes, by the constructors.
func (s *Strategy) UnmarshalJSON(data []byte) (err error) {
	if string(bytes.TrimSpace(data)) == `"identity"` {
		*s = Identity()
		return nil
	}
	var w written
	if err := strictjson.Decode(data, &w); err != nil {
		return fault.New("strategy", "%w", err)
	}
	var found []Strategy
	add := func(key string, x Strategy, problem error) {
		found = append(found, x)
		if problem != nil && err == nil {
			err = fault.In(key, problem)
		}
	}
	if w.SquareRoot != nil {
		x, problem := SquareRoot(w.SquareRoot.Bands)
		add("square-root", x, problem)
	}
	if w.Toeplitz != nil {
		x, problem := Toeplitz(w.Toeplitz.Coefficients)
		add("toeplitz", x, problem)
	}
	if w.BLT != nil {
		x, problem := BLT(w.BLT.Scales, w.BLT.Decays)
		add("blt", x, problem)
	}
	if w.Tree != nil {
		add("tree", Tree(w.Tree.Completion), nil)
	}
	if w.Banded != nil {
		x, problem := Rows(w.Banded.Rows)
		add("banded", x, problem)
	}
	switch {
	case len(found) != 1:
		return fault.New("strategy", "has %d of the keys square-root, toeplitz, blt, tree, banded, must have one", len(found))
	case err != nil:
		return err
	}
	*s = found[0]
	return nil
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
