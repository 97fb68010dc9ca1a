package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/reference/cli-reference.md anew")

// TestReference: docs/reference/cli-reference.md is what the commands say of themselves.
// After a change to a command:
//
//	go test ./cmd/accountant -run TestReference -update
func TestReference(t *testing.T) {
	const path = "../../docs/reference/cli-reference.md"
	want := reference()
	if *update {
		if err := writeFileAtomic(path, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Errorf("line %d is\n%s\nwant\n%s", i+1, g[i], w[i])
				break
			}
		}
		t.Error("docs/reference/cli-reference.md does not match the commands; run\n\tgo test ./cmd/accountant -run TestReference -update")
	}
}

// TestHelpFiles: every command has a file of words, and every file is a command's.
func TestHelpFiles(t *testing.T) {
	files, err := helpTexts.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, f := range files {
		left[f.Name()] = true
	}
	forEachCommand(newRootCmd(), func(c *cobra.Command) {
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "accountant "), " ", "-") + ".txt"
		if own := c.IsAvailableCommand() && c.Name() != "help" && !strings.HasPrefix(name, "completion"); own && !left[name] {
			t.Errorf("%s has no help/%s", c.CommandPath(), name)
		}
		delete(left, name)
		if strings.Contains(c.Use, "  ") || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: use %q, short %q", c.CommandPath(), c.Use, c.Short)
		}
	})
	for name := range left {
		t.Errorf("help/%s is no command's", name)
	}
}

// A family is flags that many commands have together, named once in the reference.
type family struct {
	title string
	flags []string
}

var families = []family{
	{title: "output flags", flags: []string{"csv", "digits", "json", "latex", "markdown"}},
	{title: "limits", flags: []string{"memory", "time-limit", "work"}},
	{title: "picture flags", flags: []string{"dpi", "height", "width"}},
}

// variants are flags whose texts differ a little between commands; the reference has the first of each.
var variants = []string{"recursion", "solve", "step", "target-advantage", "target-tpr", "work"}

// defaultOf is what pflag appends to the usage of a flag that has a default.
var defaultOf = regexp.MustCompile(` \(default [^()]*\)$`)

// sharedFlags returns the flags with the same usage in at least three commands, and those of the families, by name. A
// flag of a family may have another default in each command.
func sharedFlags(all []*cobra.Command) map[string]*pflag.Flag {
	shared := map[string]*pflag.Flag{}
	count := map[string]int{}
	for _, c := range all {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			count[keyOf(f)]++
			inFamily := slices.Contains(variants, f.Name) || slices.ContainsFunc(families, func(x family) bool { return slices.Contains(x.flags, f.Name) })
			if f.Name != "help" && !f.Hidden && (inFamily && shared[f.Name] == nil || count[keyOf(f)] == 3) {
				shared[f.Name] = f
			}
		})
	}
	return shared
}

func keyOf(f *pflag.Flag) string { return f.Name + "\n" + f.Usage + "\n" + f.DefValue }

// saidOnce leaves out what the page says of all flags at its top.
var saidOnce = strings.NewReplacer(", several with commas between them", ", or several", "; several with commas between them", ", or several", ", with commas between them", "", " with commas between them", "", " (.svg, .png or .pdf)", "")

// usages returns the flags as help prints them, without the blanks between name and text and what is said once.
func usages(flags *pflag.FlagSet) string {
	flags.SortFlags = true
	lines := regexp.MustCompile(`(?m)(\S)  +`).ReplaceAllString(strings.TrimRight(flags.FlagUsages(), " \n"), "$1  ")
	return saidOnce.Replace(lines)
}

// reference writes what every command does, an example and its flags as Markdown; what several commands share stands at the top.
func reference() []byte {
	root := newRootCmd()
	root.InitDefaultCompletionCmd()
	var all []*cobra.Command
	forEachCommand(root, func(c *cobra.Command) {
		// The scripts for each shell describe themselves.
		if c == root || c.IsAvailableCommand() && c.Parent().Name() != "completion" {
			all = append(all, c)
		}
	})
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Command reference\n\nThis page is generated (`go test ./cmd/accountant -run TestReference -update`). [cli.md](cli.md) explains plans, answers and JSON.\n")
	shared := sharedFlags(all)
	inFamily := map[string]bool{}
	print := func(title string, names []string) {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, name := range names {
			f := *shared[name]
			set.AddFlag(&f)
			inFamily[name] = true
		}
		lines := usages(set)
		if title == "Picture flags" { // whose defaults differ
			lines = regexp.MustCompile(`(?m)`+defaultOf.String()).ReplaceAllString(lines, "")
		}
		fmt.Fprintf(&b, "\n%s:\n%s\n", title, lines)
	}
	fmt.Fprintf(&b, "\n## Shared flags\n\nA command below names these and does not repeat them; `-h` prints the help of each command. Several values have commas between them. Pictures are .svg, .png or .pdf.\n\n```text")
	for _, x := range families {
		print(strings.ToUpper(x.title[:1])+x.title[1:], x.flags)
	}
	print("Others", slices.DeleteFunc(slices.Sorted(maps.Keys(shared)), func(name string) bool { return inFamily[name] }))
	fmt.Fprintf(&b, "```\n")
	for _, c := range all {
		name := strings.TrimPrefix(c.CommandPath(), "accountant ")
		fmt.Fprintf(&b, "\n## %s\n\n%s.", name, c.Short)
		if file := strings.ReplaceAll(name, " ", "-") + ".txt"; c.Long != "" {
			if _, err := helpTexts.Open("help/" + file); err == nil {
				fmt.Fprintf(&b, " [More](../../cmd/accountant/help/%s)", file)
			}
		}
		fmt.Fprintln(&b)
		if c.HasExample() { // one is enough here
			first, _, _ := strings.Cut(strings.ReplaceAll(c.Example, "\\\n", ""), "\n")
			fmt.Fprintf(&b, "\n    %s\n", strings.TrimSpace(first))
		} else if c.Runnable() && c != root {
			fmt.Fprintf(&b, "\n    %s\n", c.UseLine())
		}
		own, also := pflag.NewFlagSet("", pflag.ContinueOnError), []string{}
		has := map[string]bool{}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch s := shared[f.Name]; {
			case f.Name == "help" || f.Hidden:
			case s != nil && keyOf(s) == keyOf(f) || slices.Contains(families[2].flags, f.Name) || slices.Contains(variants, f.Name):
				has[f.Name] = true
			default:
				g := *f
				own.AddFlag(&g)
			}
		})
		for _, x := range families {
			if !slices.ContainsFunc(x.flags, func(name string) bool { return !has[name] }) {
				also = append(also, x.title)
				for _, name := range x.flags {
					delete(has, name)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(has)) {
			if f := c.LocalFlags().Lookup(name); f.DefValue != shared[name].DefValue {
				name += fmt.Sprintf(" (default %s)", cmp.Or(f.DefValue, "none"))
			}
			also = append(also, "--"+name)
		}
		if own.HasFlags() {
			fmt.Fprintf(&b, "\n%s\n", usages(own))
		}
		if len(also) > 0 {
			fmt.Fprintf(&b, "\nShared: %s.\n", strings.Join(also, ", "))
		}
	}
	return b.Bytes()
}
