// Package service answers every question that this project answers, to every program
// that asks: a request is a Go struct whose tags are its JSON keys, an answer is a Go
// struct whose JSON is what the command line prints. The command line, JSON lines on a
// pipe, a page in a browser and the Python client are doors to it: a door reads what its
// users write, builds a request, and shows the answer.
//
// A Service remembers what the latest plans cost and which ledgers are open, and may be
// used by several goroutines. Each operation is a method, such as Epsilon, with a request
// of its own; Do and Answer run one by its name, from JSON, and Operations lists them.
// Errors about a request are of the type fault.Error, by the keys of the request, or a
// ShapeError where keys do not go together: a door puts its own names in their place.
// Every operation ends when its context does, with nothing changed.
//
// Do not use it in a Go program that has the data at hand: package accountant says the
// same with types of its own and without a detour over text. A service opens no files,
// draws no pictures and knows no flags; doors do.
package service

//go:generate go run ./generate
