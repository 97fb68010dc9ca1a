package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/service"
)

// This file draws the result of a sweep against one column: the proved end, or the value that was found, a line
// for each combination of the others. It claims nothing between the points.

const sweepPlotLong = `sweep plot draws the result of a sweep: the proved upper end of ε (or δ), or the
value that meets the budget, against column --x, with a line for each combination
of the other columns.

With --y it is a map: each value is a cell of the plane of both columns, in a
colour, and lines with labels are where the quantity has a round value, or one of
--levels. The other columns must be the same in all rows, or picked by --where.

--where picks rows by their values. Rows with an error are left out. The marks and
the cells are the answers; the lines between them claim nothing.`

// mostSweepLines and mostSweepPoints bound a picture of lines.
const mostSweepLines, mostSweepPoints = 12, 100000

// A sweepPlot is one run of sweep plot.
type sweepPlot struct {
	x, y    string
	levels  service.Decimals
	where   []string
	log     bool
	picture pictureFlags
}

func newSweepPlotCmd() *cobra.Command {
	var p sweepPlot
	cmd := &cobra.Command{
		Use:   "plot --x COLUMN --plot FILE results.csv",
		Short: "Draw the result of a sweep",
		Long:  sweepPlotLong,
		Example: `  accountant sweep plot --x steps --where rate=0.001 --plot sweep.svg results.csv
  accountant sweep plot --x rate --y steps --where noise-multiplier=0.8 --plot map.svg results.csv`,
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
			if p.y == "" && len(p.levels) > 0 {
				return usageError{errors.New("--levels is for a map, with --y")}
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
	cmd.Flags().StringVar(&p.y, "y", "", "`column` of the vertical axis, for a map of both")
	numbers(cmd.Flags(), &p.levels, "levels", "", "of a map: the `values` that have a line (default round ones)")
	cmd.Flags().StringArrayVar(&p.where, "where", nil, "only rows with this `column=value`; may be repeated")
	cmd.Flags().BoolVar(&p.log, "log", false, "logarithmic axes; those of a map are without it, too, where the values have equal ratios")
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
	columns, next, err := service.ReadSweep(f)
	if err != nil {
		return figure.Picture{}, pathProblem(path, err)
	}
	r := sweepResult{path: path, columns: columns, next: next}
	if err := r.find(p); err != nil {
		return figure.Picture{}, err
	}
	if p.y != "" {
		return p.drawMap(&r)
	}
	return p.draw(&r)
}

// A sweepResult is a result whose rows are read one by one.
type sweepResult struct {
	path    string
	columns []string
	next    func() ([]string, error)

	x, y   int            // columns of the axes; y is −1 for a picture of lines
	end    int            // the first column of answers
	value  int            // the column that is drawn
	wanted map[int]string // of --where
}

// find finds the columns that are asked for.
func (r *sweepResult) find(p *sweepPlot) (err error) {
	r.end = slices.IndexFunc(r.columns, func(name string) bool {
		return name == "epsilon-lower" || name == "delta-lower" || name == "solve"
	})
	if r.value = r.end + 1; r.end < 2 || r.value >= len(r.columns) {
		return fmt.Errorf("%s: has no column of answers", printable(r.path))
	}
	place := func(flag, name string) (int, error) {
		i := slices.Index(r.columns[:r.end], name)
		if i < 0 {
			return i, fault.New(flag, "%s is not a column of %s; %s", show(name), printable(r.path), nearest.Hint(name, r.columns[:r.end]))
		}
		return i, nil
	}
	if r.x, err = place("--x", p.x); err != nil {
		return err
	}
	if r.y = -1; p.y != "" {
		if r.y, err = place("--y", p.y); err != nil {
			return err
		}
		if r.x == r.y {
			return fault.New("--y", "%s is the column of --x, too", show(p.y))
		}
	}
	r.wanted = map[int]string{}
	for _, w := range p.where {
		name, value, ok := strings.Cut(w, "=")
		i, err := place("--where", name)
		if err != nil {
			return err
		}
		if _, twice := r.wanted[i]; twice {
			return fault.New("--where", "%s is the second value of column %s", show(w), name)
		}
		if r.wanted[i] = value; !ok {
			return fault.New("--where", "%s is not column=value", show(w))
		}
	}
	return nil
}

// A sweepPoint is a row as a place and a value.
type sweepPoint struct {
	x, y, value float64
	others      string // the columns that are neither an axis nor picked, with their values
	fixed       string // the columns that are no axis
	label       string // of the value
}

// rows calls each with the rows that are wanted and have an answer.
func (r *sweepResult) rows(each func(sweepPoint) error) error {
	infinite := slices.Index(r.columns, "infinite")
	for {
		row, err := r.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return pathProblem(r.path, err)
		}
		others, fixed, ok := r.others(row)
		if !ok || row[slices.Index(r.columns, "error")] != "" {
			continue
		}
		at := sweepPoint{others: others, fixed: fixed}
		if at.x, err = strconv.ParseFloat(row[r.x], 64); err != nil {
			return fault.New("--x", "%s of column %s is not a number", show(row[r.x]), r.columns[r.x])
		}
		if r.y >= 0 {
			if at.y, err = strconv.ParseFloat(row[r.y], 64); err != nil {
				return fault.New("--y", "%s of column %s is not a number", show(row[r.y]), r.columns[r.y])
			}
		}
		if at.value, err = strconv.ParseFloat(row[r.value], 64); err != nil {
			if infinite < 0 || row[infinite] == "" {
				return fmt.Errorf("%s: %s is not a value of column %s", printable(r.path), show(row[r.value]), r.columns[r.value])
			}
			at.value = math.Inf(1)
		}
		switch r.columns[r.value] {
		case "epsilon-upper":
			at.label = "ε"
		case "delta-upper":
			at.label = "δ"
		default:
			at.label = row[r.end] // what was solved for
		}
		if err := each(at); err != nil {
			return err
		}
	}
}

// others returns the columns in front of the answers that are no axis, with their values: those that are not
// picked, and all of them. It reports whether the row is wanted.
func (r *sweepResult) others(row []string) (others, fixed string, ok bool) {
	var free, all []string
	for i := 1; i < r.end; i++ { // 0 is the index
		value, picked := r.wanted[i]
		if picked && !sameValue(value, row[i]) {
			return "", "", false
		}
		if i == r.x || i == r.y {
			continue
		}
		text := r.columns[i] + " " + row[i]
		if all = append(all, text); !picked {
			free = append(free, text)
		}
	}
	return strings.Join(free, ", "), strings.Join(all, ", "), true
}

// sameValue reports whether two texts are the same number, or the same.
func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// errNoRow is the error of a picture without a value.
var errNoRow = fault.New("--where", "leaves no row with an answer")

// draw collects the lines of the rows.
func (p *sweepPlot) draw(r *sweepResult) (figure.Picture, error) {
	pic := figure.Picture{LegendUp: true, LegendLeft: true, X: figure.Axis{Label: p.x, Log: p.log}, Y: figure.Axis{Log: p.log}}
	lines := map[string][]sweepPoint{}
	var names []string
	points := 0
	err := r.rows(func(at sweepPoint) error {
		if lines[at.others] == nil {
			names = append(names, at.others)
		}
		if points++; len(names) > mostSweepLines || points > mostSweepPoints {
			return fault.New("--where", "is needed: there are more than %d lines, or %d points", mostSweepLines, mostSweepPoints)
		}
		lines[at.others], pic.Y.Label = append(lines[at.others], at), at.label
		return nil
	})
	if err != nil {
		return pic, err
	}
	if points == 0 {
		return pic, errNoRow
	}
	for _, name := range names {
		b := figure.Band{Name: name, Dots: true}
		line := lines[name]
		slices.SortStableFunc(line, func(a, b sweepPoint) int { return cmp.Compare(a.x, b.x) })
		for _, at := range line {
			b.X, b.Upper = append(b.X, at.x), append(b.Upper, at.value)
		}
		b.Proved = b.Upper
		pic.Bands = append(pic.Bands, b)
	}
	return pic, nil
}
