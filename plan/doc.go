// Package plan reads the text of a plan: YAML, of which JSON is a part, as
// docs/reference/cli.md describes it.
//
// Use it where plans come from files or from people: whatever is wrong is an Error with
// its line, its key and what is allowed. Do not use it in a program that knows its steps:
// an accountant.Plan of accountant.Steps, made by the constructors of packages profiles
// and subsample, says the same, and needs no YAML reader.
package plan
