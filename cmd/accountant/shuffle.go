package main

import (
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/cmd/service"
)

func printShuffle(w io.Writer, a service.ShuffleAnswer, verbose bool) {
	rounds := "1 round"
	if a.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", a.Rounds)
	}
	fmt.Fprintf(w, "Shuffle model: %s with local ε %s, %d users, %s; neighbors: %s\n\n", a.Randomizer, short(a.Local), a.Users, rounds, a.Neighbors)
	printTable(w, epsilonAnswers(a.Results), verbose)
	fmt.Fprintf(w, "\n%s", a.Statement)
}
