/*
 * Transforms M(z) = E_P[e^{zL}] of one run, as finite sums with proved errors.
 *
 * Gaussian noise, in units of its standard deviation, with y = mu x - mu^2/2 and Poisson sampling at rate q:
 *   A = 1 - q + q e^{mu x - mu^2/2},   B = 1 - q + q e^{-mu x - mu^2/2},
 *   remove: A against 1;  add: 1 against B (mirrored);  substitute: A against B;
 *   M(z) = int phi(x) A^{z+1} B^{-z} dx, L = log A - log B, which increases with x.
 *
 * Facts used, each for 0 < mu b < pi:
 *  (1) A(x+ib) has its angle in [0, mu b], B(x+ib) in [-mu b, 0]; cos(mu b/2) A(x) <= |A(x+ib)| <= A(x), and B alike: A is a sum of
 *      two numbers with angles 0 and mu b, which projects on the bisector. So A and B have no zero in the strip, and powers are analytic.
 *  (2) |phi(x+ib)| = e^{b^2/2} phi(x).
 *  (3) A^a with A = 1-q+qe^y is at most 1-q+qe^{ay} for a >= 1 (convexity), 1+e^{ay} for 0 <= a < 1, (1-q)^a for a < 0.
 *      The integrals of phi against products of these are closed.
 *  (4) The trapezoidal rule with step h on the whole line is wrong by at most 2 I/(e^{2 pi b/h}-1), I a bound of the integral of the
 *      modulus on every line of the strip (Trefethen and Weideman 2014, Theorem 5.1).
 *  (5) The nodes left out beyond z > 0: h sum of phi(x_j) <= phi(z)(h + 1/z).
 *
 * Laplace noise with m = 1/b: the loss y of one full run has under Q the masses e^{-m}/2 at m, 1/2 at -m, and the density
 * e^{-(m+y)/2}/4 between; sampled it is g(y) = 1-q+qe^y. The smooth part is summed by Gauss and Legendre's rule with N nodes,
 * wrong by at most 64/15 S rho^{-2(N-1)}/(1-rho^{-2}), S the largest modulus in the ellipse rho (Trefethen 2008, Theorem 4.5).
 */
#include <math.h>
#include "check.h"

static const double PI = 3.14159265358979323846;

enum { MAX_NODES = 200000 };

void rule_clear(rule *r)
{
	_arb_vec_clear(r->W, r->n);
	_arb_vec_clear(r->L, r->n);
	arb_clear(r->err);
}

static void rule_init(rule *r, slong n)
{
	r->n = n;
	r->W = _arb_vec_init(n);
	r->L = _arb_vec_init(n);
	arb_init(r->err);
}

void shift(arb_t mu, const certificate *c, const step *s, slong prec)
{
	arb_set_d(mu, s->noise);
	arb_ui_div(mu, c->relation == SUBSTITUTE ? 2 : 1, mu, prec);
}

/* ---- the pair of a Gaussian step ---- */

/* A mixture is the pair of a Gaussian step in one direction. Under substitute a sampled record moves the sum
 * from 0 by 1/sigma one way or the other: mu is that of add-remove. */
typedef struct {
	int a, b;        /* whether A and B are not 1 */
	double mu, q;
	arb_t Mu, Q, P;  /* P = 1 - Q */
	arb_t half;      /* mu^2/2 */
} mixture;

static void mixture_init(mixture *m, const certificate *c, const step *s, int d, slong prec)
{
	m->a = d == 0 || c->relation == SUBSTITUTE;
	m->b = d == 1 || c->relation == SUBSTITUTE;
	m->mu = 1/s->noise;
	m->q = s->rate;
	arb_init(m->Mu); arb_init(m->Q); arb_init(m->P); arb_init(m->half);
	arb_set_d(m->Mu, s->noise);
	arb_inv(m->Mu, m->Mu, prec);
	arb_set_d(m->Q, s->rate);
	arb_sub_ui(m->P, m->Q, 1, prec);
	arb_neg(m->P, m->P);
	arb_mul(m->half, m->Mu, m->Mu, prec);
	arb_mul_2exp_si(m->half, m->half, -1);
}

static void mixture_clear(mixture *m)
{
	arb_clear(m->Mu); arb_clear(m->Q); arb_clear(m->P); arb_clear(m->half);
}

/* A majorant of A^{s+1}B^{-s} on the real line: the sum of e^{w + c x}. */
typedef struct {
	int n;
	arb_t w[4], c[4];
} majorant;

static void majorant_clear(majorant *g)
{
	for (int i = 0; i < 4; i++) {
		arb_clear(g->w[i]);
		arb_clear(g->c[i]);
	}
}

/* The majorant of (1-q+qe^{sign mu x - mu^2/2})^a, fact (3). */
static void majorant_power(majorant *g, const mixture *m, int present, int sign, const arb_t a, slong prec)
{
	for (int i = 0; i < 4; i++) {
		arb_init(g->w[i]);
		arb_init(g->c[i]);
	}
	g->n = 1;
	if (!present)
		return;
	if (arb_is_negative(a)) {
		arb_log(g->w[0], m->P, prec);
		arb_mul(g->w[0], g->w[0], a, prec);
		return;
	}
	g->n = 2;
	arb_t one;
	arb_init(one);
	arb_one(one);
	if (arb_ge(a, one)) {
		arb_log(g->w[0], m->P, prec);
		arb_log(g->w[1], m->Q, prec);
	}
	arb_submul(g->w[1], a, m->half, prec);
	arb_mul(g->c[1], a, m->Mu, prec);
	arb_mul_si(g->c[1], g->c[1], sign, prec);
	arb_clear(one);
}

static void majorant_init(majorant *g, const mixture *m, const arb_t s, slong prec)
{
	majorant x, y;
	arb_t a;
	arb_init(a);
	arb_add_ui(a, s, 1, prec);
	majorant_power(&x, m, m->a, 1, a, prec);
	arb_neg(a, s);
	majorant_power(&y, m, m->b, -1, a, prec);
	g->n = 0;
	for (int i = 0; i < 4; i++) {
		arb_init(g->w[i]);
		arb_init(g->c[i]);
	}
	for (int i = 0; i < x.n; i++)
		for (int j = 0; j < y.n; j++, g->n++) {
			arb_add(g->w[g->n], x.w[i], y.w[j], prec);
			arb_add(g->c[g->n], x.c[i], y.c[j], prec);
		}
	majorant_clear(&x);
	majorant_clear(&y);
	arb_clear(a);
}

/* The integral of phi times the majorant: the sum of e^{w + c^2/2}. */
static void majorant_integral(arb_t out, const majorant *g, slong prec)
{
	arb_t x;
	arb_init(x);
	arb_zero(out);
	for (int i = 0; i < g->n; i++) {
		arb_mul(x, g->c[i], g->c[i], prec);
		arb_mul_2exp_si(x, x, -1);
		arb_add(x, x, g->w[i], prec);
		arb_exp(x, x, prec);
		arb_add(out, out, x, prec);
	}
	arb_clear(x);
}

static double mid(const arb_t x) { return arf_get_d(arb_midref(x), ARF_RND_NEAR); }

static double log_integral(const majorant *g)
{
	double most = -INFINITY, s = 0;
	for (int i = 0; i < g->n; i++)
		most = fmax(most, mid(g->w[i]) + mid(g->c[i])*mid(g->c[i])/2);
	for (int i = 0; i < g->n; i++)
		s += exp(mid(g->w[i]) + mid(g->c[i])*mid(g->c[i])/2 - most);
	return most + log(s);
}

/* The range of x outside which the majorant has less than e^{-digits}, about. */
static void majorant_range(double *lo, double *hi, const majorant *g, double digits)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (int i = 0; i < g->n; i++) {
		double c = mid(g->c[i]), e = digits + mid(g->w[i]) + c*c/2;
		double z = 1.5 + sqrt(fmax(0, 2*e));
		*lo = fmin(*lo, c - z);
		*hi = fmax(*hi, c + z);
	}
}

/* Adds to err the nodes left out below first and from last on, fact (5), times scale. */
static void left_out(arb_t err, const majorant *g, const arb_t scale, const arb_t h, slong first, slong last, slong prec)
{
	arb_t x, y, z;
	arb_init(x); arb_init(y); arb_init(z);
	for (int i = 0; i < g->n; i++)
		for (int side = 0; side < 2; side++) {
			arb_mul_si(z, h, side ? last : first - 1, prec);
			arb_sub(z, z, g->c[i], prec);
			if (!side)
				arb_neg(z, z);
			if (!arb_is_positive(z)) {
				arb_pos_inf(err);
				continue;
			}
			/* e^{w + c^2/2 - z^2/2}/sqrt(2 pi) (h + 1/z); 0.4 is above 1/sqrt(2 pi). */
			arb_mul(x, g->c[i], g->c[i], prec);
			arb_submul(x, z, z, prec);
			arb_mul_2exp_si(x, x, -1);
			arb_add(x, x, g->w[i], prec);
			arb_exp(x, x, prec);
			arb_inv(y, z, prec);
			arb_add(y, y, h, prec);
			arb_mul(x, x, y, prec);
			arb_mul_ui(x, x, 2, prec);
			arb_div_ui(x, x, 5, prec);
			arb_addmul(err, x, scale, prec);
		}
	arb_clear(x); arb_clear(y); arb_clear(z);
}

/* cos(mu w/2) to the powers s+1 and -s as far as these are negative and the densities are mixtures, fact (1). */
static void sector(arb_t out, const mixture *m, const arb_t s, double w, slong prec)
{
	arb_t cosine, a, x;
	arb_init(cosine); arb_init(a); arb_init(x);
	arb_set_d(x, w);
	arb_mul(x, x, m->Mu, prec);
	arb_mul_2exp_si(x, x, -1);
	arb_cos(cosine, x, prec);
	arb_one(out);
	arb_add_ui(a, s, 1, prec);
	for (int i = 0; i < 2; i++) {
		if ((i ? m->b : m->a) && arb_is_negative(a)) {
			arb_pow(x, cosine, a, prec);
			arb_mul(out, out, x, prec);
		}
		arb_neg(a, s);
	}
	arb_clear(cosine); arb_clear(a); arb_clear(x);
}

static double log_sector(const mixture *m, double s, double w)
{
	double e = (m->a ? fmin(0, s + 1) : 0) + (m->b ? fmin(0, -s) : 0);
	return e*log(cos(m->mu*w/2));
}

/* err += 2 e^{exponent} scale integral/(e^{2 pi b/h} - 1), fact (4). */
static void trapezoid_error(arb_t err, const arb_t exponent, const arb_t scale, const arb_t integral, double b, const arb_t h, slong prec)
{
	arb_t x, y;
	arb_init(x); arb_init(y);
	arb_const_pi(x, prec);
	arb_set_d(y, 2*b);
	arb_mul(x, x, y, prec);
	arb_div(x, x, h, prec);
	arb_expm1(x, x, prec);
	arb_exp(y, exponent, prec);
	arb_mul(y, y, scale, prec);
	arb_mul(y, y, integral, prec);
	arb_mul_2exp_si(y, y, 1);
	arb_div(y, y, x, prec);
	arb_add(err, err, y, prec);
	arb_clear(x); arb_clear(y);
}

/* log(1 - q + q e^{sign mu x - mu^2/2}) at a real x. */
static void log_component(arb_t out, const mixture *m, const arb_t x, int sign, slong prec)
{
	arb_t y;
	arb_init(y);
	arb_mul(y, m->Mu, x, prec);
	arb_mul_si(y, y, sign, prec);
	arb_sub(y, y, m->half, prec);
	arb_exp(y, y, prec);
	arb_mul(y, y, m->Q, prec);
	arb_add(y, y, m->P, prec);
	arb_log(out, y, prec);
	arb_clear(y);
}

static int gaussian_rule(rule *r, const certificate *c, const step *s, int d, double theta, double t, double digits, slong prec)
{
	mixture m;
	mixture_init(&m, c, s, d, prec);
	arb_t S, h, x, scale, integral;
	arb_init(S); arb_init(h); arb_init(x); arb_init(scale); arb_init(integral);
	arb_set_d(S, theta);
	majorant g;
	majorant_init(&g, &m, S, prec);
	double spread = m.mu*(m.a + m.b), size = log_integral(&g), best = 0, strip = 0, lo, hi;
	for (int i = 1; i <= 60; i++) {
		double b = fmin(0.97*PI/m.mu, 60)*pow(0.93, i - 1);
		double step_b = 2*PI*b/(digits + 3 + fmax(0, size) + b*b/2 + t*spread*b + log_sector(&m, theta, b));
		if (step_b > best) {
			best = step_b;
			strip = b;
		}
	}
	majorant_range(&lo, &hi, &g, digits);
	int ok = best > 0 && (hi - lo)/best < MAX_NODES;
	if (ok) {
		arb_set_d(h, best);
		slong first = floor(lo/best), last = ceil(hi/best);
		rule_init(r, last - first);
		/* 1/sqrt(2 pi) */
		arb_t root;
		arb_init(root);
		arb_const_sqrt_pi(root, prec);
		arb_sqrt_ui(x, 2, prec);
		arb_mul(root, root, x, prec);
		arb_div(root, h, root, prec);
		arb_t la, lb, e;
		arb_init(la); arb_init(lb); arb_init(e);
		for (slong j = first; j < last; j++) {
			arb_mul_si(x, h, j, prec);
			if (m.a)
				log_component(la, &m, x, 1, prec);
			if (m.b)
				log_component(lb, &m, x, -1, prec);
			arb_sub(r->L + (j - first), la, lb, prec);
			arb_mul(e, x, x, prec);
			arb_mul_2exp_si(e, e, -1);
			arb_sub(e, la, e, prec);
			arb_addmul(e, S, r->L + (j - first), prec);
			arb_exp(e, e, prec);
			arb_mul(r->W + (j - first), e, root, prec);
		}
		arb_clear(la); arb_clear(lb); arb_clear(e); arb_clear(root);
		majorant_integral(integral, &g, prec);
		sector(scale, &m, S, strip, prec);
		/* b^2/2 + t spread b */
		arb_t y;
		arb_init(y);
		arb_set_d(x, strip);
		arb_set_d(y, t);
		arb_mul(y, y, m.Mu, prec);
		arb_mul_ui(y, y, m.a + m.b, prec);
		arb_mul(y, y, x, prec);
		arb_mul(x, x, x, prec);
		arb_mul_2exp_si(x, x, -1);
		arb_add(y, y, x, prec);
		trapezoid_error(r->err, y, scale, integral, strip, h, prec);
		arb_one(scale);
		left_out(r->err, &g, scale, h, first, last, prec);
		arb_clear(y);
	}
	majorant_clear(&g);
	mixture_clear(&m);
	arb_clear(S); arb_clear(h); arb_clear(x); arb_clear(scale); arb_clear(integral);
	return ok;
}

/* ---- late frequencies of Gaussian mixtures ----
 *
 * Move the line of x by ia, 0 < mu a < pi: |M(theta+it)| <= int F, F = e^{a^2/2} phi |A(x+ia)|^{theta+1} |B(x+ia)|^{-theta} e^{-t angle},
 * angle = arg A - arg B >= 0, which falls with t. F is itself analytic: |A(x+ia)| = (A(x+ia)A(x-ia))^{1/2}, and the angle is
 * (log A(x+ia) - log A(x-ia))/2i. On a line at height w, a + w < pi/mu, it is at most e^{(a^2+w^2)/2} phi times the majorant, times the
 * sector's factor at a + w, times e^{(t/2) spread (w-a)} if w > a: one of the two angles has the good sign, the other is at most mu(w-a).
 */
int gaussian_late(arb_t bound, const mixture *m, double theta, double t, double a, double digits, slong prec)
{
	arb_t S, T, h, x, y, scale, integral, err;
	arb_init(S); arb_init(T); arb_init(h); arb_init(x); arb_init(y); arb_init(scale); arb_init(integral); arb_init(err);
	arb_set_d(S, theta);
	arb_set_d(T, t);
	majorant g;
	majorant_init(&g, m, S, prec);
	double spread = m->mu*(m->a + m->b), size = log_integral(&g), best = 0, strip = 0, lo, hi;
	for (int i = 1; i <= 60; i++) {
		double w = fmin(0.97*PI/m->mu - a, 60)*pow(0.93, i - 1);
		if (!(w > 0))
			break;
		double cost = digits + 3 + fmax(0, size) + (a*a + w*w)/2 + log_sector(m, theta, a + w) + t/2*spread*fmax(0, w - a);
		if (2*PI*w/cost > best) {
			best = 2*PI*w/cost;
			strip = w;
		}
	}
	majorant_range(&lo, &hi, &g, digits + a*a/2 + log_sector(m, theta, a));
	int ok = best > 0 && (hi - lo)/best < MAX_NODES;
	if (ok) {
		slong first = floor(lo/best), last = ceil(hi/best);
		arb_set_d(h, best);
		acb_t u, v, one;
		acb_init(u); acb_init(v); acb_init(one);
		arb_t A, e, angle, mod;
		arb_init(A); arb_init(e); arb_init(angle); arb_init(mod);
		arb_set_d(A, a);
		arb_zero(bound);
		for (slong j = first; j < last; j++) {
			arb_mul_si(x, h, j, prec);
			arb_mul(e, x, x, prec);
			arb_mul_2exp_si(e, e, -1);
			arb_neg(e, e);
			for (int i = 0; i < 2; i++) {
				if (!(i ? m->b : m->a))
					continue;
				/* sign mu (x + ia) - mu^2/2 */
				arb_mul(acb_realref(u), m->Mu, x, prec);
				arb_mul(acb_imagref(u), m->Mu, A, prec);
				if (i)
					acb_neg(u, u);
				arb_sub(acb_realref(u), acb_realref(u), m->half, prec);
				acb_exp(v, u, prec);
				acb_mul_arb(v, v, m->Q, prec);
				acb_add_arb(v, v, m->P, prec);
				acb_log(u, v, prec);
				/* log of the factor: (s+1) log|A| - t arg A, or -s log|B| + t arg B */
				if (i) {
					arb_submul(e, S, acb_realref(u), prec);
					arb_addmul(e, T, acb_imagref(u), prec);
				} else {
					arb_addmul(e, S, acb_realref(u), prec);
					arb_add(e, e, acb_realref(u), prec);
					arb_submul(e, T, acb_imagref(u), prec);
				}
			}
			arb_exp(e, e, prec);
			arb_add(bound, bound, e, prec);
		}
		/* h e^{a^2/2}/sqrt(2 pi) */
		arb_mul(e, A, A, prec);
		arb_mul_2exp_si(e, e, -1);
		arb_exp(e, e, prec);
		arb_mul(e, e, h, prec);
		arb_const_pi(x, prec);
		arb_mul_2exp_si(x, x, 1);
		arb_rsqrt(x, x, prec);
		arb_mul(e, e, x, prec);
		arb_mul(bound, bound, e, prec);
		majorant_integral(integral, &g, prec);
		sector(scale, m, S, a + strip, prec);
		arb_set_d(x, strip);
		arb_mul(y, x, x, prec);
		arb_addmul(y, A, A, prec);
		if (strip > a) {
			arb_sub(x, x, A, prec);
			arb_mul(x, x, T, prec);
			arb_mul(x, x, m->Mu, prec);
			arb_mul_ui(x, x, m->a + m->b, prec);
			arb_add(y, y, x, prec);
		}
		arb_mul_2exp_si(y, y, -1);
		trapezoid_error(err, y, scale, integral, strip, h, prec);
		sector(scale, m, S, a, prec);
		arb_mul(x, A, A, prec);
		arb_mul_2exp_si(x, x, -1);
		arb_exp(x, x, prec);
		arb_mul(scale, scale, x, prec);
		left_out(err, &g, scale, h, first, last, prec);
		arb_add(bound, bound, err, prec);
		acb_clear(u); acb_clear(v); acb_clear(one);
		arb_clear(A); arb_clear(e); arb_clear(angle); arb_clear(mod);
		ok = arb_is_finite(bound);
	}
	majorant_clear(&g);
	arb_clear(S); arb_clear(T); arb_clear(h); arb_clear(x); arb_clear(y); arb_clear(scale); arb_clear(integral); arb_clear(err);
	return ok;
}

/* log of the sum that gaussian_late bounds, by doubles. a = 0 gives log M(theta). */
static double steer_sum(const mixture *m, double theta, double t, double a, double lo, double hi)
{
	double h = fmin(0.2, 0.5/m->mu), most = -INFINITY, sum = 0, half = m->mu*m->mu/2;
	slong n = (hi - lo)/h + 1;
	if (n > 4000) {
		n = 4000;
		h = (hi - lo)/n;
	}
	for (slong j = 0; j < n; j++) {
		double x = lo + h*j, e = a*a/2 - x*x/2;
		for (int i = 0; i < 2; i++) {
			if (!(i ? m->b : m->a))
				continue;
			double y = (i ? -1 : 1)*m->mu*x - half, top = fmax(y, 0), power = i ? -theta : theta + 1;
			if (t == 0) {
				e += power*(top + log((1 - m->q)*exp(-top) + m->q*exp(y - top)));
				continue;
			}
			double re = (1 - m->q)*exp(-top) + m->q*exp(y - top)*cos(m->mu*a), im = m->q*exp(y - top)*sin(m->mu*a);
			e += power*(top + log(hypot(re, im))) - t*atan2(im, re);
		}
		if (e > most) {
			sum = sum*exp(most - e) + 1;
			most = e;
		} else
			sum += exp(e - most);
	}
	return most + log(sum*h) - log(2*PI)/2;
}

/* ---- Laplace noise ---- */

/* The smooth part is m/4 e^{-(m+mu)/2} g(mu)^{p+it} over u in [-1, 1], p = theta+1 (remove), -theta (add). */
static int laplace_rule(rule *r, const certificate *c, const step *s, int d, double theta, double t, double digits, slong prec)
{
	double m = (c->relation == SUBSTITUTE ? 2 : 1)/s->noise, p = d ? -theta : theta + 1, q = s->rate, best = 1e9, rho = 0;
	for (int i = 1; i <= 60; i++) {
		double x = 1 + pow(1.35, i - 30), C = m*(x + 1/x)/2, D = m*(x - 1/x)/2;
		if (D > 3)
			break;
		double g = log1p(q*expm1(p >= 0 ? C : -C)), size = log(m) + C/2 + p*(g + (p < 0 ? log(cos(D/2)) : 0)) + t*D;
		double n = (digits + 4 + size - log1p(-1/(x*x)))/(2*log(x)) + 2;
		if (n < best) {
			best = n;
			rho = x;
		}
	}
	if (!(best < 1500))
		return 0;
	slong n = fmax(4, ceil(best));
	rule_init(r, n + 2);
	arb_t M, Q, P, S, x, w, y, e, g, pw;
	arb_init(M); arb_init(Q); arb_init(P); arb_init(S); arb_init(x); arb_init(w); arb_init(y); arb_init(e); arb_init(g); arb_init(pw);
	shift(M, c, s, prec);
	arb_set_d(Q, q);
	arb_sub_ui(P, Q, 1, prec);
	arb_neg(P, P);
	arb_set_d(S, theta);
	if (d)
		arb_neg(pw, S);
	else
		arb_add_ui(pw, S, 1, prec);
	for (slong j = 0; j < n + 2; j++) {
		/* w = log of the mass or of weight times density, y the loss of a full run */
		if (j < n) {
			arb_hypgeom_legendre_p_ui_root(x, w, n, j, prec);
			arb_mul(y, M, x, prec);
			arb_mul(w, w, M, prec);
			arb_mul_2exp_si(w, w, -2);
			arb_add(e, M, y, prec);
			arb_mul_2exp_si(e, e, -1);
			arb_neg(e, e);
		} else {
			arb_one(w);
			arb_mul_2exp_si(w, w, -1);
			arb_zero(e);
			arb_set(y, M);
			if (j == n)
				arb_neg(e, M);
			else
				arb_neg(y, M);
		}
		arb_exp(g, y, prec);
		arb_mul(g, g, Q, prec);
		arb_add(g, g, P, prec);
		arb_log(g, g, prec);
		arb_addmul(e, pw, g, prec);
		arb_exp(e, e, prec);
		arb_mul(r->W + j, w, e, prec);
		if (d)
			arb_neg(g, g);
		arb_set(r->L + j, g);
	}
	/* 64/15 S rho^{-2(n-1)}/(1-rho^{-2}) */
	arb_t C, D, R, T;
	arb_init(C); arb_init(D); arb_init(R); arb_init(T);
	arb_set_d(R, rho);
	arb_set_d(T, t);
	arb_inv(x, R, prec);
	arb_add(C, R, x, prec);
	arb_sub(D, R, x, prec);
	arb_mul_2exp_si(C, C, -1);
	arb_mul_2exp_si(D, D, -1);
	arb_mul(C, C, M, prec);
	arb_mul(D, D, M, prec);
	arb_set(y, C);
	if (arb_is_negative(pw))
		arb_neg(y, y);
	arb_exp(g, y, prec);
	arb_mul(g, g, Q, prec);
	arb_add(g, g, P, prec);
	if (arb_is_negative(pw)) {
		arb_mul_2exp_si(w, D, -1);
		arb_cos(w, w, prec);
		arb_mul(g, g, w, prec);
	}
	arb_log(g, g, prec);
	arb_sub(e, C, M, prec);
	arb_mul_2exp_si(e, e, -1);
	arb_addmul(e, pw, g, prec);
	arb_addmul(e, T, D, prec);
	arb_exp(e, e, prec);
	arb_mul(e, e, M, prec);
	arb_mul_2exp_si(e, e, -2);
	arb_mul_ui(e, e, 64, prec);
	arb_div_ui(e, e, 15, prec);
	arb_pow_ui(w, x, 2*(n - 1), prec);
	arb_mul(e, e, w, prec);
	arb_mul(w, x, x, prec);
	arb_sub_ui(w, w, 1, prec);
	arb_neg(w, w);
	arb_div(r->err, e, w, prec);
	arb_clear(C); arb_clear(D); arb_clear(R); arb_clear(T);
	arb_clear(M); arb_clear(Q); arb_clear(P); arb_clear(S); arb_clear(x); arb_clear(w); arb_clear(y); arb_clear(e); arb_clear(g); arb_clear(pw);
	return 1;
}

/* Late frequencies: the two atoms, and V/t for the part with a density. In the variable l = log g the density is
 * H = e^{-(m+y)/2}/4 g^{p+1} e^{-y}/q; log H has the slope -3/2 + (p+1) q e^y/g in y, which changes its sign at most once, from
 * below to above; so with its jumps at both ends H varies by at most V = 2(H(-m) + H(m)). */
static void laplace_late(arb_t bound, const certificate *c, const step *s, int d, double theta, double t, slong prec)
{
	arb_t M, Q, P, pw, y, g, e, x;
	arb_init(M); arb_init(Q); arb_init(P); arb_init(pw); arb_init(y); arb_init(g); arb_init(e); arb_init(x);
	shift(M, c, s, prec);
	arb_set_d(Q, s->rate);
	arb_sub_ui(P, Q, 1, prec);
	arb_neg(P, P);
	arb_set_d(pw, theta);
	if (d)
		arb_neg(pw, pw);
	else
		arb_add_ui(pw, pw, 1, prec);
	arb_zero(bound);
	for (int side = 0; side < 2; side++) {
		arb_set(y, M);
		if (!side)
			arb_neg(y, y);
		arb_exp(g, y, prec);
		arb_mul(g, g, Q, prec);
		arb_add(g, g, P, prec);
		arb_log(g, g, prec);
		arb_mul(e, pw, g, prec);
		if (side)
			arb_sub(e, e, M, prec);
		arb_exp(x, e, prec);
		arb_mul_2exp_si(x, x, -1);
		arb_add(bound, bound, x, prec);
		/* 2H/t: log H = log(1/4) - (m+y)/2 + (p+1) log g - y - log q */
		arb_mul(e, pw, g, prec);
		arb_add(e, e, g, prec);
		arb_sub(e, e, y, prec);
		arb_add(x, M, y, prec);
		arb_mul_2exp_si(x, x, -1);
		arb_sub(e, e, x, prec);
		arb_exp(e, e, prec);
		arb_div(e, e, Q, prec);
		arb_mul_2exp_si(e, e, -1);
		arb_set_d(x, t);
		arb_div(e, e, x, prec);
		arb_add(bound, bound, e, prec);
	}
	arb_clear(M); arb_clear(Q); arb_clear(P); arb_clear(pw); arb_clear(y); arb_clear(g); arb_clear(e); arb_clear(x);
}

/* ---- finite pairs ---- */

/* The masses of outcome i in direction d, after sampling: P' = rate P + (1-rate) Q against Q, or the other way round. */
void outcome_masses(arb_t p, arb_t q, const step *s, int d, slong i, slong prec)
{
	arb_t r, x;
	arb_init(r); arb_init(x);
	arb_set_d(r, s->rate);
	arb_mul(x, r, s->p[i], prec);
	arb_sub_ui(r, r, 1, prec);
	arb_submul(x, r, s->q[i], prec);
	arb_set(d ? q : p, x);
	arb_set(d ? p : q, s->q[i]);
	arb_clear(r); arb_clear(x);
}

void finite_masses(arb_t m0, arb_t m1, const step *s, int d, slong prec)
{
	arb_one(m0);
	arb_one(m1);
	if (s->kind != FINITE)
		return;
	arb_t p, q;
	arb_init(p); arb_init(q);
	for (slong i = 0; i < s->outcomes; i++) {
		outcome_masses(p, q, s, d, i, prec);
		if (arb_is_zero(q))
			arb_sub(m0, m0, p, prec);
		if (arb_is_zero(p))
			arb_sub(m1, m1, q, prec);
	}
	arb_clear(p); arb_clear(q);
}

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

/* ---- any step ---- */

int make_rule(rule *r, const certificate *c, const step *s, int d, double theta, double t, double digits, slong prec)
{
	switch (s->kind) {
	case GAUSSIAN:
		return gaussian_rule(r, c, s, d, theta, t, digits, prec);
	case LAPLACE:
		return laplace_rule(r, c, s, d, theta, t, digits, prec);
	default:
		return finite_rule(r, s, d, theta, prec);
	}
}

int real_transform(arb_t m, const certificate *c, const step *s, int d, double at, slong prec)
{
	if (s->kind == GAUSSIAN && s->rate == 1) {
		arb_t x;
		arb_init(x);
		shift(m, c, s, prec);
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
	if (s->kind == GAUSSIAN && s->rate == 1) {
		/* e^{mu^2/2 (theta(theta+1) - t^2)} */
		arb_t x, y;
		arb_init(x); arb_init(y);
		arb_set_d(y, t);
		arb_mul(y, y, y, prec);
		arb_set_d(x, theta);
		arb_mul(bound, x, x, prec);
		arb_add(x, x, bound, prec);
		arb_sub(x, x, y, prec);
		shift(y, c, s, prec);
		arb_mul(y, y, y, prec);
		arb_mul_2exp_si(y, y, -1);
		arb_mul(x, x, y, prec);
		arb_exp(bound, x, prec);
		arb_clear(x); arb_clear(y);
		return 1;
	}
	if (s->kind == GAUSSIAN && angle > 0) {
		mixture m;
		mixture_init(&m, c, s, d, prec);
		int ok = gaussian_late(bound, &m, theta, t, angle, digits, prec);
		mixture_clear(&m);
		return ok;
	}
	if (s->kind == LAPLACE) {
		laplace_late(bound, c, s, d, theta, t, prec);
		return 1;
	}
	return real_transform(bound, c, s, d, theta, prec);
}

double steer_transform(const certificate *c, const step *s, int d, double at)
{
	double x = INFINITY;
	if (s->kind == GAUSSIAN && s->rate != 1) {
		mixture m;
		mixture_init(&m, c, s, d, 64);
		majorant g;
		arb_t S;
		arb_init(S);
		arb_set_d(S, at);
		majorant_init(&g, &m, S, 64);
		double lo, hi;
		majorant_range(&lo, &hi, &g, 40);
		x = steer_sum(&m, at, 0, 0, lo, hi);
		arb_clear(S);
		majorant_clear(&g);
		mixture_clear(&m);
		return x;
	}
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
	if (s->kind == GAUSSIAN && s->rate == 1) {
		double mu = (c->relation == SUBSTITUTE ? 2 : 1)/s->noise;
		return -mu*mu*t*t/2;
	}
	slong prec = 80;
	double best = 0;
	if (s->kind == LAPLACE) {
		arb_t x, y;
		arb_init(x); arb_init(y);
		laplace_late(x, c, s, d, theta, t, prec);
		if (real_transform(y, c, s, d, theta, prec)) {
			arb_div(x, x, y, prec);
			arb_log(x, x, prec);
			best = fmin(0, mid(x));
		}
		arb_clear(x); arb_clear(y);
	}
	if (s->kind == GAUSSIAN) {
		mixture m;
		mixture_init(&m, c, s, d, prec);
		majorant g;
		arb_t S;
		arb_init(S);
		arb_set_d(S, theta);
		majorant_init(&g, &m, S, prec);
		double lo, hi;
		majorant_range(&lo, &hi, &g, 40);
		double full = steer_sum(&m, theta, 0, 0, lo, hi);
		for (int i = 0; i < 16; i++) {
			double a = 1.6/m.mu*pow(0.7, i), x = steer_sum(&m, theta, t, a, lo, hi) - full;
			if (x < best) {
				best = x;
				*angle = a;
			}
		}
		arb_clear(S);
		majorant_clear(&g);
		mixture_clear(&m);
	}
	return best;
}
