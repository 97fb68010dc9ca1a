package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/cmd/sweep"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

func newServeCmd() *cobra.Command {
	var stdio, openAPI bool
	var c server.Config
	cmd := &cobra.Command{
		Use:  "serve",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			http := c.Addr != ""
			rules := []rule{
				{!stdio && !openAPI && !http, "missing --stdio or --http, the places where requests are read"},
				{stdio && openAPI || stdio && http || openAPI && http, "--stdio, --http and --openapi exclude each other"},
			}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				own := slices.Contains([]string{"stdio", "openapi", "http"}, f.Name)
				rules = append(rules, rule{!http && !own, "--" + f.Name + " is for --http"})
			})
			if err := keep(rules...); err != nil {
				return err
			}
			switch {
			case openAPI:
				text, err := server.OpenAPI(cmd.Root().Version)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				}
				return err
			case http:
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

// registerHTTP defines the flags of serve --http.
func registerHTTP(cmd *cobra.Command, c *server.Config) {
	c.Register(cmd.Flags())
	cmd.Flags().StringVar(&c.Ledgers, "ledgers", "", "`folder` of the ledgers that requests may name; no other file is read or written")
	for _, name := range []string{"ledgers", "clients", "tls-cert", "tls-key", "client-ca"} {
		_ = cmd.MarkFlagFilename(name)
	}
}

// serveHTTP answers requests until a signal, and then those that are there.
func serveHTTP(cmd *cobra.Command, c server.Config) error {
	c.Version = cmd.Root().Version
	c.Log = cmd.ErrOrStderr()
	s, err := server.New(c)
	if err != nil {
		return flagged(cmd, err)
	}
	// The first signal ends the server when its requests have ended; a second one at once.
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ln, err := s.Listen()
	if err != nil {
		return flagged(cmd, err)
	}
	return s.Serve(ctx, ln)
}

// A request is a line that has not been answered. Its context ends when it is
// cancelled.
type request struct {
	line    []byte
	tooLong bool
	id      string // as JSON; "" if there is none
	ctx     context.Context
	cancel  context.CancelFunc
}

// maxWaiting is how many requests are read ahead, so that a request to cancel is
// seen while the one before it is answered.
const maxWaiting = 16

// serve answers the requests of in, one after the other.
func serve(ctx context.Context, s *service.Service, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var waiting sync.Map // the requests that have not been answered
	requests := make(chan *request, maxWaiting)
	var readErr error
	go func() {
		defer close(requests)
		readErr = readRequests(ctx, in, &waiting, requests)
	}()
	for r := range requests {
		var answer service.Response
		if r.tooLong {
			answer.Error = &service.Error{Kind: service.KindInput, Message: fmt.Sprintf("request: is longer than %d bytes", service.MaxRequest)}
		} else {
			answer = s.Answer(r.ctx, r.line)
			if answer.Stack != "" {
				fmt.Fprintf(os.Stderr, "accountant: %s\n%s", answer.Error.Message, answer.Stack)
			}
		}
		r.cancel()
		waiting.Delete(r)
		if err := writeLine(out, answer); err != nil {
			return err
		}
	}
	return readErr
}

// readRequests sends requests on, and cancels what a request to cancel names at once.
func readRequests(ctx context.Context, in io.Reader, waiting *sync.Map, requests chan<- *request) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, tooLong, err := sweep.ReadLine(lines, service.MaxRequest)
		if err != nil && err != io.EOF {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 || tooLong {
			r := &request{line: line, tooLong: tooLong}
			r.ctx, r.cancel = context.WithCancel(ctx)
			// A line that is not strict cancels nothing: its answer is an error.
			var keys map[string]json.RawMessage
			if strictjson.Decode(line, &keys) == nil && strictjson.Keys(line, nil) == nil {
				var op string
				if id := string(keys["request"]); json.Unmarshal(keys["op"], &op) == nil && op == "cancel" && id != "" {
					waiting.Range(func(other, _ any) bool {
						if other.(*request).id == id {
							other.(*request).cancel()
						}
						return true
					})
				}
				r.id = string(keys["id"])
			}
			waiting.Store(r, nil)
			select {
			case requests <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}
