// Package nearest finds what a mistyped word should have been, and quotes it.
package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// Hint says what a word should have been: the closest of the allowed ones, or all
// of them.
func Hint(word string, allowed []string) string {
	if best := Word(word, allowed); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(allowed) == 1 {
		return "must be " + allowed[0]
	}
	return "must be one of " + strings.Join(allowed, ", ")
}

// Value says that a word is none of the allowed ones, and which it should have
// been, if one is near.
func Value(word string, allowed []string) string {
	text := fmt.Sprintf("%q is not one of %s", word, strings.Join(allowed, ", "))
	if best := Word(word, allowed); best != "" {
		text += fmt.Sprintf("; did you mean %q?", best)
	}
	return text
}

// Quote returns text from outside in quotes, cut to what a message can hold.
func Quote(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:37]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// synonyms are words of other libraries and papers for what is called otherwise here: the
// first that is allowed is meant.
var synonyms = map[string][]string{
	"sigma": {"noise-multiplier", "standard-deviation", "sigma2"}, "σ": {"noise-multiplier", "standard-deviation"},
	"std": {"noise-multiplier", "standard-deviation"}, "stddev": {"noise-multiplier", "standard-deviation"},
	"noise": {"noise-multiplier"}, "noise-scale": {"noise-multiplier", "scale"}, "b": {"scale", "noise-multiplier"},
	"n": {"examples", "population"}, "dataset-size": {"examples", "population"}, "num-examples": {"examples", "population"}, "examples": {"population"},
	"batch": {"batch-size"}, "batch-size": {"batch"}, "lot-size": {"batch-size", "batch"},
	"q": {"sampling-rate", "rate"}, "p": {"sampling-rate", "rate"}, "sample-rate": {"sampling-rate", "rate"}, "sampling-rate": {"rate"}, "sampling-probability": {"sampling-rate", "rate"}, "probability": {"rate"},
	"t": {"steps", "count"}, "iterations": {"steps", "count"}, "num-steps": {"steps", "count"}, "runs": {"count"}, "times": {"count"}, "epochs": {"count"},
	"fpr": {"at-fpr", "false-positives"}, "tpr": {"target-tpr"}, "alpha": {"false-positives"}, "advantage": {"target-advantage"}, "prior": {"priors"},
	"eps": {"epsilon"}, "ε": {"epsilon"}, "target-eps": {"target-epsilon"}, "target-delta": {"delta"}, "δ": {"delta"},
	"replace-one": {"substitute"}, "replace": {"substitute"}, "replacement": {"substitute"}, "swap": {"substitute"}, "bounded": {"substitute"}, "change-one": {"substitute"},
	"add-or-remove": {"add-remove"}, "add-or-remove-one": {"add-remove"}, "unbounded": {"add-remove"}, "remove": {"add-remove"}, "add": {"add-remove"}, "replace-special": {"zero-out"},
	"relation": {"neighbors"}, "neighbours": {"neighbors"}, "neighboring-relation": {"neighbors"}, "adjacency": {"neighbors"},
	"confident-gnmax": {"confident"},
	"normal":          {"gaussian"}, "wor": {"without-replacement"}, "wr": {"with-replacement"}, "fixed-size": {"without-replacement"},
	"users": {"records-per-person"}, "group-size": {"records-per-person"}, "privacy-unit": {"records-per-person"},
}

// Word returns the allowed word that is called so elsewhere; else the one that is within a
// third of its length in edits of word, the first of the closest; or else the only one
// that begins with word, if that has three letters; "" if there is none.
func Word(word string, allowed []string) string {
	if len(word) > 100 {
		return ""
	}
	norm := func(s string) string {
		return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(s))
	}
	for _, same := range synonyms[norm(word)] {
		if slices.Contains(allowed, same) {
			return same
		}
	}
	best, bestEdits := "", 1<<30
	for _, a := range allowed {
		if d := edits(norm(word), a); d < bestEdits && d <= max(1, len(a)/3) && d < len(a) {
			best, bestEdits = a, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, a := range allowed {
		if strings.HasPrefix(a, norm(word)) {
			if best != "" {
				return ""
			}
			best = a
		}
	}
	return best
}

// edits is the number of insertions, deletions, substitutions and exchanges of
// neighbours that turn a into b.
func edits(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1)
	for i := range d {
		d[i] = make([]int, len(t)+1)
		d[i][0] = i
	}
	for j := range t {
		d[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			best := min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				best = min(best, d[i-1][j-1]+1)
			}
			d[i+1][j+1] = best
		}
	}
	return d[len(s)][len(t)]
}
