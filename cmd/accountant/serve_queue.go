package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
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
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
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
		var answer any
		if r.tooLong {
			answer = errorAnswer{Error: errorJSON{"input", fmt.Sprintf("request: is longer than %d bytes", maxRequest)}}
		} else {
			answer = s.answer(r.ctx, r.line)
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
			var c cancelRequest
			if json.Unmarshal(line, &c) == nil {
				if c.Op == "cancel" {
					q.cancel(string(c.Request))
				}
				r.id = string(c.ID)
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

type cancelRequest struct {
	requestHead
	Request json.RawMessage `json:"request"`
}

// cancel answers a request to cancel, which has been obeyed when it was read.
func (s *server) cancel(_ context.Context, line []byte) (any, error) {
	var q cancelRequest
	if err := decode(line, &q, "request"); err != nil {
		return nil, err
	}
	if len(q.Request) == 0 {
		return nil, errors.New("request: is missing; must be the id of a request")
	}
	return struct {
		Request json.RawMessage `json:"request"`
	}{q.Request}, nil
}

// timeoutRange is in seconds.
var timeoutRange = interval{lo: 0, hi: 1e6, openLo: true}

// limited returns a context that ends when the request has taken as long as it may.
func (h requestHead) limited(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if h.Timeout == nil {
		return ctx, func() {}, nil
	}
	seconds, err := given("timeout", h.Timeout, timeoutRange)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	return ctx, cancel, nil
}

// interruption is the kind of error of a request that has not been completed, and
// what to say of it; "" if that is not what err is.
func (h requestHead) interruption(err error) (kind, message string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded) && h.Timeout != nil:
		return "timeout", fmt.Sprintf("timeout: there is no answer after %s seconds", short(*h.Timeout))
	case errors.Is(err, context.Canceled):
		return "cancelled", "cancelled"
	}
	return "", ""
}
