/*
 * delta(eps) by one integral, in ball arithmetic.
 *
 * For theta > 0, with M the transform of the sum of all losses over the part of P where it is finite, m0 = M(0), m1 = M(-1):
 *   delta(eps) = (1 - m0) + I,    I = (1/2 pi) int M(theta+it) e^{-(theta+it) eps}/((theta+it)(theta+it+1)) dt.
 * With the sum S of step h in place of the integral, period lambda = 2 pi/h, any s+ > theta and s- < theta, neither 0 nor -1:
 *   I = S + series - rho+ - rho-,   |rho| <= R(s) = w(s) M(s) e^{-s eps}/(e^{|s-theta| lambda} - 1),
 *   series = -m0/(e^{theta lambda} - 1) if s- < 0, and + m1 e^eps/(e^{(theta+1) lambda} - 1) if s- < -1,
 *   w(s) = s^s/(1+s)^{1+s}, 1, (p-1)^{p-1}/p^p (p = -s) for s > 0, -1 < s < 0, s < -1
 * (Poisson's summation formula; Chernoff's bound on two other lines; Abate and Whitt 1992 have the case of one sided functions).
 * Terms beyond t = nh: |z(z+1)| >= t^2, and the sum over k > n of h/(kh)^2 is at most 1/(nh); the product is bounded by late_bound.
 */
#include <math.h>
#include "check.h"

enum { MAX_FREQUENCIES = 200000 };
static const double MAX_PRODUCTS = 2e7; /* nodes times frequencies of all steps */

/* log M of all runs at a real place. */
static int cumulant(arb_t k, const certificate *c, int d, double at, slong prec)
{
	BALLS(m);
	arb_zero(k);
	int ok = 1;
	for (slong i = 0; ok && i < c->steps; i++) {
		ok = real_transform(m, &c->step[i], d, at, prec);
		if (ok) {
			arb_log(m, m, prec);
			arb_addmul_ui(k, m, c->step[i].count, prec);
			ok = arb_is_finite(k);
		}
	}
	return ok;
}

static double about(const certificate *c, int d, double at)
{
	double k = 0;
	for (slong i = 0; i < c->steps; i++)
		k += c->step[i].count*steer_transform(&c->step[i], d, at);
	return k;
}

/* x log x, 0 at 0. */
static double xlogx(double x) { return x > 0 ? x*log(x) : 0; }

static double log_weight(double s)
{
	if (s > 0)
		return xlogx(s) - xlogx(1 + s);
	if (s > -1)
		return 0;
	return xlogx(-s - 1) - xlogx(-s);
}

/* log M(theta) e^{-theta eps}/(theta (theta+1)) at theta = e^l, about. */
static double valley(const certificate *c, int d, double eps, double l)
{
	double t = exp(l);
	return about(c, d, t) - t*eps - l - log1p(t);
}

/* The place theta > 0 where that is about least: a stride that does not lead down is turned and made shorter. */
static double saddle(const certificate *c, int d, double eps)
{
	double at = 0, least = valley(c, d, eps, at), stride = 1;
	for (int i = 0; i < 100 && fabs(stride) > 1e-3; i++) {
		double now = valley(c, d, eps, at + stride);
		if (now < least) {
			least = now;
			at += stride;
		} else
			stride *= -0.6;
	}
	return exp(at);
}

/* w(s) M(s) e^{-s eps}, a ball that holds it. */
static int chernoff(arb_t r, const certificate *c, int d, double s, double eps, slong prec)
{
	BALLS(x, y);
	int ok = cumulant(r, c, d, s, prec);
	arb_submul(r, D(s), D(eps), prec);
	for (int i = 0; i < 2; i++) {
		/* s log s - (1+s) log(1+s); with p = -s: (p-1) log(p-1) - p log p */
		if (s > -1 && s < 0)
			break;
		arb_set_d(x, s > 0 ? s : -s - 1);
		if (i)
			arb_add_ui(x, x, 1, prec);
		arb_log(y, x, prec);
		arb_mul(x, x, y, prec);
		if (i)
			arb_neg(x, x);
		arb_add(r, r, x, prec);
	}
	arb_exp(r, r, prec);
	return ok;
}

/* R(s), a ball that holds it. */
static int remainder_bound(arb_t r, const certificate *c, int d, double s, double theta, const arb_t lambda, double eps, slong prec)
{
	BALLS(x, y);
	int ok = chernoff(r, c, d, s, eps, prec);
	arb_sub(x, D(s), D(theta), prec);
	arb_abs(x, x);
	arb_mul(x, x, lambda, prec);
	arb_expm1(x, x, prec);
	arb_div(r, r, x, prec);
	return ok && arb_is_finite(r);
}

/* mass/(e^{(theta + place) lambda} - 1), what a pole on the way leaves. */
static void pole(arb_t out, const arb_t mass, double theta, ulong place, const arb_t lambda, slong prec)
{
	arb_add_ui(out, D(theta), place, prec);
	arb_mul(out, out, lambda, prec);
	arb_expm1(out, out, prec);
	arb_div(out, mass, out, prec);
}

/* The products of M_i(theta + ikh)^{T_i}, k = 0 … n, into f. */
static int products(acb_ptr f, slong n, const certificate *c, int d, double theta, double h, double digits, const char **why, slong prec)
{
	double work = 0;
	for (slong k = 0; k <= n; k++)
		acb_one(f + k);
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (full_gaussian(s)) {
			/* e^{T mu^2/2 z(z+1)} */
			BALLS(mu);
			COMPLEX(z, w);
			shift_of(mu, s, prec);
			half_square(mu, mu, prec);
			arb_mul_ui(mu, mu, s->count, prec);
			for (slong k = 0; k <= n; k++) {
				arb_set_d(acb_realref(z), theta);
				arb_mul_si(acb_imagref(z), D(h), k, prec);
				acb_add_ui(w, z, 1, prec);
				acb_mul(w, w, z, prec);
				acb_mul_arb(w, w, mu, prec);
				acb_exp(w, w, prec);
				acb_mul(f + k, f + k, w, prec);
			}
			continue;
		}
		OWNED(rule_clear) rule r = { 0 }; /* for a little more than nh, whose product is rounded */
		if (!make_rule(&r, s, d, theta, n*h*(1 + 1e-14), digits + log(s->count) + 5, prec)) {
			*why = "a transform needs too many nodes";
			return 0;
		}
		if ((work += (double)r.n*n) > MAX_PRODUCTS) {
			*why = "the transforms take too much work";
			return 0;
		}
		/* k = width a + b: all frequencies at once as a product of matrices; every entry is rounded once, so that no error grows
		 * along a recurrence. */
		slong width = ceil(sqrt(n + 1)), rows = n/width + 1;
		acb_mat_t U, V, W;
		acb_mat_init(U, rows, r.n);
		acb_mat_init(V, r.n, width);
		acb_mat_init(W, rows, width);
		BALLS(x);
		for (slong j = 0; j < r.n; j++) {
			for (slong a = 0; a < rows; a++) {
				acb_ptr e = acb_mat_entry(U, a, j);
				arb_mul_si(x, D(h), a*width, prec);
				arb_mul(x, x, r.L + j, prec);
				arb_sin_cos(acb_imagref(e), acb_realref(e), x, prec);
				acb_mul_arb(e, e, r.W + j, prec);
			}
			for (slong b = 0; b < width; b++) {
				acb_ptr e = acb_mat_entry(V, j, b);
				arb_mul_si(x, D(h), b, prec);
				arb_mul(x, x, r.L + j, prec);
				arb_sin_cos(acb_imagref(e), acb_realref(e), x, prec);
			}
		}
		acb_mat_mul(W, U, V, prec);
		COMPLEX(m);
		for (slong k = 0; k <= n; k++) {
			acb_set(m, acb_mat_entry(W, k/width, k%width));
			acb_add_error_arb(m, r.err);
			acb_pow_ui(m, m, s->count, prec);
			acb_mul(f + k, f + k, m, prec);
		}
		acb_mat_clear(U); acb_mat_clear(V); acb_mat_clear(W);
	}
	return 1;
}

int delta_chernoff(arb_t bound, const certificate *c, int d, double eps, slong prec)
{
	double theta = saddle(c, d, eps);
	BALLS(m0, m1);
	int ok = chernoff(bound, c, d, theta, eps, prec);
	finite_parts(m0, m1, c, d, prec);
	arb_sub_ui(m0, m0, 1, prec);
	arb_sub(bound, bound, m0, prec);
	return ok && arb_is_finite(bound);
}

/* Lines and frequencies of a sum. */
typedef struct {
	double theta, ahead, behind, h, tol, angle[MAX_STEPS];
	slong n;
} lines;

/* The lines beside theta that need the least period; 0 if there is none, or the period. */
static double beside(lines *l, const certificate *c, int d, double eps, double base)
{
	double theta = l->theta, ahead = INFINITY, behind = INFINITY;
	for (int i = -14; i <= 24; i++) {
		double s = theta*(1 + pow(1.35, i)), need = (about(c, d, s) - base - (s - theta)*eps + log_weight(s) - l->tol)/(s - theta);
		if (need < ahead) {
			ahead = need;
			l->ahead = s;
		} else if (need > 1.5*ahead)
			break; /* a convex function over a linear one has one valley */
	}
	for (int i = 1; i <= 30; i++) {
		double s = i <= 12 ? theta*(1 - i/13.0) : i <= 18 ? -(i - 12)/7.0 : -1 - 0.1*pow(1.6, i - 18);
		double need = (about(c, d, s) - base - (s - theta)*eps + log_weight(s) - l->tol)/(theta - s);
		if (need < behind) {
			behind = need;
			l->behind = s;
		}
	}
	double period = fmax(fmax(ahead, behind), 1e-6);
	return isfinite(period) ? period : 0;
}

/* The logarithm of about what is left out from the frequency t on; sets the angles. */
static double rest(lines *l, const certificate *c, int d, double t)
{
	double x = -log(PI*t);
	for (slong i = 0; i < c->steps; i++)
		x += c->step[i].count*steer_angle(&l->angle[i], &c->step[i], d, l->theta, t);
	return x;
}

/* How many frequencies are summed; 0 if they would be too many. */
static int last_frequency(lines *l, const certificate *c, int d)
{
	double last = l->h;
	while (rest(l, c, d, last) > l->tol) {
		last *= 2;
		if (last > 2*MAX_FREQUENCIES*l->h)
			return 0;
	}
	double low = last/2;
	for (int i = 0; i < 6; i++) {
		double t = (low + last)/2;
		if (rest(l, c, d, t) > l->tol)
			low = t;
		else
			last = t;
	}
	l->n = ceil(last/l->h);
	rest(l, c, d, l->n*l->h);
	return l->n <= MAX_FREQUENCIES;
}

/* S from the products, over lambda. */
static void sum_up(arb_t delta, acb_ptr f, const lines *l, double eps, const arb_t lambda, slong prec)
{
	COMPLEX(z, w);
	arb_zero(delta);
	for (slong k = 0; k <= l->n; k++) {
		arb_set_d(acb_realref(z), l->theta);
		arb_mul_si(acb_imagref(z), D(l->h), k, prec);
		acb_add_ui(w, z, 1, prec);
		acb_mul(w, w, z, prec);
		acb_div(f + k, f + k, w, prec);
		acb_mul_arb(z, z, D(eps), prec);
		acb_neg(z, z);
		acb_exp(w, z, prec);
		acb_mul(w, f + k, w, prec);
		if (k > 0)
			arb_mul_2exp_si(acb_realref(w), acb_realref(w), 1);
		arb_add(delta, delta, acb_realref(w), prec);
	}
	arb_div(delta, delta, lambda, prec);
}

/* What is left out: B e^{-theta eps}/(pi n h). */
static int left_out(arb_t part, const certificate *c, int d, const lines *l, double eps, slong prec)
{
	BALLS(x, y);
	int ok = 1;
	arb_one(part);
	for (slong i = 0; ok && i < c->steps; i++) {
		const step *s = &c->step[i];
		ok = late_bound(x, s, d, l->theta, l->n*l->h, l->angle[i], -l->tol + log(s->count) + 5, prec);
		arb_pow_ui(x, x, s->count, prec);
		arb_mul(part, part, x, prec);
	}
	arb_mul(x, D(eps), D(l->theta), prec);
	exp_minus(x, x, prec);
	arb_mul(part, part, x, prec);
	arb_const_pi(x, prec);
	arb_mul(x, x, D(l->h), prec);
	arb_mul_si(x, x, l->n, prec);
	arb_div(part, part, x, prec);
	return ok;
}

/* Adds what is not S: what is left out, the periods beside, the poles that were passed, and 1 - m0. */
static int add_rest(arb_t delta, const certificate *c, int d, const lines *l, double eps, const arb_t lambda, slong prec)
{
	BALLS(part, m0, m1, x);
	int ok = left_out(part, c, d, l, eps, prec);
	arb_add_error(delta, part);
	ok = ok && remainder_bound(part, c, d, l->ahead, l->theta, lambda, eps, prec);
	arb_add_error(delta, part);
	ok = ok && remainder_bound(part, c, d, l->behind, l->theta, lambda, eps, prec);
	arb_add_error(delta, part);
	finite_parts(m0, m1, c, d, prec);
	if (l->behind < 0) {
		pole(part, m0, l->theta, 0, lambda, prec);
		arb_sub(delta, delta, part, prec);
	}
	if (l->behind < -1) {
		pole(part, m1, l->theta, 1, lambda, prec);
		arb_exp(x, D(eps), prec);
		arb_addmul(delta, part, x, prec);
	}
	arb_sub_ui(m0, m0, 1, prec);
	arb_sub(delta, delta, m0, prec);
	return ok;
}

enum reach delta_contour(arb_t delta, const char **why, const certificate *c, int d, double eps, double *tol, slong prec)
{
	int hint = d == c->direction && c->theta > 0, first = *tol == 0;
	lines l = { .theta = hint ? c->theta : saddle(c, d, eps) };
	/* Far below what the width of the interval is in delta. [0, 0] has no width, and often a delta that is far above the truth. */
	if (first)
		*tol = fmin(-14, log(l.theta*(c->upper > 0 ? fmax(c->upper - c->lower, 1e-15*c->upper) : 1e-9)) - 8);
	l.tol = *tol;
	double base = about(c, d, l.theta);
	if (!isfinite(base)) {
		*why = "the transform is not finite on the line";
		return NEVER;
	}
	double period = beside(&l, c, d, eps, base);
	if (!period) {
		*why = "no line beside has a finite transform";
		return NEVER;
	}
	if (first && hint)
		period = fmax(period, c->period);
	l.h = 2*PI/period;
	if (!last_frequency(&l, c, d)) {
		*why = "the transform falls too slowly";
		return TOO_FINE;
	}
	BALLS(lambda, x);
	arb_const_pi(lambda, prec);
	arb_mul_2exp_si(lambda, lambda, 1);
	arb_div(lambda, lambda, D(l.h), prec);
	acb_ptr f = _acb_vec_init(l.n + 1);
	enum reach r = TOO_FINE;
	if (products(f, l.n, c, d, l.theta, l.h, -l.tol, why, prec)) {
		sum_up(delta, f, &l, eps, lambda, prec);
		r = REACHED;
		if (!add_rest(delta, c, d, &l, eps, lambda, prec) || !arb_is_finite(delta)) {
			*why = "a bound is not finite";
			r = NEVER;
		}
	}
	_acb_vec_clear(f, l.n + 1);
	return r;
}
