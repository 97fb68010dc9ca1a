/*
 * Laplace noise with m = 1/b, moved by 1: the loss y of one full run has under Q the masses e^{-m}/2 at m, 1/2 at -m, and the density
 * e^{-(m+y)/2}/4 between; sampled it is log g(y), g(y) = 1-q+qe^y. The smooth part is summed by Gauss and Legendre's rule with N nodes,
 * wrong by at most 64/15 S rho^{-2(N-1)}/(1-rho^{-2}), S the largest modulus in the ellipse rho (Trefethen 2008, Theorem 4.5).
 *
 * OPPOSITE, noise at x against its mirror image: for 0 < x < 1 put y = m(2x-1). Then P has the density of above, Q that of a full run times
 * g(-m), and the loss is log g(y) - log g(-m). Beyond x = 1 it is that of y = m; below 0 all is mirrored, P and Q exchanged.
 */
#include <math.h>
#include "check.h"

/* The step in one direction: P has the density g^pw over what Q has in direction remove; pw = theta + 1 (remove), -theta (add). */
typedef struct {
	arb_t M, Q, P, pw; /* P = 1 - Q */
	arb_t low, factor; /* log g(-m) and e^{(1-pw) low} under OPPOSITE, else 0 and 1 */
} noise;

/* g(y) */
static void ratio(arb_t g, const noise *x, const arb_t y, slong prec)
{
	arb_exp(g, y, prec);
	arb_mul(g, g, x->Q, prec);
	arb_add(g, g, x->P, prec);
}

static void noise_init(noise *x, const step *s, int d, double theta, slong prec)
{
	shift_of(x->M, s, prec);
	rate_of(x->Q, s, prec);
	complement(x->P, x->Q, prec);
	arb_set_d(x->pw, theta);
	if (d)
		arb_neg(x->pw, x->pw);
	else
		arb_add_ui(x->pw, x->pw, 1, prec);
	arb_one(x->factor);
	if (s->form == OPPOSITE) {
		arb_neg(x->low, x->M);
		ratio(x->low, x, x->low, prec);
		arb_log(x->low, x->low, prec);
		arb_sub(x->factor, x->factor, x->pw, prec);
		arb_mul(x->factor, x->factor, x->low, prec);
		arb_exp(x->factor, x->factor, prec);
	}
}

static void noise_clear(noise *x)
{
	arb_clear(x->M); arb_clear(x->Q); arb_clear(x->P); arb_clear(x->pw); arb_clear(x->low); arb_clear(x->factor);
}

/* The smooth part is m/4 e^{-(m+mu)/2} g(mu)^{pw+it} over u in [-1, 1]. A half of OPPOSITE is that of one direction, less the atom at -m. */
static int half_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec)
{
	double m = s->shift/s->noise, p = d ? -theta : theta + 1, q = s->rate, best = 1e9, rho = 0;
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
	slong all = s->form == OPPOSITE ? n + 1 : n + 2;
	rule_init(r, all);
	OWNED(noise_clear) noise v = { 0 };
	noise_init(&v, s, d, theta, prec);
	BALLS(x, w, y, e, g);
	for (slong j = 0; j < all; j++) {
		/* w = log of the mass or of weight times density, y the loss of a full run */
		if (j < n) {
			arb_hypgeom_legendre_p_ui_root(x, w, n, j, prec);
			arb_mul(y, v.M, x, prec);
			arb_mul(w, w, v.M, prec);
			arb_mul_2exp_si(w, w, -2);
			arb_add(e, v.M, y, prec);
			arb_mul_2exp_si(e, e, -1);
			arb_neg(e, e);
		} else {
			arb_one(w);
			arb_mul_2exp_si(w, w, -1);
			arb_zero(e);
			arb_set(y, v.M);
			if (j == n)
				arb_neg(e, v.M);
			else
				arb_neg(y, v.M);
		}
		ratio(g, &v, y, prec);
		arb_log(g, g, prec);
		arb_addmul(e, v.pw, g, prec);
		arb_exp(e, e, prec);
		arb_mul(r->W + j, w, e, prec);
		arb_mul(r->W + j, r->W + j, v.factor, prec);
		arb_sub(g, g, v.low, prec);
		if (d)
			arb_neg(g, g);
		arb_set(r->L + j, g);
	}
	/* 64/15 S rho^{-2(n-1)}/(1-rho^{-2}) */
	BALLS(C, D, R, T);
	arb_set_d(R, rho);
	arb_set_d(T, t);
	arb_inv(x, R, prec);
	arb_add(C, R, x, prec);
	arb_sub(D, R, x, prec);
	arb_mul_2exp_si(C, C, -1);
	arb_mul_2exp_si(D, D, -1);
	arb_mul(C, C, v.M, prec);
	arb_mul(D, D, v.M, prec);
	arb_set(y, C);
	if (arb_is_negative(v.pw))
		arb_neg(y, y);
	ratio(g, &v, y, prec);
	if (arb_is_negative(v.pw)) {
		arb_mul_2exp_si(w, D, -1);
		arb_cos(w, w, prec);
		arb_mul(g, g, w, prec);
	}
	arb_log(g, g, prec);
	arb_sub(e, C, v.M, prec);
	arb_mul_2exp_si(e, e, -1);
	arb_addmul(e, v.pw, g, prec);
	arb_addmul(e, T, D, prec);
	arb_exp(e, e, prec);
	arb_mul(e, e, v.M, prec);
	arb_mul_2exp_si(e, e, -2);
	arb_mul_ui(e, e, 64, prec);
	arb_div_ui(e, e, 15, prec);
	arb_pow_ui(w, x, 2*(n - 1), prec);
	arb_mul(e, e, w, prec);
	arb_mul(w, x, x, prec);
	complement(w, w, prec);
	arb_div(r->err, e, w, prec);
	arb_mul(r->err, r->err, v.factor, prec);
	return 1;
}

int laplace_rule(rule *r, const step *s, int d, double theta, double t, double digits, slong prec)
{
	if (s->form != OPPOSITE)
		return half_rule(r, s, d, theta, t, digits, prec);
	rule x[2];
	if (!half_rule(&x[0], s, 0, theta, t, digits + 1, prec))
		return 0;
	int ok = half_rule(&x[1], s, 1, theta, t, digits + 1, prec);
	if (ok) {
		rule_init(r, x[0].n + x[1].n);
		for (int i = 0; i < 2; i++) {
			_arb_vec_set(r->W + i*x[0].n, x[i].W, x[i].n);
			_arb_vec_set(r->L + i*x[0].n, x[i].L, x[i].n);
			arb_add(r->err, r->err, x[i].err, prec);
		}
		rule_clear(&x[1]);
	}
	rule_clear(&x[0]);
	return ok;
}

/* Late frequencies: the two atoms, and V/t for the part with a density. In the variable l = log g the density is
 * H = e^{-(m+y)/2}/4 g^{p+1} e^{-y}/q; log H has the slope -3/2 + (p+1) q e^y/g in y, which changes its sign at most once, from
 * below to above; so with its jumps at both ends H varies by at most V = 2(H(-m) + H(m)). */
static void half_late(arb_t bound, const step *s, int d, double theta, double t, slong prec)
{
	OWNED(noise_clear) noise v = { 0 };
	noise_init(&v, s, d, theta, prec);
	BALLS(y, g, e, x);
	arb_zero(bound);
	for (int side = 0; side < 2; side++) {
		arb_set(y, v.M);
		if (!side)
			arb_neg(y, y);
		ratio(g, &v, y, prec);
		arb_log(g, g, prec);
		arb_mul(e, v.pw, g, prec);
		if (side)
			arb_sub(e, e, v.M, prec);
		arb_exp(x, e, prec);
		arb_mul_2exp_si(x, x, -1);
		if (side || s->form != OPPOSITE)
			arb_add(bound, bound, x, prec);
		/* 2H/t: log H = log(1/4) - (m+y)/2 + (p+1) log g - y - log q */
		arb_mul(e, v.pw, g, prec);
		arb_add(e, e, g, prec);
		arb_sub(e, e, y, prec);
		arb_add(x, v.M, y, prec);
		arb_mul_2exp_si(x, x, -1);
		arb_sub(e, e, x, prec);
		arb_exp(e, e, prec);
		arb_div(e, e, v.Q, prec);
		arb_mul_2exp_si(e, e, -1);
		arb_div(e, e, D(t), prec);
		arb_add(bound, bound, e, prec);
	}
	arb_mul(bound, bound, v.factor, prec);
}

void laplace_late(arb_t bound, const step *s, int d, double theta, double t, slong prec)
{
	half_late(bound, s, s->form == OPPOSITE ? 0 : d, theta, t, prec);
	if (s->form == OPPOSITE) {
		BALLS(x);
		half_late(x, s, 1, theta, t, prec);
		arb_add(bound, bound, x, prec);
	}
}

/* ---- cells of losses ---- */

/* With the full loss y above z, -m < z < m, there are Q(y > z) = e^{-(m+z)/2}/2 and P(y > z) = 1 - e^{-(m-z)/2}/2. */
void laplace_tails(arb_ptr p, arb_ptr q, arb_ptr l, const step *s, int d, const double *at, slong n, slong prec)
{
	OWNED(noise_clear) noise v = { 0 };
	noise_init(&v, s, d, 0, prec);
	BALLS(y, g, e);
	for (slong i = 0; i < n; i++) {
		double z = log((exp(d ? -at[i] : at[i] + mid(v.low)) - mid(v.P))/mid(v.Q));
		arb_set_d(y, isnan(z) ? -1e300 : fmin(fmax(z, -1e300), 1e300));
		arb_neg(e, v.M);
		int side = arb_lt(y, v.M) ? arb_gt(y, e) ? 0 : -1 : 1; /* of both atoms, or between them */
		if (side)
			arb_set(y, side < 0 ? e : v.M);
		ratio(g, &v, y, prec);
		arb_log(l + i, g, prec);
		arb_sub(l + i, l + i, v.low, prec);
		if (d)
			arb_neg(l + i, l + i);
		if (side) {
			/* All losses are at or above that of the end, or none is above it. */
			int all = (side < 0) != d;
			arb_set_si(p + i, all);
			arb_set_si(q + i, all);
			(all ? arb_min : arb_max)(l + i, l + i, D(at[i]), prec);
			continue;
		}
		arb_add(q + i, v.M, y, prec);
		arb_sub(e, v.M, y, prec);
		for (int k = 0; k < 2; k++) {
			arb_ptr x = k ? e : q + i;
			arb_mul_2exp_si(x, x, -1);
			exp_minus(x, x, prec);
			arb_mul_2exp_si(x, x, -1);
		}
		complement(e, e, prec);
		arb_mul(p + i, v.P, q + i, prec);
		arb_addmul(p + i, v.Q, e, prec);
		arb_exp(e, v.low, prec);
		arb_mul(q + i, q + i, e, prec);
		if (d) {
			/* The loss falls with y, and both laws change places. */
			arb_swap(p + i, q + i);
			complement(p + i, p + i, prec);
			complement(q + i, q + i, prec);
		}
	}
}

double laplace_largest(const step *s, int d)
{
	double m = s->shift/s->noise, low = -log1p(s->rate*expm1(-m)), high = log1p(s->rate*expm1(m));
	return s->form == OPPOSITE ? high + low : d && s->form == PLAIN ? low : high;
}
