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
#include "check.h"

/* A file, or with - standard input, with a byte 0 after it. */
static const char *read_file(char *text, size_t *n, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	if (!f)
		return "the file cannot be opened";
	*n = fread(text, 1, MAX_BYTES + 1, f);
	int failed = ferror(f);
	if (f != stdin)
		fclose(f);
	if (failed || *n > MAX_BYTES)
		return "the file cannot be read or is above 1 MiB";
	text[*n] = 0;
	return NULL;
}

/* All steps are Gaussian noise in full. */
static int only_gaussian(const certificate *c)
{
	for (slong i = 0; i < c->steps; i++)
		if (!full_gaussian(&c->step[i]))
			return 0;
	return 1;
}

/* All steps have losses that can be listed. */
static int only_listed(const certificate *c)
{
	for (slong i = 0; i < c->steps; i++)
		if (c->step[i].kind != FINITE && c->step[i].kind != DISCRETE_GAUSSIAN)
			return 0;
	return 1;
}

/* delta(eps) in direction d by the way that serves: 0 if none does. With upper an upper bound that is at most delta will do. */
static int delta_at(arb_t x, const char **why, const certificate *c, int d, double eps, int upper, int level, slong prec)
{
	const step *s = c->step;
	if (only_gaussian(c))
		return delta_gaussian(x, c, eps, prec);
	if (only_listed(c))
		return delta_list(x, why, c, d, eps, prec);
	if (c->steps == 1 && s->count == 1)
		return s->kind == LAPLACE ? laplace_single(x, s, d, eps, prec) : gaussian_single(x, c, s, d, eps, prec);
	if (upper && level == 0 && d != c->direction && delta_chernoff(x, c, d, eps, prec)) {
		/* Often enough for the direction that is not the worse one. */
		arb_t delta;
		arb_init(delta);
		arb_set_d(delta, c->delta);
		int enough = arb_le(x, delta);
		arb_clear(delta);
		if (enough)
			return 1;
	}
	return delta_contour(x, why, c, d, eps, level, prec);
}

/* The two directions are the same: neither sampling nor a list of probabilities tells them apart. */
static int symmetric(const certificate *c)
{
	for (slong i = 0; i < c->steps; i++) {
		const step *s = &c->step[i];
		if (s->kind == FINITE || (s->rate < 1 && c->relation != SUBSTITUTE))
			return 0;
	}
	return 1;
}

/* Proves delta(eps) <= delta (upper) or >= delta in direction d. */
static int prove(const certificate *c, int d, double eps, int upper, const char **why)
{
	double bits = 0;
	for (slong i = 0; i < c->steps; i++)
		bits = fmax(bits, log2(c->step[i].count));
	arb_t x, delta;
	arb_init(x); arb_init(delta);
	arb_set_d(delta, c->delta);
	int verdict = NOT_PROVED;
	for (int level = 0; level < 4 && verdict == NOT_PROVED; level++) {
		slong prec = 128 + 1.5*bits + 64*level;
		if (!delta_at(x, why, c, d, eps, upper, level, prec))
			verdict = NOT_CHECKED;
		else if (upper ? arb_le(x, delta) : arb_ge(x, delta))
			verdict = PROVED;
		else if (upper ? arb_gt(x, delta) : arb_lt(x, delta))
			verdict = REFUTED;
	}
	if (getenv("VERIFY_TRACE")) {
		printf("direction %d, eps %.17g: ", d, eps);
		arb_printn(x, 25, 0);
		printf("\n");
	}
	arb_clear(x); arb_clear(delta);
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
	static char text[MAX_BYTES + 1];
	size_t n;
	certificate c;
	const char *wrong = read_file(text, &n, argv[1]);
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
	for (int i = 0; i < 3; i++) {
		const char *why = "";
		int v;
		if (i == 1 && symmetric(&c))
			continue;
		if (i == 2 && c.lower == 0)
			v = PROVED; /* epsilon is counted from 0 on */
		else
			v = prove(&c, i < 2 ? i : c.direction, i < 2 ? c.upper : c.lower, i < 2, &why);
		if (v == REFUTED)
			return report(v, claims[i], why);
		if (v != PROVED)
			report(v, claims[i], why);
		if (v > worst)
			worst = v;
	}
	certificate_clear(&c);
	flint_cleanup();
	if (worst == PROVED)
		report(PROVED, "the interval holds", "");
	return worst;
}
