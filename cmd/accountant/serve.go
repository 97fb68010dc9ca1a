package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/service"
)

func newServeCmd() *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "serve --stdio",
		Short: "Answer JSON requests from another program, one a line",
		Long: `serve reads one JSON request a line from standard input and writes one JSON
answer a line to standard output, until the input ends. A bad request is
answered by an error and changes nothing. docs/cli.md has the requests;
python/dpaccountant speaks them for Python programs.`,
		Example: `  echo '{"op": "version"}' | accountant serve --stdio`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !stdio {
				return usageError{errors.New("missing --stdio, the only place where requests are read")}
			}
			// A server has nothing to finish: a signal ends it at once, even while it
			// waits for a request.
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			return serve(cmd.Context(), service.New(ledgerFiles{}), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "read from standard input and write to standard output (required)")
	return cmd
}

// readLine returns a line, or tooLong after the end of one that is.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > service.MaxRequest {
			line, tooLong = nil, true
		}
		if err != bufio.ErrBufferFull {
			return line, tooLong, err
		}
	}
}

func writeLine(out io.Writer, answer service.Response) error {
	text, err := service.Marshal(answer)
	if err != nil {
		answer = service.Response{Error: &service.Error{Kind: service.KindInternal, Message: oneLine(err.Error())}}
		if text, err = service.Marshal(answer); err != nil {
			return err
		}
	}
	_, err = out.Write(append(text, '\n'))
	return err
}
