/*
 * C3 (draws with replacement). A record is drawn U ~ Bin(m, 1/n) times, u times with the chance p_u. Only the first 64 are counted. The others have
 * less than 1e-90 for each run, which is added to both laws' errors.
 *
 * Gaussian noise under add-remove has the pair sum of p_u N(2u) against N(0), exactly (docs/theory/subsampling.md §8). Laplace noise under add-remove,
 * and Gaussian noise under zero-out: U is told, given that U >= 1: with eta = Pr[U >= 1] the mixture, with the weights p_u/eta, of the pairs of a
 * record that is drawn with probability eta and moves the noise u times as far (§2, §12).
 *
 * Where another record takes the place (COUPLED): for a >= 1 and any a_u >= 0 with sum over 1 <= u <= i of p_u a_u <= (a - 1) p_0 + a sum over 1 <= v
 * <= i of p_v for all i,
 *   delta(log a) <= sum over u >= 1 of p_u delta_u(log a_u),
 * delta_u the profile of noise that u records move. Proof: fix the order of the places and the other records in them. Let Y_u be x, and Y'_v x', in the
 * first so many places and the others elsewhere: Y_0 = Y'_0, and P - aQ = sum of p_u N(Y_u) - (a - 1) p_0 N(Y_0) - a sum over v >= 1 of p_v N(Y'_v).
 * By the condition all p_u a_u can be shared out among the v <= u so that v gets a p_v or less, and 0 at most (a - 1) p_0 (Hall's theorem, for sets
 * each of which is in the next). Y_u and Y'_v differ in u places at most, so that the positive part of (b/a_u) N(Y_u) - b N(Y'_v) is at most (b/a_u)
 * delta_u(log a_u), and the shares b of a u add up to p_u a_u. Average over orders and records. The two data sets may change places, so that
 * delta(-x) = 1 - e^{-x} + e^{-x} delta(x).
 *   Any choice is a bound. Here a_u is the ratio of u records at one output T up to the last u for which that is above a, and a beyond (the best one:
 * subsampling.md §4). For Laplace noise of shift s the logarithm of the ratio is min(s, 2T - s), at least -s for T >= 0, and delta_u(x) =
 * (1 - e^{(x-s)/2})+ for x >= -s. For Gaussian noise they are s(T - s/2) and P(Z > x/s - s/2) - e^x P(Z > x/s + s/2).
 */
#include <math.h>
#include "check.h"

int coupled(const step *s) { return s->draws && s->form == ENVELOPE; }

int told(const step *s) { return s->draws && !coupled(s) && (s->kind == LAPLACE || s->form != PLAIN); }

/* About the logarithm of the ratio at the output T of records that move the noise by shift. */
static double about_ratio(const step *s, double shift, double T)
{
	return s->kind == LAPLACE ? fmin(shift, 2*T - shift) : shift*(T - shift/2);
}

/* About the last output at which the ratios keep the condition for a. They rise with the output. */
static double common_output(const step *s, arb_srcptr w, slong n, double a)
{
	double theta = s->shift/s->noise, lo = 0, hi = n*theta + (log(a) + 250)/theta;
	for (int i = 0; i < 64; i++) {
		double T = (lo + hi)/2, mass = mid(w), sum = mass;
		int kept = 1;
		for (slong u = 1; kept && u <= n; u++) {
			mass += mid(w + u);
			sum += mid(w + u)*exp(about_ratio(s, u*theta, T));
			kept = sum <= mass*a*(1 - 1e-12);
		}
		if (kept)
			lo = T;
		else
			hi = T;
	}
	return lo;
}

/* delta_u of noise moved by s at the loss x. */
static void moved_delta(arb_t delta, const step *what, const arb_t s, const arb_t x, slong prec)
{
	BALLS(y, z);
	if (what->kind == LAPLACE) {
		arb_sub(y, x, s, prec);
		arb_mul_2exp_si(y, y, -1);
		arb_expm1(y, y, prec);
		arb_neg(y, y);
		arb_nonnegative_part(delta, y);
		return;
	}
	arb_div(y, x, s, prec);
	arb_mul_2exp_si(z, s, -1);
	arb_add(delta, y, z, prec);
	arb_sub(y, y, z, prec);
	normal_tail(y, y, prec);
	normal_tail(z, delta, prec);
	arb_exp(delta, x, prec);
	arb_mul(z, z, delta, prec);
	arb_sub(delta, y, z, prec);
}

arb_ptr chances_of_draws(slong *n, const step *s, double rare, slong prec)
{
	arb_ptr w = vector(s->records + 2);
	BALLS(left);
	arb_one(left);
	slong u = 0;
	for (; u <= (slong)s->records && mid(left) > rare; u++) {
		copies_of(w + u, s, u, prec);
		arb_sub(left, left, w + u, prec);
	}
	arb_set(w + u, left);
	*n = u - 1;
	return w;
}

void coupled_delta(arb_t delta, const step *s, arb_srcptr w, slong n, const arb_t eps, slong prec)
{
	double T = common_output(s, w, n, exp(mid(eps))), theta = s->shift/s->noise;
	slong block = n;
	while (block > 0 && about_ratio(s, block*theta, T) < mid(eps))
		block--;
	BALLS(a, mu, shift, x, e, mass, sum);
	arb_exp(a, eps, prec);
	shift_of(mu, s, prec);
	arb_set(mass, w);
	arb_set(sum, w);
	arb_set(delta, w + n + 1);
	for (slong u = 1; u <= n; u++) {
		arb_mul_ui(shift, mu, u, prec);
		arb_set(x, eps);
		if (u <= block) {
			arb_mul_2exp_si(e, shift, -1);
			arb_sub(x, D(T), e, prec);
			if (s->kind == LAPLACE) {
				arb_mul_2exp_si(x, x, 1);
				arb_min(x, x, shift, prec);
			} else
				arb_mul(x, x, shift, prec);
			arb_exp(e, x, prec);
			arb_add(mass, mass, w + u, prec);
			arb_addmul(sum, w + u, e, prec);
			arb_mul(e, mass, a, prec);
			if (!arb_le(sum, e)) { /* the condition is not proved */
				arb_one(delta);
				return;
			}
		}
		moved_delta(e, s, shift, x, prec);
		arb_addmul(delta, e, w + u, prec);
	}
}

double coupled_reach(const step *s, double tail)
{
	const slong prec = 128;
	slong n;
	VECTOR w = chances_of_draws(&n, s, tail/2, prec);
	BALLS(delta);
	double x = 1e-3;
	for (arb_one(delta); mid(delta) > tail && x < 1e9; x *= 1.2)
		coupled_delta(delta, s, w, n, D(x), prec);
	return x;
}
