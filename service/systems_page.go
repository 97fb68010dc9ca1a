//go:build page

package service

// This file stands for systems.go in the page's module: no other operations.

var systems []operation
