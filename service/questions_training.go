//go:build training

package service

// This file stands for questions.go in the page's first module: no other operations.

var questions []operation
