// Package server answers the operations of package service over HTTP, for teams that share one
// server with the ledgers behind it. docs/reference/server.md is for those who run it or write a client.
//
// An operation is POST /v1/NAME with its request as JSON; the answer is the JSON of the service. The
// status of an error tells a client what to do without reading it: 409 is a refused spend, and nothing
// else is.
//
// It assumes that the folder of ledgers is written by nobody whom the operator does not trust, and that
// tokens are random. Every request is bounded in size, in time and in how many there are at once.
package server
