// Teacher-labels trains a model on private data through private aggregation of teacher ensembles
// (PATE). Each of 100 teachers learns from its own part of the data and votes, with noise, on
// public examples. A student learns from the labels that come out.
//
//	go run ./examples/teacher-labels
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/dpaccountant/accountant/pate"
	"github.com/dpaccountant/accountant/pate/ballots"
)

const (
	classes         = 3
	teachers        = 100
	shard           = 8 // private examples of each teacher
	queries         = 300
	threshold       = 70 // votes that the winner should have, or no answer is given
	sigmaCheck      = 40 // standard deviation of the noise on that check, in votes
	sigmaAnswer     = 20 // and on the votes
	budget, delta   = 3.0, 1e-5
	testingExamples = 2000
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is the example. It is long because it is read from top to bottom.
func run(w io.Writer) error {
	data := rand.New(rand.NewPCG(1, 2))

	// Disjoint parts: one private example sits with one teacher, and so can change
	// one vote of a query. With shared examples nothing below would hold.
	ensemble := make([]model, teachers)
	for t := range ensemble {
		ensemble[t] = learn(draw(data, shard))
	}
	public := draw(data, queries) // their labels are never looked at

	mechanism, err := pate.NewConfident(threshold, sigmaCheck, sigmaAnswer)
	if err != nil {
		return err
	}

	rows := make([][]int64, queries)
	for i := range rows {
		rows[i] = make([]int64, classes)
		for _, t := range ensemble {
			rows[i][t.predict(public[i].x)]++
		}
	}

	// How many queries does the budget pay for? The check of every query, and an
	// answer to every query: a bound that looks at no vote, so that the number is
	// public. It would be wrong to go on for as long as the answers turn out cheap.
	votes, err := ballots.NewVotes(rows, teachers)
	if err != nil {
		return err
	}
	costs, err := pate.Account(context.Background(), votes, mechanism, pate.Options{})
	if err != nil {
		return err
	}
	var counts []int
	for n := range queries {
		counts = append(counts, n+1)
	}
	running, err := costs.Running(context.Background(), pate.DataIndependent, nil, counts)
	if err != nil {
		return err
	}
	asked, promised := 0, 0.0
	for i, c := range running {
		eps, _, err := pate.Improved.Epsilon(c.Total, delta)
		if err != nil {
			return err
		}
		if eps > budget {
			break
		}
		asked, promised = counts[i], eps
	}
	// Epsilons are rounded up.
	fmt.Fprintf(w, "%d queries, ε = %.3f at δ = %v whatever the votes are\n", asked, math.Ceil(1e3*promised)/1e3, delta)

	// Label. A nil source would be seeded by the operating system; this one is fixed
	// so that this program always prints the same, and gives no privacy.
	coins := rand.NewPCG(3, 4)
	var labelled []example
	right := 0
	for i := range asked {
		answer, err := mechanism.Label(rows[i], teachers, nil, coins)
		if err != nil {
			return err
		}
		if answer.Answered {
			labelled = append(labelled, example{public[i].x, answer.Class})
			if answer.Class == public[i].class {
				right++
			}
		}
	}
	fmt.Fprintf(w, "%d answers, %d of them right\n", len(labelled), right)

	// The student has seen public examples and the answers only: it is as private as
	// they are, and may be published.
	student := learn(labelled)
	test := draw(data, testingExamples)
	fmt.Fprintf(w, "right on new examples: student %.0f %%, one teacher %.0f %%\n", 100*student.accuracy(test), 100*ensemble[0].accuracy(test))

	// What these votes really cost is less, since most were clear. But that number
	// is itself a secret of the data: pate.Sanitize says what may be told of it.
	first, err := votes.First(asked)
	if err != nil {
		return err
	}
	if costs, err = pate.Account(context.Background(), first, mechanism, pate.Options{}); err != nil {
		return err
	}
	worst, err := costs.Cost(context.Background(), pate.Worst, nil)
	if err != nil {
		return err
	}
	eps, _, err := pate.Improved.Epsilon(worst.Total, delta)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "NOT SAFE TO PUBLISH: for these votes ε = %.3f\n", math.Ceil(1e3*eps)/1e3)
	return nil
}

type example struct {
	x     [2]float64
	class int
}

// draw makes examples of three classes, which overlap a little.
func draw(rng *rand.Rand, n int) []example {
	centres := [classes][2]float64{{0, 2}, {-1.7, -1}, {1.7, -1}}
	es := make([]example, n)
	for i := range es {
		c := rng.IntN(classes)
		es[i] = example{[2]float64{centres[c][0] + rng.NormFloat64(), centres[c][1] + rng.NormFloat64()}, c}
	}
	return es
}

// A model is the mean of each class.
type model [classes][2]float64

func learn(es []example) model {
	var m model
	var n [classes]float64
	for _, e := range es {
		m[e.class][0] += e.x[0]
		m[e.class][1] += e.x[1]
		n[e.class]++
	}
	for c := range m {
		m[c][0] /= max(n[c], 1)
		m[c][1] /= max(n[c], 1)
	}
	return m
}

func (m model) predict(x [2]float64) int {
	best, least := 0, math.Inf(1)
	for c, centre := range m {
		if d := math.Hypot(x[0]-centre[0], x[1]-centre[1]); d < least {
			best, least = c, d
		}
	}
	return best
}

func (m model) accuracy(es []example) float64 {
	right := 0
	for _, e := range es {
		if m.predict(e.x) == e.class {
			right++
		}
	}
	return float64(right) / float64(len(es))
}
