//go:build !linux

package main

import (
	"errors"
	"os"
)

// openUnnamed is for systems with unnamed files.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
