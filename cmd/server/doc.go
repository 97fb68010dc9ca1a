// Package server answers the operations of package service over HTTP, for teams that share one
// server and its ledgers. docs/reference/server.md is for those who run it or write a client.
//
// An operation is POST /v1/NAME with its request as JSON. The answer is the JSON of the service. A
// client can act on the status of an error alone: 409 is a refused spend, and nothing else is.
//
// It assumes that only trusted people write the folder of ledgers, and that tokens are random.
// Every request is bounded in size and in time, and so is the number of requests at once.
package server
