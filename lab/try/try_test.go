package try

import (
	"errors"
	"testing"
)

// An error comes out of the run that it ends, and another panic goes through.
func TestRun(t *testing.T) {
	want := errors.New("no such file")
	if x := Must(3, nil); x != 3 || Run(func() { Check(nil) }) != nil {
		t.Errorf("%v without an error", x)
	}
	for _, f := range []func(){func() { Check(want) }, func() { Must(3, want) }, func() { Must2(3, "x", want) }} {
		if got := Run(f); got != want {
			t.Errorf("got %v", got)
		}
	}
	defer func() {
		if p := recover(); p != "a defect" {
			t.Errorf("the panic became %v", p)
		}
	}()
	t.Errorf("caught %v", Run(func() { panic("a defect") }))
}
