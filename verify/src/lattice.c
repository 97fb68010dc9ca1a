/*
 * Bounds of delta(eps) by laws on a lattice, for runs whose transform falls too slowly for an integral. Losses are cut into cells
 * (l_i, l_{i+1}], l_i = ih + offset; P_i and Q_i are the masses of a run's cell i under both of its laws.
 *
 * Below. An observer who is told nothing of n runs but the sum K of their cells learns no more than one who sees the runs (data
 * processing), and the laws of K are the convolutions of P_i and of Q_i. So delta(eps) >= P(K >= J) - e^eps Q(K >= J), for any J and for any
 * choice of cells.
 *
 * Above. With u = e^{-loss} a run counts by the P-mean of a convex function of u, whatever the others are, so that it loses more if the
 * mass of a cell is put on its two ends in the way that keeps its mean of u, Q_i/P_i. Ends are points of the lattice, and the losses of
 * runs on the lattice add up there: n runs have the n-fold convolution. (Doroshenko et al. 2022.)
 *
 * Both are wrong by O(n h^2). The ends of cells are outputs whose losses are next to l_i, at most eta off; a mass at an end then
 * goes to l_i + eta, and n eta is taken off eps. Masses are whole numbers of 2^-bits, rounded up above and, below, down for P and up for Q.
 * Cells at both ends of a law that hold next to nothing are cut off: above, their mass goes to the lowest point left or to an infinite
 * loss; below, they are left out under both laws, which is to look at other outcomes only.
 */
#include <math.h>
#include <stdlib.h>
#include "check.h"

static const double MAX_RUNS = 1e6, MAX_LOSS = 1e9;

/* Of a cell: so that it, and a sum of as many as there are runs, are exact as doubles and fit into a slong. */
static const double MAX_INDEX = 0x1p40;

void law_clear(law *x)
{
	fmpz_poly_clear(x->p);
	fmpz_poly_clear(x->q);
	fmpz_clear(x->far);
}

void units(fmpz_t out, const arb_t mass, grid *g, int up)
{
	fmpz_zero(out);
	g->ok = g->ok && arb_is_finite(mass);
	if (!g->ok)
		return;
	BALLS(scaled);
	arf_t x;
	arf_init(x);
	arb_mul_2exp_si(scaled, mass, g->bits);
	if (up)
		arb_get_ubound_arf(x, scaled, g->prec);
	else
		arb_get_lbound_arf(x, scaled, g->prec);
	arf_get_fmpz(out, x, up ? ARF_RND_CEIL : ARF_RND_FLOOR);
	if (fmpz_sgn(out) < 0)
		fmpz_zero(out);
	arf_clear(x);
}

void shorten(fmpz_poly_t x, const grid *g, int up)
{
	for (slong i = 0; i < x->length; i++) {
		fmpz *c = x->coeffs + i;
		if (up)
			fmpz_cdiv_q_2exp(c, c, g->bits);
		else
			fmpz_fdiv_q_2exp(c, c, g->bits);
	}
	_fmpz_poly_normalise(x);
}

/* Cuts off the ends of a law. */
static void trim(law *x, const grid *g)
{
	WHOLES(low, high);
	slong lo = 0, hi = x->p->length;
	for (; lo < hi - 1; lo++) {
		fmpz_add(high, low, x->p->coeffs + lo);
		if (fmpz_cmp(high, g->cut) > 0)
			break;
		fmpz_set(low, high);
	}
	fmpz_zero(high);
	for (; hi > lo + 1; hi--) {
		fmpz_add(high, high, x->p->coeffs + hi - 1);
		if (fmpz_cmp(high, g->cut) > 0) {
			fmpz_sub(high, high, x->p->coeffs + hi - 1);
			break;
		}
	}
	if (g->above && hi > 0) {
		fmpz_add(x->far, x->far, high);
		fmpz_add(x->p->coeffs + lo, x->p->coeffs + lo, low);
	}
	fmpz_poly_truncate(x->p, hi);
	fmpz_poly_shift_right(x->p, x->p, lo);
	fmpz_poly_truncate(x->q, hi);
	fmpz_poly_shift_right(x->q, x->q, lo);
	x->first += lo;
}

/* All mass of P. */
static void total(fmpz_t out, const law *x)
{
	fmpz_set(out, x->far);
	for (slong i = 0; i < x->p->length; i++)
		fmpz_add(out, out, x->p->coeffs + i);
}

/* At least what runs of x and of y have at an infinite loss. */
static void far_of(fmpz_t out, const law *x, const law *y, const grid *g)
{
	WHOLES(a, b);
	total(a, x);
	total(b, y);
	fmpz_mul(a, a, y->far);
	fmpz_addmul(a, b, x->far);
	fmpz_cdiv_q_2exp(out, a, g->bits);
}

int spend(grid *g, double cells)
{
	g->work -= cells;
	g->ok = g->ok && g->work >= 0;
	return g->ok;
}

/* Runs of x and of y. */
static void together(law *out, const law *x, const law *y, grid *g)
{
	if (!spend(g, x->p->length + y->p->length))
		return;
	far_of(out->far, x, y, g);
	out->first = x->first + y->first;
	fmpz_poly_mul(out->p, x->p, y->p);
	shorten(out->p, g, g->above);
	if (!g->above) {
		fmpz_poly_mul(out->q, x->q, y->q);
		shorten(out->q, g, 1);
	}
	trim(out, g);
}

void repeat(law *out, const law *x, ulong n, grid *g)
{
	out->first = x->first;
	fmpz_poly_set(out->p, x->p);
	fmpz_poly_set(out->q, x->q);
	fmpz_set(out->far, x->far);
	int bit = 63;
	while (!(n >> bit & 1))
		bit--;
	while (--bit >= 0) {
		together(out, out, out, g);
		if (n >> bit & 1)
			together(out, out, x, g);
	}
}

/* ---- one run ---- */

/* The losses of all ends between which a run has all but tail of its mass, by doubles. */
static void range(slong *first, slong *last, const step *s, int d, double h, double tail)
{
	BALLS(p, q, l);
	double infinite = 0;
	if (s->kind == THRESHOLD) {
		noise_tails(p, q, l, s, d, &MAX_LOSS, 1, 200);
		infinite = mid(p);
	}
	for (int side = 0; side < 2; side++) {
		double near = 0, far = 1, at = 0;
		for (int i = 0; i < 60; i++) {
			at = i < 30 && far > near ? far : (near + far)/2;
			double x = side ? at : -at;
			noise_tails(p, q, l, s, d, &x, 1, 200);
			if (!side)
				arb_sub_ui(p, p, 1, 200);
			int inside = fabs(mid(p) - side*infinite) > tail + 1e-14*infinite;
			if (inside && at == far) {
				near = far;
				far *= 2;
			} else if (inside)
				near = at;
			else
				far = at;
			if (far > near && far - near < h + 0.01*far)
				break;
		}
		if (side)
			*last = ceil(fmin(far/h, 2*MAX_INDEX)) + 1; /* more than there is work for */
		else
			*first = floor(-fmin(far/h, 2*MAX_INDEX)) - 1;
	}
}

/* Adds what is above l of a ball to eta. */
static void above_point(grid *g, const arb_t loss, const arb_t l)
{
	BALLS(x);
	mag_t m;
	mag_init(m);
	arb_sub(x, loss, l, g->prec);
	arb_get_mag(m, x);
	g->eta = fmax(g->eta, mag_get_d(m)*(1 + 1e-10));
	mag_clear(m);
}

static void point(arb_t l, slong i, const grid *g)
{
	BALLS(offset);
	arb_mul_si(l, D(g->h), i, g->prec);
	arb_add(l, l, D(g->offset), g->prec);
}

/* Puts an end right above the largest loss, whose mass is then all but on a point. */
static void align(grid *g, double largest)
{
	if (g->still)
		return;
	g->offset = largest + 1e-14*(fabs(largest) + g->h);
	g->offset -= g->h*floor(g->offset/g->h);
}

/* The masses of n cells from first on, of which the first one has all that is below and the last one all that is above the others, and their
 * upper ends, next to points of the lattice. */
typedef struct {
	slong first, n;
	arb_ptr p, q, end;
} cells;

static void cells_init(cells *x, slong first, slong n)
{
	x->first = first;
	x->n = n;
	x->p = _arb_vec_init(n);
	x->q = _arb_vec_init(n);
	x->end = _arb_vec_init(n);
}

static void cells_clear(cells *x)
{
	_arb_vec_clear(x->p, x->n);
	_arb_vec_clear(x->q, x->n);
	_arb_vec_clear(x->end, x->n);
}

/* Noise that has a density, but for atoms: cells are differences of tails. Cell 0 is all below, the last one all above. */
static void cells_of_noise(cells *x, grid *g, const step *s, int d, double tail)
{
	slong first, last;
	if (s->kind == LAPLACE)
		align(g, laplace_largest(s, d));
	range(&first, &last, s, d, g->h, tail);
	slong n = spend(g, (12.0*s->records - 8)*(last - first)) ? last - first + 1 : 1;
	cells_init(x, first - 1, n + 1);
	VECTOR p = vector(n + 2), q = vector(n + 2);
	FREED double *at = flint_malloc(n*sizeof *at);
	for (slong i = 0; i < n; i++)
		at[i] = (first + i)*g->h + g->offset;
	noise_tails(p + 1, q + 1, x->end, s, d, at, n, g->prec);
	arb_one(p);
	arb_one(q);
	BALLS(y);
	for (slong i = 0; i < n; i++) {
		point(y, first + i, g);
		above_point(g, x->end + i, y);
	}
	for (slong i = 0; i <= n; i++) {
		arb_sub(x->p + i, p + i, p + i + 1, g->prec);
		arb_sub(x->q + i, q + i, q + i + 1, g->prec);
	}
}

/* The losses of outcomes; one that is infinite, of which finite_parts has the mass, or has less than tail of P is none. */
static void losses(arb_ptr l, slong n, arb_srcptr p, arb_srcptr q, double tail, slong prec)
{
	for (slong i = 0; i < n; i++) {
		arb_indeterminate(l + i);
		if (mid(p + i) < tail || arb_contains_zero(q + i))
			continue;
		arb_div(l + i, p + i, q + i, prec);
		arb_log(l + i, l + i, prec);
	}
}

/* Outcomes: each goes to the cell that its loss is in. lost has what is left out. */
static void cells_of_outcomes(cells *x, grid *g, arb_t lost, slong n, arb_srcptr p, arb_srcptr q, double tail)
{
	arb_ptr l = _arb_vec_init(n);
	losses(l, n, p, q, tail, g->prec);
	double lo = INFINITY, hi = -INFINITY;
	for (slong i = 0; i < n; i++) {
		if (!arb_is_finite(l + i)) {
			if (!arb_is_zero(q + i))
				arb_add(lost, lost, p + i, g->prec);
			continue;
		}
		lo = fmin(lo, mid(l + i));
		hi = fmax(hi, mid(l + i));
	}
	if (!(hi >= lo && fmax(fabs(lo), fabs(hi)) <= MAX_INDEX*g->h)) {
		g->ok = 0;
		cells_init(x, 0, 0);
		_arb_vec_clear(l, n);
		return;
	}
	align(g, hi);
	slong first = floor(lo/g->h) - 3, size = spend(g, (hi - lo)/g->h) ? floor(hi/g->h) + 5 - first : 0;
	g->ok = g->ok && size > 0;
	cells_init(x, first, size);
	for (slong i = 0; i < size; i++)
		point(x->end + i, first + i + 1, g);
	BALLS(a);
	for (slong i = 0; i < n && size; i++) {
		if (!arb_is_finite(l + i))
			continue;
		slong j = floor((mid(l + i) - g->offset)/g->h) - first;
		if (!g->above || (arb_gt(l + i, x->end + j - 1) && arb_le(l + i, x->end + j))) {
			arb_add(x->p + j, x->p + j, p + i, g->prec);
			arb_add(x->q + j, x->q + j, q + i, g->prec);
			continue;
		}
		/* Next to an end, on one side or the other: at the end. */
		j -= j > 0 && fabs(mid(l + i) - mid(x->end + j - 1)) < g->h/2;
		above_point(g, l + i, x->end + j);
		arb_add(x->p + j, x->p + j, p + i, g->prec);
		exp_minus(a, x->end + j, g->prec);
		arb_addmul(x->q + j, a, p + i, g->prec);
	}
	_arb_vec_clear(l, n);
}

/* The law of random allocation, which is on points already. */
static void law_of_allocation(law *out, grid *g, const step *s, int d, double tail)
{
	slong from, n = allocation_range(&from, s, g->h, tail), first = d ? -from - n + 1 : from;
	if (!spend(g, 1e-4*n*n*log2(s->places) + 20.0*n))
		return;
	VECTOR p = vector(2*n);
	BALLS(far);
	allocation_law(p, p + n, far, s, d, g->above, g->h, d ? -g->offset : g->offset, from, n);
	WHOLES(u);
	units(out->far, far, g, 1);
	out->first = first;
	for (slong i = 0; i < n; i++) {
		units(u, p + i, g, g->above);
		fmpz_poly_set_coeff_fmpz(out->p, i, u);
		units(u, p + n + i, g, 1);
		fmpz_poly_set_coeff_fmpz(out->q, i, u);
	}
	trim(out, g);
}

/* The law of one run. */
static void law_of(law *out, grid *g, const step *s, int d, double tail)
{
	if (s->kind == ALLOCATION) {
		law_of_allocation(out, g, s, d, tail);
		return;
	}
	if (s->kind == MENU || s->kind == SEARCH || coupled(s)) {
		g->ok = g->ok && g->above;
		if (g->ok && coupled(s))
			law_of_draws(out, g, s, tail);
		else if (g->ok)
			(s->kind == MENU ? law_of_menu : law_of_search)(out, g, s, d, tail);
		g->offset = 0;
		if (g->ok)
			trim(out, g);
		return;
	}
	OWNED(cells_clear) cells x = { 0 };
	BALLS(lost, e, a, b);
	if (s->kind == GAUSSIAN || s->kind == LAPLACE || s->kind == THRESHOLD)
		cells_of_noise(&x, g, s, d, tail);
	else {
		slong n = 0;
		arb_ptr p, q;
		if (outcomes_of(&n, &p, &q, lost, s, d, g->prec)) {
			cells_of_outcomes(&x, g, lost, n, p, q, tail/n);
			_arb_vec_clear(p, n);
			_arb_vec_clear(q, n);
		} else {
			g->ok = 0;
			cells_init(&x, 0, 0);
		}
	}
	out->first = x.first;
	fmpz_poly_fit_length(out->p, x.n + 1);
	WHOLES(u, carry);
	if (g->above) {
		units(out->far, lost, g, 1);
		for (slong i = 0; i < x.n; i++) {
			if (i == 0)
				arb_zero(a);
			else if (i == x.n - 1) {
				fmpz_poly_set_coeff_fmpz(out->p, i, carry);
				units(u, x.p + i, g, 1);
				fmpz_add(out->far, out->far, u);
				break;
			} else {
				/* a at the lower end and b at the upper one: a = (q e^upper - p)/(e^{upper-lower} - 1) */
				arb_exp(b, x.end + i, g->prec);
				arb_mul(a, x.q + i, b, g->prec);
				arb_sub(a, a, x.p + i, g->prec);
				arb_sub(e, x.end + i, x.end + i - 1, g->prec);
				arb_expm1(e, e, g->prec);
				arb_div(a, a, e, g->prec);
			}
			arb_sub(b, x.p + i, a, g->prec);
			units(u, a, g, 1);
			fmpz_add(u, u, carry);
			fmpz_poly_set_coeff_fmpz(out->p, i, u);
			units(carry, b, g, 1);
		}
	} else
		for (slong i = 0; i < x.n; i++) {
			/* One would count twice in the next if thresholds ever fell. */
			g->ok = g->ok && !arb_is_negative(x.p + i) && !arb_is_negative(x.q + i);
			units(u, x.p + i, g, 0);
			fmpz_poly_set_coeff_fmpz(out->p, i, u);
			units(u, x.q + i, g, 1);
			fmpz_poly_set_coeff_fmpz(out->q, i, u);
		}
	trim(out, g);
}

/* ---- all runs ---- */

/* Of x, y: the sum of x_k times what y has from J - k on. */
static void beyond(fmpz_t out, const fmpz_poly_t x, const fmpz_poly_t y, slong J)
{
	WHOLES(sum);
	fmpz_zero(out);
	slong j = y->length;
	for (slong k = 0; k < x->length; k++) {
		while (j > 0 && j > J - k)
			fmpz_add(sum, sum, y->coeffs + --j);
		fmpz_addmul(out, sum, x->coeffs + k);
	}
}

/* x_k e^{-kh} */
static arb_ptr damped(const fmpz_poly_t x, const grid *g)
{
	arb_ptr out = _arb_vec_init(x->length);
	for (slong k = 0; k < x->length; k++) {
		arb_mul_si(out + k, D(g->h), -k, g->prec);
		arb_exp(out + k, out + k, g->prec);
		arb_mul_fmpz(out + k, out + k, x->coeffs + k, g->prec);
	}
	return out;
}

/* P(loss >= l_J) - e^eps Q(loss >= l_J) of runs of x and of y on points, of which xe and ye are the damped masses. */
static void at_points(arb_t out, const law *x, const law *y, arb_srcptr xe, arb_srcptr ye, slong J, const arb_t eps, const grid *g)
{
	WHOLES(s);
	BALLS(sum, q, e);
	slong from = J - x->first - y->first, j = y->p->length;
	beyond(s, x->p, y->p, from);
	arb_set_fmpz(out, s);
	for (slong k = 0; k < x->p->length; k++) {
		while (j > 0 && j > from - k) {
			j--;
			arb_add(sum, sum, ye + j, g->prec);
		}
		arb_addmul(q, sum, xe + k, g->prec);
	}
	arb_mul_si(e, D(g->h), -(x->first + y->first), g->prec);
	arb_add(e, e, eps, g->prec);
	arb_exp(e, e, g->prec);
	arb_submul(out, q, e, g->prec);
	arb_mul_2exp_si(out, out, -2*g->bits);
}

/* The same of cells. */
static void at_cells(arb_t out, const law *x, const law *y, slong J, const arb_t eps, const grid *g)
{
	WHOLES(s);
	BALLS(a);
	slong from = J - x->first - y->first;
	beyond(s, x->p, y->p, from);
	arb_set_fmpz(out, s);
	beyond(s, x->q, y->q, from);
	arb_set_fmpz(a, s);
	BALLS(e);
	arb_exp(e, eps, g->prec);
	arb_submul(out, a, e, g->prec);
	arb_mul_2exp_si(out, out, -2*g->bits);
}

/* The larger of two balls by their middles: for lower bounds, any of which is one. */
static int higher(const arb_t x, const arb_t y) { return arf_cmp(arb_midref(x), arb_midref(y)) > 0; }

/* A lower bound by about the best of all J. */
static void best_cells(arb_t out, const law *x, const law *y, double near, const arb_t eps, const grid *g)
{
	if (!(fabs(near) < MAX_INDEX)) {
		arb_indeterminate(out);
		return;
	}
	BALLS(a);
	slong J = floor(near);
	at_cells(out, x, y, J, eps, g);
	for (slong stride = 1; stride != 0;) {
		at_cells(a, x, y, J + stride, eps, g);
		if (higher(a, out)) {
			arb_swap(a, out);
			J += stride;
			stride *= 2;
		} else if (stride > 1 || stride < -1)
			stride /= 2;
		else
			stride = stride > 0 ? -1 : 0;
	}
}

/* What runs of x and y have above eps, without what is infinitely far. */
static void bound_of(arb_t out, const law *x, const law *y, double eps, const arb_t offsets, double runs, const grid *g)
{
	BALLS(e, a);
	if (g->above) {
		/* eps less n eta and the offsets. The threshold is the first point above it: one of two. */
		arb_mul(e, D(g->eta), D(runs), g->prec);
		arb_add(e, e, offsets, g->prec);
		arb_sub(e, D(eps), e, g->prec);
		arb_ptr xe = damped(x->p, g), ye = damped(y->p, g);
		double at = mid(e)/g->h - 1e-3;
		if (fabs(at) < MAX_INDEX) {
			slong J = ceil(at);
			at_points(out, x, y, xe, ye, J, e, g);
			at_points(a, x, y, xe, ye, J + 1, e, g);
			arb_max(out, out, a, g->prec);
		} else
			arb_indeterminate(out);
		_arb_vec_clear(xe, x->p->length);
		_arb_vec_clear(ye, y->p->length);
		WHOLES(far);
		far_of(far, x, y, g);
		arb_set_fmpz(a, far);
		arb_mul_2exp_si(a, a, -g->bits);
		arb_add(out, out, a, g->prec);
	} else {
		arb_set_d(e, eps);
		best_cells(out, x, y, (eps - mid(offsets))/g->h - runs/2, e, g);
	}
}

double law_of_part(law *out, grid *g, const certificate *c, int d, double tail)
{
	const double offset = g->offset, eta = g->eta;
	const int still = g->still;
	double runs = 0;
	g->still = 1;
	g->offset = g->eta = 0;
	for (slong i = 0; g->ok && i < c->steps; i++) {
		OWNED(law_clear) law one = { 0 }, many = { 0 };
		law_of(&one, g, &c->step[i], d, tail);
		repeat(i ? &many : out, &one, c->step[i].count, g);
		if (i)
			together(out, out, &many, g);
		runs += c->step[i].count;
	}
	BALLS(m0, m1);
	WHOLES(u);
	finite_parts(m0, m1, c, d, g->prec);
	complement(m0, m0, g->prec);
	units(u, m0, g, 1);
	fmpz_add(out->far, out->far, u);
	runs *= g->eta;
	g->still = still;
	g->offset = offset;
	g->eta = eta;
	return runs;
}

int delta_lattice(arb_t bound, const certificate *c, int d, double eps, int above, double h, double work)
{
	double runs = 0;
	if (c->step->kind == EXPONENTIAL)
		return delta_choices(bound, c->step, eps, above, h, work);
	for (slong i = 0; i < c->steps; i++)
		runs += c->step[i].count;
	if (runs > MAX_RUNS || c->delta < 1e-200 || eps > 500 || !(runs*(fabs(eps) + 1) <= MAX_INDEX*h))
		return 0;
	double less = 36 + log2(runs); /* bits of delta by which what is cut off is smaller */
	grid g = { .above = above, .h = h, .work = work, .ok = 1, .bits = 44 + less - log2(c->delta) + 1.5*eps };
	g.prec = g.bits + 80;
	fmpz_init(g.cut);
	fmpz_one_2exp(g.cut, g.bits + log2(c->delta) - less);
	OWNED(law_clear) law x = { 0 }, y = { 0 };
	WHOLES(all);
	fmpz_one_2exp(all, g.bits);
	fmpz_poly_set_fmpz(x.p, all);
	fmpz_poly_set_fmpz(x.q, all);
	BALLS(offsets, m0, m1);
	for (slong i = 0; g.ok && i < c->steps; i++) {
		ulong n = c->step[i].count;
		OWNED(law_clear) law one = { 0 };
		g.offset = 0.375*h; /* by itself, no loss that is a simple fraction of h, like 0, is at an end */
		law_of(&one, &g, &c->step[i], d, c->delta*exp2(-less));
		arb_addmul_ui(offsets, D(g.offset), n, g.prec);
		if (c->steps == 1 && n > 1) { /* halves */
			repeat(&x, &one, n/2, &g);
			n -= n/2;
		} else if (i > 0)
			together(&x, &x, &y, &g);
		repeat(&y, &one, n, &g);
	}
	if (g.ok) {
		bound_of(bound, &x, &y, eps, offsets, runs, &g);
		finite_parts(m0, m1, c, d, g.prec);
		arb_sub_ui(m0, m0, 1, g.prec);
		arb_sub(bound, bound, m0, g.prec);
	}
	fmpz_clear(g.cut);
	return g.ok && arb_is_finite(bound);
}

double lattice_range(const certificate *c, int d)
{
	double most = 0;
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		double tail = c->delta*1e-12/s->count;
		slong first = 0, last = 0, n;
		if (s->kind == EXPONENTIAL)
			return 100*s->noise;
		for (slong k = 0; k < s->parts; k++)
			most = fmax(most, 0.987*lattice_range(&s->part[k], d)); /* so that few simple losses are points */
		if (coupled(s))
			most = fmax(most, 2*coupled_reach(s, tail));
		else if (s->kind == ALLOCATION)
			most = fmax(most, allocation_range(&first, s, 1e-3, tail)*1e-3);
		else if (s->kind == GAUSSIAN || s->kind == LAPLACE || s->kind == THRESHOLD) {
			range(&first, &last, s, d, 1e-3, tail);
			most = fmax(most, (last - first)*1e-3);
		} else if (!s->parts) {
			arb_ptr p, q;
			BALLS(lost);
			if (!outcomes_of(&n, &p, &q, lost, s, d, 128))
				continue;
			VECTOR l = vector(n);
			losses(l, n, p, q, tail/n, 128);
			for (slong j = 0; j < n; j++)
				if (arb_is_finite(l + j))
					most = fmax(most, 2*fabs(mid(l + j)));
			_arb_vec_clear(p, n);
			_arb_vec_clear(q, n);
		}
	}
	return most;
}
