package plan

import (
	"context"
	"strings"
	"testing"
)

// TestPersonsRefusals: what is refused of persons, in one line that names the field, when it is
// read or when it is added up; in the order of the page.
func TestPersonsRefusals(t *testing.T) {
	const gauss, matrix = "{gaussian: {noise-multiplier: 1}}", "{matrix: {noise-multiplier: 1, steps: 8, strategy: identity, participation: "
	for _, c := range []struct{ relation, records, step, want string }{
		{"add-remove", "0", "mechanism: " + gauss, "records-per-person: 0 "},
		{"add-remove", "1048577", "mechanism: " + gauss, "records-per-person: 1048577 "},
		{"add-remove", "NaN", "mechanism: " + gauss, "records-per-person: "},
		{"add-remove", "1e-300", "mechanism: " + gauss, "records-per-person: "},
		{"add-remove", "1025", "mechanism: " + gauss + ", sampling: {without-replacement: {population: 5000, batch: 5}}", "records-per-person: 1025 "},
		{"add-remove", "8", "mechanism: " + gauss + ", sampling: {without-replacement: {population: 10, batch: 5}}", "population: 10 is too small"},
		{"add-remove", "2", "mechanism: " + gauss + ", sampling: {truncated-poisson: {rate: 0.1, cap: 5, population: 20}}", "sampling: "},
		{"add-remove", "2", "mechanism: " + gauss + ", sampling: {shuffle: {batches: 20}}", "sampling: "},
		{"add-remove", "2", "mechanism: " + matrix + "{cyclic-poisson: {cycle: 2, rate: 0.1}}}}", "records-per-person: 2 is not covered"},
		{"add-remove", "2", "mechanism: " + matrix + "{poisson: {rate: 0.1, delta: 1e-6}}}}", "records-per-person: 2 is not covered"},
		{"add-remove", "2", "mechanism: " + matrix + "{balls-in-bins: 2}}}", "records-per-person: 2 is not covered"},
		{"add-remove", "2", "mechanism: {threshold: {noise: laplace, scale: 3, threshold: 20}}", "records-per-person: 2 is not for threshold"},
		{"add-remove", "2", "mechanism: {select-partitions: {epsilon: 1, delta: 1e-5}}", "records-per-person: 2 is not for select-partitions"},
		{"add-remove", "2", "mechanism: {laplace: {scale: 3, total: 4}}", "records-per-person is 2"},
		{"add-remove", "1048576", "mechanism: {gaussian: {noise-multiplier: 1e-5}}", "noise-multiplier: "},
	} {
		p, err := Parse(t.Context(), []byte("neighbors: "+c.relation+"\nrecords-per-person: "+c.records+"\nsteps: [{"+c.step+"}]\n"))
		if err == nil {
			err = p.Accountant().AddPlan(context.Background(), p)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s records, %s: %v, want %s", c.records, c.step, err, c.want)
		}
	}
}

// TestChoiceAndMatrixRefusals: what choice and matrix refuse, at the level of plans, where
// each names the step.
func TestChoiceAndMatrixRefusals(t *testing.T) {
	matrix := func(steps, strategy, participation string) string {
		return "mechanism: {matrix: {noise-multiplier: 1, steps: " + steps + ", strategy: " + strategy + ", participation: " + participation + "}}"
	}
	for _, c := range []struct{ relation, step, want string }{
		{"add-remove", "mechanism: {exponential: {epsilon: 0}}", "epsilon: 0 is not in [1e-09, 100]"},
		{"add-remove", "mechanism: {exponential: {epsilon: .inf}}", "epsilon: "},
		{"add-remove", "mechanism: {permute-and-flip: {epsilon: .nan}}", "epsilon: "},
		{"add-remove", "mechanism: {noisy-max: {noise: gaussian, epsilon: 1}}", "noise: \"gaussian\" is not one of gumbel, exponential, laplace"},
		{"add-remove", "mechanism: {threshold: {noise: laplace, scale: 1e-7, threshold: 20}}", "scale: 1e-07 is not in [1e-06, 1e+12]"},
		{"add-remove", "mechanism: {threshold: {noise: laplace, scale: 1, threshold: 1}}", "threshold: 1 is not in (1, 1e+15]"},
		{"add-remove", "mechanism: {threshold: {noise: laplace, scale: 1, threshold: -.inf}}", "threshold: "},
		{"add-remove", "mechanism: {threshold: {noise: laplace, scale: 1, threshold: 20, partitions: 2}}", "partitions: 2 is not 1, for laplace noise"},
		{"add-remove", "mechanism: {threshold: {noise: gaussian, standard-deviation: 1, threshold: 20, pre-threshold: 3}}", "pre-threshold"},
		{"add-remove", "mechanism: {select-partitions: {epsilon: 1, delta: 0}}", "delta: 0 is not in [1e-290, 1)"},
		{"add-remove", "mechanism: {select-partitions: {epsilon: 0.0001, delta: 1e-100}}", "epsilon: 0.0001 is too small"},
		{"substitute", "mechanism: {threshold: {noise: laplace, scale: 1, threshold: 20}}", "neighbors: substitute is not add-remove"},
		{"zero-out", "mechanism: {select-partitions: {epsilon: 1, delta: 1e-5}}", "neighbors: zero-out is not add-remove"},
		{"substitute", "mechanism: {exponential: {epsilon: 1}}, sampling: {without-replacement: {population: 10, batch: 2}}", "sampling"},
		{"add-remove", matrix("12", "{square-root: {bands: 4}}", "{cyclic-poisson: {cycle: 3, rate: 0.1}}"), "cycle: 3 is below the 4 bands"},
		{"add-remove", matrix("2", "{toeplitz: {coefficients: [1, 0.5, 0.2]}}", "{single: true}"), "coefficients: has 3 numbers for 2 steps"},
		{"add-remove", matrix("10", "identity", "{epochs: 3}"), "epochs: 3 does not divide the 10 steps"},
		{"add-remove", matrix("2097152", "{tree: {}}", "{single: true}"), "steps: 2097152 is not"},
		{"add-remove", matrix("3", "{toeplitz: {coefficients: [1, .nan]}}", "{single: true}"), "coefficients"},
		{"substitute", matrix("12", "identity", "{cyclic-poisson: {cycle: 3, rate: 0.1}}"), "cyclic-poisson: the substitute may belong to another group"},
		{"add-remove", matrix("12", "identity", "{single: true}") + ", sampling: {poisson: {rate: 0.1}}", "sampling"},
	} {
		p, err := Parse(t.Context(), []byte("neighbors: "+c.relation+"\nsteps: [{"+c.step+"}]\n"))
		if err == nil {
			err = p.Accountant().AddPlan(context.Background(), p)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "steps[0]") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %s: %v, want %s", c.relation, c.step, err, c.want)
		}
	}
}
