// Package verify has no code: src has the independent checker of certificates, a C program that shares
// nothing with this library (docs/certificates.md), and the tests here build it, give it true
// certificates to prove and sabotaged ones to refuse. fuzz has a target for fuzzers.
//
// Do not import it; build src with a C compiler and FLINT.
package verify
