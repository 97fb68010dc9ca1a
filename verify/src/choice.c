/*
 * Runs of exponential mechanisms of one eps, each chosen after the answers before it. Their largest delta(a) is W_k(a) (choice/recursion.go, Theorem 2; C5):
 *   W_0(a) = (1 - e^a)+,  W_j(a) = sup over 0 <= t <= eps of p W_{j-1}(a - t) + (1-p) W_{j-1}(a - t + eps),  p = (e^eps - e^t)/(e^eps - 1),
 * which falls and is convex in e^a, with W(-a) = 1 - e^{-a} + e^{-a} W(a). It is held at a_i = claim + ih, h = eps/m, in plain doubles that are
 * rounded outward: all terms are positive but where it is said.
 *
 * Below: t = ch alone. Above: for t in a cell, s = (e^t - e^{t0})/(e^{t1} - e^{t0}), p and 1-p are linear in s, and by convexity
 * W(a - t) <= u0 + (u1 - u0) T, T = s e^h/(1 + s(e^h - 1)) <= s + (e^h - 1)/4; so what is to be bounded is at most
 *   (p0 - D s)(u0 + U s) + (r0 + D s)(v0 + V s) + (e^h - 1)/4 (p0 U + r1 V),  U = u1 - u0, V = v1 - v0, D = r1 - r0,
 * a parabola with the ends f0, f1 and, where it is concave, a maximum of f0 + C^2/(4B), C = p0 U + r0 V - D(u0 - v0), B = D(U - V).
 */
#include <math.h>
#include "check.h"

static const double UNIT = 0x1p-50; /* above what a few operations on doubles are off by */

/* p and 1 - p at all t = ch, rounded up or down. */
static void weights(double *p, double *r, double eps, slong m, int up)
{
	const slong prec = 128;
	BALLS(e, t, x);
	arb_expm1(e, D(eps), prec);
	for (slong c = 0; c <= m; c++) {
		arb_mul_si(t, D(eps), c, prec);
		arb_div_si(t, t, m, prec);
		arb_expm1(t, t, prec);
		arb_div(t, t, e, prec);
		complement(x, t, prec);
		p[c] = fmax(0, bound_of_ball(x, up));
		r[c] = fmax(0, bound_of_ball(t, up));
	}
}

/* 1 - e^a, a known up to off, rounded up or down; 0 for a >= 0. */
static double nothing(double a, double off, int up)
{
	a += up ? -off : off;
	return a < 0 ? -expm1(a)*(up ? 1 + UNIT : 1 - UNIT) : 0;
}

/* The largest value over all t: w[-c] and w[m-c] are those at a - ch and a - ch + eps. */
static double step_up(const double *w, const double *p, const double *r, slong m, double less)
{
	double best = 0;
	for (slong c = 0; c < m; c++) {
		double u0 = w[-c], u1 = w[-c - 1], v0 = w[m - c], v1 = w[m - c - 1], U = u1 - u0, V = v1 - v0, D = r[c + 1] - r[c];
		double f = fmax(p[c]*u0 + r[c]*v0, p[c + 1]*u1 + r[c + 1]*v1), C = p[c]*U + r[c]*V - D*(u0 - v0), B = D*(U - V);
		if (B > 0 && C > 0 && C < 2*B)
			f = fmax(f, p[c]*u0 + r[c]*v0 + C*C/(4*B));
		f += less*(p[c]*U + r[c + 1]*V) + 64*UNIT*(p[c]*u1 + r[c + 1]*v1 + D*(u1 + v1)); /* the differences */
		best = fmax(best, f);
	}
	return best*(1 + 16*UNIT);
}

/* The value of some t, near the best one: the best of sixteen and of that at the place before, and a climb from there in strides that are halved. */
static double step_down(const double *w, const double *p, const double *r, slong m, slong *at)
{
	double best = p[*at]*w[-*at] + r[*at]*w[m - *at];
	for (slong stride = m/16 + 1, whole = 1; stride > 0; stride = whole ? stride : stride/2, whole = 0)
		for (slong c = whole ? 0 : *at - stride, last = whole ? m : *at + stride; c <= last; c += whole ? stride : 2*stride) {
			double v = c < 0 || c > m ? 0 : p[c]*w[-c] + r[c]*w[m - c];
			if (v > best) {
				best = v;
				*at = c;
			}
		}
	return best*(1 - 16*UNIT);
}

int delta_choices(arb_t bound, const step *s, double claim, int above, double h, double work)
{
	const slong prec = 128;
	double eps = s->noise, k = s->count;
	if (s->count == 1) { /* (1 - e^{(a-eps)/2})^2/(1 - e^{-eps}), exactly (Theorem 1) */
		BALLS(x);
		arb_sub(bound, D(claim), D(eps), prec);
		arb_mul_2exp_si(bound, bound, -1);
		arb_neg(x, D(eps));
		arb_expm1(x, x, prec);
		arb_neg(x, x);
		arb_expm1(bound, bound, prec);
		arb_min(bound, bound, x, prec); /* nothing is above eps */
		if (claim >= eps)
			arb_zero(bound);
		arb_mul(bound, bound, bound, prec);
		arb_div(bound, bound, x, prec);
		return 1;
	}
	slong m = ceil(eps/h*0.999);
	h = eps/m;
	double reach = fmin(k*eps, k*eps*eps/4 + 6*sqrt(k)*eps) + 2*eps;
	if (claim > reach || !(2*reach/h*(above ? m : 16 + 2*log2(m))*k < 200*work))
		return 0;
	slong low = floor((-reach - claim)/h), n = ceil(2*reach/h), zero = 2*m;
	double off = 8*UNIT*(claim + reach), *p = flint_malloc(2*(m + 1)*sizeof *p), *r = p + m + 1;
	double *w = flint_malloc(2*(n + 4*m)*sizeof *w), *next = w + n + 4*m;
	weights(p, r, eps, m, above);
	for (slong i = 0; i < n + 4*m; i++)
		w[i] = nothing(claim + (low + i - zero)*h, off, above);
	for (double j = 0; j < k; j++) {
		slong at = m/2;
		for (slong i = zero; i < n + zero; i++)
			next[i] = above ? step_up(w + i, p, r, m, expm1(h)*(1 + UNIT)/4) : step_down(w + i, p, r, m, &at);
		/* Outside: what nothing reaches and, above, what the last value, or its mirror image, bounds. */
		for (slong i = 0; i < n + 4*m; i++) {
			double a = claim + (low + i - zero)*h, last = above ? next[n + zero - 1] : 0;
			if (i < zero)
				next[i] = fmin(1, nothing(a, off, above) + last);
			else if (i >= n + zero)
				next[i] = last;
		}
		double *swap = w;
		w = next;
		next = swap;
	}
	arb_set_d(bound, w[zero - low]);
	flint_free(p);
	flint_free(w < next ? w : next);
	return 1;
}

/* ---- thresholds ---- */

/* P and Q of losses above y of k noisy counts that are moved by 1: mu = sqrt(k)/sigma, P(Z > y/mu - mu/2) and Q(Z > y/mu + mu/2). */
static void counts_tail(arb_t p, arb_t q, const step *s, ulong k, const arb_t y, slong prec)
{
	if (k == 0) { /* the loss is 0 */
		arb_set_si(p, !arb_is_nonnegative(y));
		arb_set(q, p);
		return;
	}
	BALLS(mu, x);
	arb_sqrt_ui(mu, k, prec);
	arb_div(mu, mu, D(s->noise), prec);
	arb_div(x, y, mu, prec);
	arb_mul_2exp_si(mu, mu, -1);
	arb_sub(p, x, mu, prec);
	arb_add(q, x, mu, prec);
	normal_tail(p, p, prec);
	normal_tail(q, q, prec);
}

void threshold_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec)
{
	BALLS(hidden, c, y, a, b, value, best);
	/* The logarithm of the chance that a count of 1 is hidden. */
	arb_sub_ui(y, D(s->threshold), 1, prec);
	arb_div(y, y, D(s->noise), prec);
	normal_tail(y, y, prec);
	arb_neg(y, y);
	arb_log1p(hidden, y, prec);
	for (slong i = 0; i < n; i++) {
		arb_set_d(l + i, at[i]);
		for (ulong j = 0; j <= s->units; j++) {
			/* remove: 1 - c + cP(> y - log c) and Q; add: P(> y + log c) and cQ */
			arb_mul_ui(c, hidden, j, prec);
			(d ? arb_add : arb_sub)(y, l + i, c, prec);
			counts_tail(a, b, s, s->units - j, y, prec);
			arb_exp(y, l + i, prec);
			if (d) {
				arb_exp(c, c, prec);
				arb_mul(b, b, c, prec);
			} else {
				arb_expm1(value, c, prec);
				arb_exp(c, c, prec);
				arb_mul(a, a, c, prec);
				arb_sub(a, a, value, prec);
			}
			arb_mul(value, y, b, prec);
			arb_sub(value, a, value, prec);
			if (j > 0 && arf_cmp(arb_midref(value), arb_midref(best)) <= 0)
				continue;
			arb_set(best, value);
			arb_set(p + i, a);
			arb_set(q + i, b);
		}
	}
}
