package try

import (
	"errors"
	"testing"
)

// An error comes out of the function that catches it, and another panic goes through.
func TestCatch(t *testing.T) {
	want := errors.New("no such file")
	end := func(f func()) (err error) {
		defer Catch(&err)
		f()
		return nil
	}
	if x := Must(3, nil); x != 3 || end(func() { Check(nil) }) != nil {
		t.Errorf("%v without an error", x)
	}
	for _, f := range []func(){func() { Check(want) }, func() { Must(3, want) }, func() { Must2(3, "x", want) }} {
		if got := end(f); got != want {
			t.Errorf("got %v", got)
		}
	}
	defer func() {
		if p := recover(); p != "a defect" {
			t.Errorf("the panic became %v", p)
		}
	}()
	t.Errorf("caught %v", end(func() { panic("a defect") }))
}
