// Package parallel runs functions at the same time.
package parallel

import "sync"

// Do runs f(0), …, f(n−1) at the same time and returns when all have ended. A panic
// of one of them is the caller's to recover: in a goroutine of its own it would end
// the whole program.
func Do(n int, f func(i int)) {
	var wg sync.WaitGroup
	caught := make([]any, n)
	for i := range n {
		run := func() {
			defer func() { caught[i] = recover() }()
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
