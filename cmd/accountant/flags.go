package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file makes flags of the fields of a request, and of errors about fields errors about flags: each is called as its key,
// and what it means, may be and is where it is not given are those of the field. A flag that was not given leaves the field as
// it was.

// graves puts the name of a value between the grave accents by which pflag knows it.
var graves = strings.NewReplacer("{", "`", "}", "`")

// bind defines the flags of a request, a pointer to its struct, but for some keys. A key without help has no flag.
func bind(cmd *cobra.Command, request any, except ...string) {
	for _, k := range service.Keys(request) {
		if k.Help == "" || slices.Contains(except, k.Name) {
			continue
		}
		usage := graves.Replace(k.Help)
		if !k.Optional {
			usage += " (required)"
		}
		define(cmd, k, k.Field(request), usage)
		if !k.Optional {
			required(cmd, k.Name)
		}
	}
}

// define defines the flag of a key whose value goes to a field, a pointer. A field that is a pointer itself is nil where the flag is
// not given.
func define(cmd *cobra.Command, k service.Key, field any, usage string) {
	fs := cmd.Flags()
	number, _ := strconv.ParseFloat(k.Preset, 64)
	switch to := field.(type) {
	case *service.Decimal:
		fs.Var(&word{to: (*string)(to), preset: k.Preset}, k.Name, usage)
	case *service.PlanText:
		fs.String(k.Name, "", usage)
		_ = cmd.MarkFlagFilename(k.Name, planEndings...)
	case *[]string:
		if k.Words == nil {
			fs.StringSliceVar(to, k.Name, nil, usage)
			return
		}
		fs.Var(&word{to: to, name: k.Name, words: k.Words, preset: k.Preset}, k.Name, usage)
	case *string, *service.Decimals:
		fs.Var(&word{to: to, name: k.Name, words: k.Words, preset: k.Preset}, k.Name, usage)
	case *bool:
		fs.BoolVar(to, k.Name, k.Preset == "true", usage)
	case *float64:
		fs.Float64Var(to, k.Name, number, usage)
	case *int:
		fs.IntVar(to, k.Name, 0, usage)
	case *int64:
		fs.Int64Var(to, k.Name, 0, usage)
	case *uint64:
		fs.Uint64Var(to, k.Name, 0, usage)
	case *[]float64:
		var preset []float64
		if k.Preset != "" {
			preset = append(preset, number)
		}
		fs.Float64SliceVar(to, k.Name, preset, usage)
		fs.Lookup(k.Name).DefValue = k.Preset // pflag writes [10.000000]
	default:
		pointer := reflect.ValueOf(field).Elem()
		held := reflect.New(pointer.Type().Elem())
		define(cmd, k, held.Interface(), usage)
		f := fs.Lookup(k.Name)
		f.Value = optional{f.Value, pointer, held}
	}
}

// fileFlag defines a flag that names a file with one of some endings.
func fileFlag(cmd *cobra.Command, name, usage string, endings ...string) *string {
	to := cmd.Flags().String(name, "", usage)
	_ = cmd.MarkFlagFilename(name, endings...)
	return to
}

// An outFile is a file that a command writes: its flag, and its path, which is empty for none. Where standard says so, - is
// standard output; where inPlace does, it may be what the command reads. It has the text of the answer, unless the command writes
// it in another way.
type outFile struct {
	flag              string
	path              *string
	standard, inPlace bool
	text              func(answer any) ([]byte, error)
}

// outFlag defines the flag of a file that is written, with one of some endings.
func (a *asking) outFlag(name, usage string, text func(answer any) ([]byte, error), endings ...string) *string {
	to := fileFlag(a.cmd, name, usage, endings...)
	a.files = append(a.files, outFile{flag: "--" + name, path: to, text: text})
	return to
}

// inputs are the files that the arguments and flags name for the command to read.
func (a *asking) inputs() []string {
	paths := slices.Clone(a.args)
	a.cmd.Flags().Visit(func(f *pflag.Flag) {
		_, file := f.Annotations[cobra.BashCompFilenameExt]
		if file && !slices.ContainsFunc(a.files, func(out outFile) bool { return out.flag == "--"+f.Name }) {
			paths = append(paths, f.Value.String())
		}
	})
	return paths
}

// check returns an error if the file cannot be written, or must not as it is one of the inputs.
func (f outFile) check(inputs []string) error {
	switch {
	case *f.path == "", *f.path == "-" && f.standard:
		return nil
	case *f.path == "-":
		return fault.New(f.flag, "- is standard output, which has the answer; must be a file (./- is one of that name)")
	case !f.inPlace && slices.ContainsFunc(inputs, func(in string) bool { return sameFile(in, *f.path) }):
		return fault.New(f.flag, "%s is what is read here, must be another file", printable(*f.path))
	}
	return f.named(writable(*f.path, false))
}

// write writes the text of an answer, whole or not at all.
func (f outFile) write(answer any) error {
	if *f.path == "" || f.text == nil {
		return nil
	}
	data, err := f.text(answer)
	if err == nil {
		err = writeFileAtomic(*f.path, data)
	}
	return f.named(err)
}

// named puts the flag before an error.
func (f outFile) named(err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", f.flag, err)
	}
	return err
}

// planEndings are those of plan files.
var planEndings = []string{"yaml", "yml", "json"}

// An optional is the value of a flag that, once it is given, has a field point to what it holds.
type optional struct {
	pflag.Value
	field, held reflect.Value
}

func (o optional) Set(text string) error {
	err := o.Value.Set(text)
	if err == nil {
		o.field.Set(o.held)
	}
	return err
}

// isListFlag reports whether a flag is a list of numbers.
func isListFlag(f *pflag.Flag) bool {
	v := f.Value
	if o, ok := v.(*once); ok {
		v = o.Value
	}
	w, ok := v.(*word)
	if ok {
		_, ok = w.to.(*service.Decimals)
	}
	return ok
}

// preset gives a flag another value where it is not given than that of the field.
func preset(cmd *cobra.Command, name, value string) {
	f := cmd.Flags().Lookup(name)
	f.DefValue = value
	if value == "0" { // which pflag does not show
		f.Usage += ` (default "0")`
	}
	_ = f.Value.Set(value)
}

// showPreset has the help show the value that a choice has where it is not given.
func showPreset(cmd *cobra.Command, name, value string) {
	f := cmd.Flags().Lookup(name)
	f.Value.(*word).preset, f.DefValue = value, value
}

// reword changes what the help says of a flag.
func reword(cmd *cobra.Command, name, old, new string) {
	f := cmd.Flags().Lookup(name)
	f.Usage = strings.Replace(f.Usage, old, new, 1)
}

// required marks flags without which a command does not run.
func required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		_ = cmd.MarkFlagRequired(name)
	}
}

// capsKeys are the keys of what a command may take.
var capsKeys = []string{"memory", "work", "time-limit"}

// limited has a limit of memory be one of the process too: the collector must not let garbage fill more than that either.
func limited(cmd *cobra.Command, request any) {
	if caps, ok := request.(interface{ Bytes() int64 }); ok {
		cmd.PreRun = func(*cobra.Command, []string) {
			if bytes := caps.Bytes(); bytes > 0 {
				limitProcess(bytes)
			}
		}
	}
}

// underCaps adds the limit flags and runs the command under them. Call it after RunE is set.
func underCaps(cmd *cobra.Command) {
	caps, run := new(service.Caps), cmd.RunE
	bind(cmd, caps)
	limited(cmd, caps)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		ctx, end, err := caps.Under(cmd.Context())
		defer func() {
			end(&err)
			err = flagged(cmd, err)
		}()
		if err != nil {
			return err
		}
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
}

// limitProcess keeps the heap, garbage included, below a memory limit, with room for
// the program itself.
func limitProcess(bytes int64) { debug.SetMemoryLimit(bytes - min(24<<20, bytes/4)) }

// A word is the value of a flag that keeps what was written: one text, or several with commas between them. Shells complete the words
// that it may be.
type word struct {
	to     any      // *string, *[]string or *service.Decimals
	name   string   // of the flag
	words  []string // nil for any
	preset string   // only shown
	set    bool     // of several words: the first replaced the default
}

// addChoice defines a flag that takes one of the values. What *to holds is the
// default.
func addChoice(cmd *cobra.Command, to *string, name, usage string, values ...string) {
	cmd.Flags().Var(&word{to: to, name: name, words: values}, name, usage)
}

func (w *word) String() string {
	text := ""
	switch to := w.to.(type) {
	case *string:
		text = *to
	case *[]string:
		text = strings.Join(*to, ",")
	case *service.Decimals:
		for i, d := range *to {
			text += ","[:min(i, 1)] + string(d)
		}
	}
	return cmp.Or(text, w.preset)
}

func (w *word) Type() string { return "word" }

// Set implements pflag.Value. Of several words, the first replaces the default.
func (w *word) Set(text string) error {
	switch to := w.to.(type) {
	case *string:
		*to = text
		return w.check(text)
	case *service.Decimals:
		*to = service.Listed(text)
	case *[]string:
		if !w.set {
			*to, w.set = nil, true
		}
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			if err := w.check(part); err != nil {
				return err
			}
			*to = append(*to, part)
		}
	}
	return nil
}

func (w *word) check(text string) error {
	if w.words == nil || slices.Contains(w.words, text) {
		return nil
	}
	return service.OneOf("--"+w.name, text, w.words...)
}

// complete returns the values that may follow what is typed.
func (w *word) complete(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if _, several := w.to.(*[]string); !several {
		return w.words, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndex(typed, ",")+1]
	var all []string
	for _, v := range w.words {
		if !slices.Contains(strings.Split(before, ","), v) {
			all = append(all, before+v)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// A once is the value of a flag that may be given once: the last of several would
// silently win.
type once struct {
	pflag.Value
	given bool
}

var errTwice = errors.New("is given twice")

func (o *once) Set(text string) error {
	if o.given {
		return errTwice
	}
	o.given = true
	return o.Value.Set(text)
}

// onlyOnce makes flags that hold one value refuse a second one.
func onlyOnce(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, several := f.Value.(pflag.SliceValue)
		if w, ok := f.Value.(*word); ok {
			_, several = w.to.(*[]string)
		}
		if !several && f.Value.Type() != "bool" {
			f.Value = &once{Value: f.Value}
		}
	})
}

// completeFlags has shells complete the values of choices, and offer files only
// where a flag is marked as one.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, file := f.Annotations[cobra.BashCompFilenameExt] // with any ending where it is empty
		if w, ok := f.Value.(*word); ok && w.words != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, w.complete)
		} else if !file && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		}
	})
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completePlans offers plan files for the arguments from first to last.
func completePlans(first, last int) cobra.CompletionFunc {
	return completeFiles(first, last, planEndings...)
}

// completeFiles offers files with some endings for the arguments from first to last, and any file for those before.
func completeFiles(first, last int, endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n < first:
			return nil, cobra.ShellCompDirectiveDefault
		case n > last:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// flagged puts the names of flags in the place of the keys of a request. Those that
// stand for a file are not: an error about its contents has the file's name. Names
// inside of a field are not those of flags.
func flagged(cmd *cobra.Command, err error) error {
	outermost := true
	flag := func(key string) string {
		if !outermost || strings.TrimSpace(key) == "" {
			return key
		}
		outermost = false
		name := strings.FieldsFunc(key+" ", func(r rune) bool { return r == '[' || r == ' ' })[0]
		if cmd.Flags().Lookup(name) == nil || slices.Contains([]string{"votes", "baseline", "answered"}, name) {
			return key
		}
		if isListFlag(cmd.Flags().Lookup(name)) { // the value is told, not its place
			return "--" + name
		}
		return "--" + key
	}
	var s *service.ShapeError
	if errors.As(err, &s) {
		return usageError{errors.New(s.With(func(key string) string { return "--" + key }))}
	}
	return commaHint(cmd, fault.Rename(err, flag))
}

// commaHint adds to an error about a list of two whole numbers that commas stand between values: 0,1 may have
// been meant as 0.1. It adds it once, as errors of files that are read late come by here twice.
func commaHint(cmd *cobra.Command, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Path) == 0 || e.Error() != err.Error() {
		return err
	}
	f := cmd.Flags().Lookup(strings.TrimPrefix(e.Path[0], "--"))
	if f == nil || !isListFlag(f) || !decimalComma.MatchString(f.Value.String()) || strings.Contains(e.Problem, asDecimal) {
		return err
	}
	hinted := *e
	hinted.Problem += asDecimal + strings.Replace(f.Value.String(), ",", ".", 1) + "?"
	return &hinted
}

const asDecimal = "; commas stand between values; did you mean "

var decimalComma = regexp.MustCompile(`^\d+,\d+$`)

// What follows is the flags of all commands that draw: where the picture goes and how large
// it is. A command calls check before it computes.

// pictureFlags are where a picture goes; file is empty for no picture.
type pictureFlags struct {
	file, dpi string
	sides     [2]string // width and height
	size      figure.Size
	set       *pflag.FlagSet
}

// The ends of what may be asked for.
const (
	leastSide, mostSide = 4 * vg.Centimeter, 100 * vg.Centimeter
	leastDPI, mostDPI   = 20, 1200
	mostPixels          = 100e6
	mostPictures        = 10 // one below the other
)

// register defines the flags. what is drawn, width and height centimetres large unless
// somebody asks for another size. With an alias --out is another name of --plot.
func (f *pictureFlags) register(cmd *cobra.Command, what string, width, height float64, alias bool) {
	f.size = figure.Size{Width: vg.Length(width) * vg.Centimeter, Height: vg.Length(height) * vg.Centimeter, DPI: figure.DPI}
	f.set = cmd.Flags()
	f.set.StringVar(&f.file, "plot", "", "draw "+what+" to a `file` (.svg, .png or .pdf)")
	f.set.StringVar(&f.sides[0], "width", "", fmt.Sprintf("`width` of the picture, such as 12cm, 6in or 800px (default %vcm)", width))
	f.set.StringVar(&f.sides[1], "height", "", fmt.Sprintf("`height` of the picture (default %vcm)", height))
	f.set.StringVar(&f.dpi, "dpi", "", "`dots` per inch of a .png (default 192)")
	_ = cmd.MarkFlagFilename("plot", figure.Formats...)
	if alias {
		f.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if name == "out" {
				name = "plot"
			}
			return pflag.NormalizedName(name)
		})
	}
}

// check reads the size of each of some pictures and reports what is wrong with the flags.
func (f *pictureFlags) check(pictures int) error {
	format := figure.Format(f.file)
	var rules []rule
	for _, name := range []string{"width", "height", "dpi"} {
		rules = append(rules, rule{f.file == "" && f.set.Changed(name), "--" + name + " is for --plot"})
	}
	if err := keep(rules...); err != nil || f.file == "" {
		return err
	}
	switch {
	case format == "":
		return fault.New("--plot", "%q does not end in .svg, .png or .pdf", f.file)
	case pictures > mostPictures:
		return fault.New("--plot", "draws %d answers at most, and there are %d", mostPictures, pictures)
	case f.set.Changed("dpi") && format != "png":
		return usageError{errors.New("--dpi is for .png")}
	case f.dpi != "":
		n, err := decimal.Whole(f.dpi)
		if err != nil || n < leastDPI || n > mostDPI {
			return fault.New("--dpi", "%s is not a whole number in [%d, %d]", show(f.dpi), leastDPI, mostDPI)
		}
		f.size.DPI = int(n)
	}
	pixel := 96 // of CSS
	if format == "png" {
		pixel = f.size.DPI
	}
	for i, to := range []*vg.Length{&f.size.Width, &f.size.Height} {
		if f.sides[i] == "" {
			continue
		}
		name := []string{"--width", "--height"}[i]
		l, err := length(f.sides[i], pixel)
		if err != nil {
			return fault.New(name, "%v", err)
		}
		if !(l >= leastSide && l <= mostSide) {
			return fault.New(name, "%s is not in [%vcm, %vcm]", f.sides[i], leastSide/vg.Centimeter, mostSide/vg.Centimeter)
		}
		*to = l
	}
	if dots := float64(pictures) * float64(f.size.Width/vg.Inch) * float64(f.size.Height/vg.Inch) * float64(f.size.DPI*f.size.DPI); dots > mostPixels && format == "png" {
		return fault.New("--dpi", "%d makes %.0f million dots; most are %.0f million", f.size.DPI, dots/1e6, mostPixels/1e6)
	}
	return nil
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
