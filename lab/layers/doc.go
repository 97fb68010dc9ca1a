// Package layers holds the drawing of docs/reference/architecture.md and a few rules of the project to
// what the compiler sees. It has tests only; they run the go command.
package layers
