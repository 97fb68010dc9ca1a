package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newShuffleCmd() *cobra.Command {
	return question{name: "shuffle", what: "computing", verbose: true}.command()
}

func printShuffle(w io.Writer, a service.ShuffleAnswer, verbose bool) {
	fmt.Fprintf(w, "Shuffle model: %s with local ε %s, %d users, %d rounds; neighbors: %s\n\n", a.Randomizer, short(a.Local), a.Users, a.Rounds, a.Neighbors)
	printTable(w, epsilonAnswers(a.Results), verbose)
	fmt.Fprintf(w, "\n%s", a.Statement)
}
