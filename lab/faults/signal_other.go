//go:build !unix

package faults

// Stop cannot stop a process here.
func (w *Writers) Stop() error { return Skip("NO STOPPED PROCESS IS TESTED: there are no signals") }

// Continue does nothing.
func (w *Writers) Continue() error { return nil }

func limitFiles(int64) {}
