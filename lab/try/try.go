// Package try is for experiments, which end with the first error: nothing above them could do better.
package try

import "log"

type failure struct{ error }

// Check ends the experiment if there is an error.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns x, or ends the experiment.
func Must[T any](x T, err error) T {
	Check(err)
	return x
}

// Must2 is Must for two values.
func Must2[T, U any](x T, y U, err error) (T, U) {
	Check(err)
	return x, y
}

// Run runs an experiment, and returns the error that ended it. Another panic goes on.
func Run(experiment func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	experiment()
	return nil
}

// Main runs an experiment, and ends the program with its error.
func Main(experiment func()) {
	if err := Run(experiment); err != nil {
		log.Fatal(err)
	}
}
