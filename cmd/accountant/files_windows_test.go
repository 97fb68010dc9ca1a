package main

import "testing"

func makePipe(t *testing.T, _ string) { t.Skip("no named pipes in directories") }
