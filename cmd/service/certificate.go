package service

// Certificates: a text with which another program can prove an interval of ε anew. Its form is
// docs/certificates.md; verify/ has a program that reads it. It assumes an answer of the Fourier
// accountant at one δ.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/plan"
)

// certified is the answer of the operation epsilon with its certificate.
type certified struct {
	EpsilonAt
	Certificate string `json:"certificate"`
}

// checkCertificate reports why a question can have no certificate.
func (q EpsilonRequest) checkCertificate(deltas []float64) error {
	if q.GroupBlackBox {
		return fault.New("certificate", "is set, not allowed with group-black-box, which proves no interval")
	}
	if q.Accountant == RDPAccountant {
		return fault.New("certificate", "is set, not allowed with the accountant rdp, which proves no interval")
	}
	if len(deltas) != 1 {
		return fault.New("certificate", "is set beside %d δ, must be asked for one", len(deltas))
	}
	return nil
}

// certify puts the certificate into an answer at one δ.
func (s *Service) certify(ctx context.Context, text PlanText, a *EpsilonAnswer) error {
	head, runs, err := plan.Runs(text)
	if err != nil {
		return err
	}
	v, err := s.Version(ctx, VersionRequest{})
	if err != nil {
		return err
	}
	r := &a.Results[0]
	hex := func(x Number) string { return plan.Hex(float64(x)) }
	part := func(x Number) string { return hex(max(0, x)) } // of the width; a difference of ends that cross is nothing
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("accountant certificate 1")
	line("version %s", printable(strings.Join(strings.Fields(v.Version+" "+v.Revision), " ")))
	line("neighbors %s", head.Neighbors)
	line("records-per-person %d", head.RecordsPerPerson)
	for _, run := range runs {
		line("step %s", run)
	}
	line("delta %s", hex(r.Delta))
	line("lower %s", hex(r.Epsilon.Lower))
	line("upper %s", hex(r.Epsilon.Upper))
	line("direction %s", r.lowerDirection)
	line("engine %s", strings.ReplaceAll(r.Engine, " ", "-"))
	line("contour theta %s period %s frequencies %d", plan.Hex(r.theta), plan.Hex(r.period), r.frequencies)
	e := r.ErrorBudget
	line("budget discretization %s quadrature %s truncation %s aliasing %s round-off %s theory-gap %s",
		part(e.Discretization), part(e.Quadrature), part(e.Truncation), part(e.Aliasing), part(e.RoundOff), part(e.TheoryGap))
	line("sha256 %x", sha256.Sum256([]byte(b.String())))
	r.Certificate = b.String()
	return nil
}

// printable replaces what is not printable ASCII, which a certificate has no other character of, by question marks.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}
