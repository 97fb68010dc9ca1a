// Command lint is go vet and staticcheck in one, for .ci/run: go run -modfile=.ci/tools.mod .ci/lint.go ./...
// Apart from each other they type-check all packages, and look through what those depend on, twice.
// It runs the analyzers of both; those of go vet are as of golang.org/x/tools in tools.mod, a few more than Go 1.26 has. Left out
// is what go vet finds in files that the build leaves out, such as those of other systems: misplaced build tags.
package main

import (
	"os"

	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	cmd := lintcmd.NewCommand("lint")
	cmd.ParseFlags(os.Args[1:])
	for _, a := range vet.Suite {
		cmd.AddAnalyzers(&lint.Analyzer{Analyzer: a, Doc: &lint.RawDocumentation{Title: a.Doc, Severity: lint.SeverityError}})
	}
	cmd.AddAnalyzers(simple.Analyzers...)
	cmd.AddAnalyzers(staticcheck.Analyzers...)
	cmd.AddAnalyzers(stylecheck.Analyzers...)
	cmd.AddAnalyzers(unused.Analyzer)
	cmd.Run()
}
