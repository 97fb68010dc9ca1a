package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// commands lists every command, in the order of the help: those that only ask are rows, the others are in the files of their kinds.
var commands = []func() *cobra.Command{
	newEpsilonCmd,
	question{name: "delta", what: "computing", verbose: true, recursion: "2000", text: printing(printIntervals[service.DeltaAt]), rows: listing(intervalRows[service.DeltaAt])}.command,
	newDPSGDCmd,
	question{name: "shuffle", what: "computing", verbose: true, text: printing(printShuffle), rows: listing(shuffleRows)}.command,
	newLocalCmd,
	question{name: "risk", what: "computing", picture: "the certified intervals", width: 17, height: 9,
		text: printing(printRisk), draw: drawing(riskPicture), rows: listing(riskRows)}.command,
	newCurveCmd,
	newSweepCmd,
	newProfileCmd,
	newSamplingCmd,
	newCalibrateCmd,
	// compare's table has no interval to split: its --verbose is not shown.
	question{name: "compare", what: "comparing", verbose: true, hidden: true, recursion: "2000", picture: "ε by each method", width: 17, height: 9,
		text: printing(printComparison), draw: drawing(comparisonPicture)}.command,
	newGDPCmd,
	question{name: "filter", what: "pricing", text: printing(printFilter)}.command,
	question{name: "diff", what: "computing", text: printing(printDiff)}.command,
	newPlanCmd,
	newAuditCmd,
	newSelectCmd,
	newQueryCmd,
	newReleaseCmd,
	newMajorityCmd,
	newMatrixCmd,
	newPateCmd,
	newLabelCmd,
	newLedgerCmd,
	newServeCmd,
	newExplainCmd,
	newManCmd,
	question{name: "version", what: "looking", text: printing(func(w io.Writer, v service.VersionAnswer, _ *asking) { fmt.Fprintln(w, versionLine(v)) })}.command,
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "accountant",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	// The root runs only to say that a command is missing.
	cobra.AddTemplateFunc("aligned", aligned)
	root.SetUsageTemplate(strings.NewReplacer("{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}",
		"FlagUsages |", "FlagUsages | aligned |").Replace(root.UsageTemplate()))
	for _, newCmd := range commands {
		root.AddCommand(newCmd())
	}
	versionFlag(root)
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && !slices.Contains(commandNames(root), args[0]) {
				return unknownCommand(root, args[0])
			}
			return nil
		}
	}
	root.InitDefaultCompletionCmd()
	// Cobra checks flags and arguments before it calls RunE; what RunE itself
	// complains about is the input.
	forEachCommand(root, func(c *cobra.Command) {
		describe(c)
		c.DisableFlagsInUseLine = true
		if c.HasSubCommands() && !c.Runnable() {
			c.Args, c.RunE = needCommand, missingCommand
		}
		if runE := c.RunE; runE != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if err := oneForm(cmd); err != nil {
					return err
				}
				err := runE(cmd, args)
				var usage usageError
				if err == nil || errors.As(err, &usage) {
					return err
				}
				return inputError{err}
			}
		}
	})
	return root
}

// aligned puts what flags mean in one column: pflag counts the bytes of their names, of which a Greek letter has two.
func aligned(usages string) string {
	return flagName.ReplaceAllStringFunc(usages, func(name string) string {
		return name + strings.Repeat(" ", len(name)-utf8.RuneCountInString(name))
	})
}

// flagName is the part of a line of help before what a flag means.
var flagName = regexp.MustCompile(`(?m)^ +--?.*?\S  +`)

//go:embed help
var helpTexts embed.FS

// describe gives a command the words of its file: its usage, what it does in one line, in several, and its
// examples. Cobra's own commands, and that of the manual pages, have no file.
func describe(c *cobra.Command) {
	name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "accountant "), " ", "-")
	data, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		return
	}
	text, examples, _ := strings.Cut(string(data), "\nExamples:\n")
	use, rest, _ := strings.Cut(text, "\n")
	short, long, _ := strings.Cut(rest, "\n")
	c.Use, c.Short, c.Long, c.Example = use, short, strings.Trim(long, "\n"), strings.TrimRight(examples, "\n")
}

// missingCommand is the RunE of a command that only has commands, and needCommand
// its Args.
func missingCommand(cmd *cobra.Command, args []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	_ = cmd.Help()
	return usageError{errors.New("missing command")}
}

// group returns a command that only has commands.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name}
	cmd.AddCommand(commands...)
	return cmd
}

func needCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

// oneForm refuses two forms of output at once, and digits that are none.
func oneForm(cmd *cobra.Command) error {
	asked := slices.DeleteFunc(slices.Clone(forms), func(form string) bool { return !isTrue(cmd, form) })
	if len(asked) > 1 {
		return usageError{fmt.Errorf("--%s and --%s exclude each other", asked[0], asked[1])}
	}
	if f := cmd.Flags().Lookup("digits"); f != nil && f.Changed {
		switch n, _ := strconv.Atoi(f.Value.String()); {
		case n < 1 || n > 17:
			return inputError{fault.New("--digits", "%d is not a whole number in [1, 17]", n)}
		case isTrue(cmd, "json") || isTrue(cmd, "csv"):
			return usageError{fmt.Errorf("--digits and --%s exclude each other", asked[0])}
		}
	}
	return nil
}

func isTrue(cmd *cobra.Command, flag string) bool {
	x, err := cmd.Flags().GetBool(flag)
	return err == nil && x
}

func unknownCommand(root *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q; %s", name, nearest.Hint(name, commandNames(root)))
}

func forEachCommand(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		forEachCommand(sub, f)
	}
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// An inputError is about a value: exit code 1.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// A usageError is about the shape of the command line: exit code 2. Commands
// return it from RunE for what cobra cannot check.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A rule of how flags go together is a text and whether it is broken.
type rule struct {
	broken bool
	text   string
}

// keep returns the error of the first rule that is broken.
func keep(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return usageError{errors.New(r.text)}
		}
	}
	return nil
}

// The exit statuses of a command; exitInterrupted is another one.
const (
	exitInput      = 1
	exitUsage      = 2
	exitBudget     = 3 // a ledger refused the spend
	exitInfeasible = 4 // no value meets the budget
	exitTorn       = 5 // a ledger is right but ends in a torn spend
	exitRows       = 6 // a sweep is complete, and rows of it have an error
)

// exitCode prints err, which cmd returned, on one line, or as JSON where that was asked
// for, and returns the exit status.
func exitCode(cmd *cobra.Command, asJSON bool, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	code, failure := classify(err)
	if asJSON {
		if printErr := printJSON(stderr, struct {
			Error *service.Error `json:"error"`
		}{failure}); printErr == nil {
			return code
		}
	}
	switch code {
	case exitUsage:
		fmt.Fprintf(stderr, "%s: %s (see %[1]s --help)\n", cmd.CommandPath(), failure.Message)
		return code
	case exitBudget:
		failure.Message = print.Paint(stderr, print.Red, failure.Message)
	}
	fmt.Fprintf(stderr, "accountant: %s\n", failure.Message)
	return code
}

// classify returns the exit status for an error, and the error as the service has it.
func classify(err error) (int, *service.Error) {
	var input inputError
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted, &service.Error{Kind: service.KindCancelled, Message: "interrupted"}
	case !errors.As(err, &input):
		return exitUsage, &service.Error{Kind: "usage", Message: usageMessage(oneLine(err.Error()))}
	}
	failure := service.NewError(service.KindOf(err), err)
	switch {
	case errors.As(err, new(tornError)):
		return exitTorn, failure
	case errors.As(err, new(failedRows)):
		return exitRows, failure
	}
	return cmp.Or(map[string]int{service.KindBudget: exitBudget, service.KindInfeasible: exitInfeasible}[failure.Kind], exitInput), failure
}

// usageMessage puts cobra's list of missing flags into the words of the others.
func usageMessage(msg string) string {
	list, ok := strings.CutPrefix(msg, "required flag(s) ")
	if !ok {
		return msg
	}
	list = strings.TrimSuffix(list, " not set")
	list = strings.ReplaceAll(strings.ReplaceAll(list, `", "`, `", --`), `"`, "")
	return "missing --" + list
}

// flagError puts the errors of flag parsing into words.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var wrong *fault.Error
	errors.As(err, &invalid)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			name = "-" + unknown.GetSpecifiedName()
			if cut, _, _ := strings.Cut(short, "="); cmd.Flags().Lookup(cut) != nil {
				return fmt.Errorf("unknown flag %s; did you mean --%s?", name, cut)
			}
		}
		return fmt.Errorf("unknown flag %s%s", name, flagHint(cmd, unknown.GetSpecifiedName()))
	case errors.As(err, &value):
		return fmt.Errorf("flag --%s needs a value", value.GetSpecifiedName())
	case errors.Is(err, errTwice):
		return fmt.Errorf("--%s %w", invalid.GetFlag().Name, errTwice)
	case errors.As(err, &wrong):
		return inputError{wrong}
	case invalid != nil:
		return inputError{fmt.Errorf("--%s: %q is not a %s", invalid.GetFlag().Name, invalid.GetValue(), valueType(invalid.GetFlag()))}
	}
	return err
}

func valueType(f *pflag.Flag) string {
	switch t := f.Value.Type(); {
	case t == "bool":
		return "truth value (true or false)"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"):
		return "whole number of this size"
	case strings.HasPrefix(t, "float"):
		return "number"
	default:
		return "valid " + t
	}
}

// flagHint says which flag was meant, or which commands have one of this name.
func flagHint(cmd *cobra.Command, name string) string {
	if best := nearest.Word(name, flagNames(cmd)); best != "" {
		return "; did you mean --" + best + "?"
	}
	switch {
	case name == "epsilon" && cmd.Flags().Lookup("target-epsilon") != nil:
		return "; did you mean --target-epsilon?"
	case name == "epsilon" && cmd.Flags().Lookup("delta") != nil:
		return "; accountant delta reports δ at an ε, accountant calibrate meets one"
	case name == "delta" && cmd.Flags().Lookup("epsilon") != nil:
		return "; accountant epsilon reports ε at a δ"
	case strings.Contains(cmd.Use, "plan.yaml"):
		if said := nearest.Word(name, planSays()); said != "" {
			return "; the plan says that: accountant dpsgd, which needs none, has --" + said
		}
	}
	var others []string
	for _, c := range cmd.Root().Commands() {
		if c != cmd && c.IsAvailableCommand() && len(name) > 1 && slices.Contains(flagNames(c), name) {
			others = append(others, c.CommandPath())
		}
	}
	switch n := len(others); {
	case n == 0 || n > 4: // a flag of many commands says nothing about which one is meant
		return ""
	case n == 1:
		return "; " + others[0] + " has it"
	}
	return "; " + service.Listing(others, "and") + " have it"
}

// planSays returns the flags of dpsgd for what is in a plan elsewhere: those that its answer repeats.
func planSays() (names []string) {
	for _, k := range service.Keys(new(service.DPSGDRequest)) {
		if fieldOf(new(service.DPSGDAnswer), k.Name) != nil {
			names = append(names, k.Name)
		}
	}
	return names
}

// flagNames are the flags of a command that its help shows.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// misspelt returns the error of a command line whose command does not exist. Cobra would
// complain about its flags first.
func misspelt(root *cobra.Command, args []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(args)
	if err == nil && cmd == root && len(args) > 0 && strings.HasPrefix(args[0], "-") {
		// Flags may stand before the command; which of the words is meant to be one only its likeness says.
		for _, word := range args[1:] {
			if !strings.HasPrefix(word, "-") && nearest.Word(word, commandNames(root)) != "" {
				return root, unknownCommand(root, word)
			}
		}
	}
	if err != nil || !cmd.HasAvailableSubCommands() || cmd.Args == nil || len(rest) < 2 || strings.HasPrefix(rest[0], "-") || strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		return nil, nil
	}
	return cmd, cmd.Args(cmd, rest[:1])
}
