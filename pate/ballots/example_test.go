package ballots_test

import (
	"fmt"
	"strings"

	"github.com/dpaccountant/accountant/pate/ballots"
)

func ExampleReadVotes() {
	file := "cat,dog,fish\n8,1,1\n3,4,3\n"
	votes, err := ballots.ReadVotes(strings.NewReader(file), ballots.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(votes.Queries(), votes.Classes(), votes.Teachers())
	_, err = ballots.ReadVotes(strings.NewReader("8,1,1\n3,4,2\n"), ballots.Format{})
	fmt.Println(err)
	// Output:
	// 2 3 10
	// votes: row 2: 9 votes are not the 10 of row 1 (give the number of teachers if some abstain)
}

func ExampleNewVotes() {
	votes, err := ballots.NewVotes([][]int64{{90, 8, 2}, {40, 35, 25}}, 100)
	fmt.Println(votes.Queries(), votes.Classes(), votes.Teachers(), err)
	_, err = ballots.NewVotes([][]int64{{90, 8, 4}}, 100)
	fmt.Println(err)
	// Output:
	// 2 3 100 <nil>
	// votes: row 1: 102 votes are not in [0, 100], the number of teachers
}

// The labels of each teacher, counted.
func ExampleFromLabels() {
	votes, err := ballots.FromLabels([][]int64{
		{0, 2, 1}, // teacher 0, on three queries
		{0, 2, 2},
		{1, 2, 2},
	}, 3)
	fmt.Println(votes.Row(0), votes.Row(1), votes.Row(2), err)
	// Output: [2 1 0] [0 0 3] [0 1 2] <nil>
}

// Votes that anybody can make again, to try things out.
func ExampleSynthS1() {
	votes, err := ballots.SynthS1(250, 10, 640)
	fmt.Println(votes.Row(0), err)
	// Output: [0 0 0 250 0 0 0 0 0 0] <nil>
}

// Which queries were answered: a 0 or 1 for each, or the numbers of the answered.
func ExampleReadAnswered() {
	answered, err := ballots.ReadAnswered(strings.NewReader("1\n0\n1\n"), 3)
	fmt.Println(answered, err)
	// Output: [true false true] <nil>
}

func ExampleNewScores() {
	scores, err := ballots.NewScores([][]float64{{0.95, 0.03, 0.02}, {0.4, 0.4, 0.2}}, 100, false)
	fmt.Println(scores != nil, err)
	scores, err = ballots.NewScores([][]float64{{95, 3, 2}, {40, 40, 20}}, 100, true) // in votes already
	fmt.Println(scores != nil, err)
	_, err = ballots.NewScores([][]float64{{0.95, 0.03}}, 0, false)
	fmt.Println(err)
	// Output:
	// true <nil>
	// true <nil>
	// teachers: 0 is not in [1, 1000000000]
}

func ExampleReadScores() {
	scores, err := ballots.ReadScores(strings.NewReader("0.95,0.03,0.02\n0.4,0.4,0.2\n"), 100, false)
	fmt.Println(scores != nil, err)
	// Output: true <nil>
}
