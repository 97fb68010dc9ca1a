// Package server answers the operations of package service over HTTP, for teams that share one
// server with the ledgers behind it. docs/server.md is for those who run it or write a client.
//
// An operation is POST /v1/NAME with its request as JSON; the answer is the JSON of the service. The
// status of an error tells a client what to do without reading it: 409 is a refused spend, and nothing
// else is.
//
// It assumes that the folder of ledgers is written by nobody whom the operator does not trust, and that
// tokens are random. Every request is bounded in size, in time and in how many there are at once.
//
// Files, each of which uses only those below it:
//
//	server.go      Listen, Serve: the refusal to listen without access control, the end
//	handle.go      one request, from its headers to its line in the log
//	config.go      New: what the operator decides
//	openapi.go     the description, from the table of operations
//	folder.go      the ledgers of a folder, and no other file
//	elsewhere.go   ledgers that are kept in a database
//	names.go       names, handles and errors of ledgers
//	access.go      who asks, and what they may
//	limit.go       how many requests there are at once
//	metrics.go     counts, for Prometheus
//	problem.go     errors and their statuses
package server
