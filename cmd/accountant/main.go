// Command accountant computes the privacy cost of a plan of differentially private mechanisms, as a
// certified interval.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
)

// defaultMemory is the memory limit of the process where --memory does not say.
const defaultMemory = 1 << 30

func main() {
	limitProcess(defaultMemory)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the program at once
		// What does not watch the context, such as reading a terminal, ends here.
		time.Sleep(interruptGrace)
		os.Exit(exitInterrupted)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const (
	// interruptGrace is how long an interrupted command has to end by itself.
	interruptGrace = time.Second
	// exitInterrupted is the exit status that shells give for an interrupt.
	exitInterrupted = 130
)

// run executes the command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		forEachCommand(root, completeFlags) // cobra keeps what completes a flag for as long as the program runs
	} else {
		forEachCommand(root, onlyOnce) // completion reads the flags twice
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &print.Checked{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	asJSON := slices.Contains(args, "--json") && !slices.Contains(args, "--csv")
	if cmd, err := misspelt(root, args); err != nil {
		return exitCode(cmd, asJSON, err, stderr)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if out.Err != nil { // an answer that is cut short is none
		err = inputError{out.Err}
	}
	return exitCode(cmd, asJSON, err, stderr)
}
