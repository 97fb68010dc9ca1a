/*
 * verify FILE proves or refutes a certificate of accountant, or says that it does neither:
 *   0 proved; 1 refuted; 2 the file is not a certificate; 3 not proved with the precision there is; 4 not checked: not covered.
 *
 * The claim: in both directions delta(upper) <= delta, and in the direction named delta(lower) >= delta.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "check.h"

/* A file, or with - standard input, with a byte 0 after it. Of a file above MAX_BYTES only so much and one byte are read. */
static const char *read_file(char *text, size_t *n, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	if (!f)
		return "the file cannot be opened";
	*n = fread(text, 1, MAX_BYTES + 1, f);
	int failed = ferror(f);
	if (f != stdin)
		fclose(f);
	if (failed)
		return "the file cannot be read";
	text[*n] = 0;
	return NULL;
}

/* Whether something is so of all steps. */
static int all(const certificate *c, int (*is)(const step *))
{
	for (slong i = 0; i < c->steps; i++)
		if (!is(&c->step[i]))
			return 0;
	return 1;
}

/* A step has losses that can be listed. */
static int listed(const step *s) { return s->kind == FINITE || s->kind == DISCRETE_GAUSSIAN; }

/* One run of noise. */
static int single(const certificate *c)
{
	const step *s = c->step;
	return c->steps == 1 && s->count == 1 && (s->kind == GAUSSIAN || s->kind == LAPLACE || s->kind == THRESHOLD);
}

static int closed(const certificate *c) { return all(c, full_gaussian) || all(c, listed) || single(c); }

/* A step has an integral here. Whole numbers on a sample, of which there is a list of a run or two only, and batches of fixed size whose pair is
 * not PLAIN have none. */
static int has_integral(const step *s)
{
	if (s->kind == DISCRETE_GAUSSIAN)
		return s->rate == 1;
	return s->kind == FINITE || (s->kind < EXPONENTIAL && s->form != ENVELOPE && s->form != DISPLACED && !told(s));
}

static int no_integral(const certificate *c) { return !all(c, has_integral); }

enum { FEW_RUNS = 20 };

/* There are few runs, of noise that laws on a lattice are made of first; none in closed form. */
static int few_runs(const certificate *c)
{
	double runs = 0;
	for (slong i = 0; i < c->steps; i++)
		runs += c->step[i].count;
	if (no_integral(c))
		return runs > 2 || !closed(c);
	return runs > 1 && runs <= FEW_RUNS && !closed(c);
}

/* One run of noise. Of the losses above l0 <= eps and above l1 >= eps, delta(eps) is P0 - e^eps Q0 and between nothing and (e^eps - e^l0)(Q0 - Q1) more. */
static int delta_single(arb_t delta, const step *s, int d, double eps, slong prec)
{
	if (coupled(s)) {
		slong n;
		VECTOR w = chances_of_draws(&n, s, 0, prec);
		coupled_delta(delta, s, w, n, D(eps), prec);
		return 1;
	}
	VECTOR t = vector(6);
	arb_ptr p = t, q = t + 2, l = t + 4;
	for (double off = 0; off < 1; off = off > 0 ? 16*off : 0x1p-52*(eps + 1e-6)) {
		const double at[2] = { eps - off, eps + off };
		noise_tails(p, q, l, s, d, at, 2, prec);
		if (!arb_le(l, D(eps)) || !arb_ge(l + 1, D(eps)))
			continue;
		BALLS(e, more);
		arb_exp(e, D(eps), prec);
		arb_submul(p, e, q, prec);
		arb_exp(more, l, prec);
		arb_sub(more, e, more, prec);
		arb_sub(q, q, q + 1, prec);
		arb_mul(more, more, q, prec);
		arb_add(q, p, more, prec);
		arb_union(delta, p, q, prec);
		return arb_is_finite(delta);
	}
	return 0;
}

/* delta(eps) in direction d by the way that serves; returns and tol are those of delta_contour. */
static enum reach delta_at(arb_t x, const char **why, const certificate *c, int d, double eps, double *tol, slong prec)
{
	if (all(c, full_gaussian))
		return delta_gaussian(x, c, eps, prec) ? REACHED : NEVER;
	if (all(c, listed))
		return delta_list(x, why, c, d, eps, prec) ? REACHED : NEVER;
	if (single(c))
		return delta_single(x, c->step, d, eps, prec) ? REACHED : NEVER;
	return no_integral(c) ? NEVER : delta_contour(x, why, c, d, eps, tol, prec);
}

/* What a ball makes of x <= most (upper) or x >= most. */
static int compare(const arb_t x, const arb_t most, int upper)
{
	return (upper ? arb_le(x, most) : arb_ge(x, most)) ? PROVED : (upper ? arb_gt(x, most) : arb_lt(x, most)) ? REFUTED : NOT_PROVED;
}

/* What a ball around delta(eps) makes of delta(eps) <= delta (upper) or >= delta. */
static int judge(const certificate *c, const arb_t ball, double eps, const arb_t delta, int upper)
{
	/* What is missing of either law adds or takes so much. */
	BALLS(x, e);
	arb_exp(e, D(eps), 80);
	arb_add_ui(e, e, 1, 80);
	arb_mul(e, e, c->missing, 80);
	arb_set(x, ball);
	arb_add_error(x, e);
	return compare(x, delta, upper);
}

/* Chernoff's bound proves the claim: often so in the direction that is not the worse one. */
static int proved_by_chernoff(const certificate *c, int d, double eps, const arb_t delta, slong prec)
{
	if (no_integral(c) || closed(c))
		return 0; /* what is closed is as fast */
	BALLS(x);
	return delta_chernoff(x, c, d, eps, prec) && judge(c, x, eps, delta, 1) == PROVED;
}

/* The two directions of a step are the same: neither sampling nor a list of probabilities tells them apart. */
static int symmetric(const step *s)
{
	return s->kind != FINITE && s->kind <= EXPONENTIAL && (s->rate == 1 || (s->form != PLAIN && s->form != DISPLACED));
}

/* About the tolerance at which a ball, that was x with tol and did not decide, would: as small as the middle is near to delta, but by
 * no more than 14 at once, since the middle is a guess. */
static double needed(double tol, const arb_t x, const arb_t delta)
{
	double less = log(fabs(mid(x) - mid(delta))/mag_get_d(arb_radref(x)));
	return tol + (less > -14 ? less : -14);
}

enum { COARSE = 1500, REFINED = 12 };
/* Before an integral is tried, and where none is left. */
static const double FIRST_WORK = 1e5, MOST_WORK = 3e6;

/* No new attempt is begun after so many seconds of processor time. */
static double most_seconds(void)
{
	const char *limit = getenv("VERIFY_SECONDS");
	return limit ? atof(limit) : 8;
}

static int out_of_time(void) { return clock() > most_seconds()*CLOCKS_PER_SEC; }

static void overtime(int signal)
{
	static const char said[] = "not checked: more processor time than there may be (VERIFY_SECONDS, 8)\n";
	(void)signal;
	_exit(write(1, said, sizeof said - 1) < 0 ? NOT_PROVED : NOT_CHECKED);
}

/* Where the truth may be below what dominates. */
static const char BELOW[] = "what dominates loses more, and perhaps more than the truth";

/* Laws on a lattice: cells are made smaller until a bound decides, or more work is needed than there may be. size is of the first cells, 0 if
 * none have been tried, and becomes that of the last ones. The other side, which refutes, is asked for of the first cells, and where the claim is
 * false as far as the errors of the side that proves fall with the square of the cells. */
static int prove_by_lattice(const certificate *c, int d, double eps, const arb_t delta, int upper, double work, double *size, const char **why)
{
	int verdict = NOT_PROVED;
	double h = *size > 0 ? *size : lattice_range(c, d)/COARSE, coarse = 0, before = 0;
	BALLS(x, other);
	for (int i = 0; i < REFINED && verdict == NOT_PROVED; i++) {
		if (out_of_time()) {
			*why = "more processor time than there may be (VERIFY_SECONDS, 8)";
			break;
		}
		*why = "laws of so many losses take too much work";
		*size = h;
		if (!(h > 0) || !delta_lattice(x, c, d, eps, upper, h, work))
			break;
		verdict = judge(c, x, eps, delta, upper) == PROVED ? PROVED : NOT_PROVED;
		double now = mid(x), truth = coarse > 0 ? now - (before - now)*h*h/(coarse*coarse - h*h) : 0.9*now + 0.1*mid(delta);
		int wrong = coarse > 0 && (upper ? truth > mid(delta) : truth < mid(delta));
		if (c->apart && wrong && fabs(mid(delta) - truth) > 4*fabs(now - truth)) {
			*why = BELOW;
			break;
		}
		if (verdict == NOT_PROVED && !c->apart && (coarse == 0 || wrong) && delta_lattice(other, c, d, eps, !upper, h, work)) {
			if (judge(c, other, eps, delta, upper) == REFUTED)
				verdict = REFUTED;
			truth = upper ? (2*mid(other) + now)/3 : (2*now + mid(other))/3; /* the errors from below and above are about 1 to 2 */
		}
		coarse = h;
		before = now;
		h *= fmax(1./16, fmin(0.6, 0.8*sqrt(fabs(mid(delta) - truth)/fabs(now - truth))));
	}
	return verdict == NOT_PROVED ? NOT_CHECKED : verdict;
}

/* Steps of the tolerance, in logarithms. The first one is 8 below what the width of the interval is: above that by much more than 8 a ball
 * says nothing of its ends. A ball that is within NEAR of what is out of reach is not followed by another, which would be as much work. */
static const double COARSER = 3, COARSEST = 9, FINER = 2, NEAR = 2;
enum { LEVELS = 6, ATTEMPTS = 20 };

/* Proves delta(eps) <= delta (upper) or >= delta in direction d. Where a transform falls slowly, work grows with the inverse of the
 * tolerance, and one that is finer than it must be is out of reach. So the tolerance becomes coarser until there is a ball, and then
 * finer as far as deciding takes, always above too_fine. */
static int prove(const certificate *c, int d, double eps, int upper, double *size, const char **why)
{
	double bits = 0;
	for (slong i = 0; i < c->steps; i++)
		bits = fmax(bits, log2(c->step[i].count));
	BALLS(x, delta);
	arb_set_d(delta, c->delta);
	if (c->delta == 0) {
		*why = largest_loss(x, c, d, 128) ? "" : "a delta of 0 beside what has no largest loss here";
		return **why ? NOT_CHECKED : compare(x, D(eps), upper);
	}
	int verdict = NOT_PROVED, level = 0;
	double tol = 0, first = 0, need = INFINITY, too_fine = -INFINITY;
	int few = few_runs(c), only_lattice = no_integral(c) && !closed(c);
	if (upper && d != c->direction && proved_by_chernoff(c, d, eps, delta, 128 + 1.5*bits))
		verdict = PROVED;
	else if (few)
		verdict = prove_by_lattice(c, d, eps, delta, upper, only_lattice ? MOST_WORK : FIRST_WORK, size, why);
	if (verdict == NOT_CHECKED && !only_lattice)
		verdict = NOT_PROVED; /* there is another way */
	for (int i = 0; i < ATTEMPTS && level < LEVELS && verdict == NOT_PROVED; i++) {
		if (i > 0 && out_of_time()) {
			verdict = NOT_CHECKED;
			break;
		}
		enum reach r = delta_at(x, why, c, d, eps, &tol, (bits < 18 ? 100 : 128) + 1.5*bits + 64*level);
		int hopeless = r == NEVER;
		if (i == 0)
			first = tol;
		if (r == REACHED) {
			level++;
			verdict = judge(c, x, eps, delta, upper);
			need = needed(tol, x, delta);
			hopeless = need < too_fine || tol < too_fine + NEAR;
			tol = fmin(need - 1, tol - FINER);
			if (tol <= too_fine)
				tol = (need + too_fine)/2;
		} else {
			if (i == 0 && !few)
				verdict = prove_by_lattice(c, d, eps, delta, upper, FIRST_WORK, size, why);
			verdict = verdict == NOT_CHECKED ? NOT_PROVED : verdict;
			too_fine = tol;
			tol = level > 0 ? (need + too_fine)/2 : tol + COARSER;
			hopeless = hopeless || (level > 0 ? need < too_fine + NEAR/10 : few || tol > first + COARSEST);
		}
		if (verdict == NOT_PROVED && hopeless)
			verdict = NOT_CHECKED;
	}
	if (verdict == NOT_CHECKED && !only_lattice && !all(c, full_gaussian))
		verdict = prove_by_lattice(c, d, eps, delta, upper, MOST_WORK, size, why);
	if (verdict == PROVED || verdict == REFUTED)
		*why = ""; /* of an attempt before */
	if (verdict != PROVED)
		*size = 0;
	return verdict;
}

static int report(int verdict, const char *claim, const char *why)
{
	static const char *const words[] = { "proved", "refuted", "", "not proved", "not checked" };
	printf("%s: %s%s%s\n", words[verdict], claim, *why ? ": " : "", why);
	return verdict;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: verify FILE\n");
		return BAD_INPUT;
	}
	/* An attempt that was begun in time may take much longer than the one before it. */
	struct rlimit most;
	signal(SIGXCPU, overtime);
	getrlimit(RLIMIT_CPU, &most); /* a limit that is there may not be raised */
	most.rlim_cur = most_seconds() + 1;
	setrlimit(RLIMIT_CPU, &most);
	static char text[MAX_BYTES + 2];
	size_t n;
	certificate c;
	const char *wrong = read_file(text, &n, argv[1]);
	if (!wrong && n > MAX_BYTES && !strncmp(text, FIRST_LINE, strlen(FIRST_LINE)))
		return report(NOT_CHECKED, "this checker does not cover", "a file above 1 MiB");
	if (!wrong)
		wrong = parse_certificate(&c, text, n);
	if (wrong) {
		printf("bad certificate: %s\n", wrong);
		return BAD_INPUT;
	}
	if (!isfinite(c.upper))
		c.unknown = "an end that is not finite";
	if (c.unknown)
		return report(NOT_CHECKED, "this checker does not cover", c.unknown);
	static const char *const claims[] = { "delta(upper) <= delta, remove or forward", "delta(upper) <= delta, add or backward", "delta(lower) >= delta" };
	int worst = PROVED;
	double size[2] = { 0, 0 }; /* of the cells of a lattice in each direction */
	for (int i = 0; i < 3; i++) {
		const char *why = "";
		int v;
		if ((i == 1 && all(&c, symmetric)) || (i == 2 && (c.lower == 0 || c.direction < 0))) /* epsilon is counted from 0 on */
			continue;
		int d = i < 2 ? i : c.direction;
		if (i == 2 && c.apart) {
			v = NOT_CHECKED;
			why = "the attack of a lower end that is apart from what dominates";
		} else {
			const double begun = size[d], eps = i < 2 ? c.upper : c.lower;
			v = prove(&c, d, eps, i < 2, &size[d], &why);
			if (v == NOT_CHECKED && begun > 0 && !out_of_time()) /* from larger cells on */
				v = prove(&c, d, eps, i < 2, &size[d], &why);
		}
		if (v == REFUTED && c.apart) {
			v = NOT_CHECKED;
			why = BELOW;
		}
		if (v == REFUTED)
			return report(v, claims[i], why);
		if (v != PROVED)
			report(v, claims[i], why);
		if (v > worst)
			worst = v;
	}
	if (worst == PROVED && c.direction < 0)
		printf("proved: epsilon <= %.17g at delta %.17g; the lower end is an attack's and not claimed\n", c.upper, c.delta);
	else if (worst == PROVED)
		printf("proved: %.17g <= epsilon <= %.17g at delta %.17g\n", c.lower, c.upper, c.delta);
	certificate_clear(&c);
	flint_cleanup();
	return worst;
}
