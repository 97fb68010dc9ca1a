/*
 * Finite pairs, and what all steps have in common.
 *
 * Discrete Laplace noise of scale b on whole numbers, moved by s: P(k) ~ a^|k-s|, Q(k) ~ a^|k|, a = e^{-1/b}. All k <= 0 have the
 * loss -s/b, all k >= s the loss s/b, and k between them (2k-s)/b: s+1 outcomes. The mass of all noise >= k >= 0 is a^k/(1+a).
 *
 * A mechanism of which only eps is known is at worst randomized response, which is that noise with 1/b = eps moved by 1; of s records
 * each moves it by 1: a chain of s tests, each as good as the one of eps, is no better than the noise moved by s, which attains it.
 */
#include <math.h>
#include "check.h"

static const slong PREC = 1200; /* of the masses of finite pairs, far above what any proof takes */

void new_outcomes(step *s, slong n)
{
	s->kind = FINITE;
	s->outcomes = n;
	s->p = _arb_vec_init(n);
	s->q = _arb_vec_init(n);
}

void outcomes_clear(step *s)
{
	if (s->p)
		_arb_vec_clear(s->p, s->outcomes);
	if (s->q)
		_arb_vec_clear(s->q, s->outcomes);
	s->p = s->q = NULL;
}

/* e^eps/(1+e^eps) and its complement, with delta at +inf of P and -inf of Q. */
void declared_pair(step *s, double eps, double delta)
{
	new_outcomes(s, 4);
	arb_t x, y;
	arb_init(x); arb_init(y);
	arb_set_d(x, eps);
	arb_exp(x, x, PREC);
	arb_add_ui(y, x, 1, PREC);
	arb_div(s->p, x, y, PREC);
	arb_inv(s->p + 1, y, PREC);
	arb_set_d(s->p + 2, delta);
	arb_sub_ui(x, s->p + 2, 1, PREC);
	arb_neg(x, x);
	for (int i = 0; i < 2; i++)
		arb_mul(s->p + i, s->p + i, x, PREC);
	arb_set(s->q, s->p + 1);
	arb_set(s->q + 1, s->p);
	arb_set(s->q + 3, s->p + 2);
	arb_clear(x); arb_clear(y);
}

void response_pair(step *s, double probability, ulong categories)
{
	new_outcomes(s, 3);
	arb_t x;
	arb_init(x);
	arb_set_d(s->p + 1, probability);
	arb_div_ui(s->p + 1, s->p + 1, categories, PREC);
	arb_set_d(x, probability);
	arb_sub_ui(x, x, 1, PREC);
	arb_sub(s->p, s->p + 1, x, PREC);
	arb_mul_ui(s->p + 2, s->p + 1, categories - 2, PREC);
	arb_set(s->q, s->p + 1);
	arb_set(s->q + 1, s->p);
	arb_set(s->q + 2, s->p + 2);
	arb_clear(x);
}

/* Two lists, each over its sum. */
void listed_pair(step *s, slong n, const double *p, const double *q)
{
	new_outcomes(s, n);
	arb_t sum;
	arb_init(sum);
	for (int which = 0; which < 2; which++) {
		arb_ptr to = which ? s->q : s->p;
		arb_zero(sum);
		for (slong i = 0; i < n; i++) {
			arb_set_d(to + i, which ? q[i] : p[i]);
			arb_add(sum, sum, to + i, PREC);
		}
		_arb_vec_scalar_div(to, to, n, sum, PREC);
	}
	arb_clear(sum);
}

/* Discrete Laplace noise of scale 1/step. */
static void geometric_pair(step *s, ulong moved, const arb_t step)
{
	new_outcomes(s, moved + 1);
	arb_t a, x, y;
	arb_init(a); arb_init(x); arb_init(y);
	arb_neg(x, step);
	arb_exp(a, x, PREC);
	arb_add_ui(y, a, 1, PREC);
	for (ulong k = 0; k <= moved; k++) {
		/* Under Q: all k <= 0 have 1/(1+a); k has a^k (1-a)/(1+a); all k >= s have a^s/(1+a). */
		arb_pow_ui(x, a, k, PREC);
		arb_div(x, x, y, PREC);
		if (k > 0 && k < moved) {
			arb_mul(s->q + k, x, a, PREC);
			arb_sub(s->q + k, x, s->q + k, PREC);
		} else
			arb_set(s->q + k, x);
	}
	for (ulong k = 0; k <= moved; k++)
		arb_set(s->p + k, s->q + moved - k);
	arb_clear(a); arb_clear(x); arb_clear(y);
}

void discrete_laplace_pair(step *s)
{
	arb_t x;
	arb_init(x);
	arb_set_d(x, s->noise);
	arb_mul_ui(x, x, s->sensitivity, PREC);
	arb_inv(x, x, PREC);
	geometric_pair(s, s->shift*s->sensitivity, x);
	arb_clear(x);
}

void pure_pair(step *s, double eps)
{
	arb_t x;
	arb_init(x);
	arb_set_d(x, eps);
	geometric_pair(s, s->shift, x);
	arb_clear(x);
}

void rate_of(arb_t r, const step *s, slong prec)
{
	if (s->population) {
		arb_set_ui(r, s->batch);
		arb_div_ui(r, r, s->population, prec);
	} else
		arb_set_d(r, s->rate);
}

/* The masses of outcome i in direction d, after sampling: P' = rate P + (1-rate) Q against Q, or the other way round. */
void outcome_masses(arb_t p, arb_t q, const step *s, int d, slong i, slong prec)
{
	arb_t r, x;
	arb_init(r); arb_init(x);
	rate_of(r, s, prec);
	arb_mul(x, r, s->p + i, prec);
	arb_sub_ui(r, r, 1, prec);
	arb_submul(x, r, s->q + i, prec);
	arb_set(d ? q : p, x);
	arb_set(d ? p : q, s->q + i);
	arb_clear(r); arb_clear(x);
}

void finite_parts(arb_t m0, arb_t m1, const certificate *c, int d, slong prec)
{
	arb_one(m0);
	arb_one(m1);
	arb_t p, q, x, y;
	arb_init(p); arb_init(q); arb_init(x); arb_init(y);
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (s->kind != FINITE)
			continue;
		arb_one(x);
		arb_one(y);
		for (slong j = 0; j < s->outcomes; j++) {
			outcome_masses(p, q, s, d, j, prec);
			if (arb_is_zero(q))
				arb_sub(x, x, p, prec);
			if (arb_is_zero(p))
				arb_sub(y, y, q, prec);
		}
		arb_pow_ui(x, x, s->count, prec);
		arb_pow_ui(y, y, s->count, prec);
		arb_mul(m0, m0, x, prec);
		arb_mul(m1, m1, y, prec);
	}
	arb_clear(p); arb_clear(q); arb_clear(x); arb_clear(y);
}

void shift_of(arb_t mu, const step *s, slong prec)
{
	arb_set_d(mu, s->noise);
	arb_ui_div(mu, s->shift, mu, prec);
}

double mid(const arb_t x) { return arf_get_d(arb_midref(x), ARF_RND_NEAR); }

void rule_init(rule *r, slong n)
{
	r->n = n;
	r->W = _arb_vec_init(n);
	r->L = _arb_vec_init(n);
	arb_init(r->err);
}

void rule_clear(rule *r)
{
	_arb_vec_clear(r->W, r->n);
	_arb_vec_clear(r->L, r->n);
	arb_clear(r->err);
}
