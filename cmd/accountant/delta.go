package main

import "github.com/spf13/cobra"

func newDeltaCmd() *cobra.Command {
	return question{
		use:   "delta --epsilon 2[,3…] plan.yaml",
		short: "Tell the δ of a plan at one or several ε",
		long: `delta tells, for each ε, the smallest δ for which everything in the plan
together is (ε, δ)-differentially private. The plan file is YAML or JSON; -
reads standard input.`,
		example: `  accountant delta --epsilon 2 examples/dpsgd.yaml
  accountant delta --epsilon 1,2,4 --json - < plan.yaml`,
		flag: "epsilon", symbol: "ε", allowed: epsilonRange, told: "δ", ask: askDelta,
	}.command()
}
