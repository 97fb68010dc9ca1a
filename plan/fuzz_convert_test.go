package plan

import (
	"bytes"
	"testing"
)

// FuzzConvert: what is written as events, or as a plan, is read again, is converted to the same
// text a second time, and stands for as many steps.
func FuzzConvert(f *testing.F) {
	for _, c := range badEvents {
		f.Add([]byte(c.event))
	}
	for _, text := range []string{
		one(gauss, "sampling: {poisson: {rate: 0.5}}", "count: 3"), one(gauss),
		`{"class_name":"GaussianDpEvent","noise_multiplier":1.5}`,
		`{"class_name":"SelfComposedDpEvent","count":3,"event":{"class_name":"PoissonSampledDpEvent","sampling_probability":0.1,"event":{"class_name":"LaplaceDpEvent","noise_multiplier":2}}}`,
		`{"class_name":"ComposedDpEvent","events":[{"class_name":"NoOpDpEvent"},{"class_name":"RandomizedResponseDpEvent","noise_parameter":0.5,"num_buckets":4}]}`,
		`{"neighbors":"substitute","event":{"class_name":"DiscreteGaussianDpEvent","noise_multiplier":3,"sensitivity":1}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 3000 {
			return
		}
		there, format, err := Convert(data, "")
		if err != nil {
			return
		}
		if _, err := Parse(t.Context(), there); err != nil {
			t.Fatalf("%q became %q, which is %v", data, there, err)
		}
		back, _, err := Convert(there, "")
		if err != nil {
			return // an event that no plan says differently, or the other way
		}
		again, other, err := Convert(back, "")
		if err != nil || other != format || !bytes.Equal(there, again) {
			t.Fatalf("%q became %q, back %q, and again %q: %v", data, there, back, again, err)
		}
	})
}
