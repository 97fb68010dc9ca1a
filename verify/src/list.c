/*
 * Plans that need no integral: Gaussian noise alone, in closed form; finite pairs and discrete Gaussian noise alone, by a list of all
 * losses.
 *
 * C10 (delta = 0). Let l be the largest loss of all runs of finite pairs: the sum over runs of the largest log(p/q) of outcomes with p > 0. All runs at
 * their largest losses have a mass under P, so that delta(eps) is 0 for eps >= l, and above 0 for eps < l. So the claim delta(upper) <= 0 is l <= upper;
 * the lower end claims that no eps below it has a delta of 0, which is lower <= l.
 */
#include <math.h>
#include "check.h"

/* A list may have so many losses, and the law of one discrete step. */
static const double MAX_LIST = 2e6;
enum { MAX_LAW = 200000 };

/* Losses of Gaussian runs add up to N(mu^2/2, mu^2), mu^2 the sum of all:
 * delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle and Wang 2018, Theorem 8). */
int delta_gaussian(arb_t delta, const certificate *c, double eps, slong prec)
{
	BALLS(mu, x, y, e);
	for (slong i = 0; i < c->steps; i++) {
		shift_of(x, &c->step[i], prec);
		arb_mul(x, x, x, prec);
		arb_addmul_ui(mu, x, c->step[i].count, prec);
	}
	arb_sqrt(mu, mu, prec);
	arb_div(y, D(eps), mu, prec);
	arb_exp(e, D(eps), prec);
	arb_mul_2exp_si(mu, mu, -1);
	arb_sub(x, y, mu, prec);
	arb_add(y, y, mu, prec);
	normal_tail(delta, x, prec);
	normal_tail(y, y, prec);
	arb_submul(delta, y, e, prec);
	return arb_is_finite(delta);
}

/* The masses and losses of the outcomes that have both masses, of one run that is to be counted so often. */
typedef struct {
	slong n, room;
	ulong count;
	arb_ptr p, l;
} pair;

typedef struct {
	const pair *pairs;
	slong n, prec;
	arb_t eps, sum;
} walk;

static void visit(walk *w, slong i, slong outcome, ulong left, const arb_t mass, const arb_t loss);

/* Goes on with the next pair, or counts what is complete. */
static void next_pair(walk *w, slong i, const arb_t mass, const arb_t loss)
{
	if (i < w->n) {
		visit(w, i, 0, w->pairs[i].count, mass, loss);
		return;
	}
	BALLS(x);
	arb_sub(x, w->eps, loss, w->prec);
	if (!arb_is_nonnegative(x)) {
		arb_expm1(x, x, w->prec);
		arb_neg(x, x);
		arb_nonnegative_part(x, x);
		arb_addmul(w->sum, x, mass, w->prec);
	}
}

/* All ways in which the outcomes from this one on occur left times: each in turn if it is once, else binomial by binomial. */
static void visit(walk *w, slong i, slong outcome, ulong left, const arb_t mass, const arb_t loss)
{
	const pair *x = &w->pairs[i];
	BALLS(m, l);
	if (x->count == 1) {
		for (slong j = 0; j < x->n; j++) {
			arb_mul(m, mass, x->p + j, w->prec);
			arb_add(l, loss, x->l + j, w->prec);
			next_pair(w, i + 1, m, l);
		}
	} else if (outcome == x->n - 1) {
		arb_pow_ui(m, x->p + outcome, left, w->prec);
		arb_mul(m, m, mass, w->prec);
		arb_set(l, loss);
		arb_addmul_ui(l, x->l + outcome, left, w->prec);
		next_pair(w, i + 1, m, l);
	} else {
		arb_set(m, mass);
		for (ulong k = 0; k <= left; k++) {
			arb_set(l, loss);
			arb_addmul_ui(l, x->l + outcome, k, w->prec);
			visit(w, i, outcome + 1, left - k, m, l);
			arb_mul(m, m, x->p + outcome, w->prec);
			arb_mul_ui(m, m, left - k, w->prec);
			arb_div_ui(m, m, k + 1, w->prec);
		}
	}
}

/* The outcomes of one run that have both masses; 0 if they are too many. lost is what all runs lack. */
static int fill(pair *x, arb_t lost, const step *s, int d, slong prec)
{
	if (!outcomes_of(&x->room, &x->p, &x->l, lost, s, d, prec))
		return 0;
	arb_mul_ui(lost, lost, s->count, prec);
	for (slong j = 0; j < x->room; j++) {
		if (arb_is_zero(x->p + j) || arb_is_zero(x->l + j))
			continue;
		arb_div(x->l + x->n, x->p + j, x->l + j, prec);
		arb_log(x->l + x->n, x->l + x->n, prec);
		arb_set(x->p + x->n, x->p + j);
		x->n++;
	}
	return 1;
}

int delta_list(arb_t delta, const char **why, const certificate *c, int d, double eps, slong prec)
{
	double size = 1;
	pair pairs[MAX_STEPS];
	BALLS(m0, m1, lost, x);
	prec -= fmax(log2(c->delta), -1100); /* delta to so many digits, not 1 - delta */
	int ok = 1;
	slong made = 0;
	for (; ok && made < c->steps; made++) {
		const step *s = &c->step[made];
		pair *y = &pairs[made];
		*y = (pair){ .count = s->count };
		if (s->kind == DISCRETE_GAUSSIAN && s->rate == 1) {
			y->count = 1;
			ok = discrete_law(&y->n, &y->p, &y->l, x, s, MAX_LAW, prec);
			y->room = y->n;
		} else
			ok = fill(y, x, s, d, prec);
		if (!ok)
			break;
		arb_add(lost, lost, x, prec);
		for (slong k = 1; k < y->n; k++)
			size *= ((double)y->count + k)/k;
		ok = y->n > 0 && size <= MAX_LIST;
	}
	if (ok) {
		walk w = { .pairs = pairs, .n = c->steps, .prec = prec };
		arb_init(w.eps); arb_init(w.sum);
		arb_set_d(w.eps, eps);
		arb_one(m0);
		next_pair(&w, 0, m0, m1);
		finite_parts(m0, m1, c, d, prec);
		arb_sub_ui(m0, m0, 1, prec);
		arb_sub(delta, w.sum, m0, prec);
		/* What is missing adds between nothing and all that it has. */
		arb_mul_2exp_si(lost, lost, -1);
		arb_add(delta, delta, lost, prec);
		arb_add_error(delta, lost);
		arb_clear(w.eps); arb_clear(w.sum);
	} else
		*why = "the list of all losses is too long";
	for (slong i = 0; i < made; i++) {
		_arb_vec_clear(pairs[i].p, pairs[i].room);
		_arb_vec_clear(pairs[i].l, pairs[i].room);
	}
	return ok;
}

int largest_loss(arb_t sum, const certificate *c, int d, slong prec)
{
	BALLS(p, q, most);
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (s->kind != FINITE)
			return 0;
		arb_neg_inf(most);
		for (slong j = 0; j < s->outcomes; j++) {
			outcome_masses(p, q, s, d, j, prec);
			if (arb_is_zero(p))
				continue;
			arb_div(p, p, q, prec); /* no number where q is 0 */
			arb_log(p, p, prec);
			arb_max(most, most, p, prec);
		}
		arb_addmul_ui(sum, most, s->count, prec);
	}
	return arb_is_finite(sum);
}
