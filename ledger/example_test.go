package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/profiles"
)

// A training loop asks before each step, and stops when the budget is used up.
func ExampleLedger_SpendPlan() {
	dir, _ := os.MkdirTemp("", "ledger")
	defer os.RemoveAll(dir)
	l, err := ledger.Create(context.Background(), ledger.File(filepath.Join(dir, "budget.ledger")), ledger.Config{
		Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-5, Mode: ledger.Planned})
	if err != nil {
		panic(err)
	}
	// One epoch at a time; each spend is on disk before the epoch runs.
	epoch := []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 50}]\n")
	epochs := 0
	for {
		if err := l.SpendPlan(context.Background(), epoch, "epoch"); errors.Is(err, ledger.ErrBudget) {
			break
		} else if err != nil {
			panic(err)
		}
		epochs++ // train here
	}
	st, err := l.Status(context.Background())
	fmt.Println(epochs, "epochs,", st.Runs, "steps,", st.Spent.Epsilon.Upper <= 1, err)
	// Output: 5 epochs, 250 steps, true <nil>
}

// An adaptive ledger lets each step depend on what was seen before.
func ExampleNew() {
	l, err := ledger.New(ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: ledger.Adaptive})
	if err != nil {
		panic(err)
	}
	queries := 0
	for sigma := 40.0; ; sigma *= 0.9 { // in earnest: chosen from earlier answers
		query := fmt.Appendf(nil, "neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: %v}}}]\n", sigma)
		if err := l.SpendPlan(context.Background(), query, "query"); errors.Is(err, ledger.ErrBudget) {
			break
		}
		queries++ // answer here
	}
	fmt.Println(queries, "queries")
	// Output: 13 queries
}

// One budget in a file: made once, opened by whoever wants to spend.
func ExampleOpen() {
	dir, _ := os.MkdirTemp("", "ledger")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "budget.ledger")
	if _, err := ledger.Create(context.Background(), ledger.File(path), ledger.Config{
		Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 0, Mode: ledger.Planned}); err != nil {
		panic(err)
	}
	plan := []byte("neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 0.4}}}]\n")
	for range 3 {
		l, err := ledger.Open(context.Background(), ledger.File(path))
		if err != nil {
			panic(err)
		}
		err = l.SpendPlan(context.Background(), plan, "a survey")
		fmt.Println("refused:", errors.Is(err, ledger.ErrBudget))
	}
	// Output:
	// refused: false
	// refused: false
	// refused: true
}

func ExampleCreate() {
	dir, _ := os.MkdirTemp("", "ledger")
	defer os.RemoveAll(dir)
	config := ledger.Config{Neighbors: profiles.Substitute, Epsilon: 2, Delta: 1e-6, Mode: ledger.Adaptive}
	path := filepath.Join(dir, "budget.ledger")
	_, err := ledger.Create(context.Background(), ledger.File(path), config)
	fmt.Println(err)
	_, err = ledger.Create(context.Background(), ledger.File(path), config) // never overwrites
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

// Keep the head elsewhere: it shows later that nothing was taken away.
func ExampleVerify() {
	dir, _ := os.MkdirTemp("", "ledger")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "budget.ledger")
	l, err := ledger.Create(context.Background(), ledger.File(path), ledger.Config{Neighbors: profiles.AddRemove, Epsilon: 1, Delta: 1e-6, Mode: ledger.Planned})
	if err != nil {
		panic(err)
	}
	before, _ := os.ReadFile(path)
	noise := []byte("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 10}}}]\n")
	if err := l.SpendPlan(context.Background(), noise, ""); err != nil {
		panic(err)
	}
	st, err := ledger.Verify(context.Background(), ledger.File(path), "")
	fmt.Println(st.Entries, err)
	_, err = ledger.Verify(context.Background(), ledger.File(path), st.Head)
	fmt.Println(err)
	// Somebody takes the last entry away. The checksums that are left are right.
	_ = os.WriteFile(path, before, 0o600)
	_, err = ledger.Verify(context.Background(), ledger.File(path), "")
	fmt.Println(err)
	_, err = ledger.Verify(context.Background(), ledger.File(path), st.Head)
	fmt.Println(err != nil)
	// Output:
	// 1 <nil>
	// <nil>
	// <nil>
	// true
}

func ExampleVerify_missing() {
	_, err := ledger.Verify(context.Background(), ledger.File("no.ledger"), "")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}
