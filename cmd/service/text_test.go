package service

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// FuzzNumbers: a number that a flag takes is in its range, and is printed as one
// that reads back as itself.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1e-5", "0.1,1e-300", "-0", ".inf", "0x1p3", "1_000", "1e999", " 1 ", "\u00a01", "1e0000000000000001"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, in := Listed(text), spanOf("[0, 1)")
		if err := list.check("delta", in); err != nil {
			if !strings.HasPrefix(err.Error(), "delta") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, x := range list.floats() {
			if y, err := decimal.Parse(decimal.Short(x)); err != nil || y != x || !in.contains(x) {
				t.Fatalf("%q: %v prints as %s", text, x, decimal.Short(x))
			}
		}
	})
}

// TestManyKeys: a request of very many keys is refused at once; each was compared with all others, for minutes.
func TestManyKeys(t *testing.T) {
	var q strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&q, `,"k%d":1`, i)
	}
	answered := make(chan Response, 1)
	go func() {
		answered <- New(nil).Answer(t.Context(), []byte(`{"op":"version"`+q.String()+`}`))
	}()
	select {
	case a := <-answered:
		if a.Error == nil || !strings.Contains(a.Error.Message, "k0") {
			t.Error(a.Error)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no answer after half a minute")
	}
}
