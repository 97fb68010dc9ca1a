package main

// The account of a run is a ledger in a file, which is charged for an epoch before it runs. From
// the ledger come two files for other programs: the plan of what is paid, and a log of the steps.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// The files of a run.
const (
	ledgerFile     = "budget.ledger" // accountant ledger check budget.ledger
	planFile       = "plan.yaml"     // accountant epsilon --delta 1e-5 plan.yaml
	logFile        = "steps.jsonl"   // accountant epsilon --delta 1e-5 --follow steps.jsonl plan.yaml
	checkpointFile = "checkpoint.json"
)

// epochs are epochs of one kind: how batches are drawn, and how many runs of that are one epoch.
type epochs struct {
	sampling string
	runs     int
}

// of returns the plan of n epochs.
func (e epochs) of(n int) string {
	return fmt.Sprintf(`neighbors: add-remove
steps:
  - name: training
    mechanism: {gaussian: {noise-multiplier: %v}}
    sampling: {%s}
    count: %d
`, noiseMultiplier, e.sampling, n*e.runs)
}

// account is what a run has paid: paid epochs, each of which is in the ledger before it ran.
type account struct {
	dir    string
	epochs epochs
	ledger *ledger.Ledger
	paid   int
}

// openAccount opens the account of a directory, or makes one with this budget. Its epochs are of this
// kind; the plan and the log are written anew, so that they are those of the ledger whatever happened.
func openAccount(ctx context.Context, dir string, e epochs, budget float64) (*account, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, ledgerFile)
	// Planned: noise, sampling and the stopping rule are fixed before the data are seen. Somebody who
	// stops, or changes a setting, because of what the model does needs ledger.Adaptive.
	config := ledger.Config{Neighbors: profiles.AddRemove, Epsilon: budget, Delta: delta, Mode: ledger.Planned}
	l, err := ledger.Open(ctx, ledger.File(path))
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.Create(ctx, ledger.File(path), config)
	}
	if err != nil {
		return nil, err
	}
	if c := l.Config(); c.Epsilon != budget || c.Delta != delta || c.Mode != ledger.Planned {
		return nil, fmt.Errorf("%s: its budget is ε = %v at δ = %v, %s, and not ε = %v at δ = %v", path, c.Epsilon, c.Delta, c.Mode, budget, delta)
	}
	a := &account{dir: dir, epochs: e, ledger: l}
	other := false
	if _, err := ledger.Log(ctx, ledger.File(path), func(entry ledger.Entry) {
		a.paid++
		other = other || entry.Plan != e.of(1)
	}); err != nil {
		return nil, err
	}
	if other {
		return nil, fmt.Errorf("%s: has epochs of another kind of training", path)
	}
	if a.paid == 0 {
		return a, nil
	}
	return a, a.write(strings.Repeat(logLine, a.paid))
}

// logLine is what the log says of each epoch of the plan's only step.
const logLine = "{\"epochs\": 1}\n"

// write writes the plan of what is paid, and the log unless it is so: somebody may follow it.
func (a *account) write(log string) error {
	path := filepath.Join(a.dir, logFile)
	if data, err := os.ReadFile(path); err != nil || string(data) != log {
		if err := writeFile(path, []byte(log)); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(a.dir, planFile), []byte(a.epochs.of(a.paid)))
}

// pay charges one more epoch; an error means that it must not run.
func (a *account) pay(ctx context.Context) error {
	if err := a.ledger.SpendPlan(ctx, []byte(a.epochs.of(1)), fmt.Sprintf("epoch %d", a.paid+1)); err != nil {
		return err
	}
	a.paid++
	// Appended, for those who follow it; openAccount mends a line that a crash has cut.
	log, err := os.OpenFile(filepath.Join(a.dir, logFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = log.WriteString(logLine)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	return writeFile(filepath.Join(a.dir, planFile), []byte(a.epochs.of(a.paid)))
}

// epsilon returns a proved upper bound of the ε of everything that is paid: of the plan, as the ledger
// shows no more digits than it takes to keep the budget.
func (a *account) epsilon(ctx context.Context) (float64, error) {
	p, err := plan.Parse(ctx, []byte(a.epochs.of(a.paid)))
	if err != nil {
		return 0, err
	}
	total := accountant.New(p.Neighbors)
	if err := total.AddPlan(ctx, p); err != nil {
		return 0, err
	}
	iv, err := total.Epsilon(ctx, delta)
	return iv.Upper, err
}

// writeFile writes a file whole or not at all.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
