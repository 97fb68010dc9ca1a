package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
)

// maxValues bounds how many δ or ε one call answers.
const maxValues = 10000

// An interval is the range of a flag.
type interval struct {
	lo, hi         float64
	openLo, openHi bool
}

func (r interval) contains(x float64) bool {
	return x >= r.lo && x <= r.hi && !(r.openLo && x == r.lo) && !(r.openHi && x == r.hi)
}

func (r interval) String() string {
	left, right := "[", "]"
	if r.openLo {
		left = "("
	}
	if r.openHi {
		right = ")"
	}
	return fmt.Sprintf("%s%v, %v%s", left, r.lo, r.hi, right)
}

var (
	deltaRange    = interval{lo: 0, hi: 1, openHi: true}
	epsilonRange  = interval{lo: 0, hi: math.Inf(1), openHi: true}
	rateRange     = interval{lo: 0, hi: 1, openLo: true}
	openUnit      = interval{lo: 0, hi: 1, openLo: true, openHi: true}
	accuracyRange = interval{lo: 1e-12, hi: 1, openHi: true}
	memoryRange   = interval{lo: 1, hi: 1e6}
	workRange     = interval{lo: 1, hi: 1e15}
	positive      = interval{lo: 0, hi: math.Inf(1), openLo: true, openHi: true}
)

// A flagFault is what is wrong with the value of a flag.
type flagFault struct {
	flag    string
	problem error
}

func (f flagFault) Error() string { return "--" + f.flag + ": " + f.problem.Error() }

func (f flagFault) Unwrap() error { return f.problem }

// wrongFlag returns a flagFault.
func wrongFlag(flag, format string, args ...any) error {
	return flagFault{flag, fmt.Errorf(format, args...)}
}

// asFlag returns the error about a field of the library as one about a flag. called has
// the flags of the fields that have another name, "" for a name that no flag has.
func asFlag(err error, called map[string]string) error {
	return fault.Rename(err, func(name string) string {
		if flag, ok := called[name]; ok {
			name = flag
		}
		if name == "" {
			return ""
		}
		return "--" + name
	})
}

// parseNumber reads the value of a flag.
func parseNumber(flag, text string, r interval) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := decimal.Parse(text)
	if err != nil {
		return 0, wrongFlag(flag, "%s %w", show(text), err)
	}
	if !r.contains(x) {
		return 0, wrongFlag(flag, "%s is not in %v", text, r)
	}
	return x, nil
}

// parseNumbers reads a list with commas.
func parseNumbers(flag, text string, r interval) ([]float64, error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxValues {
		return nil, wrongFlag(flag, "%d values are more than %d", len(parts), maxValues)
	}
	xs := make([]float64, len(parts))
	for i, p := range parts {
		var err error
		if xs[i], err = parseNumber(flag, p, r); err != nil {
			return nil, err
		}
	}
	return xs, nil
}

// parseWhole reads the value of a flag that is a whole number in [1, hi].
func parseWhole(flag, text string, hi int64) (int64, error) {
	text = strings.TrimSpace(text)
	n, err := decimal.Whole(text)
	if err != nil || n < 1 || n > hi {
		return 0, wrongFlag(flag, "%s is not a whole number in [1, %d]", show(text), hi)
	}
	return n, nil
}

// show quotes what is no number.
func show(text string) string {
	if decimal.Is(text) && len(text) <= 40 {
		return text
	}
	if r := []rune(text); len(r) > 40 {
		text = string(r[:37]) + "..."
	}
	return fmt.Sprintf("%q", text)
}

// answerFlags are the flags of the commands that ask the accountant.
type answerFlags struct {
	output
	verbose                bool
	accuracy, memory, work string
}

func (f *answerFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	f.output.register(cmd)
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "print what the width of each interval is made of")
	fs.StringVar(&f.accuracy, "accuracy", "", "relative `width` that an interval may have (default 1e-9, and 1e-3 where lattices are needed)")
	fs.StringVar(&f.memory, "memory", "", "limit of memory in `MB` (default 1 GiB); at the limit the interval gets wider and there is a warning")
	fs.StringVar(&f.work, "work", "", "limit of the work for all answers together, in terms of about 40 ns (default 2.5e8, about 10 s); at the `limit` what is proved by then is told, with a warning")
}

// limitProcess keeps the heap, garbage included, below a memory limit, with room for
// the program itself.
func limitProcess(bytes int64) { debug.SetMemoryLimit(bytes - min(24<<20, bytes/4)) }

// options turns the flags into the accountant's options.
func (f *answerFlags) options() ([]accountant.Option, error) {
	var opts []accountant.Option
	if f.accuracy != "" {
		x, err := parseNumber("accuracy", f.accuracy, accuracyRange)
		if err != nil {
			return nil, err
		}
		opts = append(opts, accountant.WithAccuracy(x))
	}
	if f.memory != "" {
		x, err := parseNumber("memory", f.memory, memoryRange)
		if err != nil {
			return nil, err
		}
		opts = append(opts, accountant.WithMemory(int64(x*1e6)))
		// The collector must not let garbage fill more than that either.
		limitProcess(int64(x * 1e6))
	}
	if f.work != "" {
		x, err := parseNumber("work", f.work, workRange)
		if err != nil {
			return nil, err
		}
		opts = append(opts, accountant.WithWorkLimit(x))
	}
	return opts, nil
}

// recursionFlag says up to how many runs the recursion narrows a theory gap.
type recursionFlag struct{ runs string }

func (f *recursionFlag) register(cmd *cobra.Command, preset, cost string) {
	cmd.Flags().StringVar(&f.runs, "recursion", preset, "narrow a theory gap by the recursion over data configurations for mechanisms that run at most this many `times`; "+cost+"; 0 for never")
}

func (f *recursionFlag) add(opts []accountant.Option) ([]accountant.Option, error) {
	n, err := decimal.Whole(strings.TrimSpace(f.runs))
	if err != nil || n < 0 || n > decimal.MaxWhole {
		return nil, wrongFlag("recursion", "%s is not a whole number in [0, %d]", show(f.runs), int64(decimal.MaxWhole))
	}
	return append(opts, accountant.WithRecursion(n)), nil
}

// newAccountant returns an accountant that holds the plan.
func newAccountant(ctx context.Context, plan *accountant.Plan, opts []accountant.Option) (*accountant.Accountant, error) {
	acct := accountant.New(plan.Neighbors, opts...)
	if err := acct.AddPlan(ctx, plan); err != nil {
		return nil, err
	}
	return acct, nil
}

// addNeighbors defines the flag --neighbors.
func addNeighbors(cmd *cobra.Command, to *string) {
	*to = profiles.AddRemove.String()
	addChoice(cmd, to, "neighbors", "neighbouring `relation`: add-remove or substitute", *to, profiles.Substitute.String())
}
