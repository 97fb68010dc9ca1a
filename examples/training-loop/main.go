// Training-loop trains a model by DP-SGD, asks the accountant before each epoch
// whether that epoch still fits the budget, and stops when it does not. Batches and noise
// come from the library, with the randomness of the operating system.
//
//	go run ./examples/training-loop
//	go run ./examples/training-loop -batching poisson # in place of random allocation
//	go run ./examples/training-loop -seed 1 # the same accuracies every time, and no privacy
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/noise"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

const (
	examples        = 2000
	batch           = 100 // expected: the size of a batch is random
	noiseMultiplier = 3.0
	clip            = 1.0
	learningRate    = 0.5
	grid            = 0x1p-20 // of the noisy sum; must not depend on the data
	budget, delta   = 1.0, 1e-5
)

func main() {
	seed := flag.Uint64("seed", 0, "for a run that can be repeated, and protects nobody")
	batching := flag.String("batching", "random-allocation", "how batches are drawn: random-allocation or poisson")
	flag.Parse()
	// Nil is the operating system's randomness. Noise and batches that somebody can
	// guess, from a seed in a file for example, are none.
	var src rand.Source
	if *seed != 0 {
		src = rand.NewPCG(*seed, 2)
	}
	if err := run(context.Background(), os.Stdout, *batching, src); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, batching string, src rand.Source) error {
	data := toyData()
	gaussian, err := profiles.NewGaussianMechanism(noiseMultiplier)
	if err != nil {
		return err
	}
	const stepsPerEpoch = examples / batch
	// Random allocation: each example draws one step of each epoch. It costs a loader what
	// shuffling costs, and no more ε than Poisson sampling here; shuffling costs far more.
	// One run of it is an epoch, one of Poisson sampling a step.
	var sampling subsample.Sampler
	runs := int64(1)
	switch batching {
	case "random-allocation":
		sampling, err = allocation.NewRandom(stepsPerEpoch)
	case "poisson":
		sampling, err = subsample.NewPoisson(float64(batch) / examples)
		runs = stepsPerEpoch
	default:
		err = fmt.Errorf("batching: %q is not one of random-allocation, poisson", batching)
	}
	if err != nil {
		return err
	}
	epoch := accountant.Step{Name: "epoch", Mechanism: gaussian, Sampling: sampling, Count: runs}

	// A batch for each step. The size of a batch is random, and secret like its examples.
	batches, err := sampling.Batches(src, examples)
	if err != nil {
		return err
	}
	next, stop := iter.Pull(batches)
	defer stop()

	// Planned: noise, rate and stopping rule are fixed before the data are seen.
	// Somebody who stops, or turns a knob, because of what the model does needs
	// ledger.Adaptive. ledger.Create keeps the budget in a file instead of memory.
	l, err := ledger.New(ledger.Config{Neighbors: accountant.AddRemove, Epsilon: budget, Delta: delta, Mode: ledger.Planned})
	if err != nil {
		return err
	}

	// The same steps in an Accountant, to print the running total; asking does not
	// disturb it.
	acct := accountant.New(accountant.AddRemove)
	fmt.Fprintln(w, "epoch  accuracy  ε at δ = 1e-5")
	var model [3]float64
	for n := 1; ; n++ {
		// Spend first, train then: once a step ran, its cost cannot be taken back.
		if err := l.Spend(ctx, epoch); errors.Is(err, ledger.ErrBudget) {
			fmt.Fprintf(w, "epoch %d would exceed ε = %v: stop\n", n, budget)
			return nil
		} else if err != nil {
			return err
		}
		for range stepsPerEpoch {
			picks, _ := next() // never ends
			if err := step(&model, data, picks, src); err != nil {
				return err
			}
		}
		if err := acct.Add(ctx, epoch, 1); err != nil {
			return err
		}
		iv, err := acct.Epsilon(ctx, delta)
		if err != nil {
			return err
		}
		// The data here are made up. On private data the accuracy would be a release
		// of its own, and would have to be paid for.
		fmt.Fprintf(w, "%5d  %7.0f%%  at most %.4f\n", n, 100*accuracy(model, data), math.Ceil(1e4*iv.Upper)/1e4)
	}
}

type example struct {
	x [3]float64 // the first one is 1
	y float64    // -1 or 1
}

func toyData() []example {
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]example, examples)
	for i := range data {
		x := [3]float64{1, rng.NormFloat64(), rng.NormFloat64()}
		y := 1.0
		if 0.5+2*x[1]-x[2]+rng.NormFloat64() < 0 {
			y = -1
		}
		data[i] = example{x, y}
	}
	return data
}

// step is one step of DP-SGD for logistic regression. Each of its lines is an
// assumption of the accounting.
func step(model *[3]float64, data []example, picks []subsample.Pick, src rand.Source) error {
	var sum [3]float64
	for _, p := range picks {
		e := data[p.Index]
		margin, norm := 0.0, 0.0
		for i := range model {
			margin += model[i] * e.x[i]
			norm += e.x[i] * e.x[i]
		}
		g := -e.y / (1 + math.Exp(e.y*margin))
		// Clip the gradient of one example, not that of the batch.
		scale := min(1, clip/(math.Abs(g)*math.Sqrt(norm)))
		for i := range sum {
			sum[i] += scale * g * e.x[i]
		}
	}
	for i := range model {
		// Noise of standard deviation noiseMultiplier · clip on the sum, which is then
		// divided by the expected size of a batch: the actual size is secret.
		noisy, err := noise.Gaussian(src, sum[i], noiseMultiplier*clip, grid)
		if err != nil {
			return err
		}
		model[i] -= learningRate * noisy / batch
	}
	return nil
}

func accuracy(model [3]float64, data []example) float64 {
	right := 0
	for _, e := range data {
		margin := model[0]*e.x[0] + model[1]*e.x[1] + model[2]*e.x[2]
		if margin*e.y > 0 {
			right++
		}
	}
	return float64(right) / float64(len(data))
}
