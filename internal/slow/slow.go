// Package slow sorts tests into three tiers by the environment variable SLOW, which go test hands to every package:
//
//   - unset or 0: go test ./... runs what takes at most about a second of processor time a test.
//   - 1: every test, as .ci/run has it, with long tables and random trials cut short.
//   - 2: all of every test, without cuts. Single packages take up to an hour: set -timeout.
//
// A test that is left out says so. No bound may rest on tier 2 alone: a claim that no faster test makes belongs into tier 1 at least.
package slow

import (
	"os"
	"testing"
)

// Test skips a test below tier 1.
func Test(t testing.TB) {
	t.Helper()
	atLeast(t, "1")
}

// Long skips a test below tier 2.
func Long(t testing.TB) {
	t.Helper()
	atLeast(t, "2")
}

// On reports whether slow tests run: SLOW is 1 or 2.
func On() bool { return tier() >= "1" }

// All reports whether tests run without cuts: SLOW is 2.
func All() bool { return tier() == "2" }

func atLeast(t testing.TB, least string) {
	t.Helper()
	if tier() < least {
		t.Skip("NOT RUN: slow; SLOW=" + least + " runs it")
	}
}

// tier returns the value of SLOW, and panics for one that no tier has: the tests would run without what was asked for.
func tier() string {
	switch v := os.Getenv("SLOW"); v {
	case "":
		return "0"
	case "0", "1", "2":
		return v
	default:
		panic("SLOW=" + v + " is not 0, 1 or 2")
	}
}
