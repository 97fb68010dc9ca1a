package service

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

// This file answers for the shuffle model: users who randomize their own values, and a shuffler
// between them and the analyst. The batching "shuffle" of dpsgd is something else.

// ShuffleRequest describes rounds of a question behind a shuffler.
type ShuffleRequest struct {
	Users      Decimal  `json:"users" in:"whole [2, 1e10]" help:"number {n} of users"`
	Epsilon    Decimal  `json:"epsilon" in:"(0, 50]" help:"local {ε}, of the message of one user"`
	Rounds     Decimal  `json:"rounds,omitempty" in:"whole [1, 2^53]" preset:"1" help:"number {T} of rounds, each with fresh randomness"`
	Delta      Decimals `json:"delta" in:"(0, 1)" help:"one or several {δ}, with commas between them"`
	Randomizer string   `json:"randomizer,omitempty" one:"pure,k-rr,unary,hadamard,local-hash" preset:"pure" help:"{what} each user runs: pure (any randomizer of this ε), k-rr, unary, hadamard or local-hash"`
	Categories Decimal  `json:"categories,omitempty" of:"randomizer=k-rr,local-hash" in:"whole [2, 1e9]" help:"number {k} of categories of k-rr, or size of the hashes of local-hash (default 2)"`
	Cohort     Decimal  `json:"cohort,omitempty" not:"cohort-rate" in:"whole [1, 1e10]" help:"number {c} of users who report in each round, drawn afresh and in secret (default: all)"`
	CohortRate Decimal  `json:"cohort-rate,omitempty" in:"(0, 1)" help:"probability {q} of a user to report in a round, in place of --cohort"`
	Colluding  Decimal  `json:"colluding,omitempty" in:"whole [0, 1e10]" preset:"0" help:"number {m} of users whose messages the adversary knows"`
	Neighbors  string   `json:"neighbors,omitempty" one:"add-remove,substitute,zero-out" preset:"substitute" help:"neighbouring {relation}: add-remove (with --cohort-rate only), substitute or zero-out"`
	Limits
}

// ShuffleAnswer is the ε of the rounds at each δ, and what that promises.
type ShuffleAnswer struct {
	Neighbors  string      `json:"neighbors"`
	Users      int64       `json:"users"`
	Rounds     int64       `json:"rounds"`
	Randomizer string      `json:"randomizer"`
	Local      Number      `json:"local-epsilon"`
	Results    []EpsilonAt `json:"results"`
	Statement  string      `json:"statement"`
}

// local returns the randomizer of a request.
func (q ShuffleRequest) local() (m profiles.Mechanism, err error) {
	eps, k := q.Epsilon.float(), cmp.Or(int(q.Categories.whole()), 2)
	switch q.Randomizer {
	case "k-rr":
		m, err = shuffler.NewKRR(eps, k)
	case "unary":
		m, err = shuffler.NewOptimizedUnary(eps, 0)
	case "hadamard":
		m, err = shuffler.NewHadamard(eps, 3)
	case "local-hash":
		m, err = shuffler.NewLocalHash(eps, k, false)
	default:
		m, err = profiles.NewPure(eps)
	}
	return m, renamed(err, q.Randomizer, "", "size", "categories")
}

// scheme returns the shuffler of a request.
func (q ShuffleRequest) scheme() (s shuffler.Shuffler, err error) {
	if s, err = shuffler.New(q.Users.whole()); err == nil && q.Cohort != "" {
		s, err = s.WithCohort(q.Cohort.whole())
	}
	if err == nil && q.CohortRate != "" {
		s, err = s.WithCohortRate(q.CohortRate.float())
	}
	if err == nil {
		s, err = s.WithColluding(q.Colluding.whole())
	}
	return s, renamed(err, "shuffler", "")
}

// shuffle returns the ε of rounds behind a shuffler and states what it promises.
func (s *Service) shuffle(ctx context.Context, q ShuffleRequest) (ShuffleAnswer, error) {
	relation := relation(q.Neighbors)
	m, err := q.local()
	if err != nil {
		return ShuffleAnswer{}, err
	}
	scheme, err := q.scheme()
	if err != nil {
		return ShuffleAnswer{}, err
	}
	if _, err := scheme.Laws(m, relation); err != nil {
		return ShuffleAnswer{}, renamed(err, "shuffler", "")
	}
	asked := q.Rounds.whole()
	acct, err := newAccountant(ctx, &accountant.Plan{Neighbors: relation, Steps: []accountant.Step{{Name: "rounds", Mechanism: m, Sampling: scheme, Count: asked}}}, q.options(ctx, Narrowing{}))
	if err != nil {
		return ShuffleAnswer{}, err
	}
	found, err := epsilons(ctx, acct, q.Delta.floats())
	if err != nil {
		return ShuffleAnswer{}, err
	}
	a := ShuffleAnswer{Neighbors: relation.String(), Users: q.Users.whole(), Rounds: asked, Randomizer: m.Name(), Local: Number(q.Epsilon.float()), Results: found}
	a.Statement = q.statement(relation, a)
	return a, nil
}

// statement says in plain words what the numbers promise, what they assume and what they leave out.
func (q ShuffleRequest) statement(relation profiles.Relation, a ShuffleAnswer) string {
	var b strings.Builder
	change := map[profiles.Relation]string{
		profiles.AddRemove:  "adding or removing one user",
		profiles.Substitute: "replacing one user's values by others, in all rounds",
		profiles.ZeroOut:    "replacing one user by an absent one, who sends what the randomizer says of nobody",
	}[relation]
	fmt.Fprint(&b, "PRIVACY STATEMENT\n\n")
	paragraph(&b, "", "", fmt.Sprintf("What the shuffler puts out in %s is %s, with respect to %s.", counted(a.Rounds, "one round", "%d rounds"), private(a.Results), change))
	who := "All users report in each round."
	switch {
	case q.Cohort != "":
		who = fmt.Sprintf("In each round a uniformly random set of %d users reports, drawn afresh and independently of all else.", q.Cohort.whole())
	case q.CohortRate != "":
		who = fmt.Sprintf("In each round each user reports with probability %s, by a coin of its own, independently of all else. The number of reports may be public.", decimal.Short(q.CohortRate.float()))
	}
	if q.Cohort != "" || q.CohortRate != "" {
		who += " Nobody but the user and the shuffler learns who reports: a server that draws or sees the cohort has another price."
	}
	randomizer := fmt.Sprintf("Each user runs %s with ε = %s on its device, with fresh randomness for each message", a.Randomizer, decimal.Short(float64(a.Local)))
	if a.Randomizer == "pure" {
		randomizer = fmt.Sprintf("Each user runs one and the same randomizer of local ε ≤ %s on its device, whichever that is, with fresh randomness for each message", decimal.Short(float64(a.Local)))
	}
	section(&b, "Assumed", randomizer+". A response that is kept for later rounds is not covered.",
		"The shuffler is honest: it waits for all messages of a round and puts them out without senders and in an order that tells nothing. One message per user and round, of one length.",
		who,
		"Whether a user reports does not depend on its values; parameters were fixed beforehand, but a question may follow from earlier answers.")
	section(&b, "Not covered",
		fmt.Sprintf("A shuffler that is not honest: against it each message alone is ε = %s private in each round.", decimal.Short(math.Max(0, float64(a.Local)))),
		"A data set that a training loop shuffles: a loader that cuts batches is the sampling shuffle, and no shuffler.")
	return b.String()
}
