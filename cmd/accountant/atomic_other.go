//go:build !linux

package main

import (
	"errors"
	"os"
)

// openUnnamed is for systems with unnamed files.
func openUnnamed(string, os.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
