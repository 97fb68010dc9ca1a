/*
 * Finite pairs, and what all steps have in common.
 *
 * Discrete Laplace noise of scale b on whole numbers, moved by s: P(k) ~ a^|k-s|, Q(k) ~ a^|k|, a = e^{-1/b}. All k <= 0 have the
 * loss -s/b, all k >= s the loss s/b, and k between them (2k-s)/b: s+1 outcomes. The mass of all noise >= k >= 0 is a^k/(1+a).
 *
 * A mechanism of which only eps is known is at worst randomized response, which is that noise with 1/b = eps moved by 1; of s records
 * each moves it by 1: a chain of s tests, each as good as the one of eps, is no better than the noise moved by s, which attains it.
 *
 * C1 (opposite records). On a Poisson sample of rate q under substitute, noise that is symmetric and log-concave has the pair qN(s) + (1-q)N(0)
 * against qN(-s) + (1-q)N(0) (docs/theory/pairs.md §5, Lemma S), its own mirror image. For Laplace noise of multiplier 1/m let y = m(2x - 1) for
 * outputs 0 < x < 1 and g(y) = 1 - q + q e^y. P has the density e^{-(m+y)/2} g(y)/4 there and Q g(-m) e^{-(m+y)/2}/4, so that half of the transform
 * is that of add-remove with g/g(-m) in place of g and without its atom at -m. The other half is mirrored.
 *
 * C2 (two halves). A convex curve above all profiles of a step dominates it. ENVELOPE: with the pair of a record that is drawn, in full, the profile
 * of qP + (1-q)Q against Q above eps = 0 and its mirror image below (mechanisms declared by their guarantee on Poisson samples under substitute;
 * batches of fixed size, where noise is moved by 2). Of a list of outcomes with P > Q it has (qP + (1-q)Q, Q), with P < Q (P, qQ + (1-q)P), and all
 * that is left at loss 0. DISPLACED: Gaussian batches under zero-out (docs/theory/subsampling.md §12, Theorem Z): (1-q)N(0) + qN(2) against (1-q)N(0)
 * + qN(1) above 0 in direction remove, whose loss rises from 3/2 on and is negative before; the other half is Poisson's. Cells of a half are
 * differences of tails at points x where the loss is computed; below 0 the two laws change places. One run reaches each point of these curves,
 * several runs need not.
 *
 * C7 (choices and thresholds). Theorems 3 to 5 of choice/scores.go and choice/threshold.go. Permute-and-flip and noisy max have at most the profile
 * of Laplace noise of multiplier 1/eps, whatever the relation. For a threshold the profile is the largest over j new partitions; at each end of a
 * cell the masses of P and Q above it are those of the best j, a test that exists, so that they serve below; above, chords between the ends are above
 * a largest of convex functions. The points (pi_n, pi_{n+1}) of truncated geometric selection are on the graph of a concave function of two lines, of
 * which the steps between their ends, and one in between, are the outcomes of a finite pair. One run of such a kind may come last and choose by what
 * the others showed; with more of them the lower end is not claimed.
 */
#include <math.h>
#include <stdlib.h>
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
	BALLS(x, y);
	arb_exp(x, D(eps), PREC);
	arb_add_ui(y, x, 1, PREC);
	arb_div(s->p, x, y, PREC);
	arb_inv(s->p + 1, y, PREC);
	arb_set_d(s->p + 2, delta);
	complement(x, s->p + 2, PREC);
	for (int i = 0; i < 2; i++)
		arb_mul(s->p + i, s->p + i, x, PREC);
	arb_set(s->q, s->p + 1);
	arb_set(s->q + 1, s->p);
	arb_set(s->q + 3, s->p + 2);
}

void response_pair(step *s, double probability, ulong categories, int against_random)
{
	new_outcomes(s, 3);
	BALLS(x);
	arb_set_d(s->p + 1, probability);
	arb_div_ui(s->p + 1, s->p + 1, categories, PREC);
	arb_sub_ui(x, D(probability), 1, PREC);
	arb_sub(s->p, s->p + 1, x, PREC);
	arb_mul_ui(s->p + 2, s->p + 1, categories - 2, PREC);
	arb_set(s->q, s->p + 1);
	arb_set(s->q + 1, s->p);
	arb_set(s->q + 2, s->p + 2);
	for (int i = 0; i < 3 && against_random; i++) {
		arb_set_ui(s->q + i, i < 2 ? 1 : categories - 2);
		arb_div_ui(s->q + i, s->q + i, categories, PREC);
	}
}

/* Two lists, each over its sum. */
void listed_pair(step *s, slong n, const double *p, const double *q)
{
	new_outcomes(s, n);
	BALLS(sum);
	for (int which = 0; which < 2; which++) {
		arb_ptr to = which ? s->q : s->p;
		arb_zero(sum);
		for (slong i = 0; i < n; i++) {
			arb_set_d(to + i, which ? q[i] : p[i]);
			arb_add(sum, sum, to + i, PREC);
		}
		_arb_vec_scalar_div(to, to, n, sum, PREC);
	}
}

/* The mass at or below k of discrete Laplace noise, a = e^{-1/b}. */
static void at_most(arb_t f, const arb_t a, slong k)
{
	arb_pow_ui(f, a, k < 0 ? -k : k + 1, PREC);
	BALLS(y);
	arb_add_ui(y, a, 1, PREC);
	arb_div(f, f, y, PREC);
	if (k >= 0)
		complement(f, f, PREC);
}

/* Discrete Laplace noise of scale 1/step. Outcomes beyond the places between which losses change are one. With OPPOSITE it is moved by as much
 * either way, or not at all, and the rate is used up. */
static void geometric_pair(step *s, slong moved, const arb_t step)
{
	slong low = s->form == OPPOSITE ? -moved : 0;
	new_outcomes(s, moved - low + 1);
	BALLS(a, x, y, r);
	arb_neg(x, step);
	arb_exp(a, x, PREC);
	rate_of(r, s, PREC);
	for (slong k = low; k <= moved; k++) {
		arb_ptr mass[3] = { x, s->q + (k - low), s->p + (k - low) }; /* moved down, as it is, and moved up */
		for (int i = 0; i < 3; i++) {
			slong by = (i - 1)*moved;
			if (k == moved)
				arb_one(mass[i]);
			else
				at_most(mass[i], a, k - by);
			if (k > low) {
				at_most(y, a, k - 1 - by);
				arb_sub(mass[i], mass[i], y, PREC);
			}
		}
		for (int i = 0; i < 3 && s->form == OPPOSITE; i += 2) {
			arb_sub(mass[i], mass[i], mass[1], PREC);
			arb_mul(mass[i], mass[i], r, PREC);
			arb_add(mass[i], mass[i], mass[1], PREC);
		}
		if (s->form == OPPOSITE)
			arb_set(s->q + (k - low), x);
	}
	for (slong k = 0; k <= moved && s->form != OPPOSITE; k++)
		arb_set(s->p + k, s->q + (moved - k)); /* the same number, so that both directions are alike */
	if (s->form == OPPOSITE)
		s->rate = 1;
}

void discrete_laplace_pair(step *s)
{
	BALLS(x);
	arb_mul_ui(x, D(s->noise), s->sensitivity, PREC);
	arb_inv(x, x, PREC);
	geometric_pair(s, s->shift*s->sensitivity, x);
}

static int order(const void *a, const void *b)
{
	const arb_ptr *x = a, *y = b;
	int c = arf_cmp(arb_midref(x[0]), arb_midref(y[0]));
	return c ? c : arf_cmp(arb_midref(x[1]), arb_midref(y[1]));
}

/* Whether the masses that P and Q have of outcomes are those of Q and P: of numbers that were computed in the same way. */
static int mirrored(const step *s)
{
	arb_ptr (*x)[2] = flint_malloc(2*s->outcomes*sizeof *x), (*y)[2] = x + s->outcomes;
	for (slong i = 0; i < s->outcomes; i++) {
		x[i][0] = y[i][1] = s->p + i;
		x[i][1] = y[i][0] = s->q + i;
	}
	qsort(x, s->outcomes, sizeof *x, order);
	qsort(y, s->outcomes, sizeof *y, order);
	int same = 1;
	for (slong i = 0; i < s->outcomes; i++)
		same = same && arb_equal(x[i][0], y[i][0]) && arb_equal(x[i][1], y[i][1]);
	flint_free(x);
	return same;
}

int envelope_pair(step *s)
{
	if (!mirrored(s))
		return 0;
	slong n = s->outcomes;
	arb_ptr p = _arb_vec_init(n + 1), q = _arb_vec_init(n + 1);
	BALLS(r);
	rate_of(r, s, PREC);
	arb_one(p + n);
	for (slong i = 0; i < n; i++) {
		int up = arb_gt(s->p + i, s->q + i);
		if (!up && arb_equal(s->p + i, s->q + i))
			continue; /* a loss of 0: with the rest */
		/* Of the side of P where the loss is above 0: qP + (1-q)Q. */
		arb_ptr far = up ? p + i : q + i, near = up ? q + i : p + i;
		arb_set(near, up ? s->q + i : s->p + i);
		arb_sub(far, up ? s->p + i : s->q + i, near, PREC);
		arb_mul(far, far, r, PREC);
		arb_add(far, far, near, PREC);
		arb_sub(p + n, p + n, p + i, PREC);
	}
	arb_set(q + n, p + n);
	outcomes_clear(s);
	s->outcomes = n + 1;
	s->p = p;
	s->q = q;
	s->rate = 1;
	return 1;
}

void pure_pair(step *s, double eps)
{
	geometric_pair(s, s->shift, D(eps));
}

/* pi_{n+1} = min(e^eps pi_n + delta, 1 - e^{-eps}(1 - pi_n - delta), 1). All points (pi_n, pi_{n+1}) are on the graph of a concave function, a line up to the last
 * of the first branch and another from the first of the second one: outcomes are the steps between the ends of both. */
int selection_pair(step *s, double eps, double delta)
{
	enum { CORNERS = 12, KEYS = 200000 };
	BALLS(e, u, x, y, a, b);
	VECTOR c = vector(2*CORNERS); /* from (0, 0) on */
	slong n = 1, run = 0;
	arb_exp(e, D(eps), PREC);
	for (int i = 0, last = -1; i < KEYS && n < CORNERS && !arb_is_one(y); i++) {
		arb_set(x, y);
		arb_mul(a, x, e, PREC);
		arb_add(a, a, D(delta), PREC);
		arb_add(u, D(delta), x, PREC);
		complement(b, u, PREC);
		arb_div(b, b, e, PREC);
		complement(b, b, PREC);
		int branch = arb_lt(a, b) ? 0 : arb_gt(a, b) ? 1 : 2; /* 2: who knows */
		arb_min(y, a, b, PREC);
		arb_one(u);
		branch = arb_lt(y, u) ? branch : 2;
		arb_min(y, y, u, PREC);
		run = branch == last && branch < 2 ? run + 1 : 1;
		last = branch;
		n += run < 3; /* else it is further on the line */
		arb_set(c + 2*n - 2, x);
		arb_set(c + 2*n - 1, y);
	}
	int ok = arb_is_one(y);
	if (ok) {
		new_outcomes(s, n);
		for (slong k = 1; k <= n; k++) {
			arb_one(u);
			arb_sub(s->q + k - 1, k < n ? c + 2*k : u, c + 2*k - 2, PREC);
			arb_sub(s->p + k - 1, k < n ? c + 2*k + 1 : u, c + 2*k - 1, PREC);
		}
	}
	return ok;
}

void copies_of(arb_t r, const step *s, ulong copies, slong prec)
{
	ulong n = s->draws && !s->chosen ? s->draws : s->records;
	BALLS(one, x);
	if (s->draws && !s->chosen) {
		arb_one(one);
		arb_div_ui(one, one, s->population, prec);
	} else
		rate_of(one, s, prec);
	complement(x, one, prec);
	arb_pow_ui(x, x, n - copies, prec);
	arb_pow_ui(r, one, copies, prec);
	arb_mul(r, r, x, prec);
	arb_bin_uiui(x, n, copies, prec);
	arb_mul(r, r, x, prec);
}

int halves(const step *s)
{
	return s->form == ENVELOPE || s->form == DISPLACED || (s->form == OPPOSITE && s->kind == LAPLACE);
}

step half_of(const step *s, int d, int below)
{
	step half = *s;
	if (s->form == ENVELOPE || (s->form == DISPLACED && (d == 0) == below))
		half.form = PLAIN; /* an empty place beside records that agree with the record */
	return half;
}

void rate_of(arb_t r, const step *s, slong prec)
{
	if (s->draws) {
		step plain = *s;
		plain.chosen = 0;
		copies_of(r, &plain, 0, prec);
		complement(r, r, prec);
	} else if (s->population) {
		arb_set_ui(r, s->batch);
		arb_div_ui(r, r, s->population, prec);
	} else
		arb_set_d(r, s->rate);
}

/* The masses of outcome i in direction d, after sampling: P' = rate P + (1-rate) Q against Q, or the other way round. */
void outcome_masses(arb_t p, arb_t q, const step *s, int d, slong i, slong prec)
{
	BALLS(r, x);
	rate_of(r, s, prec);
	arb_mul(x, r, s->p + i, prec);
	arb_sub_ui(r, r, 1, prec);
	arb_submul(x, r, s->q + i, prec);
	arb_set(d ? q : p, x);
	arb_set(d ? p : q, s->q + i);
}

void finite_parts(arb_t m0, arb_t m1, const certificate *c, int d, slong prec)
{
	arb_one(m0);
	arb_one(m1);
	BALLS(p, q, x, y);
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (s->kind == GAUSSIAN && s->form == PLAIN && s->draws) {
			arb_zero(x);
			for (ulong u = 0; u <= s->records; u++) {
				copies_of(y, s, u, prec);
				arb_add(x, x, y, prec);
			}
			arb_pow_ui(x, x, s->count, prec);
			arb_mul(d ? m1 : m0, d ? m1 : m0, x, prec);
		}
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
}

void shift_of(arb_t mu, const step *s, slong prec)
{
	arb_ui_div(mu, s->shift, D(s->noise), prec);
	if (!arb_is_zero(s->norm))
		arb_mul(mu, mu, s->norm, prec);
}

double bound_of_ball(const arb_t x, int up)
{
	arf_t y;
	arf_init(y);
	(up ? arb_get_ubound_arf : arb_get_lbound_arf)(y, x, 64);
	double r = arf_get_d(y, up ? ARF_RND_CEIL : ARF_RND_FLOOR);
	arf_clear(y);
	return r;
}

void normal_tail(arb_t out, const arb_t x, slong prec)
{
	BALLS(root);
	arb_sqrt_ui(root, 2, prec);
	arb_div(out, x, root, prec);
	arb_hypgeom_erfc(out, out, prec);
	arb_mul_2exp_si(out, out, -1);
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
