// Package verify tests the independent checker of certificates, a C program in verify/src that
// shares nothing with this library. Its tests build it, give it true certificates to prove and
// sabotaged ones to refuse. It has no code of its own. See docs/reference/certificates.md.
package verify
