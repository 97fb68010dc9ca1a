/*
 * The transform M(z) = E_P[e^{zL}] of one run of Gaussian noise on samples, as finite sums with proved errors.
 *
 * In units of the standard deviation, a record in the sample moves the mean by mu, and j of K records by j mu. With Poisson sampling at
 * rate q, w_j = binomial(K, j) q^j (1-q)^{K-j} and y_j = j mu x - (j mu)^2/2,
 *   A = sum of w_j e^{y_j(x)},   B = sum of w_j e^{y_j(-x)},
 *   remove: A against 1;  add: 1 against B (mirrored);  substitute: A against B;
 *   M(z) = int phi(x) A^{z+1} B^{-z} dx, L = log A - log B, which increases with x. For K = 1, A = 1-q+qe^{y_1}.
 *
 * Facts used, each for 0 < K mu b < pi:
 *  (1) A(x+ib) has its angle in [0, K mu b], B(x+ib) in [-K mu b, 0]; cos(K mu b/2) A(x) <= |A(x+ib)| <= A(x), and B alike: A is a sum
 *      of numbers with angles between 0 and K mu b, which projects on the bisector. So A and B have no zero in the strip, and powers are
 *      analytic.
 *  (2) |phi(x+ib)| = e^{b^2/2} phi(x).
 *  (3) A^a is at most the sum of w_j e^{a y_j} for a >= 1 (convexity), the sum of e^{a y_j} for 0 <= a < 1, w_0^a for a < 0.
 *      The integrals of phi against products of these are closed.
 *  (4) The trapezoidal rule with step h on the whole line is wrong by at most 2 I/(e^{2 pi b/h}-1), I a bound of the integral of the
 *      modulus on every line of the strip (Trefethen and Weideman 2014, Theorem 5.1).
 *  (5) The nodes left out beyond z > 0: h sum of phi(x_j) <= phi(z)(h + 1/z).
 */
#include <math.h>
#include "check.h"

enum { MAX_TERMS = (MAX_RECORDS + 1)*(MAX_RECORDS + 1) };

int full_gaussian(const step *s) { return s->kind == GAUSSIAN && s->rate == 1; }

/* A mixture is the pair of a Gaussian step in one direction. Under substitute the records of a sampled one move the sum from 0 by mu
 * one way or the other: mu is that of add-remove. */
typedef struct {
	int a, b;                /* whether A and B are not 1 */
	int n;                   /* the number of components, K + 1 */
	int same;                /* B is at x, as A is, and not at -x */
	double mu, top, w[2][MAX_RECORDS + 2];  /* top = K mu */
	arb_t Mu, Top;
	arb_t W[2][MAX_RECORDS + 2], H[MAX_RECORDS + 2]; /* the weights of A and of B, and (j mu)^2/2 */
} mixture;

static void mixture_init(mixture *m, const step *s, int d, slong prec)
{
	int two = s->form == DISPLACED; /* the record moves the mean by 2 mu, an empty place by mu */
	m->a = d == 0 || s->form != PLAIN;
	m->b = d == 1 || s->form != PLAIN;
	m->same = two;
	m->n = two ? 3 : s->records + 1;
	shift_of(m->Mu, s, prec);
	arb_mul_ui(m->Top, m->Mu, m->n - 1, prec);
	m->mu = mid(m->Mu);
	m->top = m->mu*(m->n - 1);
	for (int j = 0; j < m->n; j++) {
		for (int i = 0; i < 2; i++) {
			if (!two)
				copies_of(m->W[i][j], s, j, prec);
			else if (j != i + 1) {
				rate_of(m->W[i][j], s, prec);
				if (j == 0)
					complement(m->W[i][j], m->W[i][j], prec);
			}
			m->w[i][j] = mid(m->W[i][j]);
		}
		arb_mul_ui(m->H[j], m->Mu, j, prec);
		half_square(m->H[j], m->H[j], prec);
	}
}

static void mixture_clear(mixture *m)
{
	arb_clear(m->Mu); arb_clear(m->Top);
	for (int j = 0; j < m->n; j++) {
		arb_clear(m->W[0][j]); arb_clear(m->W[1][j]); arb_clear(m->H[j]);
	}
}

/* A majorant of A^{s+1}B^{-s} on the real line: the sum of e^{w + c x}. */
typedef struct {
	int n;
	arb_t w[MAX_TERMS], c[MAX_TERMS];
} majorant;

static void majorant_clear(majorant *g)
{
	for (int i = 0; i < MAX_TERMS; i++) {
		arb_clear(g->w[i]);
		arb_clear(g->c[i]);
	}
}

/* The majorant of A^a (sign 1) or B^a (sign -1), fact (3); of 1 where it is not present. */
static void majorant_power(majorant *g, const mixture *m, int present, int sign, const arb_t a, slong prec)
{
	g->n = 1;
	if (!present)
		return;
	if (arb_is_negative(a)) {
		arb_log(g->w[0], m->W[0][0], prec);
		arb_mul(g->w[0], g->w[0], a, prec);
		return;
	}
	g->n = m->n;
	BALLS(one);
	arb_one(one);
	for (int j = 0; j < m->n; j++) {
		if (arb_ge(a, one))
			arb_log(g->w[j], m->W[0][j], prec);
		arb_submul(g->w[j], a, m->H[j], prec);
		arb_mul(g->c[j], a, m->Mu, prec);
		arb_mul_si(g->c[j], g->c[j], sign*j, prec);
	}
}

static void majorant_init(majorant *g, const mixture *m, const arb_t s, slong prec)
{
	OWNED(majorant_clear) majorant x = { 0 }, y = { 0 };
	BALLS(a);
	arb_add_ui(a, s, 1, prec);
	majorant_power(&x, m, m->a, 1, a, prec);
	arb_neg(a, s);
	majorant_power(&y, m, m->b, -1, a, prec);
	for (int i = 0; i < x.n; i++)
		for (int j = 0; j < y.n; j++, g->n++) {
			arb_add(g->w[g->n], x.w[i], y.w[j], prec);
			arb_add(g->c[g->n], x.c[i], y.c[j], prec);
		}
}

/* The integral of phi times the majorant: the sum of e^{w + c^2/2}. */
static void majorant_integral(arb_t out, const majorant *g, slong prec)
{
	BALLS(x);
	arb_zero(out);
	for (int i = 0; i < g->n; i++) {
		half_square(x, g->c[i], prec);
		arb_add(x, x, g->w[i], prec);
		arb_exp(x, x, prec);
		arb_add(out, out, x, prec);
	}
}

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
	BALLS(x, y, z);
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
}

/* cos(K mu w/2) to the powers s+1 and -s as far as these are negative and the densities are mixtures, fact (1). */
static void sector(arb_t out, const mixture *m, const arb_t s, double w, slong prec)
{
	BALLS(cosine, a, x);
	arb_mul(x, D(w), m->Top, prec);
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
}

static double log_sector(const mixture *m, double s, double w)
{
	double e = (m->a ? fmin(0, s + 1) : 0) + (m->b ? fmin(0, -s) : 0);
	return e*log(cos(m->top*w/2));
}

/* err += 2 e^{exponent} scale integral/(e^{2 pi b/h} - 1), fact (4). */
static void trapezoid_error(arb_t err, const arb_t exponent, const arb_t scale, const arb_t integral, double b, const arb_t h, slong prec)
{
	BALLS(x, y);
	arb_const_pi(x, prec);
	arb_mul(x, x, D(2*b), prec);
	arb_div(x, x, h, prec);
	arb_expm1(x, x, prec);
	arb_exp(y, exponent, prec);
	arb_mul(y, y, scale, prec);
	arb_mul(y, y, integral, prec);
	arb_mul_2exp_si(y, y, 1);
	arb_div(y, y, x, prec);
	arb_add(err, err, y, prec);
}

/* log A or log B (i = 1) at a real x. */
static void log_component(arb_t out, const mixture *m, const arb_t x, int i, slong prec)
{
	int sign = i && !m->same ? -1 : 1;
	BALLS(y, sum);
	for (int j = 0; j < m->n; j++) {
		arb_mul(y, m->Mu, x, prec);
		arb_mul_si(y, y, sign*j, prec);
		arb_sub(y, y, m->H[j], prec);
		arb_exp(y, y, prec);
		arb_addmul(sum, y, m->W[i][j], prec);
	}
	arb_log(out, sum, prec);
}

int gaussian_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec)
{
	OWNED(mixture_clear) mixture m = { 0 };
	mixture_init(&m, s, d, prec);
	BALLS(S, h, x, scale, integral);
	arb_set_d(S, theta);
	OWNED(majorant_clear) majorant g = { 0 };
	majorant_init(&g, &m, S, prec);
	double spread = m.top*(m.a + m.b), size = log_integral(&g), best = 0, strip = 0, lo, hi;
	for (int i = 1; i <= 60; i++) {
		double b = fmin(0.97*PI/m.top, 60)*pow(0.93, i - 1);
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
		BALLS(root);
		arb_const_sqrt_pi(root, prec);
		arb_sqrt_ui(x, 2, prec);
		arb_mul(root, root, x, prec);
		arb_div(root, h, root, prec);
		BALLS(la, lb, e);
		for (slong j = first; j < last; j++) {
			arb_mul_si(x, h, j, prec);
			if (m.a)
				log_component(la, &m, x, 0, prec);
			if (m.b)
				log_component(lb, &m, x, 1, prec);
			arb_sub(r->L + (j - first), la, lb, prec);
			half_square(e, x, prec);
			arb_sub(e, la, e, prec);
			arb_addmul(e, S, r->L + (j - first), prec);
			arb_exp(e, e, prec);
			arb_mul(r->W + (j - first), e, root, prec);
		}
		majorant_integral(integral, &g, prec);
		sector(scale, &m, S, strip, prec);
		/* b^2/2 + t spread b */
		BALLS(y);
		arb_set_d(x, strip);
		arb_mul(y, D(t), m.Top, prec);
		arb_mul_ui(y, y, m.a + m.b, prec);
		arb_mul(y, y, x, prec);
		half_square(x, x, prec);
		arb_add(y, y, x, prec);
		trapezoid_error(r->err, y, scale, integral, strip, h, prec);
		arb_one(scale);
		left_out(r->err, &g, scale, h, first, last, prec);
	}
	return ok;
}

/* ---- late frequencies of Gaussian mixtures ----
 *
 * Move the line of x by ia, 0 < K mu a < pi: |M(theta+it)| <= int F, F = e^{a^2/2} phi |A(x+ia)|^{theta+1} |B(x+ia)|^{-theta} e^{-t angle},
 * angle = arg A - arg B >= 0, which falls with t. F is itself analytic: |A(x+ia)| = (A(x+ia)A(x-ia))^{1/2}, and the angle is
 * (log A(x+ia) - log A(x-ia))/2i. On a line at height w, a + w < pi/(K mu), it is at most e^{(a^2+w^2)/2} phi times the majorant, times the
 * sector's factor at a + w, times e^{(t/2) spread (w-a)} if w > a: one of the two angles has the good sign, the other is at most K mu(w-a).
 */
static int mixture_late(arb_t bound, const mixture *m, double theta, double t, double a, double digits, slong prec)
{
	BALLS(S, T, h, x, y, scale, integral, err);
	arb_set_d(S, theta);
	arb_set_d(T, t);
	OWNED(majorant_clear) majorant g = { 0 };
	majorant_init(&g, m, S, prec);
	double spread = m->top*(m->a + m->b), size = log_integral(&g), best = 0, strip = 0, lo, hi;
	for (int i = 1; i <= 60; i++) {
		double w = fmin(0.97*PI/m->top - a, 60)*pow(0.93, i - 1);
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
		COMPLEX(u, v, term);
		BALLS(A, e);
		arb_set_d(A, a);
		arb_zero(bound);
		for (slong j = first; j < last; j++) {
			arb_mul_si(x, h, j, prec);
			half_square(e, x, prec);
			arb_neg(e, e);
			for (int i = 0; i < 2; i++) {
				if (!(i ? m->b : m->a))
					continue;
				/* sign j mu (x + ia) - (j mu)^2/2 */
				arb_mul(acb_realref(u), m->Mu, x, prec);
				arb_mul(acb_imagref(u), m->Mu, A, prec);
				if (i)
					acb_neg(u, u);
				acb_zero(v);
				for (int k = 0; k < m->n; k++) {
					acb_mul_ui(term, u, k, prec);
					arb_sub(acb_realref(term), acb_realref(term), m->H[k], prec);
					acb_exp(term, term, prec);
					acb_mul_arb(term, term, m->W[0][k], prec);
					acb_add(v, v, term, prec);
				}
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
		half_square(e, A, prec);
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
			arb_mul(x, x, m->Top, prec);
			arb_mul_ui(x, x, m->a + m->b, prec);
			arb_add(y, y, x, prec);
		}
		arb_mul_2exp_si(y, y, -1);
		trapezoid_error(err, y, scale, integral, strip, h, prec);
		sector(scale, m, S, a, prec);
		half_square(x, A, prec);
		arb_exp(x, x, prec);
		arb_mul(scale, scale, x, prec);
		left_out(err, &g, scale, h, first, last, prec);
		arb_add(bound, bound, err, prec);
		ok = arb_is_finite(bound);
	}
	return ok;
}

int gaussian_late(arb_t bound, const step *s, int d, double theta, double t, double angle, double digits, slong prec)
{
	OWNED(mixture_clear) mixture m = { 0 };
	mixture_init(&m, s, d, prec);
	return mixture_late(bound, &m, theta, t, angle, digits, prec);
}

/* log of the sum that mixture_late bounds, by doubles. a = 0 gives log M(theta). */
static double steer_sum(const mixture *m, double theta, double t, double a, double lo, double hi)
{
	double h = fmin(0.2, 0.5/m->top), most = -INFINITY, sum = 0;
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
			double y[MAX_RECORDS + 2], top = -INFINITY, re = 0, im = 0, power = i ? -theta : theta + 1;
			for (int k = 0; k < m->n; k++) {
				double mu = k*m->mu;
				y[k] = (i ? -mu : mu)*x - mu*mu/2;
				top = fmax(top, y[k]);
			}
			for (int k = 0; k < m->n; k++) {
				double w = m->w[0][k]*exp(y[k] - top);
				re += t == 0 ? w : w*cos(k*m->mu*a);
				im += t == 0 ? 0 : w*sin(k*m->mu*a);
			}
			e += power*(top + (t == 0 ? log(re) : log(hypot(re, im)))) - (t == 0 ? 0 : t*atan2(im, re));
		}
		if (e > most) {
			sum = sum*exp(most - e) + 1;
			most = e;
		} else
			sum += exp(e - most);
	}
	return most + log(sum*h) - log(2*PI)/2;
}

/* At frequency t the logarithm of the late bound over M(theta), for the best angle; at t = 0 log M(theta). */
double gaussian_steer(double *angle, const step *s, int d, double theta, double t)
{
	const slong prec = 80;
	OWNED(mixture_clear) mixture m = { 0 };
	mixture_init(&m, s, d, prec);
	OWNED(majorant_clear) majorant g = { 0 };
	BALLS(S);
	arb_set_d(S, theta);
	majorant_init(&g, &m, S, prec);
	double lo, hi, best = 0;
	majorant_range(&lo, &hi, &g, 40);
	double full = steer_sum(&m, theta, 0, 0, lo, hi);
	*angle = 0;
	for (int i = 0; i < 16 && t > 0; i++) {
		double a = 1.6/m.top*pow(0.7, i), x = steer_sum(&m, theta, t, a, lo, hi) - full;
		if (x < best) {
			best = x;
			*angle = a;
		}
	}
	return t > 0 ? best : full;
}

/* ---- cells of losses ---- */

/* The masses P and Q of all outputs above x. A mean m of a component has the tail erfc((x - m)/sqrt 2)/2. */
static void above_x(const mixture *m, arb_t p, arb_t q, const arb_t x, slong prec)
{
	BALLS(z);
	for (int i = 0; i < 2; i++) {
		arb_ptr sum = i ? q : p;
		arb_zero(sum);
		int mixed = i ? m->b : m->a;
		for (int j = 0; j < (mixed ? m->n : 1); j++) {
			arb_mul_si(z, m->Mu, i && !m->same ? j : -j, prec);
			arb_add(z, z, x, prec);
			normal_tail(z, z, prec);
			if (mixed)
				arb_mul(z, z, m->W[i][j], prec);
			arb_add(sum, sum, z, prec);
		}
	}
}

/* About the loss at x. */
static double about_loss(const mixture *m, double logw[2][MAX_RECORDS + 2], double x)
{
	double l = 0;
	for (int i = 0; i < 2; i++) {
		if (!(i ? m->b : m->a))
			continue;
		double y[MAX_RECORDS + 2], top = -INFINITY, sum = 0;
		for (int j = 0; j < m->n; j++) {
			double mu = j*m->mu;
			y[j] = logw[i][j] + (i && !m->same ? -mu : mu)*x - mu*mu/2;
			top = fmax(top, y[j]);
		}
		for (int j = 0; j < m->n; j++)
			sum += exp(y[j] - top);
		l += (i ? -1 : 1)*(top + log(sum));
	}
	return l;
}

void gaussian_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec)
{
	OWNED(mixture_clear) mixture m = { 0 };
	mixture_init(&m, s, d, prec);
	double logw[2][MAX_RECORDS + 2], lo = -1, least = -INFINITY, most = INFINITY;
	for (int j = 0; j < 2*m.n; j++)
		logw[j%2][j/2] = log(m.w[j%2][j/2]);
	BALLS(x, e, end);
	/* Losses end at log w_0 or -log w_0 if only one law is mixed. */
	arb_log(end, m.W[0][0], prec);
	if (m.a && !m.b)
		least = logw[0][0];
	if (m.b && !m.a) {
		most = -logw[0][0];
		arb_neg(end, end);
	}
	for (slong i = 0; i < n; i++) {
		arb_set_d(e, at[i]);
		if (at[i] <= least) {
			arb_one(p + i);
			arb_one(q + i);
			arb_min(l + i, e, end, prec);
			continue;
		}
		if (at[i] >= most) {
			arb_zero(p + i);
			arb_zero(q + i);
			arb_max(l + i, e, end, prec);
			continue;
		}
		double hi = lo + 1, width = 1;
		while (about_loss(&m, logw, lo) > at[i] && width < 1e300)
			lo -= width *= 2;
		width = 1;
		while (about_loss(&m, logw, hi) < at[i] && width < 1e300)
			hi += width *= 2;
		for (int k = 0; k < 64; k++) {
			double y = lo + (hi - lo)/2;
			if (y == lo || y == hi)
				break;
			if (about_loss(&m, logw, y) < at[i])
				lo = y;
			else
				hi = y;
		}
		arb_set_d(x, lo);
		above_x(&m, p + i, q + i, x, prec);
		arb_zero(l + i);
		if (m.a)
			log_component(l + i, &m, x, 0, prec);
		if (m.b) {
			log_component(e, &m, x, 1, prec);
			arb_sub(l + i, l + i, e, prec);
		}
		/* The losses of DISPLACED rise from 3/2 mu on, and are below 0 before. */
		arb_mul_2exp_si(e, x, 1);
		arb_submul_ui(e, m.Mu, 3, prec);
		if (m.same && !arb_is_nonnegative(e))
			arb_indeterminate(l + i);
	}
}
