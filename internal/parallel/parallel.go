// Package parallel runs two functions at the same time.
package parallel

import "sync"

// Do runs f and g at the same time and returns when both have ended. A panic of
// either is the caller's to recover: in a goroutine of its own it would end the
// whole program.
func Do(f, g func()) {
	var wg sync.WaitGroup
	var caught any
	wg.Go(func() {
		defer func() { caught = recover() }()
		g()
	})
	func() {
		defer wg.Wait()
		f()
	}()
	if caught != nil {
		panic(caught)
	}
}
