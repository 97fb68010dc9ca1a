// Package service answers every question of this project, for every program that asks. A request is
// a Go struct whose tags are its JSON keys. An answer is a Go struct whose JSON is what the command
// line prints. The command line, JSON lines on a pipe, the page in a browser and the Python client
// are front ends of it. A front end reads what its users write, builds a request, and shows the
// answer.
//
// A Service remembers which ledgers and runs are open. Several goroutines may
// use it. Each operation is a method, such as Epsilon, with a request of its own. Answer runs one
// by its name, from JSON, and Operations lists them. An error about a request is a fault.Error
// by the keys of the request, or a ShapeError where keys do not go together. A front end puts its
// own names in their place. Every operation ends when its context does, with nothing changed.
//
// Do not use it in a Go program that has the data at hand: package accountant has types for that. A
// service opens no files, draws no pictures and knows no flags.
package service

//go:generate go run ./generate
