package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

// A request is a line that has not been answered. Its context ends when it is
// cancelled.
type request struct {
	line    []byte
	tooLong bool
	id      string // as JSON; "" if there is none
	ctx     context.Context
	cancel  context.CancelFunc
}

// A queue holds the requests that have not been answered.
type queue struct {
	mu   sync.Mutex
	open []*request
}

func (q *queue) add(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = append(q.open, r)
}

func (q *queue) remove(r *request) {
	r.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open = slices.DeleteFunc(q.open, func(o *request) bool { return o == r })
}

// cancel ends the requests with this id.
func (q *queue) cancel(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.open {
		if id != "" && r.id == id {
			r.cancel()
		}
	}
}

// maxWaiting is how many requests are read ahead, so that a request to cancel is
// seen while the one before it is answered.
const maxWaiting = 16

// serve answers the requests of in, one after the other.
func serve(ctx context.Context, s *service.Service, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var waiting queue
	requests := make(chan *request, maxWaiting)
	var readErr error
	go func() {
		defer close(requests)
		readErr = waiting.read(ctx, in, requests)
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
		waiting.remove(r)
		if err := writeLine(out, answer); err != nil {
			return err
		}
	}
	return readErr
}

// read sends requests on, and cancels what a request to cancel names at once.
func (q *queue) read(ctx context.Context, in io.Reader, requests chan<- *request) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, tooLong, err := readLine(lines)
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
				if json.Unmarshal(keys["op"], &op) == nil && op == "cancel" {
					q.cancel(string(keys["request"]))
				}
				r.id = string(keys["id"])
			}
			q.add(r)
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
