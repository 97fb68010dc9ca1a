//go:build race

package main

const detected = true
