// Package plan reads the text of a plan: YAML, of which JSON is a part, as docs/reference/cli.md
// describes it.
//
// Use it where plans come from files or from people. An Error has the line, the key and what is
// allowed. Do not use it in a program that knows its steps. An accountant.Plan of accountant.Steps,
// made by the constructors of packages profiles and subsample, says the same without a YAML reader.
package plan
