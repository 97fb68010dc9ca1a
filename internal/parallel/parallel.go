// Package parallel runs functions at the same time.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Do runs f(0), …, f(n−1) at the same time and returns when all have ended. A panic
// of one of them is the caller's to recover, as a *fault.Panic with its stack: in a goroutine
// of its own it would end the whole program.
func Do(n int, f func(i int)) {
	var wg sync.WaitGroup
	caught := make([]*fault.Panic, n)
	for i := range n {
		run := func() {
			defer func() { caught[i] = fault.Caught(recover()) }()
			f(i)
		}
		if i < n-1 {
			wg.Go(run)
		} else {
			run()
		}
	}
	wg.Wait()
	for _, c := range caught {
		if c != nil {
			panic(c)
		}
	}
}

// Both runs f and g at the same time, as Do does.
func Both(f, g func()) { Do(2, func(i int) { [2]func(){f, g}[i]() }) }

// Each runs f(0), …, f(n−1) on all cores, each core taking the next number when it
// has done one, and returns when all have ended. Once ctx is done no further one
// is started, and the error is that of ctx: what was computed is then incomplete.
//
// progress, if not nil, is told how many are done, by one goroutine at a time. A
// panic of f reaches the caller, as in Do.
func Each(ctx context.Context, n int, progress func(done, total int), f func(i int)) error {
	var next atomic.Int64
	var told sync.Mutex
	done := 0
	report := func() {
		told.Lock()
		defer told.Unlock() // also when progress panics
		done++
		progress(done, n)
	}
	Do(min(n, runtime.GOMAXPROCS(0)), func(int) {
		// If f panics, the others stop after what they are at.
		defer next.Add(int64(n))
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
			if progress != nil {
				report()
			}
		}
	})
	return ctx.Err()
}

type progressKey struct{}

// WithProgress returns a context under which a long loop calls f now and then with the
// number of its rounds that are done.
func WithProgress(ctx context.Context, f func(done int64)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress calls the function of WithProgress, if there is one.
func Progress(ctx context.Context, done int64) {
	if f, ok := ctx.Value(progressKey{}).(func(int64)); ok {
		f(done)
	}
}
