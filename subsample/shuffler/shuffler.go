package shuffler

// The scheme: who reports, and what is proved of one round.

import (
	"context"
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// maxUsers bounds the number of users. Rounding takes some 1e-3 of δ from a lower end there.
const maxUsers = 10_000_000_000

// Shuffler is the shuffle model with so many users, of whom all report, or a secret cohort that is drawn afresh for each round: of a
// fixed size, or each user with a probability of its own. The messages of colluding users are known to the adversary.
//
// Assumed: the shuffler is honest and waits for all messages of a round; nobody but the user and the shuffler learns who reports; one
// message for each user and round, with fresh randomness; who reports does not depend on the data. The number of reports is public. Under
// add-remove users is the size of the larger data set, and a lower bound of it is enough.
type Shuffler interface {
	subsample.LawMaker
	Users() int64
	WithUsers(users int64) (subsample.Scheme, error)
	// WithCohort returns the shuffler where a uniformly random set of so many users reports in each round.
	WithCohort(cohort int64) (Shuffler, error)
	// WithCohortRate returns the shuffler where each user reports with a probability, by itself ("check-ins").
	WithCohortRate(rate float64) (Shuffler, error)
	// WithColluding returns the shuffler where the adversary knows the messages of so many users other than the victim. With all others,
	// nothing is hidden but by the local randomizer.
	WithColluding(colluding int64) (Shuffler, error)
}

type shufflerScheme struct {
	users, cohort, colluding int64
	rate                     float64
}

// New returns the shuffler of so many users, the victim among them, who all report.
func New(users int64) (Shuffler, error) {
	if users < 2 || users > maxUsers {
		return nil, fault.New("users", "%d is not in [2, %d]", users, int64(maxUsers))
	}
	return shufflerScheme{users: users, cohort: users}, nil
}

// WithCohort implements Shuffler.
func (s shufflerScheme) WithCohort(cohort int64) (Shuffler, error) {
	if cohort < 1 || cohort > s.users {
		return nil, fault.New("cohort", "%d is not in [1, %d], the number of users", cohort, s.users)
	}
	s.cohort, s.rate = cohort, 0
	return s, nil
}

// WithCohortRate implements Shuffler.
func (s shufflerScheme) WithCohortRate(rate float64) (Shuffler, error) {
	if !(rate > 0 && rate < 1) {
		return nil, fault.New("cohort-rate", "%v is not in (0, 1); leave it out where all users report", rate)
	}
	s.rate, s.cohort = rate, s.users
	return s, nil
}

// WithColluding implements Shuffler.
func (s shufflerScheme) WithColluding(colluding int64) (Shuffler, error) {
	if colluding < 0 || colluding >= s.users {
		return nil, fault.New("colluding", "%d is not in [0, %d], below the number of users", colluding, s.users-1)
	}
	s.colluding = colluding
	return s, nil
}

// Users returns the number of users.
func (s shufflerScheme) Users() int64 { return s.users }

// WithUsers keeps the rest: a cohort of a fixed size stays, and one of all users stays one of all.
func (s shufflerScheme) WithUsers(users int64) (subsample.Scheme, error) {
	t, err := New(users)
	if err == nil && s.rate > 0 {
		t, err = t.WithCohortRate(s.rate)
	} else if err == nil && s.cohort < s.users {
		t, err = t.WithCohort(s.cohort)
	}
	if err != nil {
		return nil, err
	}
	return t.WithColluding(s.colluding)
}

// Name implements subsample.Scheme.
func (shufflerScheme) Name() string { return "shuffler" }

// honest is the number of users who do not collude.
func (s shufflerScheme) honest() int64 { return s.users - s.colluding }

// reports is the number of honest users who report at most, with a cohort of a fixed size: taking the colluding ones off the others
// is above (Lemma J).
func (s shufflerScheme) reports() int64 { return min(s.cohort, s.honest()) }

// complete reports whether all users report.
func (s shufflerScheme) complete() bool { return s.rate == 0 && s.cohort == s.users }

// local returns the randomizer that a mechanism is.
func local(b profiles.Mechanism) (randomizer, error) {
	if r, ok := b.(randomizer); ok {
		return r, nil
	}
	if p, ok := b.(profiles.EpsilonSetter); ok && b.Name() == "pure" {
		return randomizer{name: "pure", epsilon: p.Epsilon()}, checkEpsilon("pure", p.Epsilon())
	}
	hint := "a local randomizer is one of k-rr, unary, subset-selection, hadamard, local-hash, pure, or finite with rows"
	switch b.Name() {
	case "randomized-response":
		hint = "write k-rr: {epsilon: …, categories: …}"
	case "gaussian", "laplace", "approximate":
		hint = "nothing is proved yet for noise in a message that is not a finite alphabet, nor for a local δ; " + hint
	}
	return randomizer{}, fault.New("mechanism", "%q is not a local randomizer of a shuffler: %s", b.Name(), hint)
}

// parts returns the blankets of a round, and the attacks.
func (s shufflerScheme) parts(r randomizer, rel profiles.Relation) (blankets, attacks []part, err error) {
	two := randomizer{name: "k-rr", epsilon: r.epsilon, k: 2}
	three := randomizer{name: "k-rr", epsilon: r.epsilon, k: 3}
	switch {
	case r.name != "pure":
		attacks = r.attacks()
		blankets, err = r.blankets(rel)
	case rel == profiles.ZeroOut:
		err = fault.New("mechanism", "%q has no message of an absent user, which zero-out needs", r.name)
	case rel == profiles.AddRemove:
		// Every value has a part 1/E of the victim's law, under which a message says nothing but that it is there.
		attacks = append(two.attacks(), three.attacks()...)
		blankets = []part{{gamma: math.Exp(-r.epsilon), kinds: []kind{{1, 1, 1, 1}}}}
	default:
		// Theorem C.
		attacks = append(two.attacks(), three.attacks()...)
		blankets, err = two.blankets(rel)
	}
	if err != nil {
		return nil, nil, err
	}
	_, err = s.game(blankets[0], rel)
	return blankets, attacks, err
}

// Apply implements subsample.Scheme, for a question about δ = 1e-6.
func (s shufflerScheme) Apply(b profiles.Mechanism, r profiles.Relation) (profiles.Bounds, error) {
	l, err := s.laws(b, r)
	if err != nil {
		return profiles.Bounds{}, err
	}
	m, err := l.round(context.Background(), profiles.Question{Runs: 1, Total: 1, Delta: 1e-6, Width: 1e-3, Many: true})
	m.Laws = l
	return m, err
}

// Laws implements subsample.LawMaker.
func (s shufflerScheme) Laws(b profiles.Mechanism, rel profiles.Relation) (profiles.Laws, error) {
	return s.laws(b, rel)
}

func (s shufflerScheme) laws(b profiles.Mechanism, rel profiles.Relation) (*laws, error) {
	r, err := local(b)
	if err != nil {
		return nil, err
	}
	blankets, attacks, err := s.parts(r, rel)
	if err != nil {
		return nil, err
	}
	return &laws{scheme: s, randomizer: r, relation: rel, blankets: blankets, attacks: attacks}, nil
}

// withFewer returns what is proved below a cohort of fixed size with colluding users in it: with the probability share at most so many of
// them are in it, and an adversary who sees how many learns at least as much as with the fewest honest ones.
func (s shufflerScheme) withFewer() (t shufflerScheme, share float64) {
	if s.rate > 0 || s.colluding == 0 || s.cohort == s.users {
		return s, 1
	}
	// Pr[J = j], J the number of m colluding users in a cohort of c out of n, from the mode down and up.
	n, m, c := float64(s.users), float64(s.colluding), float64(s.cohort)
	lo, hi := int64(max(0, c+m-n)), min(s.colluding, s.cohort)
	mean := c * m / n
	sd := math.Sqrt(mean*(1-m/n)*(1-c/n)) + 1
	ratio := func(j float64) float64 { return (m - j) * (c - j) / ((j + 1) * (n - m - c + j + 1)) } // Pr[j+1]/Pr[j]
	most := min(hi, int64(mean+4*sd)+1)
	// Above most, over Pr[most]; and the whole, over the same.
	above, whole, p := 0.0, 1.0, 1.0
	for j := most; j < hi; j++ {
		p *= ratio(float64(j))
		above += p
		if p < 1e-20*above {
			break
		}
	}
	p = 1.0
	for j := most - 1; j >= lo; j-- {
		p /= ratio(float64(j))
		whole += p
		if p < 1e-20*whole {
			break
		}
	}
	share = 1 - above/(whole+above)*(1+1e-9) - 1e-12
	left := s.cohort - most
	if left < 1 {
		return s, 0
	}
	t = shufflerScheme{users: s.honest(), cohort: left}
	return t, xmath.Down(share, 4)
}
