package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/dpaccountant/accountant/internal/parallel"
)

func TestDo(t *testing.T) {
	for n := range 5 {
		var sum atomic.Int64
		parallel.Do(n, func(i int) { sum.Add(1 << i) })
		if got := sum.Load(); got != 1<<n-1 {
			t.Errorf("%d functions: ran %b", n, got)
		}
	}
}

// All end before a panic of one of them reaches the caller.
func TestDoPanics(t *testing.T) {
	for bad := range 3 {
		var ended atomic.Int64
		func() {
			defer func() {
				if r := recover(); r != bad {
					t.Errorf("recovered %v, want %d", r, bad)
				}
			}()
			parallel.Do(3, func(i int) {
				if i == bad {
					panic(bad)
				}
				ended.Add(1)
			})
			t.Error("no panic")
		}()
		if ended.Load() != 2 {
			t.Errorf("%d ended", ended.Load())
		}
	}
}
