package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/figure"
)

// This file is the flags of all commands that draw: where the picture goes and how large
// it is. It assumes that a command calls check before it computes, and with before it
// prints.

// terminal is the value of --plot that stands for standard output.
const terminal = "term"

// pictureFlags are where a picture goes; file is empty for no picture.
type pictureFlags struct {
	file, width, height, dpi string
	preset                   figure.Size
	set                      *pflag.FlagSet
}

// The ends of what may be asked for.
const (
	leastSide, mostSide       = 4 * vg.Centimeter, 100 * vg.Centimeter
	leastDPI, mostDPI         = 20, 1200
	mostPixels                = 100e6
	leastColumns, mostColumns = 40, 400
	leastRows, mostRows       = 10, 200
)

// register defines the flags. what is drawn, width and height centimetres large unless
// somebody asks for another size.
func (f *pictureFlags) register(cmd *cobra.Command, what string, width, height float64) {
	f.preset = figure.Size{Width: vg.Length(width) * vg.Centimeter, Height: vg.Length(height) * vg.Centimeter}
	f.set = cmd.Flags()
	f.set.StringVar(&f.file, "plot", "", "draw "+what+" to a `file` (.svg, .png, .pdf or .html), or to the terminal (term)")
	f.set.StringVar(&f.width, "width", "", fmt.Sprintf("`width` of the picture, such as 12cm, 6in or 800px (default %vcm); of one in a terminal, in columns", width))
	f.set.StringVar(&f.height, "height", "", fmt.Sprintf("`height` of the picture (default %vcm); of one in a terminal, in lines", height))
	f.set.StringVar(&f.dpi, "dpi", "", "dots per inch of a .png (default 96)")
	_ = cmd.MarkFlagFilename("plot", figure.Formats...)
}

// registerOut is register for commands whose picture was once asked for by --out, which
// still is another name of --plot.
func (f *pictureFlags) registerOut(cmd *cobra.Command, what string, width, height float64) {
	f.register(cmd, what, width, height)
	f.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "plot"
		}
		return pflag.NormalizedName(name)
	})
}

// check reports what is wrong with the flags, given the form of what else is printed.
func (f *pictureFlags) check(form output) error {
	switch {
	case f.file == "":
		for _, name := range []string{"width", "height", "dpi"} {
			if f.set.Changed(name) {
				return usageError{fmt.Errorf("--%s is for --plot", name)}
			}
		}
		return nil
	case f.file == terminal:
		if form != (output{}) {
			return usageError{errors.New("--plot term excludes --json, --csv, --markdown and --latex: both are printed")}
		}
		if f.set.Changed("dpi") {
			return usageError{errors.New("--dpi is for .png")}
		}
		_, err := f.terminal(io.Discard)
		return err
	case figure.Format(f.file) == "":
		return fault.New("--plot", "%q does not end in .svg, .png, .pdf or .html, and is not term", f.file)
	case f.set.Changed("dpi") && figure.Format(f.file) != "png":
		return usageError{errors.New("--dpi is for .png")}
	}
	_, err := f.size()
	return err
}

// size returns the size of a picture in a file.
func (f *pictureFlags) size() (figure.Size, error) {
	s := f.preset
	s.DPI = 96
	if f.dpi != "" {
		n, err := decimal.Whole(f.dpi)
		if err != nil || n < leastDPI || n > mostDPI {
			return s, fault.New("--dpi", "%s is not a whole number in [%d, %d]", show(f.dpi), leastDPI, mostDPI)
		}
		s.DPI = int(n)
	}
	for _, side := range []struct {
		name, text string
		to         *vg.Length
	}{{"--width", f.width, &s.Width}, {"--height", f.height, &s.Height}} {
		if side.text == "" {
			continue
		}
		pixel := 96
		if figure.Format(f.file) == "png" {
			pixel = s.DPI
		}
		l, err := length(side.text, pixel)
		if err != nil {
			return s, fault.New(side.name, "%v", err)
		}
		if !(l >= leastSide && l <= mostSide) {
			return s, fault.New(side.name, "%s is not in [%vcm, %vcm]", side.text, leastSide/vg.Centimeter, mostSide/vg.Centimeter)
		}
		*side.to = l
	}
	if dots := float64(s.Width/vg.Inch) * float64(s.Height/vg.Inch) * float64(s.DPI*s.DPI); dots > mostPixels && figure.Format(f.file) == "png" {
		return s, fault.New("--dpi", "%d makes %.0f million dots; most are %.0f million", s.DPI, dots/1e6, mostPixels/1e6)
	}
	return s, nil
}

// length reads a length with its unit.
func length(text string, dpi int) (vg.Length, error) {
	units := map[string]vg.Length{"cm": vg.Centimeter, "mm": vg.Millimeter, "in": vg.Inch, "pt": 1, "px": vg.Inch / vg.Length(dpi)}
	for unit, l := range units {
		if number, ok := strings.CutSuffix(text, unit); ok {
			v, err := decimal.Parse(strings.TrimSpace(number))
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				break
			}
			return vg.Length(v) * l, nil
		}
	}
	if _, err := decimal.Parse(text); err == nil {
		return 0, fmt.Errorf("%s has no unit: write %[1]spx, %[1]scm or %[1]sin", text)
	}
	return 0, fmt.Errorf("%s is not a length such as 12cm, 6in or 800px", show(text))
}

// terminal returns how the picture looks in what w writes to.
func (f *pictureFlags) terminal(w io.Writer) (figure.Screen, error) {
	s := figure.Screen{Columns: 80, Rows: 24, Unicode: unicodeTerminal(os.Getenv)}
	if file, ok := w.(*os.File); ok && isTerminal(w) {
		s.Colour = s.Unicode && os.Getenv("TERM") != "dumb"
		if columns, rows, err := term.GetSize(int(file.Fd())); err == nil && columns > 0 {
			s.Columns, s.Rows = min(max(columns-1, leastColumns), 120), min(max(rows-6, leastRows), 30)
		}
	} else if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Columns = min(max(n, leastColumns), 120)
	}
	for _, side := range []struct {
		name, text  string
		to          *int
		least, most int
	}{{"--width", f.width, &s.Columns, leastColumns, mostColumns}, {"--height", f.height, &s.Rows, leastRows, mostRows}} {
		if side.text == "" {
			continue
		}
		n, err := decimal.Whole(side.text)
		if err != nil || n < int64(side.least) || n > int64(side.most) {
			return s, fault.New(side.name, "%s is not a whole number in [%d, %d], of a picture in a terminal", show(side.text), side.least, side.most)
		}
		*side.to = int(n)
	}
	return s, nil
}

// unicodeTerminal reports whether the environment says that text is UTF-8, and does not
// ask for plain text.
func unicodeTerminal(env func(string) string) bool {
	if env("NO_COLOR") != "" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts
		if v := strings.ToUpper(env(name)); v != "" {
			return strings.Contains(v, "UTF-8") || strings.Contains(v, "UTF8")
		}
	}
	return false
}

// write draws the picture into the file, whole or not at all. For a terminal, and for none,
// it does nothing.
func (f *pictureFlags) write(pic *figure.Picture) error {
	if f.file == "" || f.file == terminal {
		return nil
	}
	size, err := f.size()
	if err != nil {
		return err
	}
	data, err := pic.Encode(figure.Format(f.file), size)
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := writeFileAtomic(f.file, data); err != nil {
		return pathProblem("--plot", err)
	}
	return nil
}

// with writes the picture into its file, and returns what prints text and, in a terminal,
// the picture below it.
func (f *pictureFlags) with(pic func() (figure.Picture, error), text func(io.Writer) error) (func(io.Writer) error, error) {
	if f.file == "" {
		return text, nil
	}
	p, err := pic()
	if err != nil {
		return nil, err
	}
	if f.file != terminal {
		return text, f.write(&p)
	}
	return func(w io.Writer) error {
		if err := text(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return f.show(w, &p)
	}, nil
}

// show draws the picture into a terminal.
func (f *pictureFlags) show(w io.Writer, pic *figure.Picture) error {
	s, err := f.terminal(w)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, pic.Terminal(s))
	return err
}
