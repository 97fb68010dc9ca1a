package ledger

import (
	"context"

	"github.com/dpaccountant/accountant"
)

// An Entry is a spend of the file.
type Entry struct {
	Time, Note string
	Key        string // that of SpendOnce, or ""
	Plan       string // as it was given; JSON without its blanks
	Runs       int64  // of mechanisms
	Steps      []accountant.Step
	Sum        string // checksum of its line
}

// Log reads a ledger file from its beginning, verifies every checksum, and calls each with
// every entry in turn. It takes no lock and computes no total; Verify does.
func Log(ctx context.Context, path string, each func(Entry)) (Config, error) {
	return LogStore(ctx, &file{path: path}, each)
}

// LogStore is Log for a ledger in a store.
func LogStore(ctx context.Context, s Store, each func(Entry)) (Config, error) {
	return open(s).log(ctx, each)
}

func (l *Ledger) log(ctx context.Context, each func(Entry)) (Config, error) {
	l.state.visit = func(e entry, sum string) {
		a := l.state.stored[string(e.Plan)] // was read just now
		each(Entry{Time: e.Time, Note: e.Note, Key: e.Key, Plan: a.text, Runs: a.runs, Steps: a.plan.Steps, Sum: sum})
	}
	err := l.load(ctx)
	return l.state.config, err
}
