package pate

import (
	"context"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

// glyph is a table of the size of the largest experiment of PATE 2018: 12,000
// queries, 150 classes, 5000 teachers. Rule S1 repeats its shapes after 1000
// queries; moving a few votes makes all histograms different.
func glyph(b *testing.B) *ballots.Votes {
	b.Helper()
	v := s1(b, 5000, 150, 12_000)
	for k := range v.Queries() {
		row := v.Row(k)
		c := (7*k + 3) % 150
		n := min(int64(k/1000), row[c])
		row[c] -= n
		row[(c+100)%150] += n
	}
	return v
}

func BenchmarkAccount(b *testing.B) {
	v := glyph(b)
	b.ReportAllocs()
	for b.Loop() {
		l := ledger(b, v, confident{1000, 500, 100}, nil)
		if c := cost(b, l, Worst, nil); c.Total.Values[0] <= 0 {
			b.Fatal("no cost")
		}
	}
}

func BenchmarkSensitivity(b *testing.B) {
	l := ledger(b, glyph(b), confident{1000, 500, 100}, nil)
	b.ReportAllocs()
	for b.Loop() {
		s, err := l.NewSensitivity(context.Background(), 20.5, Worst, nil)
		if err != nil || s.Cost <= 0 {
			b.Fatal(err)
		}
	}
}
