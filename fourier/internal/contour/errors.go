// Why the engine has no answer.
//
// It is returned beside what was proved all the same.

package contour

import "fmt"

// NotServed says that this engine is the wrong one for a question, or that the
// work limit ended it. What was proved before that is in the answer beside it.
type NotServed struct {
	Reason string
	// Work is the number of terms that the next step would have taken, 0 if that
	// was not the reason.
	Work int64
	// Memory says that the limit of memory was.
	Memory bool
	spent  int64 // terms that were evaluated in vain
}

func (e *NotServed) Error() string {
	if e.Work > 0 {
		return fmt.Sprintf("contour: %s: %d terms", e.Reason, e.Work)
	}
	return "contour: " + e.Reason
}
