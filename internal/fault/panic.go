package fault

import (
	"fmt"
	"runtime/debug"
)

// A Panic is what a panic was raised with, and the stack of the goroutine that raised it. It survives being raised
// again in another goroutine.
type Panic struct {
	Value any
	Stack string
}

// Caught returns the panic of what recover returned, nil for nil. It is called in the deferred function, while the
// stack is still there; a Panic is returned as it is.
func Caught(r any) *Panic {
	switch r := r.(type) {
	case nil:
		return nil
	case *Panic:
		return r
	}
	return &Panic{r, string(debug.Stack())}
}

// Error returns the value with the stack, which a program that nobody recovers prints.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }
