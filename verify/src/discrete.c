/*
 * Discrete Gaussian noise of standard deviation sigma on a whole number, moved by s (Canonne, Kamath and Steinke 2020):
 * Q(k) = e^{-k^2/(2 sigma^2)}/Z, P(k) = Q(k-s), and the loss of k = s + x is (2sx + s^2)/(2 sigma^2). Both directions are alike.
 *
 * e^{theta L} P moves the mean of x to c = theta s and has the mass e^{theta(theta+1)s^2/(2 sigma^2)} times that of noise around c, which
 * need not be whole. Beyond a whole number at a distance D > 0 from c, the terms fall by e^{-D/sigma^2} at least:
 *   sum over j >= 0 of e^{-(D+j)^2/(2 sigma^2)} <= e^{-D^2/(2 sigma^2)}/(1 - e^{-D/sigma^2}).
 */
#include <math.h>
#include "check.h"

/* sigma^2, moved and 1/Z of a step. Z is the sum of R terms to each side and the rest. */
typedef struct {
	ulong moved;
	double sigma;
	arb_t two;  /* 1/(2 sigma^2) */
	arb_t norm; /* 1/Z */
} lattice;

/* A bound of the sum beyond a distance D, which may be where the bound is put. */
static void beyond(arb_t out, const lattice *g, const arb_t D, slong prec)
{
	if (!arb_is_positive(D)) {
		arb_pos_inf(out);
		return;
	}
	BALLS(x, y);
	arb_mul(x, D, g->two, prec);
	arb_mul_2exp_si(y, x, 1);
	arb_neg(y, y);
	arb_expm1(y, y, prec);
	arb_neg(y, y);
	arb_mul(x, x, D, prec);
	exp_minus(x, x, prec);
	arb_div(out, x, y, prec);
}

static slong radius(const lattice *g, double digits) { return ceil(g->sigma*sqrt(2*digits)) + 2; }

static int lattice_init(lattice *g, const step *s, slong prec)
{
	g->moved = s->shift*s->sensitivity;
	g->sigma = s->noise*s->sensitivity;
	arb_set_d(g->two, s->noise);
	arb_mul_ui(g->two, g->two, s->sensitivity, prec);
	arb_mul(g->two, g->two, g->two, prec);
	arb_mul_2exp_si(g->two, g->two, 1);
	arb_inv(g->two, g->two, prec);
	double digits = prec*0.7 + 10;
	if (g->sigma*sqrt(2*digits) > MAX_NODES)
		return 0;
	slong R = radius(g, digits);
	BALLS(x);
	arb_zero(g->norm);
	for (slong k = 1; k <= R; k++) {
		arb_mul_ui(x, g->two, k, prec);
		arb_mul_ui(x, x, k, prec);
		exp_minus(x, x, prec);
		arb_add(g->norm, g->norm, x, prec);
	}
	arb_set_ui(x, R + 1);
	beyond(x, g, x, prec);
	arb_add_error(g->norm, x);
	arb_mul_2exp_si(g->norm, g->norm, 1);
	arb_add_ui(g->norm, g->norm, 1, prec);
	arb_inv(g->norm, g->norm, prec);
	return 1;
}

static void lattice_clear(lattice *g)
{
	arb_clear(g->two); arb_clear(g->norm);
}

/* (2sx + s^2 n)/(2 sigma^2), the loss of n runs whose noise is x. */
static void loss(arb_t out, const lattice *g, slong x, ulong n, slong prec)
{
	BALLS(y);
	arb_set_ui(out, g->moved);
	arb_mul_ui(out, out, n, prec);
	arb_set_si(y, x);
	arb_mul_2exp_si(y, y, 1);
	arb_add(out, out, y, prec);
	arb_mul_ui(out, out, g->moved, prec);
	arb_mul(out, out, g->two, prec);
}

int discrete_rule(rule *r, const step *s, double theta, double digits, slong prec)
{
	OWNED(lattice_clear) lattice g = { 0 };
	int ok = lattice_init(&g, s, prec);
	double c = theta*g.moved, R = ok ? radius(&g, digits + 10) : 0;
	ok = ok && fabs(c) < 1e15 && 2*R + 1 < MAX_NODES;
	if (ok) {
		slong first = floor(c - R), n = ceil(2*R) + 2;
		rule_init(r, n);
		BALLS(x, y, t);
		arb_set_d(t, theta);
		for (slong j = 0; j < n; j++) {
			slong k = first + j;
			loss(r->L + j, &g, k, 1, prec);
			arb_mul(y, r->L + j, t, prec);
			arb_set_si(x, k);
			arb_mul(x, x, x, prec);
			arb_submul(y, x, g.two, prec);
			arb_exp(y, y, prec);
			arb_mul(r->W + j, y, g.norm, prec);
		}
		/* What is left out at both ends, times e^{theta(theta+1) s^2/(2 sigma^2)}/Z. */
		arb_mul_ui(t, t, g.moved, prec);
		for (int side = 0; side < 2; side++) {
			arb_set_si(x, side ? first + n : first - 1);
			arb_sub(x, x, t, prec);
			if (!side)
				arb_neg(x, x);
			beyond(x, &g, x, prec);
			arb_add(r->err, r->err, x, prec);
		}
		arb_mul(x, D(theta), D(theta), prec);
		arb_add(t, D(theta), x, prec);
		arb_mul_ui(t, t, g.moved, prec);
		arb_mul_ui(t, t, g.moved, prec);
		arb_mul(t, t, g.two, prec);
		arb_exp(t, t, prec);
		arb_mul(r->err, r->err, t, prec);
		arb_mul(r->err, r->err, g.norm, prec);
	}
	return ok;
}

/* Masses on consecutive whole numbers from first on; lost is at least the mass that they have not. */
typedef struct {
	arb_poly_t mass;
	slong first;
	arb_t lost;
} counts;

static void counts_init(counts *x)
{
	x->first = 0;
	arb_poly_init(x->mass);
	arb_init(x->lost);
}

static void counts_clear(counts *x)
{
	arb_poly_clear(x->mass);
	arb_clear(x->lost);
}

/* The sum of two independent numbers, without what has less than e^{-digits} at the ends. What is missing of x + y is of x or of y.
 * 0 if it is longer than most. */
static int add_counts(counts *out, const counts *x, const counts *y, double digits, slong most, slong prec)
{
	slong n = arb_poly_length(x->mass) + arb_poly_length(y->mass) - 1;
	if (n > 4*most)
		return 0;
	arb_poly_t sum;
	arb_poly_init(sum);
	arb_poly_mul(sum, x->mass, y->mass, prec);
	arb_add(out->lost, x->lost, y->lost, prec);
	BALLS(cut, less);
	arb_exp(less, D(-digits), prec);
	slong lo = 0, hi = arb_poly_length(sum);
	while (lo < hi - 1 && arb_lt(arb_poly_get_coeff_ptr(sum, lo), less)) {
		arb_add(cut, cut, arb_poly_get_coeff_ptr(sum, lo), prec);
		lo++;
	}
	while (hi > lo + 1 && arb_lt(arb_poly_get_coeff_ptr(sum, hi - 1), less)) {
		arb_add(cut, cut, arb_poly_get_coeff_ptr(sum, hi - 1), prec);
		hi--;
	}
	arb_nonnegative_part(cut, cut);
	arb_add(out->lost, out->lost, cut, prec);
	out->first = x->first + y->first + lo;
	arb_poly_truncate(sum, hi);
	arb_poly_shift_right(out->mass, sum, lo);
	arb_poly_clear(sum);
	return hi - lo <= most;
}

int discrete_law(slong *n, arb_ptr *p, arb_ptr *l, arb_t lost, const step *s, slong most, slong prec)
{
	OWNED(lattice_clear) lattice g = { 0 };
	double digits = prec*0.65; /* above what the balls of the masses have */
	int ok = lattice_init(&g, s, prec) && 2*radius(&g, digits) + 1 <= most;
	if (ok) {
		OWNED(counts_clear) counts one = { 0 }, all = { 0 };
		counts_init(&one);
		counts_init(&all);
		slong R = radius(&g, digits);
		BALLS(x);
		one.first = -R;
		arb_poly_fit_length(one.mass, 2*R + 1);
		for (slong k = -R; k <= R; k++) {
			arb_mul_si(x, g.two, -k, prec);
			arb_mul_si(x, x, k, prec);
			arb_exp(x, x, prec);
			arb_mul(x, x, g.norm, prec);
			arb_poly_set_coeff_arb(one.mass, k + R, x);
		}
		arb_set_ui(x, R + 1);
		beyond(one.lost, &g, x, prec);
		arb_mul_2exp_si(one.lost, one.lost, 1);
		arb_mul(one.lost, one.lost, g.norm, prec);
		/* By squaring: all has the runs of the bits of the count that have been read. */
		arb_poly_one(all.mass);
		int started = 0; /* with little noise a law may have a single mass, and yet one that is missing */
		for (int bit = 63; ok && bit >= 0; bit--) {
			if (started)
				ok = add_counts(&all, &all, &all, digits, most, prec);
			if (ok && s->count >> bit & 1) {
				ok = add_counts(&all, &all, &one, digits, most, prec);
				started = 1;
			}
		}
		if (ok) {
			*n = arb_poly_length(all.mass);
			*p = _arb_vec_init(*n);
			*l = _arb_vec_init(*n);
			for (slong k = 0; k < *n; k++) {
				arb_set(*p + k, arb_poly_get_coeff_ptr(all.mass, k));
				loss(*l + k, &g, all.first + k, s->count, prec);
			}
			arb_set(lost, all.lost);
		}
	}
	return ok;
}

int outcomes_of(slong *n, arb_ptr *p, arb_ptr *q, arb_t lost, const step *s, int d, slong prec)
{
	if (s->kind == FINITE) {
		arb_zero(lost);
		*n = s->outcomes;
		*p = _arb_vec_init(*n);
		*q = _arb_vec_init(*n);
		for (slong i = 0; i < *n; i++)
			outcome_masses(*p + i, *q + i, s, d, i, prec);
		return 1;
	}
	OWNED(lattice_clear) lattice g = { 0 };
	int ok = lattice_init(&g, s, prec);
	slong R = ok ? radius(&g, prec*0.65) : 0;
	ok = ok && g.moved < MAX_NODES && 2*R + 1 < MAX_NODES;
	if (ok) {
		*n = 2*R + 1 + (s->form == OPPOSITE ? 2 : 1)*g.moved;
		*p = _arb_vec_init(*n);
		*q = _arb_vec_init(*n);
		BALLS(x, r);
		rate_of(r, s, prec);
		complement(lost, r, prec);
		/* Law i is Q, or Q moved; to both sides under OPPOSITE. */
		slong low = s->form == OPPOSITE ? R + (slong)g.moved : R;
		for (slong k = 0; k < *n; k++) {
			for (int i = 0; i < 2; i++) {
				slong j = k - low - (i ? (slong)g.moved : 0);
				arb_mul_si(x, g.two, -j, prec);
				arb_mul_si(x, x, j, prec);
				arb_exp(x, x, prec);
				arb_mul(x, x, g.norm, prec);
				arb_set(i ? *p + k : *q + k, x);
			}
			arb_mul(*p + k, *p + k, r, prec);
			arb_addmul(*p + k, *q + k, lost, prec);
			if (d && s->form == PLAIN)
				arb_swap(*p + k, *q + k);
		}
		for (slong k = 0; k < *n && s->form == OPPOSITE; k++)
			arb_set(*q + k, *p + (*n - 1 - k));
		/* Of either law what is beyond R on both sides is missing at most. */
		arb_set_ui(x, R + 1);
		beyond(lost, &g, x, prec);
		arb_mul_2exp_si(lost, lost, 1);
		arb_mul(lost, lost, g.norm, prec);
	}
	return ok;
}
