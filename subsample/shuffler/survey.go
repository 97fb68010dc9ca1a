package shuffler

// Surveys: what a user sends, and how many users hold each value, without bias.

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A Message is what one user sends. Of k-rr it is a category, of unary and subset-selection the categories that are named, of hadamard a row and
// a bit, of local-hash the hashed value and the function, of finite the outcome.
type Message []int

// hashBits bounds the values of local-hash, which are hashed by affine maps of so many bits: every three of their hashes are independent.
const hashBits = 20

// values returns the number of values that can be sent; 0 where there is no sampler.
func (r randomizer) values() int {
	switch r.name {
	case "local-hash":
		return 1 << hashBits
	case "finite":
		return len(r.matrix.rows)
	case "k-rr", "unary", "subset-selection", "hadamard":
		return r.k
	}
	return 0
}

// checkSampler returns the error of a randomizer that cannot be drawn.
func (r randomizer) checkSampler() error {
	switch {
	case r.values() == 0:
		return fault.New("categories", "is missing; a message of %q needs their number", r.name)
	case r.name == "local-hash" && (bits.OnesCount(uint(r.k)) != 1 || r.k > 1<<16):
		return fault.New("size", "%d is not a power of two up to 65536, for which hashes are exactly independent", r.k)
	case (r.name == "unary" || r.name == "subset-selection") && r.k > 1<<20:
		return fault.New("categories", "%d is not in [2, 1048576] for a message that is drawn", r.k)
	}
	return nil
}

// Sample implements Randomizer.
func (r randomizer) Sample(value int, src rand.Source) (Message, error) {
	if err := r.checkSampler(); err != nil {
		return nil, err
	}
	if value < 0 || value >= r.values() {
		return nil, fault.New("value", "%d is not in [0, %d]", value, r.values()-1)
	}
	src = random.Source(src)
	rng := rand.New(src)
	e := xmath.ExpDown(r.epsilon)
	switch r.name {
	case "k-rr":
		return Message{r.respond(value, r.k, e, src)}, nil
	case "unary":
		var m Message
		for v := range r.k {
			p := r.lie
			if v == value {
				p = r.keep
			}
			if random.Coin(src, p) {
				m = append(m, v)
			}
		}
		return m, nil
	case "subset-selection":
		s, k := float64(r.s), float64(r.k)
		m := Message{}
		size := r.s
		if in := xmath.Down(s*e/(s*e+k-s), 4); random.Coin(src, in) {
			m, size = append(m, value), size-1
		}
		for _, i := range random.Subset(rng, int64(r.k-1), int64(size)) {
			if int(i) >= value {
				i++
			}
			m = append(m, int(i))
		}
		slices.Sort(m)
		return m, nil
	case "hadamard":
		row := rng.IntN(1 << bits.Len(uint(r.k))) // more columns than values, as the first is constant
		bit := bits.OnesCount(uint(row&(value+1))) & 1
		if random.Coin(src, xmath.Up(1/(e+1), 2)) {
			bit ^= 1
		}
		return Message{row, bit}, nil
	case "local-hash":
		m := make(Message, 2+hashBits)
		for i := 1; i < len(m); i++ {
			m[i] = rng.IntN(r.k)
		}
		m[0] = r.respond(m.hash(value), r.k, e, src)
		return m, nil
	}
	left := 1.0
	row := r.matrix.rows[value]
	for y, p := range row {
		if p >= left || random.Coin(src, p/left) {
			return Message{y}, nil
		}
		left -= p
	}
	return Message{len(row) - 1}, nil
}

// respond is randomized response: a uniform category with the probability k/(e^ε + k − 1), rounded up, else the true one.
func (r randomizer) respond(value, k int, e float64, src rand.Source) int {
	if random.Coin(src, min(1, xmath.Up(float64(k)/(e+float64(k)-1), 4))) {
		return rand.New(src).IntN(k)
	}
	return value
}

// hash is the value under the affine map of a message.
func (m Message) hash(value int) int {
	h := m[1]
	for i := range hashBits {
		if value>>i&1 == 1 {
			h ^= m[2+i]
		}
	}
	return h
}

// supports reports whether a message counts for a value.
func (r randomizer) supports(m Message, value int) bool {
	switch r.name {
	case "k-rr":
		return len(m) == 1 && m[0] == value
	case "hadamard":
		return len(m) == 2 && bits.OnesCount(uint(m[0]&(value+1)))&1 == m[1]
	case "local-hash":
		return len(m) == 2+hashBits && m.hash(value) == m[0]
	}
	return slices.Contains(m, value)
}

// An Estimate is how many users hold a value: unbiased, with an estimate of its standard deviation over the randomness of the messages.
type Estimate struct{ Count, Deviation float64 }

// Estimates implements Randomizer.
func (r randomizer) Estimates(messages []Message, values int) ([]Estimate, error) {
	if err := r.checkSampler(); err != nil {
		return nil, err
	}
	if r.matrix != nil {
		return nil, fault.New("mechanism", "%q has no estimate of its own", r.name)
	}
	if values < 1 || values > r.values() {
		return nil, fault.New("categories", "%d is not in [1, %d]", values, r.values())
	}
	r.pairwise = true // as the hashes that are drawn
	a, _ := r.agreement()
	both := a.lo * a.ratio * a.chance(2, 2)
	// Of a message that counts, where the value is true and where it is not.
	p, q := a.lo*a.ratio*a.share, both+a.lo*a.chance(1, 2)
	n := float64(len(messages))
	out := make([]Estimate, values)
	for v := range out {
		count := 0.0
		for _, m := range messages {
			if r.supports(m, v) {
				count++
			}
		}
		x := (count - n*q) / (p - q)
		holds := min(n, max(0, x))
		out[v] = Estimate{Count: x, Deviation: math.Sqrt(holds*p*(1-p)+(n-holds)*q*(1-q)) / (p - q)}
	}
	return out, nil
}
