// Package profiletest is the conformance test that every privacy profile goes
// through, and high-precision profiles to compare with. Use it in the tests of a
// package that defines profiles; nothing else imports it.
package profiletest
