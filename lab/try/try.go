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

// Catch stores the error that ended the function in which it is deferred. Another panic goes on.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}

// Main runs an experiment, and ends the program with its error.
func Main(experiment func()) {
	err := func() (err error) {
		defer Catch(&err)
		experiment()
		return nil
	}()
	if err != nil {
		log.Fatal(err)
	}
}
