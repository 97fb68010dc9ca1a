package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/internal/nearest"
)

// A choice is a flag with one of a few values, or, if many is set, several with
// commas between them. Shells complete them.
type choice struct {
	one    *string
	many   *[]string
	values []string
	preset string // only shown
	set    bool
}

// addChoice defines a flag that takes one of the values. What *to holds is the
// default.
func addChoice(cmd *cobra.Command, to *string, name, usage string, values ...string) {
	cmd.Flags().Var(&choice{one: to, values: values}, name, usage)
}

func (c *choice) String() string {
	switch {
	case c.many != nil && *c.many != nil:
		return strings.Join(*c.many, ",")
	case c.one != nil && *c.one != "":
		return *c.one
	}
	return c.preset
}

func (c *choice) Type() string { return "string" }

// A choiceError says what a choice may be.
type choiceError string

func (e choiceError) Error() string { return string(e) }

// Set implements pflag.Value. Of a list, the first replaces the default.
func (c *choice) Set(text string) error {
	if c.one != nil {
		*c.one = text
		return c.check(text)
	}
	if !c.set {
		*c.many, c.set = nil, true
	}
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if err := c.check(word); err != nil {
			return err
		}
		*c.many = append(*c.many, word)
	}
	return nil
}

func (c *choice) check(word string) error {
	if slices.Contains(c.values, word) {
		return nil
	}
	last := len(c.values) - 1
	list := c.values[last]
	if last > 0 {
		list = strings.Join(c.values[:last], ", ") + " or " + list
	}
	text := fmt.Sprintf("%s is not %s", show(word), list)
	if best := nearest.Word(word, c.values); best != "" {
		text += fmt.Sprintf("; did you mean %q?", best)
	}
	return choiceError(text)
}

// complete returns the values that may follow what is typed.
func (c *choice) complete(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if c.many == nil {
		return c.values, cobra.ShellCompDirectiveNoFileComp
	}
	before := typed[:strings.LastIndex(typed, ",")+1]
	var all []string
	for _, v := range c.values {
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
		_, list := f.Value.(pflag.SliceValue)
		if c, ok := f.Value.(*choice); !list && !(ok && c.many != nil) && f.Value.Type() != "bool" {
			f.Value = &once{Value: f.Value}
		}
	})
}

// completeFlags has shells complete the values of choices, and offer files only
// where a flag is marked as one.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c, ok := f.Value.(*choice); ok {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, c.complete)
		} else if f.Annotations[cobra.BashCompFilenameExt] == nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		}
	})
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completePlans offers plan files for the arguments from first to last.
func completePlans(first, last int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n < first:
			return nil, cobra.ShellCompDirectiveDefault // any file
		case n > last:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
	}
}
