/*
 * Laws from above of steps that are known by a profile, an upper bound v_k of delta at the points kh (C3, C8, C9).
 * delta is convex in a = e^loss and 1 at a = 0, so that the chords between (0, 1) and the points (e^{kh}, v_k), level behind the last one, are above it.
 * Their changes of slope are the masses of Q, and those of P
 *   p_k = ((v_{k-1} - v_k) e^h - (v_k - v_{k+1}))/(e^h - 1),  p_first = 1 - v_first - (v_first - v_{first+1})/(e^h - 1),
 * with the last value at an infinite loss. Where rounded values are not convex a mass is below 0, and 0 in its place only adds.
 *
 * Menus (C8; docs/theory/adaptive.md §1, Theorem 1: any family with R_b >= R_{b-c} * (P_i, Q_i) is a bound). Each type gets its law above on the
 * points kh, p_i with I_i at an infinite loss. V_0 is (1 - e^{kh})+ and V_b(k) the largest of V_{b-1}(k) and all I_i + sum over l of p_i(l)
 * V_{b-c_i}(k - l), products of whole numbers that are rounded up; V is 1 before its first point and its last value behind the last. The sum over l
 * of p_i(l) r(a e^{-l}) is at least r * (P_i, Q_i) for each convex r that the proof of Theorem 1 has, so that V_b(k) >= R_b(e^{kh}). R is convex in a
 * and 1 at 0, and becomes a law as above, which takes part in the convolutions like others (Interleaving there).
 *
 * Searches (C9). With the profiles delta_1 and delta_1^r of one run in both directions, known above at the points, and U(u) = min over k of e^{kh} u
 * + delta_1^r(kh): delta(eps) <= sum of w_j delta_1(eps - c_j), where w_j and e^{c_j} are the rises and slopes of any concave function above (0, 0)
 * and all (f'(1 - U(u)), f'(1 - u)). Proof: an outcome of P-mass p and Q-mass q, above which u of P and v <= U(u) of Q are ranked, adds f'(1 - u)p -
 * e^eps f'(1 - v)q, which is at most the support function sum of w_j [p - e^{eps-c_j} q]+. Integrate; f(0) = 0, as a search runs at least once. f is
 * the generating function of the number of runs: f'(1 - u) = f'(1)(1 + u(1 - gamma)/gamma)^{-eta-1} for these laws, f'(1) = (1/gamma - 1) eta/(1 -
 * gamma^eta), or (1/gamma - 1)/log(1/gamma) if eta = 0. u is cut into cells, the point of a cell being (f'(1 - U) at its upper end, f'(1 - u) at its
 * lower one), in doubles that are rounded outward; a slope between two of the lattice becomes the two edges that meet above it. The values at the
 * points become a law as above. The library has a second price, of the longest path, which is below this one at small eps or for many runs; then the
 * end is not proved.
 */
#include <math.h>
#include <stdlib.h>
#include "check.h"

static void law_of_values(law *out, grid *g, slong first, const fmpz *v, slong n)
{
	BALLS(e, less, a, b);
	WHOLES(u, before);
	arb_exp(e, D(g->h), g->prec);
	arb_sub_ui(less, e, 1, g->prec);
	fmpz_one_2exp(before, g->bits);
	out->first = first;
	fmpz_poly_fit_length(out->p, n);
	for (slong k = 0; k < n; k++) {
		fmpz_sub(u, before, v + k);
		arb_set_fmpz(a, u);
		if (k > 0) {
			arb_mul(a, a, e, g->prec);
			arb_div(a, a, less, g->prec);
		}
		fmpz_sub(u, v + k, v + (k + 1 < n ? k + 1 : k));
		arb_set_fmpz(b, u);
		arb_div(b, b, less, g->prec);
		arb_sub(a, a, b, g->prec);
		arb_mul_2exp_si(a, a, -g->bits);
		units(u, a, g, 1);
		fmpz_poly_set_coeff_fmpz(out->p, k, u);
		fmpz_set(before, v + k);
	}
	fmpz_set(out->far, v + n - 1);
}

/* out_j = sum over m of p_m x_{j-m+from}, where x is 1 before its n values, and the last one after them. */
static void convolve(fmpz_poly_t out, const fmpz_poly_t p, const fmpz *x, slong n, slong from, slong size, const grid *g)
{
	slong L = p->length;
	fmpz_poly_zero(out);
	if (L == 0)
		return;
	POLYS(all);
	WHOLES(one);
	fmpz_one_2exp(one, g->bits);
	fmpz_poly_fit_length(all, size + L - 1);
	for (slong e = 0; e < size + L - 1; e++) {
		slong i = e - L + 1 + from;
		fmpz_poly_set_coeff_fmpz(all, e, i < 0 ? one : x + (i < n ? i : n - 1));
	}
	fmpz_poly_mullow(out, p, all, size + L - 1);
	fmpz_poly_shift_right(out, out, L - 1);
	shorten(out, g, 1);
}

/* (1 - e^{kh})+ in units, rounded up. */
static void nothing(fmpz_t out, slong k, grid *g)
{
	BALLS(x);
	arb_mul_si(x, D(g->h), k, g->prec);
	arb_expm1(x, x, g->prec);
	arb_neg(x, x);
	units(out, x, g, 1);
}

void law_of_menu(law *out, grid *g, const step *s, int d, double tail)
{
	FREED law *t = flint_calloc(s->parts, sizeof *t);
	OWNED(law_clear) law all = { 0 };
	double eta = 0, longest = 0;
	slong first = 0, last = 1;
	for (slong i = 0; i < s->parts; i++) {
		eta = fmax(eta, law_of_part(&t[i], g, &s->part[i], d, tail)*s->units/s->part[i].cost);
		longest = fmax(longest, t[i].p->length);
		/* About where all units are spent on it. */
		repeat(&all, &t[i], s->units/s->part[i].cost + 1, g);
		first = first < all.first ? first : all.first;
		last = last > all.first + all.p->length ? last : all.first + all.p->length;
	}
	slong n = last - first + 1;
	g->eta = fmax(g->eta, eta);
	if (g->ok && spend(g, s->units*s->parts*(n + 2*longest)/3)) {
		fmpz *v = _fmpz_vec_init((s->units + 1)*n);
		POLYS(sum);
		WHOLES(x, one);
		fmpz_one_2exp(one, g->bits);
		for (slong k = 0; k < n; k++)
			nothing(v + k, first + k, g);
		for (ulong b = 1; b <= s->units; b++) {
			fmpz *row = v + b*n;
			_fmpz_vec_set(row, row - n, n);
			for (slong i = 0; i < s->parts; i++) {
				ulong c = s->part[i].cost;
				if (c > b)
					continue;
				convolve(sum, t[i].p, row - c*n, n, -t[i].first, n, g);
				for (slong k = 0; k < n; k++) {
					fmpz_poly_get_coeff_fmpz(x, sum, k);
					fmpz_add(x, x, t[i].far);
					if (fmpz_cmp(x, row + k) > 0)
						fmpz_set(row + k, fmpz_cmp(x, one) < 0 ? x : one);
				}
			}
		}
		law_of_values(out, g, first, v + s->units*n, n);
		_fmpz_vec_clear(v, (s->units + 1)*n);
	}
	for (slong i = 0; i < s->parts; i++)
		law_clear(&t[i]);
}

void law_of_draws(law *out, grid *g, const step *s, double tail)
{
	slong draws, last = fmin(coupled_reach(s, tail)/g->h, 1e9) + 2, n = 2*last + 1;
	VECTOR w = chances_of_draws(&draws, s, tail, g->prec);
	if (!spend(g, 12.0*draws*last))
		return;
	fmpz *v = _fmpz_vec_init(n);
	BALLS(x, delta, e);
	for (slong k = 0; k <= last; k++) {
		arb_mul_si(x, D(g->h), k, g->prec);
		coupled_delta(delta, s, w, draws, x, g->prec);
		units(v + last + k, delta, g, 1);
		/* 1 - e^{-x} (1 - delta) */
		exp_minus(e, x, g->prec);
		complement(delta, delta, g->prec);
		arb_mul(e, e, delta, g->prec);
		complement(e, e, g->prec);
		units(v + last - k, e, g, 1);
	}
	law_of_values(out, g, -last, v, n);
	_fmpz_vec_clear(v, n);
}

/* ---- searches ---- */

/* delta at n points from first on, of a law from above. */
static void profile_of(arb_ptr v, const law *x, slong first, slong n, const grid *g)
{
	WHOLES(sum);
	BALLS(damped, fall);
	fmpz_set(sum, x->far);
	arb_exp(fall, D(-g->h), g->prec);
	slong j = x->p->length;
	for (slong k = first + n - 1 > x->first + j ? first + n - 1 : x->first + j; k >= first; k--) {
		arb_mul(damped, damped, fall, g->prec);
		if (k < first + n) {
			arb_set_fmpz(v + k - first, sum);
			arb_sub(v + k - first, v + k - first, damped, g->prec);
			arb_mul_2exp_si(v + k - first, v + k - first, -g->bits);
		}
		if (j > 0 && k == x->first + j - 1) {
			j--;
			fmpz_add(sum, sum, x->p->coeffs + j);
			arb_add_fmpz(damped, damped, x->p->coeffs + j, g->prec);
		}
	}
}

/* f'(1) = (1/g - 1) eta/(1 - g^eta), or (1/g - 1)/-log g. */
static void mean_of(arb_t mean, const step *s, slong prec)
{
	BALLS(x);
	arb_log(x, D(s->gamma), prec);
	if (s->shape != 0) {
		arb_mul(x, x, D(s->shape), prec);
		arb_expm1(x, x, prec);
		arb_div(x, x, D(s->shape), prec);
	}
	arb_inv(mean, D(s->gamma), prec);
	complement(mean, mean, prec);
	arb_div(mean, mean, x, prec);
}

/* f'(1 - u)/f'(1), rounded up or down. */
static double weight(const step *s, double u, int up)
{
	double x = (s->shape + 1)*log1p((1 - s->gamma)/s->gamma*u), off = 0x1p-47*(1 + fabs(x));
	return up ? fmin(1, exp(off - x)) : exp(-off - x);
}

/* What runs of a search weigh: from the lines of the profile of the other direction, the rises for slopes e^{jh}, j from low on; all at least what is needed. */
static double *mixture_of(slong *low, slong *n, double *vertical, const step *s, const double *slope, const double *height, slong lines, double least, double h)
{
	double width = h/64;
	slong cells = ceil(-log(least)/width), top = 0, at = 0;
	FREED double *x = flint_malloc(2*(cells + 2)*sizeof *x);
	double *y = x + cells + 2;
	x[0] = y[0] = 0;
	for (slong i = 0; i <= cells; i++) {
		double u = exp(-i*width)*(1 + 1e-15), next = exp(-(i + 1)*width)*(1 - 1e-12);
		while (at + 1 < lines && slope[at + 1]*u + height[at + 1] <= slope[at]*u + height[at])
			at++;
		double px = weight(s, fmin(1, (slope[at]*u + height[at])*(1 + 1e-15)), 0), py = weight(s, i < cells ? next : 0, 1);
		while (top > 0 && (y[top] - y[top - 1])*(px - x[top]) <= (py - y[top])*(x[top] - x[top - 1]))
			top--;
		x[++top] = px;
		y[top] = py;
	}
	/* A point that is left out is above the chord by 6 units of rounding of its height, and so may be the ends of the chord in turn. */
	double more = 1 + 8*0x1p-53*(cells + 40);
	slong most = 60/h, last = -most - 1;
	double *w = flint_calloc(2*most + 3, sizeof *w);
	*vertical = 0;
	*low = most + 1;
	for (slong i = 1; i <= top; i++) {
		double rise = (y[i] - y[i - 1])*more, c = (log((y[i] - y[i - 1])/(x[i] - x[i - 1])) + 1e-12)/h;
		if (!(rise > 0))
			continue;
		if (!(c < most)) {
			*vertical += rise;
			continue;
		}
		c = fmax(c, -most);
		slong j = floor(c);
		double share = expm1(-(c - j)*h)/expm1(-h);
		w[j + 1 + most] += rise*(share + 1e-12);
		w[j + most] += rise*(1 - share + 1e-12);
		last = last > j + 1 ? last : j + 1;
		*low = *low < j ? *low : j;
	}
	*n = last < *low ? 0 : last - *low + 1;
	for (slong j = 0; j < *n; j++)
		w[j] = w[*low + j + most];
	*vertical *= 1 + 1e-9;
	return w;
}

void law_of_search(law *out, grid *g, const step *s, int d, double tail)
{
	law one[2] = { { 0 }, { 0 } };
	double eta = 0;
	for (int i = 0; i < 2; i++)
		eta = fmax(eta, law_of_part(&one[i], g, s->part, i ? !d : d, tail));
	slong from = 0, n = 2;
	for (int i = 0; i < 2; i++) {
		slong to = one[i].first + one[i].p->length;
		from = from < one[i].first ? from : one[i].first;
		n = n > to ? n : to;
	}
	n += 1 - from;
	if (g->ok && spend(g, 12.0*n + 13*fabs(log(tail))/g->h)) {
		VECTOR v = vector(2*n);
		fmpz *value = _fmpz_vec_init(n);
		FREED double *slope = flint_malloc(2*n*sizeof *slope);
		double *height = slope + n;
		slong low, size;
		BALLS(x, e, mean);
		WHOLES(u, flat);
		profile_of(v, &one[0], from, n, g);
		profile_of(v + n, &one[1], from, n, g);
		for (slong k = 0; k < n; k++) { /* lines of U, from below to above */
			arb_mul_si(e, D(g->h), from + k, g->prec);
			arb_add(e, e, D(eta), g->prec);
			arb_exp(e, e, g->prec);
			slope[k] = bound_of_ball(e, 1);
			height[k] = bound_of_ball(v + n + k, 1);
		}
		double vertical, *w = mixture_of(&low, &size, &vertical, s, slope, height, n, tail, g->h);
		mean_of(mean, s, g->prec);
		POLYS(rises, sum);
		for (slong j = 0; j < size; j++) {
			arb_mul(x, D(w[j]), mean, g->prec);
			units(u, x, g, 1);
			fmpz_poly_set_coeff_fmpz(rises, j, u);
		}
		arb_mul(x, D(vertical), mean, g->prec);
		units(flat, x, g, 1);
		for (slong k = 0; k < n; k++)
			units(value + k, v + k, g, 1);
		slong high = low + size - 1, first = from + (low < 0 ? low : 0), all = n + (high > 0 ? high : 0) - (low < 0 ? low : 0);
		fmpz *total = _fmpz_vec_init(all);
		convolve(sum, rises, value, n, first - low - from, all, g);
		for (slong k = 0; k < all; k++) {
			fmpz_poly_get_coeff_fmpz(u, sum, k);
			fmpz_add(total + k, u, flat);
			fmpz_one_2exp(u, g->bits);
			if (fmpz_cmp(total + k, u) > 0)
				fmpz_set(total + k, u);
		}
		law_of_values(out, g, first, total, all);
		g->eta = fmax(g->eta, eta);
		_fmpz_vec_clear(total, all);
		flint_free(w);
		_fmpz_vec_clear(value, n);
	}
	for (int i = 0; i < 2; i++)
		law_clear(&one[i]);
}
