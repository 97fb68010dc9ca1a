package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// reference writes the help of every command as Markdown.
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
	fmt.Fprintf(&b, "# Command reference\n\nWritten by the commands themselves (`go test ./cmd/accountant -run TestReference\n-update`); [cli.md](cli.md) explains plans, answers and JSON.\n\n")
	for _, c := range all {
		depth := strings.Count(c.CommandPath(), " ")
		fmt.Fprintf(&b, "%s- [%s](#%s): %s\n", strings.Repeat("  ", depth), c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
	}
	for _, c := range all {
		c.InitDefaultHelpFlag()
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(&b, "```text\n%s\n", strings.TrimSpace(text))
		if c.Runnable() && c != root {
			fmt.Fprintf(&b, "\nUsage:\n  %s\n", c.UseLine())
		}
		if c.HasExample() {
			fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, " \n"))
		}
		if c.HasAvailableLocalFlags() {
			fmt.Fprintf(&b, "\nFlags:\n%s\n", strings.TrimRight(c.LocalFlags().FlagUsages(), " \n"))
		}
		fmt.Fprintf(&b, "```\n")
	}
	return b.Bytes()
}
