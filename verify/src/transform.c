/*
 * Transforms M(z) = E_P[e^{zL}] of one run of any step: the way to the file of its kind.
 */
#include <math.h>
#include "check.h"

static int finite_rule(rule *r, const step *s, int d, double theta, slong prec)
{
	rule_init(r, s->outcomes);
	arb_t p, q, S;
	arb_init(p); arb_init(q); arb_init(S);
	arb_set_d(S, theta);
	for (slong i = 0; i < s->outcomes; i++) {
		outcome_masses(p, q, s, d, i, prec);
		if (arb_is_zero(p) || arb_is_zero(q))
			continue;
		arb_div(q, p, q, prec);
		arb_log(r->L + i, q, prec);
		arb_mul(q, S, r->L + i, prec);
		arb_exp(q, q, prec);
		arb_mul(r->W + i, p, q, prec);
	}
	arb_clear(p); arb_clear(q); arb_clear(S);
	return 1;
}

int make_rule(rule *r, const certificate *c, const step *s, int d, double theta, double t, double digits, slong prec)
{
	switch (s->kind) {
	case GAUSSIAN:
		return gaussian_rule(r, c, s, d, theta, t, digits, prec);
	case LAPLACE:
		return laplace_rule(r, s, d, theta, t, digits, prec);
	case DISCRETE_GAUSSIAN:
		return discrete_rule(r, s, theta, digits, prec);
	default:
		return finite_rule(r, s, d, theta, prec);
	}
}

int real_transform(arb_t m, const certificate *c, const step *s, int d, double at, slong prec)
{
	if (full_gaussian(s)) {
		arb_t x;
		arb_init(x);
		shift_of(m, s, prec);
		arb_mul(m, m, m, prec);
		arb_mul_2exp_si(m, m, -1);
		arb_set_d(x, at);
		arb_mul(m, m, x, prec);
		arb_add_ui(x, x, 1, prec);
		arb_mul(m, m, x, prec);
		arb_exp(m, m, prec);
		arb_clear(x);
		return 1;
	}
	rule r;
	if (!make_rule(&r, c, s, d, at, 0, 0.6*prec, prec))
		return 0;
	arb_zero(m);
	for (slong j = 0; j < r.n; j++)
		arb_add(m, m, r.W + j, prec);
	arb_add_error(m, r.err);
	rule_clear(&r);
	return arb_is_positive(m) && arb_is_finite(m);
}

int late_bound(arb_t bound, const certificate *c, const step *s, int d, double theta, double t, double angle, double digits, slong prec)
{
	if (full_gaussian(s)) {
		/* e^{mu^2/2 (theta(theta+1) - t^2)} */
		arb_t x, y;
		arb_init(x); arb_init(y);
		arb_set_d(y, t);
		arb_mul(y, y, y, prec);
		arb_set_d(x, theta);
		arb_mul(bound, x, x, prec);
		arb_add(x, x, bound, prec);
		arb_sub(x, x, y, prec);
		shift_of(y, s, prec);
		arb_mul(y, y, y, prec);
		arb_mul_2exp_si(y, y, -1);
		arb_mul(x, x, y, prec);
		arb_exp(bound, x, prec);
		arb_clear(x); arb_clear(y);
		return 1;
	}
	if (s->kind == GAUSSIAN && angle > 0)
		return gaussian_late(bound, c, s, d, theta, t, angle, digits, prec);
	if (s->kind == LAPLACE) {
		laplace_late(bound, s, d, theta, t, prec);
		return 1;
	}
	return real_transform(bound, c, s, d, theta, prec);
}

double steer_transform(const certificate *c, const step *s, int d, double at)
{
	double x = INFINITY;
	if (s->kind == GAUSSIAN && !full_gaussian(s))
		return gaussian_steer(&x, c, s, d, at, 0);
	arb_t m;
	arb_init(m);
	if (real_transform(m, c, s, d, at, 110)) {
		arb_log(m, m, 110);
		x = mid(m);
	}
	arb_clear(m);
	return x;
}

double steer_angle(double *angle, const certificate *c, const step *s, int d, double theta, double t)
{
	*angle = 0;
	if (full_gaussian(s)) {
		double mu = s->shift/s->noise;
		return -mu*mu*t*t/2;
	}
	if (s->kind == GAUSSIAN)
		return gaussian_steer(angle, c, s, d, theta, t);
	if (s->kind != LAPLACE)
		return 0;
	const slong prec = 80;
	double best = 0;
	arb_t x, y;
	arb_init(x); arb_init(y);
	laplace_late(x, s, d, theta, t, prec);
	if (real_transform(y, c, s, d, theta, prec)) {
		arb_div(x, x, y, prec);
		arb_log(x, x, prec);
		best = fmin(0, mid(x));
	}
	arb_clear(x); arb_clear(y);
	return best;
}

void noise_tails(arb_ptr p, arb_ptr q, arb_ptr l, const certificate *c, const step *s, int d, const double *at, slong n, slong prec)
{
	if (s->kind == LAPLACE)
		laplace_tails(p, q, l, s, d, at, n, prec);
	else
		gaussian_tails(p, q, l, c, s, d, at, n, prec);
}
