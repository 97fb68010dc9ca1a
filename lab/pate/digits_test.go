package main

// What the page on digits was made of, in a table that is cheap to make again: the whole page
// takes minutes. go test ./lab/pate -run Digits -update writes it, beside a page that was written.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/pate"
)

var update = flag.Bool("update", false, "write the table of what the page on digits was made of")

// The page on digits, its numbers and colours are what the program makes of the votes today: what
// is cheap to make again is as it was when the page was written, and the page has not been
// touched since. With SLOW=2 all of it is made again.
func TestDigitsPageIsCurrent(t *testing.T) {
	slow.Test(t)
	const from, docs = "../votes/testdata", "../../docs/experiments"
	if slow.All() {
		dir := t.TempDir()
		digits(from, dir)
		for _, name := range digitFiles {
			want, err := os.ReadFile(filepath.Join(docs, name))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what go run ./lab/pate -only digits writes (%v)", name, err)
			}
		}
	}
	got := ingredients(from, docs, choose(readPool(from, "digits-choosing.gz")))
	kept := filepath.Join(docs, digitCheck)
	if *update {
		if err := os.WriteFile(kept, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	if len(was) != len(is) {
		t.Fatalf("%d lines, want %d", len(is), len(was))
	}
	for i := range was {
		if was[i] != is[i] {
			t.Errorf("%s\nwas, when the page was last written,\n%s", is[i], was[i])
		}
	}
}

// digitFiles are what the page shows; pictures but for their numbers and colours.
var digitFiles = []string{
	"pate-digits.md", "pate-digits.csv", "pate-digits-running.csv", "pate-digits-students.csv",
	"pate-digits-agreement.csv", "pate-digits-noise.csv",
}

// digitCheck is the name of the table.
const digitCheck = "pate-digits-check.csv"

// fewQueries are so many that every kind of vote is among them, and exact laws take little time.
const fewQueries = 40

// ingredients returns lines of names and values: the hash of every file in dir that the page
// shows, of the votes in from and of the colours; what the choice of parameters gives; and for
// each mechanism the costs of few queries by every accounting, and how many of them one
// draw gets right.
func ingredients(from, dir string, c chosen) string {
	var b strings.Builder
	b.WriteString("name,value\n")
	hash := func(dir string, names ...string) {
		for _, n := range names {
			fmt.Fprintf(&b, "sha256 of %s,%x\n", n, sha256.Sum256(try.Must(os.ReadFile(filepath.Join(dir, n)))))
		}
	}
	hash(dir, digitFiles...)
	hash(from, "digits-100.gz", "digits-250.gz", "digits-choosing.gz", "digits-images.gz", "digits-settings.csv")
	for _, m := range []figure.Method{lnColour, gnColour, confidentColour, figure.DataIndependent} {
		fmt.Fprintf(&b, "colour,%x\n", m.Colour)
	}
	fmt.Fprintf(&b, "parameters,%q\n", fmt.Sprint(c.mechanisms(), c.order, digitDelta, fewOrders, gammas, sigmas, publication(2)))
	all := readPool(from, "digits-100.gz")
	few := pool{labels: all.labels[:fewQueries]}
	few.votes = try.Must(all.votes.First(fewQueries))
	for _, a := range c.mechanisms() {
		x := price(few, a, c.order[a.String()])
		line := func(what string, value ...float64) {
			fmt.Fprintf(&b, "%q", a.String()+": "+what)
			for _, v := range value {
				fmt.Fprintf(&b, ",%.9g", v)
			}
			b.WriteByte('\n')
		}
		line("classic", x.classic)
		line("independent", x.independent)
		line("theorem6", x.theorem6)
		line("expected", x.expected)
		line("rstar", x.rStar)
		line("exact", x.exact[:]...)
		line("composed", x.composed[:]...)
		line("published", x.published)
		line("answered and right", x.answered.value, x.share.value)
		// Of all queries, what takes no time.
		whole, l := bill(all, a, pate.Theorem6, nil, nil)
		line("whole, theorem6", whole[0].Total.Values...)
		ind := try.Must(l.Cost(context.Background(), pate.DataIndependent, nil))
		line("whole, independent", ind.Total.Values...)
	}
	return b.String()
}
