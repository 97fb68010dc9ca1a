package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newServeCmd() *cobra.Command {
	var stdio, openAPI bool
	var c server.Config
	cmd := &cobra.Command{
		Use:  "serve",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen := 0
			for _, on := range []bool{stdio, openAPI, c.Addr != ""} {
				if on {
					chosen++
				}
			}
			switch {
			case chosen == 0:
				return usageError{errors.New("missing --stdio or --http, the places where requests are read")}
			case chosen > 1:
				return usageError{errors.New("--stdio, --http and --openapi exclude each other")}
			}
			for _, name := range httpFlags {
				if c.Addr == "" && cmd.Flags().Changed(name) {
					return usageError{fmt.Errorf("--%s is for --http", name)}
				}
			}
			switch {
			case openAPI:
				text, err := server.OpenAPI(cmd.Root().Version)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				}
				return err
			case c.Addr != "":
				return serveHTTP(cmd, c)
			}
			// A server has nothing to finish: a signal ends it at once, even while it
			// waits for a request.
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			return serve(cmd.Context(), service.New(ledgerFiles{}), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", false, "read from standard input and write to standard output")
	registerHTTP(cmd, &c)
	cmd.Flags().BoolVar(&openAPI, "openapi", false, "print the OpenAPI description of the HTTP interface")
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
