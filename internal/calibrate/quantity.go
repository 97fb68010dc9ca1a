package calibrate

// What can be turned of a mechanism on its sample: its noise, its sampling rate, its batch.

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// A Turned is the value of a quantity, and the range in which it can be turned.
type Turned struct {
	Value, Lo, Hi float64
	// Of batches: the number of records, and the largest batch of them.
	Population, Most int64
}

// A Quantity is a number of a mechanism on its sample that can be set. Of returns false where
// there is none; an error is about one that cannot be turned. Set takes what Of returned.
type Quantity struct {
	Of  func(m profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error)
	Set func(m profiles.Mechanism, s subsample.Scheme, t Turned, x float64) (profiles.Mechanism, subsample.Scheme, error)
}

// Noise is the noise multiplier under a relation.
func Noise(r profiles.Relation) Quantity {
	return Quantity{
		Of: func(m profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error) {
			b, ok := m.(profiles.NoiseScaler)
			if !ok {
				return t, false, nil
			}
			t.Value = b.NoiseMultiplier()
			if _, fixed := s.(subsample.BatchSetter); fixed {
				t.Lo, t.Hi = b.NoiseRange(profiles.Substitute) // a batch of fixed size replaces a record by another
			} else {
				t.Lo, t.Hi = b.NoiseRange(r)
			}
			return t, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			m, err := m.(profiles.NoiseScaler).WithNoiseMultiplier(x)
			return m, s, err
		},
	}
}

// minRate is the smallest sampling rate that a search goes to.
const minRate = 1e-15

// Rate is the sampling rate.
func Rate() Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (Turned, bool, error) {
			c, ok := s.(subsample.RateSetter)
			if !ok || c.Rate() == 0 {
				return Turned{}, false, nil
			}
			return Turned{Value: c.Rate(), Lo: minRate, Hi: 1}, true, nil
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, _ Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			s, err := s.(subsample.RateSetter).WithRate(x)
			return m, s, err
		},
	}
}

// Batch is the size of a batch, of so many examples where the sampling has a rate.
func Batch(examples int64) Quantity {
	return Quantity{
		Of: func(_ profiles.Mechanism, s subsample.Scheme) (t Turned, ok bool, err error) {
			t.Hi = math.Inf(1) // Most says it
			switch c := s.(type) {
			case subsample.BatchSetter:
				t.Value, t.Population, t.Most = float64(c.Batch()), c.Population(), c.MaxBatch()
			case subsample.RateSetter:
				if examples == 0 {
					err = fault.New("examples", "is missing; the batch of %s sampling is rate times the number of examples", c.Name())
				}
				t.Value, t.Population, t.Most = max(1, math.Round(c.Rate()*float64(examples))), examples, examples
			default:
				return t, false, nil
			}
			return t, true, err
		},
		Set: func(m profiles.Mechanism, s subsample.Scheme, t Turned, x float64) (profiles.Mechanism, subsample.Scheme, error) {
			var err error
			if c, ok := s.(subsample.BatchSetter); ok {
				s, err = c.WithBatch(int64(x))
			} else {
				s, err = s.(subsample.RateSetter).WithRate(x / float64(t.Population))
			}
			return m, s, err
		},
	}
}
