// Package fourier composes discrete privacy-loss distributions by FFT and reads
// δ(ε) and ε(δ) off the result with a certificate.
//
// The laws are exponentially tilted before the transform, so that a window of a
// few standard deviations serves every δ with full relative accuracy, and δ is
// read by Plancherel against the closed-form transform of the payoff: no inverse
// transform, and a further ε costs microseconds. Discretisation, truncation,
// aliasing and round-off are bounded and widen the interval.
//
// Use it through package accountant, unless you bring profiles of your own. The
// steps must be fixed in advance: when the parameters of a step depend on the
// outputs of earlier ones, this accounting does not hold (see rdp.Filter).
package fourier
