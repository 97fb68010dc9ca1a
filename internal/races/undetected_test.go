//go:build !race

package main

const detected = false
