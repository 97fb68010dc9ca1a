//go:build race

// Package race is for the few tests that cannot be under the race detector: whether they are.
package race

// Enabled is whether this was compiled with -race.
const Enabled = true
