// How many votes and which ranges there may be.

package darrm

import "github.com/dpaccountant/accountant/internal/fault"

// Limits of Params. Within them no probability that decides a certificate
// underflows (see underflowSafe), and tables fit in memory.
const (
	// maxMechanisms bounds K; with Delta > 0 a sweep costs K³/3 operations.
	maxMechanisms = 1001
	// maxFreeMechanisms and maxFreeMechanismsDelta bound K for noise functions
	// that are not monotone, with Delta = 0 (K³/6 corner multisets) and with
	// Delta > 0 (K⁷/5040 of them).
	maxFreeMechanisms      = 201
	maxFreeMechanismsDelta = 51

	maxEpsilon, minEpsilon = 10, 1e-9
	maxBudget              = 100
	minDelta               = 1e-30
)

func checkMechanisms(k int) error {
	if k < 1 || k > maxMechanisms {
		return fault.New("mechanisms", "%d is not in [1, %d]", k, maxMechanisms)
	}
	return nil
}

// half returns n, the smallest majority of k votes.
func half(k int) int { return k/2 + 1 }

// free returns the number of majorities n..K, and so of free entries of a noise
// function. It is also the cost, in units of ε, of the noise-free majority
// (Theorem 1 of docs/darrm.md; an even number of votes is one less in disguise).
func free(k int) int { return (k + 1) / 2 }

// Limits of votes for many labels: a sweep costs K⁷ operations for each label.
const (
	maxLabelVoters = 21
	maxLabels      = 100
)

// Limits of unlike voters: their number, the families that are looked at, and how many
// of those a profile may take by having many corners.
const (
	maxPanel        = 101
	maxFamilies     = 2e6
	profileFamilies = 2e5
	mostLines       = 16
)
