package accountant

// ParsePlan is plan.Parse. Tests of this package cannot import what imports it, so that
// parse_test.go, which is outside of it, sets this.
var ParsePlan func(text []byte) (*Plan, error)
