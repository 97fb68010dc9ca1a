/*
 * Transforms M(z) = E_P[e^{zL}] of one run of any step: the way to the file of its kind.
 */
#include <math.h>
#include "check.h"

static int finite_rule(rule *r, const step *s, int d, double theta, slong prec)
{
	rule_init(r, s->outcomes);
	BALLS(p, q);
	for (slong i = 0; i < s->outcomes; i++) {
		outcome_masses(p, q, s, d, i, prec);
		if (arb_is_zero(p) || arb_is_zero(q))
			continue;
		arb_div(q, p, q, prec);
		arb_log(r->L + i, q, prec);
		arb_mul(q, D(theta), r->L + i, prec);
		arb_exp(q, q, prec);
		arb_mul(r->W + i, p, q, prec);
	}
	return 1;
}

int make_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec)
{
	switch (s->kind) {
	case GAUSSIAN:
		return gaussian_rule(r, s, d, theta, t, digits, prec);
	case LAPLACE:
		return laplace_rule(r, s, d, theta, t, digits, prec);
	case DISCRETE_GAUSSIAN:
		return discrete_rule(r, s, theta, digits, prec);
	default:
		return finite_rule(r, s, d, theta, prec);
	}
}

int real_transform(arb_t m, const step *s, int d, double at, slong prec)
{
	if (full_gaussian(s)) {
		BALLS(x);
		shift_of(m, s, prec);
		half_square(m, m, prec);
		arb_mul(m, m, D(at), prec);
		arb_add_ui(x, D(at), 1, prec);
		arb_mul(m, m, x, prec);
		arb_exp(m, m, prec);
		return 1;
	}
	OWNED(rule_clear) rule r = { 0 };
	if (!make_rule(&r, s, d, at, 0, 0.6*prec, prec))
		return 0;
	arb_zero(m);
	for (slong j = 0; j < r.n; j++)
		arb_add(m, m, r.W + j, prec);
	arb_add_error(m, r.err);
	return arb_is_positive(m) && arb_is_finite(m);
}

int late_bound(arb_t bound, const step *s, int d, double theta, double t, double angle, double digits, slong prec)
{
	if (full_gaussian(s)) {
		/* e^{mu^2/2 (theta(theta+1) - t^2)} */
		BALLS(x, y);
		arb_mul(y, D(t), D(t), prec);
		arb_mul(bound, D(theta), D(theta), prec);
		arb_add(x, D(theta), bound, prec);
		arb_sub(x, x, y, prec);
		shift_of(y, s, prec);
		half_square(y, y, prec);
		arb_mul(x, x, y, prec);
		arb_exp(bound, x, prec);
		return 1;
	}
	if (s->kind == GAUSSIAN && angle > 0)
		return gaussian_late(bound, s, d, theta, t, angle, digits, prec);
	if (s->kind == LAPLACE) {
		laplace_late(bound, s, d, theta, t, prec);
		return 1;
	}
	return real_transform(bound, s, d, theta, prec);
}

double steer_transform(const step *s, int d, double at)
{
	double x = INFINITY;
	if (s->kind == GAUSSIAN && !full_gaussian(s))
		return gaussian_steer(&x, s, d, at, 0);
	BALLS(m);
	if (real_transform(m, s, d, at, 110)) {
		arb_log(m, m, 110);
		x = mid(m);
	}
	return x;
}

double steer_angle(double *angle, const step *s, int d, double theta, double t)
{
	*angle = 0;
	if (full_gaussian(s)) {
		BALLS(mu);
		shift_of(mu, s, 80);
		double x = mid(mu)*t;
		return -x*x/2;
	}
	if (s->kind == GAUSSIAN)
		return gaussian_steer(angle, s, d, theta, t);
	if (s->kind != LAPLACE)
		return 0;
	const slong prec = 80;
	double best = 0;
	BALLS(x, y);
	laplace_late(x, s, d, theta, t, prec);
	if (real_transform(y, s, d, theta, prec)) {
		arb_div(x, x, y, prec);
		arb_log(x, x, prec);
		best = fmin(0, mid(x));
	}
	return best;
}

/* Of one pair, below 0 as the mirror image of the other half: P(loss > -x) = 1 - Q(loss >= x). */
static void pair_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec)
{
	void (*tails)(arb_ptr, arb_ptr, arb_ptr, const step *, int, const double *, slong, slong) = s->kind == LAPLACE ? laplace_tails : gaussian_tails;
	if (!halves(s)) {
		tails(p, q, l, s, d, at, n, prec);
		return;
	}
	slong below = 0;
	while (below < n && at[below] < 0)
		below++;
	step half = half_of(s, d, 0);
	tails(p + below, q + below, l + below, &half, 0, at + below, n - below, prec);
	half = half_of(s, d, 1);
	FREED double *x = flint_malloc((below + 1)*sizeof *x);
	VECTOR r = vector(3*below);
	arb_ptr t[3] = { r, r + below, r + 2*below };
	for (slong i = 0; i < below; i++)
		x[i] = -at[below - 1 - i];
	tails(t[0], t[1], t[2], &half, 0, x, below, prec);
	for (slong i = 0; i < below; i++) {
		slong j = below - 1 - i;
		complement(p + i, t[1] + j, prec);
		complement(q + i, t[0] + j, prec);
		arb_neg(l + i, t[2] + j);
	}
}

/* Where a record may be drawn several times, how often is told, given that it is: for each number the pair of as many sensitivities. */
void noise_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec)
{
	if (s->kind == THRESHOLD) {
		threshold_tails(p, q, l, s, d, at, n, prec);
		return;
	}
	if (!told(s)) {
		pair_tails(p, q, l, s, d, at, n, prec);
		return;
	}
	VECTOR r = vector(3*n);
	arb_ptr t[3] = { r, r + n, r + 2*n };
	BALLS(weight, eta);
	rate_of(eta, s, prec);
	for (ulong u = 1; u <= s->records; u++) {
		step one = *s;
		one.shift = u*s->shift;
		one.chosen = one.records = 1;
		copies_of(weight, s, u, prec);
		arb_div(weight, weight, eta, prec);
		pair_tails(t[0], t[1], t[2], &one, d, at, n, prec);
		for (slong i = 0; i < n; i++) {
			if (u == 1) {
				arb_zero(p + i);
				arb_zero(q + i);
				arb_set(l + i, t[2] + i);
			}
			arb_addmul(p + i, weight, t[0] + i, prec);
			arb_addmul(q + i, weight, t[1] + i, prec);
			arb_union(l + i, l + i, t[2] + i, prec);
		}
	}
}
