// Package steady makes property tests draw the same cases in every run, so that
// a run of the tests says the same thing twice. Tests import it for its effect;
// -rapid.seed on the command line still draws others.
package steady

import (
	"flag"

	// Its flags must be there before they can be set.
	_ "pgregory.net/rapid"
)

func init() {
	if err := flag.Set("rapid.seed", "20180613"); err != nil {
		panic(err) // rapid has renamed its flag
	}
}
