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
func (r dpsgdRun) statement(sampled, anyOrder []EpsilonAt, beside *Beside) string {
	var b strings.Builder
	change := map[profiles.Relation]string{
		profiles.AddRemove:  "adding or removing one training example",
		profiles.Substitute: "replacing one training example by another",
		profiles.ZeroOut:    "replacing one training example by an empty place, which adds nothing to any sum",
	}[r.neighbors]
	if r.records > 0 {
		change = r.person()
	}
	batch := "a constant,"
	if r.batch > 0 {
		batch = fmt.Sprintf("a constant, such as %d,", r.batch)
	}
	fmt.Fprint(&b, "PRIVACY STATEMENT\n\n")
	paragraph(&b, "", "", fmt.Sprintf("The training is %s, with respect to %s.", private(sampled), change))

	if beside != nil {
		b.WriteString("\n")
		paragraph(&b, "", "", r.unknown(sampled, beside))
	}

	if all := r.doubts(sampled); len(all) > 0 {
		section(&b, "Warning", all...)
	}
	section(&b, "Assumed", r.drawn(),
		fmt.Sprintf("At each step each example's gradient is clipped to some norm C, the clipped gradients are added up, and fresh Gaussian noise "+
			"of standard deviation %s·C is added to every coordinate of the sum. It is divided by %s not by the random size of the batch.", decimal.Short(r.noise), batch),
		batchingTexts[r.name].constants+" were fixed beforehand, without a look at the data, and the noise is exact: "+
			"weak random numbers and rounding of the noise are outside of this account.")

	covered := []string{"The final model, every checkpoint on the way, and whatever is computed from them alone. " + batchingTexts[r.name].secret}
	persons := "Persons. The promise is about one example; someone who contributed several is protected less, and without a limit on " +
		"examples per person there is no promise about persons."
	if r.records > 0 {
		covered = append(covered, fmt.Sprintf("Persons, each with all that they contributed: at most %s.", examples(r.records)))
		persons = fmt.Sprintf("Persons with more than %s, unless theirs were cut to %d beforehand, without a look at those of others.", examples(r.records), r.records)
	}

	section(&b, "Covered", covered...)
	section(&b, "Not covered", persons, "Other looks at the same data: tuning hyper-parameters over several runs, choosing the best checkpoint, statistics for "+
		"normalization, reported accuracies. Each needs an account of its own.")

	if r.name == FixedOrder {
		return b.String()
	}
	place := "; there, an example that is removed leaves its place empty"
	if r.neighbors != profiles.AddRemove {
		place = ""
	}
	without := map[bool]string{true: "Without Poisson sampling", false: "Without secret batches"}[r.name == Poisson]
	section(&b, without, fmt.Sprintf("If instead each example is used at most %s, in batches that do not depend on the data and in an order that may be public, "+
		"the training is %s%s.", counted(r.uses, "once", "%d times"), private(anyOrder), place))
	return b.String()
}

// person says which data sets are neighbours when the unit is a person.
func (r dpsgdRun) person() string {
	switch r.neighbors {
	case profiles.Substitute:
		return fmt.Sprintf("replacing one person's training examples by another's, at most %d by as many", r.records)
	case profiles.ZeroOut:
		return fmt.Sprintf("replacing one person's training examples, at most %d, by empty places, which add nothing to any sum", r.records)
	}
	return "adding or removing one person with at most " + examples(r.records)
}

// examples counts training examples.
func examples(n int64) string { return counted(n, "one training example", "%d training examples") }

// counted says how many there are.
func counted(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// drawn says how batches must come about.
func (r dpsgdRun) drawn() string {
	switch r.name {
	case RandomAllocation:
		return fmt.Sprintf("Random allocation: at the start of each epoch, each example draws one of its %d steps, with secret randomness, all alike and independently "+
			"of the other examples.%s A shuffled data set that is cut into batches is something else, and can cost many times as much.", r.each, r.lastEpoch())
	case Shuffle:
		return fmt.Sprintf("Shuffled batches: for each epoch the data set is put into a uniformly random order, anew and in secret, and cut into %d batches of one size; "+
			"if the last is shorter, it is used as well.%s", r.each, r.lastEpoch())
	case TruncatedPoisson:
		return fmt.Sprintf("Poisson sampling with a cap: at each of the %d steps, each example is sampled with probability %s, independently of all else; "+
			"if more than %d are, a uniformly random part of exactly %d of them is the batch. There are %d examples, or one more where one is added.",
			r.steps, decimal.Short(r.rate), r.cap, r.cap, r.examples)
	case WithoutReplacement:
		return fmt.Sprintf("Sampling without replacement: at each of the %d steps the batch is a uniformly random set of %d of the %d examples, drawn afresh and "+
			"independently of all else. Cutting a shuffled data set into batches is something else, and can cost more.", r.steps, r.batch, r.examples)
	case FixedOrder:
		return fmt.Sprintf("A fixed order: each example is used at most %s, in batches that do not depend on the data. The order may be public. "+
			"Where an example is left out, its place stays empty: the others do not move up.", counted(r.uses, "once", "%d times"))
	}
	return fmt.Sprintf("Poisson sampling: at each of the %d steps, each example is in the batch with probability %s, independently of all else. "+
		"Batches of a fixed size from a shuffled data set are something else, and can cost more.", r.steps, decimal.Short(r.rate))
}

// lastEpoch says how the last epoch ends, if it is cut short.
func (r dpsgdRun) lastEpoch() string {
	if r.part == 0 {
		return ""
	}
	return fmt.Sprintf(" The last epoch ends after %d steps.", r.part)
}

// batchingTexts are what must not be computed from the data, and what must not be published.
var batchingTexts = map[string]struct{ constants, secret string }{
	Poisson:            {"Noise multiplier, sampling rate and number of steps", "Batches, and gradients before the noise, must stay secret."},
	RandomAllocation:   {"Noise multiplier, number of epochs and the number of steps in each", "Batches, their sizes, and gradients before the noise must stay secret."},
	Shuffle:            {"Noise multiplier, number of epochs and the number of steps in each", "Batches, and gradients before the noise, must stay secret; but nobody has proved that secret batches help."},
	TruncatedPoisson:   {"Noise multiplier, sampling rate, cap and number of steps", "Batches, their sizes, and gradients before the noise must stay secret."},
	WithoutReplacement: {"Noise multiplier, batch size and number of steps", "Batches, and gradients before the noise, must stay secret."},
	FixedOrder:         {"Noise multiplier, batches and their number", "Gradients before the noise must stay secret; the batches need not."},
}

// unknown says what lies between the ends of shuffled batches, and what the same batches would
// cost if they were drawn in another way.
func (r dpsgdRun) unknown(sampled []EpsilonAt, beside *Beside) string {
	var parts []string
	for i, a := range sampled {
		parts = append(parts, fmt.Sprintf("At δ = %s, an attack on this batching reaches ε = %s, and nothing better than ε = %s, that of batches which anybody may know, is proved. "+
			"Poisson sampling would be %s, random allocation (balls in bins) %s.", a.Delta,
			decimal.Rounded(max(0, float64(a.Epsilon.Lower)), 4, decimal.Down), decimal.Rounded(max(0, float64(a.Epsilon.Upper)), 4, decimal.Up),
			decimal.Rounded(max(0, float64(beside.Poisson[i].Epsilon.Upper)), 4, decimal.Up), decimal.Rounded(max(0, float64(beside.RandomAllocation[i].Epsilon.Upper)), 4, decimal.Up)))
	}
	return strings.Join(parts, " ")
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
	if len(all) > 0 {
		all = append(all, "What the best attacker can do with such a release is told by accountant risk, of a plan with these steps.")
	}
	if r.rate == 1 {
		all = append(all, "The sampling rate is 1: every example is in every batch, and sampling protects nobody.")
	}
	return all
}

// glue is a space at which no line ends.
const glue = "\u00a0"

// section writes a list of paragraphs under a title.
func section(b *strings.Builder, title string, items ...string) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, item := range items {
		paragraph(b, "  - ", "    ", item)
	}
}

// private says for which ε and δ something is private.
func private(answers []EpsilonAt) string {
	var parts []string
	for _, a := range answers {
		parts = append(parts, strings.ReplaceAll(fmt.Sprintf("(ε = %s, δ = %s)-differentially", stated(a, max(0, a.Epsilon.Upper)), a.Delta), " ", glue))
	}
	return strings.Join(parts, " and ") + " private"
}

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
