package service

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
)

// This file states in plain words what an ε promises. It assumes certified intervals and
// rounds them up, and returns lines of at most 79 characters.

// statement says in plain words what the numbers of a DP-SGD run promise, what
// they assume and what they leave out.
func (r dpsgdRun) statement(sampled, anyOrder []EpsilonAt) string {
	var b strings.Builder
	promise := func(answers []EpsilonAt) string {
		var parts []string
		for _, a := range answers {
			eps := stated(a, max(0, a.Epsilon.Upper))
			parts = append(parts, strings.ReplaceAll(fmt.Sprintf("(ε = %s, δ = %s)-differentially", eps, a.Delta), " ", glue))
		}
		return strings.Join(parts, " and ") + " private"
	}
	change := "adding or removing one training example"
	if r.neighbors == profiles.Substitute {
		change = "replacing one training example by another"
	}
	batch := "a constant,"
	if r.batch > 0 {
		batch = fmt.Sprintf("a constant, such as %d,", r.batch)
	}
	fmt.Fprint(&b, "PRIVACY STATEMENT\n\n")
	paragraph(&b, "", "", fmt.Sprintf("The training is %s, with respect to %s.", promise(sampled), change))

	if all := r.doubts(sampled); len(all) > 0 {
		b.WriteString("\nWarning:\n")
		for _, s := range all {
			paragraph(&b, "  - ", "    ", s)
		}
	}

	b.WriteString("\nAssumed:\n")
	for _, s := range []string{
		fmt.Sprintf("Poisson sampling: at each of the %d steps, each example is in the batch with probability %s, independently of all else. "+
			"Batches of a fixed size from a shuffled data set are something else, and can cost more.", r.steps, decimal.Short(r.rate)),
		fmt.Sprintf("At each step each example's gradient is clipped to some norm C, the clipped gradients are added up, and fresh Gaussian noise "+
			"of standard deviation %s·C is added to every coordinate of the sum. It is divided by %s not by the random size of the batch.", decimal.Short(r.noise), batch),
		"Noise multiplier, sampling rate and number of steps were fixed beforehand, without a look at the data, and the noise is exact: " +
			"weak random numbers and rounding of the noise are outside of this account.",
	} {
		paragraph(&b, "  - ", "    ", s)
	}

	b.WriteString("\nCovered:\n")
	paragraph(&b, "  - ", "    ", "The final model, every checkpoint on the way, and whatever is computed from them alone. "+
		"Batches, and gradients before the noise, must stay secret.")

	b.WriteString("\nNot covered:\n")
	for _, s := range []string{
		"Persons. The promise is about one example; someone who contributed several is protected less, and without a limit on " +
			"examples per person there is no promise about persons.",
		"Other looks at the same data: tuning hyper-parameters over several runs, choosing the best checkpoint, statistics for " +
			"normalization, reported accuracies. Each needs an account of its own.",
	} {
		paragraph(&b, "  - ", "    ", s)
	}

	b.WriteString("\nWithout Poisson sampling:\n")
	place := "; there, an example that is removed leaves its place empty"
	if r.neighbors == profiles.Substitute {
		place = ""
	}
	times := fmt.Sprintf("at most %d times", r.passes)
	if r.passes == 1 {
		times = "at most once"
	}
	paragraph(&b, "  - ", "    ", fmt.Sprintf("If instead each example is used %s, in batches that do not depend on the data and in an order that may be public, "+
		"the training is %s%s.", times, promise(anyOrder), place))
	return b.String()
}

// stated writes an upper end of an ε with no more digits than are known.
func stated(a EpsilonAt, upper Number) string {
	e := a.Epsilon
	return decimal.Rounded(float64(upper), min(6, decimal.Apart(float64(e.Lower), float64(e.Upper))), decimal.Up)
}

// largeEpsilon is where an ε says little: odds may change by a factor above 22,000.
const largeEpsilon = 10

// doubts are what makes a promise that is kept worth little.
func (r dpsgdRun) doubts(sampled []EpsilonAt) (all []string) {
	for _, a := range sampled {
		if r.examples > 0 && float64(a.Delta)*float64(r.examples) >= 1 {
			all = append(all, fmt.Sprintf("δ = %s is not below 1/%d, one over the number of examples. Publishing an example picked at random keeps "+
				"the promise (ε = 0, δ = 1/%d): a δ of this size protects nobody.", a.Delta, r.examples, r.examples))
		}
		if a.Epsilon.Upper > largeEpsilon {
			odds := "beyond all bounds"
			if x := math.Exp(float64(a.Epsilon.Upper)); !math.IsInf(x, 0) {
				odds = "by a factor of up to " + decimal.Rounded(x, 2, decimal.Up)
			}
			all = append(all, fmt.Sprintf("ε = %s is above %d: what is released may change an attacker's odds %s. That promises little.",
				stated(a, a.Epsilon.Upper), largeEpsilon, odds))
		}
	}
	if r.rate == 1 {
		all = append(all, "The sampling rate is 1: every example is in every batch, and sampling protects nobody.")
	}
	return all
}

// glue is a space at which no line ends.
const glue = "\u00a0"

// paragraph writes text in lines of at most 79 characters.
func paragraph(b *strings.Builder, first, indent, text string) {
	line := first
	empty := true
	for _, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, glue, " ")
		if !empty && len([]rune(line))+1+len([]rune(word)) > 79 {
			b.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(line + "\n")
}
