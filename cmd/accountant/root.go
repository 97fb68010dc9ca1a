package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/ledger"
)

// commands lists every command, in the order of the help.
var commands = []func() *cobra.Command{
	newEpsilonCmd,
	newDeltaCmd,
	newDPSGDCmd,
	newRiskCmd,
	newCurveCmd,
	newProfileCmd,
	newSamplingCmd,
	newCalibrateCmd,
	newCompareCmd,
	newGDPCmd,
	newPlanCmd,
	newAuditCmd,
	newSelectCmd,
	newMajorityCmd,
	newPateCmd,
	newLabelCmd,
	newLedgerCmd,
	newServeCmd,
	newExplainCmd,
	newVersionCmd,
}

const rootLong = `accountant tells what privacy a plan of differentially private mechanisms
costs. Every answer is a certified interval: the true value lies between the
lower and the upper end, rounding errors included.

Exit status: 0 success, 1 bad input (one line on standard error names the
field, the value and what is allowed), 2 wrong usage; 3 from ledger check for a
file that is right but for a torn end.`

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "accountant",
		Short:         "Account for differential privacy, with certified bounds",
		Long:          rootLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          needCommand,
		RunE:          missingCommand,
	}
	root.SetFlagErrorFunc(flagError)
	// The root runs only to say that a command is missing.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	for _, newCmd := range commands {
		root.AddCommand(newCmd())
	}
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
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = needCommand
		completion.RunE = missingCommand
	}
	// Cobra checks flags and arguments before it calls RunE; what RunE itself
	// complains about is the input.
	forEachCommand(root, func(c *cobra.Command) {
		c.DisableFlagsInUseLine = true
		completeFlags(c)
		if runE := c.RunE; runE != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if isTrue(cmd, "json") && isTrue(cmd, "csv") {
					return usageError{errors.New("--json and --csv exclude each other")}
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

// missingCommand is the RunE of a command that only has commands, and needCommand
// its Args.
func missingCommand(cmd *cobra.Command, args []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	_ = cmd.Help()
	return usageError{errors.New("missing command")}
}

func needCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
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

// exitCode prints err, which cmd returned, on one line and returns the exit
// code.
func exitCode(cmd *cobra.Command, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "accountant: interrupted")
		return exitInterrupted
	}
	var input inputError
	if errors.As(err, &input) {
		msg := oneLine(err.Error())
		if errors.Is(err, ledger.ErrBudget) {
			msg = paint(stderr, red, msg)
		}
		fmt.Fprintf(stderr, "accountant: %s\n", msg)
		if errors.As(err, new(tornError)) {
			return exitTorn
		}
		return 1
	}
	msg := oneLine(err.Error())
	if list, ok := strings.CutPrefix(msg, "required flag(s) "); ok {
		list = strings.TrimSuffix(list, " not set")
		msg = "missing " + strings.ReplaceAll(strings.ReplaceAll(list, `", "`, `", --`), `"`, "")
		msg = strings.Replace(msg, "missing ", "missing --", 1)
	}
	fmt.Fprintf(stderr, "%s: %s (see %[1]s --help)\n", cmd.CommandPath(), msg)
	return 2
}

// flagError puts the errors of flag parsing into words.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var wrong choiceError
	errors.As(err, &invalid)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return fmt.Errorf("unknown flag %s%s", name, flagHint(cmd, unknown.GetSpecifiedName()))
	case errors.As(err, &value):
		return fmt.Errorf("flag --%s needs a value", value.GetSpecifiedName())
	case errors.Is(err, errTwice):
		return fmt.Errorf("--%s %w", invalid.GetFlag().Name, errTwice)
	case errors.As(err, &wrong):
		return inputError{fmt.Errorf("--%s: %w", invalid.GetFlag().Name, wrong)}
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

func flagHint(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if best := nearest.Word(name, names); best != "" {
		return "; did you mean --" + best + "?"
	}
	return ""
}
