package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestDigits: the digits are the package's, in equal numbers, and a model without noise
// learns them.
func TestDigits(t *testing.T) {
	data := readDigits()
	if len(data) != digits {
		t.Fatal(len(data))
	}
	var n [classes]int
	for _, d := range data {
		n[d.Label]++
	}
	for c, k := range n {
		if k != digits/classes {
			t.Errorf("%d digits of class %d", k, c)
		}
	}
	m := train(data[:trained], setting{10, 1}, 0, rand.New(rand.NewPCG(1, 1)))
	// About 0.85, give or take 0.02 with the batches that are drawn; guessing is 0.1.
	if right := m.Right(data[5000:]); !(right > 0.8) {
		t.Errorf("without noise %v are right", right)
	}
	if right := train(data[:trained], setting{10, 1}, 1000, rand.New(rand.NewPCG(1, 1))).Right(data[5000:]); right > 0.4 {
		t.Errorf("with all the noise %v are right", right)
	}
}

// TestNoises: what the search costs is below its budget and close to it, and the noise of one
// run, of a search and of as many runs paid for ascend.
func TestNoises(t *testing.T) {
	slow.Long(t)
	b := digitsExperiment(t.Context(), 2, 2)
	if !(b.attack > 1.95 && b.attack <= 2 && b.single < b.searchNoise && b.searchNoise < b.naiveNoise) {
		t.Errorf("%+v", b)
	}
	if math.IsNaN(b.search.mean) || b.fixed.mean < b.random.mean {
		t.Errorf("%+v", b)
	}
}
