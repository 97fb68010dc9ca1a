package parallel

import "context"

type progressKey struct{}

// WithProgress returns a context under which a long loop calls f now and then with the
// number of its rounds that are done.
func WithProgress(ctx context.Context, f func(done int64)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress calls the function of WithProgress, if there is one.
func Progress(ctx context.Context, done int64) {
	if f, ok := ctx.Value(progressKey{}).(func(int64)); ok {
		f(done)
	}
}
