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

static const double PI = 3.14159265358979323846;

enum { MAX_FREQUENCIES = 200000 };
static const double MAX_PRODUCTS = 6e7; /* nodes times frequencies of all steps */

/* log M of all runs at a real place. */
static int cumulant(arb_t k, const certificate *c, int d, double at, slong prec)
{
	arb_t m;
	arb_init(m);
	arb_zero(k);
	int ok = 1;
	for (slong i = 0; ok && i < c->steps; i++) {
		ok = real_transform(m, c, &c->step[i], d, at, prec);
		if (ok) {
			arb_log(m, m, prec);
			arb_addmul_ui(k, m, c->step[i].count, prec);
			ok = arb_is_finite(k);
		}
	}
	arb_clear(m);
	return ok;
}

static double about(const certificate *c, int d, double at)
{
	double k = 0;
	for (slong i = 0; i < c->steps; i++)
		k += c->step[i].count*steer_transform(c, &c->step[i], d, at);
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

/* The place theta > 0 where M(theta) e^{-theta eps}/(theta (theta+1)) is about least. */
static double saddle(const certificate *c, int d, double eps)
{
	double x[3], f[3];
	double at(double l) { double t = exp(l), k = about(c, d, t); return k - t*eps - l - log1p(t); }
	x[1] = 0;
	f[1] = at(0);
	double step = 1;
	x[0] = -1; f[0] = at(-1);
	x[2] = 1; f[2] = at(1);
	for (int i = 0; i < 40 && f[0] < f[1]; i++) {
		x[2] = x[1]; f[2] = f[1]; x[1] = x[0]; f[1] = f[0];
		x[0] -= step; f[0] = at(x[0]);
	}
	for (int i = 0; i < 40 && f[2] < f[1]; i++) {
		x[0] = x[1]; f[0] = f[1]; x[1] = x[2]; f[1] = f[2];
		x[2] += step; f[2] = at(x[2]);
	}
	for (int i = 0; i < 14; i++) {
		int right = x[2] - x[1] > x[1] - x[0];
		double y = right ? x[1] + 0.4*(x[2] - x[1]) : x[1] - 0.4*(x[1] - x[0]), g = at(y);
		if (g < f[1]) {
			x[right ? 0 : 2] = x[1];
			x[1] = y;
			f[1] = g;
		} else
			x[right ? 2 : 0] = y;
	}
	return exp(x[1]);
}

/* w(s) M(s) e^{-s eps}, a ball that holds it. */
static int chernoff(arb_t r, const certificate *c, int d, double s, double eps, slong prec)
{
	arb_t x, y;
	arb_init(x); arb_init(y);
	int ok = cumulant(r, c, d, s, prec);
	arb_set_d(x, s);
	arb_set_d(y, eps);
	arb_submul(r, x, y, prec);
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
	arb_clear(x); arb_clear(y);
	return ok;
}

/* R(s), a ball that holds it. */
static int remainder_bound(arb_t r, const certificate *c, int d, double s, double theta, const arb_t lambda, double eps, slong prec)
{
	arb_t x, y;
	arb_init(x); arb_init(y);
	int ok = chernoff(r, c, d, s, eps, prec);
	arb_set_d(x, s);
	arb_set_d(y, theta);
	arb_sub(x, x, y, prec);
	arb_abs(x, x);
	arb_mul(x, x, lambda, prec);
	arb_expm1(x, x, prec);
	arb_div(r, r, x, prec);
	ok = ok && arb_is_finite(r);
	arb_clear(x); arb_clear(y);
	return ok;
}

/* mass/(e^{(theta + place) lambda} - 1), what a pole on the way leaves. */
static void pole(arb_t out, const arb_t mass, double theta, ulong place, const arb_t lambda, slong prec)
{
	arb_set_d(out, theta);
	arb_add_ui(out, out, place, prec);
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
		if (s->kind == GAUSSIAN && s->rate == 1) {
			/* e^{T mu^2/2 z(z+1)} */
			arb_t mu;
			acb_t z, w;
			arb_init(mu); acb_init(z); acb_init(w);
			shift(mu, c, s, prec);
			arb_mul(mu, mu, mu, prec);
			arb_mul_2exp_si(mu, mu, -1);
			arb_mul_ui(mu, mu, s->count, prec);
			for (slong k = 0; k <= n; k++) {
				arb_set_d(acb_realref(z), theta);
				arb_set_d(acb_imagref(z), h);
				arb_mul_si(acb_imagref(z), acb_imagref(z), k, prec);
				acb_add_ui(w, z, 1, prec);
				acb_mul(w, w, z, prec);
				acb_mul_arb(w, w, mu, prec);
				acb_exp(w, w, prec);
				acb_mul(f + k, f + k, w, prec);
			}
			arb_clear(mu); acb_clear(z); acb_clear(w);
			continue;
		}
		rule r; /* for a little more than nh, whose product is rounded */
		if (!make_rule(&r, c, s, d, theta, n*h*(1 + 1e-14), digits + log(s->count) + 5, prec)) {
			*why = "a transform needs too many nodes";
			return 0;
		}
		if ((work += (double)r.n*n) > MAX_PRODUCTS) {
			rule_clear(&r);
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
		arb_t x, step;
		arb_init(x); arb_init(step);
		arb_set_d(step, h);
		for (slong j = 0; j < r.n; j++) {
			for (slong a = 0; a < rows; a++) {
				acb_ptr e = acb_mat_entry(U, a, j);
				arb_mul_si(x, step, a*width, prec);
				arb_mul(x, x, r.L + j, prec);
				arb_sin_cos(acb_imagref(e), acb_realref(e), x, prec);
				acb_mul_arb(e, e, r.W + j, prec);
			}
			for (slong b = 0; b < width; b++) {
				acb_ptr e = acb_mat_entry(V, j, b);
				arb_mul_si(x, step, b, prec);
				arb_mul(x, x, r.L + j, prec);
				arb_sin_cos(acb_imagref(e), acb_realref(e), x, prec);
			}
		}
		acb_mat_mul(W, U, V, prec);
		acb_t m;
		acb_init(m);
		for (slong k = 0; k <= n; k++) {
			acb_set(m, acb_mat_entry(W, k/width, k%width));
			acb_add_error_arb(m, r.err);
			acb_pow_ui(m, m, s->count, prec);
			acb_mul(f + k, f + k, m, prec);
		}
		acb_clear(m);
		arb_clear(x); arb_clear(step);
		acb_mat_clear(U); acb_mat_clear(V); acb_mat_clear(W);
		rule_clear(&r);
	}
	return 1;
}

int delta_chernoff(arb_t bound, const certificate *c, int d, double eps, slong prec)
{
	double theta = saddle(c, d, eps);
	arb_t m0, m1, x;
	arb_init(m0); arb_init(m1); arb_init(x);
	int ok = chernoff(bound, c, d, theta, eps, prec);
	arb_one(x);
	for (slong i = 0; i < c->steps; i++) {
		finite_masses(m0, m1, &c->step[i], d, prec);
		arb_pow_ui(m0, m0, c->step[i].count, prec);
		arb_mul(x, x, m0, prec);
	}
	arb_sub_ui(x, x, 1, prec);
	arb_sub(bound, bound, x, prec);
	arb_clear(m0); arb_clear(m1); arb_clear(x);
	return ok && arb_is_finite(bound);
}

int delta_contour(arb_t delta, const char **why, const certificate *c, int d, double eps, int level, slong prec)
{
	double theta = d == c->direction && c->theta > 0 ? c->theta : saddle(c, d, eps), tol;
	/* Errors relative to e^{K(theta) - theta eps}: far below what the width of the interval is in delta. */
	tol = fmin(-14, log(theta*fmax(c->upper - c->lower, 1e-15*c->upper)) - 8) - 14.0*level;
	double base = about(c, d, theta);
	if (!isfinite(base)) {
		*why = "the transform is not finite on the line";
		return 0;
	}
	/* Lines beside: the least period. */
	double ahead = INFINITY, behind = INFINITY, sh = 0, sl = 0;
	for (int i = -14; i <= 24; i++) {
		double s = theta*(1 + pow(1.35, i)), need = (about(c, d, s) - base - (s - theta)*eps + log_weight(s) - tol)/(s - theta);
		if (need < ahead) {
			ahead = need;
			sh = s;
		} else if (need > 1.5*ahead)
			break; /* a convex function over a linear one has one valley */
	}
	for (int i = 1; i <= 30; i++) {
		double s = i <= 12 ? theta*(1 - i/13.0) : i <= 18 ? -(i - 12)/7.0 : -1 - 0.1*pow(1.6, i - 18);
		double need = (about(c, d, s) - base - (s - theta)*eps + log_weight(s) - tol)/(theta - s);
		if (need < behind) {
			behind = need;
			sl = s;
		}
	}
	double period = fmax(fmax(ahead, behind), 1e-6);
	if (level == 0 && d == c->direction && c->theta > 0 && c->period > period)
		period = c->period;
	if (!isfinite(period)) {
		*why = "no line beside has a finite transform";
		return 0;
	}
	double h = 2*PI/period, last = h, angle[MAX_STEPS];
	/* The last frequency. */
	double rest(double t)
	{
		double x = -log(PI*t);
		for (slong i = 0; i < c->steps; i++)
			x += c->step[i].count*steer_angle(&angle[i], c, &c->step[i], d, theta, t);
		return x;
	}
	while (rest(last) > tol) {
		last *= 2;
		if (last > 2*MAX_FREQUENCIES*h) {
			*why = "the transform falls too slowly";
			return 0;
		}
	}
	double low = last/2;
	for (int i = 0; i < 6; i++) {
		double t = (low + last)/2;
		if (rest(t) > tol)
			low = t;
		else
			last = t;
	}
	slong n = ceil(last/h);
	if (n > MAX_FREQUENCIES) {
		*why = "the transform falls too slowly";
		return 0;
	}
	rest(n*h);

	arb_t lambda, x, y, m0, m1, part;
	arb_init(lambda); arb_init(x); arb_init(y); arb_init(m0); arb_init(m1); arb_init(part);
	arb_const_pi(lambda, prec);
	arb_mul_2exp_si(lambda, lambda, 1);
	arb_set_d(x, h);
	arb_div(lambda, lambda, x, prec);

	/* S */
	acb_ptr f = _acb_vec_init(n + 1);
	int ok = products(f, n, c, d, theta, h, -tol, why, prec);
	if (ok) {
		acb_t z, w;
		acb_init(z); acb_init(w);
		arb_zero(delta);
		for (slong k = 0; k <= n; k++) {
			arb_set_d(acb_realref(z), theta);
			arb_set_d(acb_imagref(z), h);
			arb_mul_si(acb_imagref(z), acb_imagref(z), k, prec);
			acb_add_ui(w, z, 1, prec);
			acb_mul(w, w, z, prec);
			acb_div(f + k, f + k, w, prec);
			arb_set_d(x, eps);
			acb_mul_arb(z, z, x, prec);
			acb_neg(z, z);
			acb_exp(w, z, prec);
			acb_mul(w, f + k, w, prec);
			if (k > 0)
				arb_mul_2exp_si(acb_realref(w), acb_realref(w), 1);
			arb_add(delta, delta, acb_realref(w), prec);
		}
		arb_div(delta, delta, lambda, prec);
		acb_clear(z); acb_clear(w);

		/* What is left out: B e^{-theta eps}/(pi n h). */
		arb_one(part);
		for (slong i = 0; ok && i < c->steps; i++) {
			ok = late_bound(x, c, &c->step[i], d, theta, n*h, angle[i], -tol + log(c->step[i].count) + 5, prec);
			arb_pow_ui(x, x, c->step[i].count, prec);
			arb_mul(part, part, x, prec);
		}
		arb_set_d(x, eps);
		arb_set_d(y, theta);
		arb_mul(x, x, y, prec);
		arb_neg(x, x);
		arb_exp(x, x, prec);
		arb_mul(part, part, x, prec);
		arb_const_pi(x, prec);
		arb_set_d(y, h);
		arb_mul(x, x, y, prec);
		arb_mul_si(x, x, n, prec);
		arb_div(part, part, x, prec);
		arb_add_error(delta, part);

		/* The periods beside. */
		ok = ok && remainder_bound(part, c, d, sh, theta, lambda, eps, prec);
		arb_add_error(delta, part);
		ok = ok && remainder_bound(part, c, d, sl, theta, lambda, eps, prec);
		arb_add_error(delta, part);
		arb_one(x);
		arb_one(y);
		for (slong i = 0; i < c->steps; i++) {
			finite_masses(m0, m1, &c->step[i], d, prec);
			arb_pow_ui(m0, m0, c->step[i].count, prec);
			arb_pow_ui(m1, m1, c->step[i].count, prec);
			arb_mul(x, x, m0, prec);
			arb_mul(y, y, m1, prec);
		}
		if (sl < 0) {
			pole(part, x, theta, 0, lambda, prec);
			arb_sub(delta, delta, part, prec);
		}
		if (sl < -1) {
			pole(part, y, theta, 1, lambda, prec);
			arb_set_d(y, eps);
			arb_exp(y, y, prec);
			arb_addmul(delta, part, y, prec);
		}
		/* 1 - m0 */
		arb_sub_ui(x, x, 1, prec);
		arb_sub(delta, delta, x, prec);
		if (!ok)
			*why = "a bound is not finite";
	}
	_acb_vec_clear(f, n + 1);
	arb_clear(lambda); arb_clear(x); arb_clear(y); arb_clear(m0); arb_clear(m1); arb_clear(part);
	return ok && arb_is_finite(delta);
}
