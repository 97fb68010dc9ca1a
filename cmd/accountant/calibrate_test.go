package main

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestCalibrateAgain asks epsilon about what calibrate found, at the accuracy it
// names: the value meets the budget, and 1e-6 less does not.
func TestCalibrateAgain(t *testing.T) {
	const plan = "{neighbors: add-remove, steps: [{mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: 0.01}}, count: 1000}]}"
	code, stdout, stderr := command(fmt.Sprintf(plan, 1), "calibrate", "--epsilon", "2", "--delta", "1e-5", "--solve", "noise-multiplier", "--json", "-")
	var found struct{ Value, Accuracy float64 }
	if err := decodeOne(stdout, &found); code != 0 || err != nil {
		t.Fatal(code, stderr, err)
	}
	upper := func(noise float64) float64 {
		code, stdout, stderr := command(fmt.Sprintf(plan, noise), "epsilon", "--delta", "1e-5", "--accuracy", fmt.Sprint(found.Accuracy), "--json", "-")
		var got struct {
			Results []struct{ Epsilon struct{ Upper float64 } }
		}
		if err := json.Unmarshal([]byte(stdout), &got); code != 0 || err != nil || len(got.Results) != 1 {
			t.Fatal(code, stderr, err)
		}
		return got.Results[0].Epsilon.Upper
	}
	if u := upper(found.Value); u > 2 {
		t.Errorf("%v has ε ≤ %v", found.Value, u)
	}
	if u := upper(found.Value * (1 - 1e-6)); u <= 2 {
		t.Errorf("1e-6 less than %v has ε ≤ %v too", found.Value, u)
	}
}

// decodeOne decodes the one answer of a list.
func decodeOne(text string, to any) error {
	var list struct{ Results []json.RawMessage }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	if len(list.Results) != 1 {
		return fmt.Errorf("%d answers, want one", len(list.Results))
	}
	return json.Unmarshal(list.Results[0], to)
}
