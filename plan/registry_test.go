package plan

import (
	"context"
	"os"
	"testing"
)

// TestExampleHasEveryMechanism: examples/all.json is what its line in examples/README.md says.
func TestExampleHasEveryMechanism(t *testing.T) {
	data, err := os.ReadFile("../examples/all.json")
	if err != nil {
		t.Fatal(err)
	}
	root, err := parseRoot(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsePlan(context.Background(), root); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, s := range root.get("steps").items {
		for _, f := range s.get("mechanism").fields {
			has[f.key] = true
		}
	}
	for _, m := range mechanisms() {
		if m.name == "skellam" || m.name == "summed-noise" {
			continue // not under add-remove: examples/secure-aggregation.yaml
		}
		if !has[m.name] {
			t.Errorf("examples/all.json has no %s", m.name)
		}
	}
}
