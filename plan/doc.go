// Package plan reads the text of a plan: YAML, of which JSON is a part, as
// docs/cli.md describes it.
//
// Use it where plans come from files or from people: whatever is wrong is an Error with
// its line, its key and what is allowed. Do not use it in a program that knows its steps:
// an accountant.Plan of accountant.Steps, made by the constructors of packages profiles
// and subsample, says the same, and needs no YAML reader.
//
// Files, each of which uses only those below it:
//
//	plan.go       Parse: steps, and steps in steps
//	selection.go  the key selection
//	registry.go   the tables of mechanisms and of sampling schemes
//	majority.go   the mechanism majority, whose noise function is found when needed
//	entry.go      {name: {key: value, …}} as a row of a table
//	yaml.go       text to nodes
//	scalar.go     numbers, counts, lists and words
//	node.go       a value in the text, which knows its line and its path
//	error.go      Error: what is wrong with a plan, and where
package plan
