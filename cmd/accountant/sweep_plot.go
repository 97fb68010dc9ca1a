package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// This file draws the result of a sweep: the proved end against one column, a line for each
// combination of the others. It claims nothing between the points.

const sweepPlotLong = `sweep plot draws the proved upper end of ε (or δ) in the result of a sweep
against a column, with a line for each combination of the other columns. --where
picks rows by their values. Rows with an error are left out. The marks are the
answers; the lines between them claim nothing.`

// mostSweepLines and mostSweepPoints bound a picture.
const mostSweepLines, mostSweepPoints = 12, 100000

// A sweepPlot is one run of sweep plot.
type sweepPlot struct {
	x       string
	where   []string
	log     bool
	picture pictureFlags
}

func newSweepPlotCmd() *cobra.Command {
	var p sweepPlot
	cmd := &cobra.Command{
		Use:     "plot --x COLUMN --plot FILE results.csv",
		Short:   "Draw the result of a sweep",
		Long:    sweepPlotLong,
		Example: `  accountant sweep plot --x steps --where rate=0.001 --plot sweep.svg results.csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("needs one file, the result of a sweep")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.picture.file == "" {
				return usageError{errors.New("missing --plot")}
			}
			if err := p.picture.check(output{}); err != nil {
				return err
			}
			pic, err := p.read(args[0])
			if err != nil {
				return err
			}
			if p.picture.file == terminal {
				return p.picture.show(cmd.OutOrStdout(), &pic)
			}
			return p.picture.write(&pic)
		},
	}
	cmd.Flags().StringVar(&p.x, "x", "", "`column` of the horizontal axis (required)")
	cmd.Flags().StringArrayVar(&p.where, "where", nil, "only rows with this `column=value`; may be repeated")
	cmd.Flags().BoolVar(&p.log, "log", false, "logarithmic axes")
	_ = cmd.MarkFlagRequired("x")
	p.picture.register(cmd, "the result", 17, 11)
	return cmd
}

// read reads a result and makes the picture.
func (p *sweepPlot) read(path string) (figure.Picture, error) {
	f, err := openInput(path)
	if err != nil {
		return figure.Picture{}, err
	}
	defer f.Close()
	columns, next, err := sweepRows(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return figure.Picture{}, pathProblem(path, err)
	}
	return p.draw(path, columns, next)
}

// sweepRows returns the columns of a result and a function that returns its rows as texts, "" for
// what is not there, and io.EOF behind the last one. A torn last line is left out.
func sweepRows(in *bufio.Reader) ([]string, func() ([]string, error), error) {
	none := errors.New("is not the result of a sweep")
	line := func() (string, error) {
		text, err := in.ReadString('\n')
		return strings.TrimSuffix(text, "\n"), err
	}
	first, err := line()
	if err != nil {
		return nil, nil, none
	}
	if strings.HasPrefix(first, "# accountant sweep ") {
		fields := func() ([]string, error) {
			text, err := line()
			if err != nil {
				return nil, err
			}
			return csv.NewReader(strings.NewReader(text)).Read()
		}
		columns, err := fields()
		return columns, fields, err
	}
	var head struct {
		Sweep   int      `json:"accountant-sweep"`
		Columns []string `json:"columns"`
	}
	if json.Unmarshal([]byte(first), &head) != nil || head.Sweep == 0 {
		return nil, nil, none
	}
	return head.Columns, func() ([]string, error) {
		text, err := line()
		if err != nil {
			return nil, err
		}
		var row map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			return nil, err
		}
		cells := make([]string, len(head.Columns))
		for i, name := range head.Columns {
			cells[i] = strings.Trim(strings.TrimPrefix(string(row[name]), "null"), `"`)
		}
		return cells, nil
	}, nil
}

// draw collects the lines of the rows.
func (p *sweepPlot) draw(path string, columns []string, next func() ([]string, error)) (figure.Picture, error) {
	pic := figure.Picture{LegendUp: true, LegendLeft: true}
	place := func(flag, name string) (int, error) {
		i := slices.Index(columns, name)
		if i < 0 {
			return i, fault.New(flag, "%s is not a column of %s; %s", show(name), printable(path), nearest.Hint(name, columns))
		}
		return i, nil
	}
	last := slices.Index(columns, "gap")
	if last < 4 {
		return pic, fmt.Errorf("%s: has too few columns", printable(path))
	}
	x, err := place("--x", p.x)
	if err != nil {
		return pic, err
	}
	wanted := map[int]string{}
	for _, w := range p.where {
		name, value, ok := strings.Cut(w, "=")
		i, err := place("--where", name)
		if err != nil {
			return pic, err
		}
		if wanted[i] = value; !ok {
			return pic, fault.New("--where", "%s is not column=value", show(w))
		}
	}
	at := map[string]int{}
	points := 0
	for {
		row, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return pic, pathProblem(path, err)
		}
		if len(row) != len(columns) {
			return pic, fmt.Errorf("%s: a row has %d columns, and the head %d", printable(path), len(row), len(columns))
		}
		name, ok := p.line(columns, row, x, last-2, wanted)
		if !ok || row[len(row)-1] != "" {
			continue
		}
		xv, err := strconv.ParseFloat(row[x], 64)
		if err != nil {
			return pic, fault.New("--x", "%s of column %s is not a number", show(row[x]), p.x)
		}
		high, err := strconv.ParseFloat(row[last-1], 64)
		if err != nil {
			return pic, fmt.Errorf("%s: %s is not the end of an interval", printable(path), show(row[last-1]))
		}
		i, ok := at[name]
		if !ok {
			i = len(pic.Bands)
			at[name] = i
			pic.Bands = append(pic.Bands, figure.Band{Name: name, Dots: true})
		}
		if points++; len(pic.Bands) > mostSweepLines || points > mostSweepPoints {
			return pic, fault.New("--where", "is needed: there are more than %d lines, or %d points", mostSweepLines, mostSweepPoints)
		}
		b := &pic.Bands[i]
		b.X, b.Upper = append(b.X, xv), append(b.Upper, high)
	}
	if points == 0 {
		return pic, fault.New("--where", "leaves no row with an answer")
	}
	for i := range pic.Bands {
		sortBand(&pic.Bands[i])
	}
	symbol := map[string]string{"epsilon-upper": "ε", "delta-upper": "δ"}[columns[last-1]]
	pic.X, pic.Y = figure.Axis{Label: p.x, Log: p.log}, figure.Axis{Label: symbol, Log: p.log}
	return pic, nil
}

// line returns the name of the line of a row, by the columns in front of column end that are
// neither x nor picked, and whether the row is wanted.
func (p *sweepPlot) line(columns, row []string, x, end int, wanted map[int]string) (string, bool) {
	var parts []string
	for i := 1; i < end; i++ { // 0 is the index
		value, picked := wanted[i]
		if picked && !sameValue(value, row[i]) {
			return "", false
		}
		if !picked && i != x {
			parts = append(parts, columns[i]+" "+row[i])
		}
	}
	return strings.Join(parts, ", "), true
}

// sameValue reports whether two texts are the same number, or the same.
func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// sortBand puts the points of a line in the order of x.
func sortBand(b *figure.Band) {
	order := make([]int, len(b.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case b.X[i] < b.X[j]:
			return -1
		case b.X[i] > b.X[j]:
			return 1
		}
		return 0
	})
	sorted := func(xs []float64) []float64 {
		out := make([]float64, len(xs))
		for i, k := range order {
			out[i] = xs[k]
		}
		return out
	}
	b.X, b.Upper = sorted(b.X), sorted(b.Upper)
	b.Proved = b.Upper
}
