// Package noiserange has the ranges of noise multipliers and sensitivities, of ε and sampling rates and of
// the records of a person. Profiles and Rényi curves of one mechanism refuse the same ones, in the
// same words.
package noiserange

import "github.com/dpaccountant/accountant/internal/fault"

// Min and Max are the ends of the range of noise multipliers: beyond it losses (up to 1/σ²)
// or their squares leave float64.
const Min, Max = 1e-6, 1e15

// Check returns what is wrong with the noise multiplier of a mechanism, or nil.
func Check(mechanism string, noiseMultiplier float64) error {
	if !(noiseMultiplier >= Min && noiseMultiplier <= Max) {
		return fault.In(mechanism, fault.New("noise-multiplier", "%v is not in [%g, %g]", noiseMultiplier, Min, Max))
	}
	return nil
}

// CheckDiscrete is Check for noise on whole numbers, with its sensitivity.
func CheckDiscrete(mechanism string, noiseMultiplier float64, sensitivity int) error {
	if err := Check(mechanism, noiseMultiplier); err != nil {
		return err
	}
	if sensitivity < 1 || sensitivity > 1e6 {
		return fault.In(mechanism, fault.New("sensitivity", "%d is not an integer in [1, 1000000]", sensitivity))
	}
	return nil
}

// CheckRate returns an error unless 0 ≤ rate ≤ 1.
func CheckRate(rate float64) error {
	if !(rate >= 0 && rate <= 1) {
		return fault.New("rate", "%v is not in [0, 1]", rate)
	}
	return nil
}

// MaxExponential is the largest ε of the exponential mechanism: e^ε and its square are in range.
const MaxExponential = 100

// MaxRecords is the largest number of records of a person.
const MaxRecords = 1 << 20

// CheckRecords returns an error unless 1 ≤ records ≤ MaxRecords.
func CheckRecords(records int64) error {
	if records < 1 || records > MaxRecords {
		return fault.New("records-per-person", "%d is not a whole number in [1, %d]", records, MaxRecords)
	}
	return nil
}
