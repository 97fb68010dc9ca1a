package parallel_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dpaccountant/accountant/internal/fault"
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
				if p, ok := recover().(*fault.Panic); !ok || p.Value != bad || !strings.Contains(p.Stack, "TestDoPanics") {
					t.Errorf("recovered %v, want %d", p, bad)
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

// A panic of one task reaches the caller, the numbers are all done once, and a
// context that is done stops the rest.
func TestEach(t *testing.T) {
	seen := make([]int, 1000)
	last := 0
	err := parallel.Each(context.Background(), len(seen), func(done, total int) {
		if done != last+1 || total != len(seen) {
			t.Errorf("progress(%d, %d) after %d", done, total, last)
		}
		last = done
	}, func(i int) { seen[i]++ })
	if err != nil || last != len(seen) {
		t.Fatal(err, last)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("f(%d) ran %d times", i, n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var started atomic.Int64
	err = parallel.Each(ctx, 1_000_000, nil, func(int) {
		if started.Add(1) == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || started.Load() > 10_000 {
		t.Errorf("error %v after %d", err, started.Load())
	}
	func() {
		defer func() {
			if p, ok := recover().(*fault.Panic); !ok || p.Value != "broken" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = parallel.Each(context.Background(), 100, nil, func(i int) {
			if i == 3 {
				panic("broken")
			}
		})
		t.Error("no panic")
	}()
}
