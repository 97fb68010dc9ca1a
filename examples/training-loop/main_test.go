package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

// TestRun: with this seed the program prints what output.txt says.
func TestRun(t *testing.T) {
	want, err := os.ReadFile("output.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := run(t.Context(), &got, "random-allocation", rand.NewPCG(1, 2)); err != nil {
		t.Fatal(err)
	}
	// Git may have given the file the line ends of the system.
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

func TestPoissonRunStopsAtTheBudgetToo(t *testing.T) {
	var got bytes.Buffer
	if err := run(t.Context(), &got, "poisson", rand.NewPCG(1, 2)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.Bytes(), []byte("epoch 12 would exceed ε = 1: stop")) {
		t.Errorf("got\n%s", got.Bytes())
	}
	if err := run(t.Context(), &got, "shuffle", nil); err == nil {
		t.Error("shuffle was taken")
	}
}
