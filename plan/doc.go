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
//	convert.go    Convert: a plan as events of dp_accounting, and back
//	edit.go       Set, Tidy: other numbers in a text, or other blanks
//	diff.go       Diff: where two plans differ
//	schema.go     Schema: the keys of plans, for editors
//	log.go        ParseLogLine: what a line of a log of steps adds
//	runs.go       Runs: the runs of a plan as lines of a certificate
//	plan.go       Parse: steps, and steps in steps
//	events.go     events to the nodes of a plan
//	eventclass.go the events that are mechanisms
//	write.go      nodes to YAML and to JSON
//	build.go      nodes made of others
//	files.go      Inline: the files that a plan names, into its text
//	selection.go  the key selection
//	registry.go   the tables of mechanisms and of sampling schemes
//	epochs.go     the schemes with a schedule for each epoch
//	matrix.go     the mechanism matrix, with its strategies and schemas
//	contributions.go  noise by what a person contributes
//	majority.go   the mechanism majority, whose noise function is found when needed
//	entry.go      {name: {key: value, …}} as a row of a table
//	yaml.go       text to nodes
//	scalar.go     numbers, counts, lists, words and the relation
//	node.go       a value in the text, which knows its line and its path
//	error.go      Error: what is wrong with a plan, and where
package plan
