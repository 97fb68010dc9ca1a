package main

import (
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/cmd/service"
)

// This file makes flags of the fields of a request: each is called as its key, and what it means,
// may be and is where it is not given are those of the field. A flag that was not given leaves the field as
// it was.

// graves puts the name of a value between the grave accents by which pflag knows it.
var graves = strings.NewReplacer("{", "`", "}", "`")

// bind defines the flags of a request, a pointer to its struct, but for some keys. A key without help has no flag.
func bind(cmd *cobra.Command, request any, except ...string) {
	fs := cmd.Flags()
	for _, k := range service.Keys(request) {
		if k.Help == "" || slices.Contains(except, k.Name) {
			continue
		}
		usage := graves.Replace(k.Help)
		if !k.Optional {
			usage += " (required)"
		}
		switch to := k.Field(request).(type) {
		case *service.Decimal:
			fs.Var(&written{(*string)(to), k.Preset}, k.Name, usage)
		case *service.Decimals:
			fs.Var(&listed{to, k.Preset}, k.Name, usage)
		case *service.PlanText:
			fs.String(k.Name, "", usage)
			_ = cmd.MarkFlagFilename(k.Name, planEndings...)
		case *string:
			if k.Words != nil {
				fs.Var(&choice{one: to, values: k.Words, preset: k.Preset}, k.Name, usage)
			} else {
				fs.Var(&written{to, k.Preset}, k.Name, usage)
			}
		case *[]string:
			if k.Words == nil {
				fs.StringSliceVar(to, k.Name, nil, usage)
				continue
			}
			fs.Var(&choice{many: to, values: k.Words, preset: k.Preset}, k.Name, usage)
		case *bool:
			fs.BoolVar(to, k.Name, false, usage)
		case *float64:
			fs.Float64Var(to, k.Name, 0, usage)
		case *int:
			fs.IntVar(to, k.Name, 0, usage)
		case *int64:
			fs.Int64Var(to, k.Name, 0, usage)
		case *[]float64:
			var preset []float64
			if x, err := strconv.ParseFloat(k.Preset, 64); err == nil {
				preset = append(preset, x)
			}
			fs.Float64SliceVar(to, k.Name, preset, usage)
		case **float64:
			x, _ := strconv.ParseFloat(k.Preset, 64)
			pointed(fs, k.Name, fs.Float64(k.Name, x, usage), to)
		case **int:
			pointed(fs, k.Name, fs.Int(k.Name, 0, usage), to)
		case **uint64:
			pointed(fs, k.Name, fs.Uint64(k.Name, 0, usage), to)
		case **bool:
			pointed(fs, k.Name, fs.Bool(k.Name, k.Preset == "true", usage), to)
		default:
			panic("the key " + k.Name + " has no kind of flag")
		}
		if !k.Optional {
			required(cmd, k.Name)
		}
	}
}

// planEndings are those of plan files.
var planEndings = []string{"yaml", "yml", "json"}

// pointed has a flag that is given leave its value where to points.
func pointed[T any](fs *pflag.FlagSet, name string, held *T, to **T) {
	f := fs.Lookup(name)
	f.Value = optional[T]{f.Value, held, to}
}

// An optional is the value of a flag whose field is nil where it is not given.
type optional[T any] struct {
	pflag.Value
	held *T
	to   **T
}

func (o optional[T]) Set(text string) error {
	err := o.Value.Set(text)
	if err == nil {
		*o.to = o.held
	}
	return err
}

// A written is the value of a flag that keeps what was written; preset is only shown.
type written struct {
	to     *string
	preset string
}

func (t *written) Type() string { return "string" }

func (t *written) String() string {
	if t.to == nil || *t.to == "" {
		return t.preset
	}
	return *t.to
}

func (t *written) Set(s string) error {
	*t.to = s
	return nil
}

// A listed is the value of a flag with commas; preset is only shown.
type listed struct {
	to     *service.Decimals
	preset string
}

// isListFlag reports whether a flag is a list.
func isListFlag(f *pflag.Flag) bool {
	v := f.Value
	if o, ok := v.(*once); ok {
		v = o.Value
	}
	_, ok := v.(*listed)
	return ok
}

func (l *listed) Type() string { return "string" }

func (l *listed) String() string {
	if l.to == nil || *l.to == nil {
		return l.preset
	}
	var parts []string
	for _, d := range *l.to {
		parts = append(parts, string(d))
	}
	return strings.Join(parts, ",")
}

func (l *listed) Set(text string) error {
	*l.to = service.Listed(text)
	return nil
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
	f.Value.(*choice).preset, f.DefValue = value, value
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
