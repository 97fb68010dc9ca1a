//go:build js && wasm

// Command web serves the page in a browser: it hands requests in JSON to package service, and the
// answers back. It is compiled to WebAssembly and runs in a Web Worker (worker.js). Package
// cmd/web/build makes the page. It assumes nothing about requests: the service checks them.
//
// It sets globalThis.accountant to an object with two functions:
//
//	answer(key, request, progress)   a Promise of the response, both as JSON text
//	cancel(key)                      ends the context of that request
package main

import (
	"context"
	"fmt"
	"sync"
	"syscall/js"
	"time"

	"github.com/dpaccountant/accountant/cmd/service"
)

// breath is how long a computation goes on before the worker looks for messages.
const breath = 50 * time.Millisecond

func main() {
	d := frontEnd{service: service.New(nil), cancels: map[string]context.CancelFunc{}}
	js.Global().Set("accountant", map[string]any{"answer": js.FuncOf(d.answer), "cancel": js.FuncOf(d.cancel)})
	select {} // the functions are called from outside for as long as the worker lives
}

// A frontEnd holds what ends the requests that are being answered, by key.
type frontEnd struct {
	service *service.Service
	mu      sync.Mutex
	cancels map[string]context.CancelFunc
}

func (d *frontEnd) answer(_ js.Value, args []js.Value) any {
	key, request, progress := args[0].String(), []byte(args[1].String()), args[2]
	ctx, cancel := context.WithCancel(context.Background())
	d.mu.Lock()
	d.cancels[key] = cancel
	d.mu.Unlock()
	ctx = service.WithProgress(ctx, breathing(progress))
	var start js.Func
	start = js.FuncOf(func(_ js.Value, settle []js.Value) any {
		go func() {
			defer start.Release()
			defer d.forget(key)
			text, err := service.Marshal(d.service.Answer(ctx, request))
			if err != nil {
				settle[1].Invoke(fmt.Sprint(err))
				return
			}
			settle[0].Invoke(string(text))
		}()
		return nil
	})
	return js.Global().Get("Promise").New(start)
}

// breathing returns a listener for progress that lets the worker read its messages now and
// then: there is one thread, and while Go computes no message arrives, not even one to stop.
func breathing(progress js.Value) func(service.Progress) {
	last := time.Now()
	return func(p service.Progress) {
		if time.Since(last) < breath {
			return
		}
		progress.Invoke(p.Done, p.Total, p.Note)
		time.Sleep(time.Millisecond)
		last = time.Now()
	}
}

func (d *frontEnd) cancel(_ js.Value, args []js.Value) any {
	d.forget(args[0].String())
	return nil
}

// forget ends the context of a request.
func (d *frontEnd) forget(key string) {
	d.mu.Lock()
	cancel := d.cancels[key]
	delete(d.cancels, key)
	d.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
