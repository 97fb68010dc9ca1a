// Package rooms checks that a reader of this module only ever walks down: a package may
// list its files in its comment, and then each file uses only those below it.
//
// The list is a paragraph of the package comment that begins with the word Files, and
// the indented lines after it, each with a file first:
//
//	Files, each of which uses only those below it:
//
//		plan.go   Parse: steps, and steps in steps
//		node.go   a value in the text
//
// To use a file is to name anything declared in it at its top level: a function, a type,
// a method, a field, a variable or a constant. Files are those of the machine that the
// check runs on, without tests. The package is for tests; it runs the go command.
package rooms
