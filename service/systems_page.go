//go:build page

package service

// This file stands for systems.go in the modules of the page: no other operations.

var systems []operation
