package main

import (
	"fmt"
	"io"

	"github.com/dpaccountant/accountant/cmd/service"
)

func printShuffle(w io.Writer, x service.ShuffleAnswer, a *asking) {
	rounds := "1 round"
	if x.Rounds > 1 {
		rounds = fmt.Sprintf("%d rounds", x.Rounds)
	}
	fmt.Fprintf(w, "Shuffle model: %s with local ε %s, %d users, %s; neighbors: %s\n\n", x.Randomizer, short(x.Local), x.Users, rounds, x.Neighbors)
	printTable(w, answers(x.Results), a.detail)
	fmt.Fprintf(w, "\n%s", x.Statement)
}
