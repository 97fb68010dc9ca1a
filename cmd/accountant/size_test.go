package main

import (
	"path"
	"strings"
	"testing"
)

// TestSizeOfPages holds the words of each shelf of docs and of the pages beside it, as wc -w counts them: signs and the
// bars of tables count. A page that grows is paid for by one that shrinks.
// Together the limits are at most 70,000 in docs and 80,000 in all.
func TestSizeOfPages(t *testing.T) {
	most := map[string]int{
		"docs/guide":       15_800,
		"docs/reference":   23_000,
		"docs/theory":      19_900,
		"docs/experiments": 9_600,
		"docs":             1_550,
		"":                 9_000, // the pages outside of docs
	}
	words := map[string]int{}
	for _, p := range pages(t) {
		shelf := path.Dir(p)
		if !strings.HasPrefix(shelf, "docs") {
			shelf = ""
		}
		if strings.HasSuffix(p, ".md") {
			for _, line := range page(t, p) {
				words[shelf] += len(strings.Fields(line))
			}
		}
	}
	for shelf, n := range words {
		if limit, ok := most[shelf]; !ok || n > limit {
			t.Errorf("the pages of %q have %d words, want at most %d", shelf, n, limit)
		}
	}
}
