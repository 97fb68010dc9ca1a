// Package xmath holds the log-space and outward-rounding arithmetic that every
// other package shares. It is internal: the public packages speak in privacy
// terms only.
package xmath
