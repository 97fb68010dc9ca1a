package accountant

import "github.com/dpaccountant/accountant/fourier"

// WithProgress has f called before the first and after each of the computations
// of an answer that takes several: of curves, Risk and Calibrate. total is how
// many there are, 0 if that is not known. f must not ask the accountant.
func WithProgress(f func(done, total int)) Option {
	return func(o *fourier.Options) { o.Progress = f }
}

// progress tells how far an answer is.
func progress(o fourier.Options, done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}
