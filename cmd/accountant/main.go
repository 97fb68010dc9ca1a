// Command accountant tells what privacy a plan of differentially private
// mechanisms costs, as a certified interval.
package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run executes the command line and returns the exit code: 0, 1 for bad input,
// 2 for wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	if len(args) > 0 && !strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		forEachCommand(root, onlyOnce) // completion reads the flags twice
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	return exitCode(cmd, err, stderr)
}
