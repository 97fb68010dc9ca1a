package accountant

// WithProgress has f told how many of the computations are done of an answer that
// takes several: of curves and Risk, from 0 to total; of Calibrate, which does not
// know their number beforehand, at which one it is, and total is 0. f must not ask
// the accountant.
func WithProgress(f func(done, total int)) Option {
	return func(o *settings) { o.Progress = f }
}

// progress tells how far an answer is.
func progress(o settings, done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}
