/*
 * Reads a certificate (docs/certificates.md). Lines in one order, one space between words, numbers as C's %a writes them, and as the
 * last line the SHA-256 of all bytes before it. Whatever does not keep the form ends the program with BAD_INPUT.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

enum { MAX_BYTES = 1 << 20 };

static char text[MAX_BYTES + 1], *at;
static int line;

static void bad(const char *what)
{
	printf("bad certificate: line %d: %s\n", line, what);
	exit(BAD_INPUT);
}

/* ---- SHA-256 (FIPS 180-4) ---- */

/* The first 32 bits of the fractional parts of the roots of primes, in exact integers: floor(p^{1/r} 2^32) mod 2^32. */
static uint32_t root_bits(uint64_t p, int r)
{
	unsigned __int128 lo = 0, hi = (unsigned __int128)8 << 32;
	while (hi - lo > 1) {
		unsigned __int128 x = (lo + hi)/2;
		/* x^r <= p 2^{32r}: x has at most 37 bits, so that x^3 fits. */
		if (r == 2 ? x*x <= (unsigned __int128)p << 64 : x*x*x <= (unsigned __int128)p << 96)
			lo = x;
		else
			hi = x;
	}
	return (uint32_t)lo;
}

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256(char hex[65], const unsigned char *data, size_t n)
{
	uint32_t k[64], s[8], w[64];
	int found = 0;
	for (uint64_t p = 2; found < 64; p++) {
		int prime = 1;
		for (uint64_t i = 2; i*i <= p; i++)
			prime = prime && p % i;
		if (!prime)
			continue;
		if (found < 8) {
			/* square roots up to 19 are below 8 */
			s[found] = root_bits(p, 2);
		}
		k[found++] = root_bits(p, 3);
	}
	size_t total = (n + 9 + 63)/64*64;
	for (size_t block = 0; block < total; block += 64) {
		for (int i = 0; i < 64; i++) {
			if (i < 16) {
				w[i] = 0;
				for (int j = 0; j < 4; j++) {
					size_t b = block + 4*i + j;
					unsigned char x = b < n ? data[b] : b == n ? 0x80 : b >= total - 8 ? (uint64_t)n*8 >> 8*(total - 1 - b) & 255 : 0;
					w[i] = w[i] << 8 | x;
				}
				continue;
			}
			uint32_t a = w[i - 15], b = w[i - 2];
			w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
		}
		uint32_t v[8];
		memcpy(v, s, sizeof v);
		for (int i = 0; i < 64; i++) {
			uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
			uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
			memmove(v + 1, v, 7*sizeof *v);
			v[4] += t1;
			v[0] = t1 + t2;
		}
		for (int i = 0; i < 8; i++)
			s[i] += v[i];
	}
	for (int i = 0; i < 8; i++)
		sprintf(hex + 8*i, "%08x", s[i]);
}

/* ---- words ---- */

static void expect(const char *s)
{
	size_t n = strlen(s);
	if (strncmp(at, s, n))
		bad("a key is missing or in the wrong place");
	at += n;
}

static void end_line(void)
{
	if (*at != '\n')
		bad("there is more on the line, or less");
	at++;
	line++;
}

/* A word up to a space or the end of the line. */
static const char *word(void)
{
	static char w[128];
	size_t n = strcspn(at, " \n");
	if (n == 0 || n >= sizeof w)
		bad("a word is missing or too long");
	memcpy(w, at, n);
	w[n] = 0;
	at += n;
	return w;
}

/* A number, as printf writes it with %a: each number has one form. */
static double number(double lo, double hi)
{
	expect(" ");
	char again[64], *end;
	const char *w = word();
	double x = strtod(w, &end);
	snprintf(again, sizeof again, "%a", x);
	if (*end || strcmp(again, w))
		bad("a number is not in the form of %a");
	if (!(x >= lo && x <= hi))
		bad("a number is out of range");
	return x;
}

static ulong whole(ulong lo, ulong hi)
{
	expect(" ");
	const char *w = word();
	char again[64], *end;
	ulong x = strtoul(w, &end, 10);
	snprintf(again, sizeof again, "%lu", x);
	if (*end || strcmp(again, w) || x < lo || x > hi)
		bad("a whole number is not one or is out of range");
	return x;
}

static void skip_line(void)
{
	at += strcspn(at, "\n");
}

/* ---- steps ---- */

static const slong PREC = 1200; /* of the masses of finite pairs, far above what any proof takes */

static void new_outcomes(step *s, slong n)
{
	s->kind = FINITE;
	s->outcomes = n;
	for (slong i = 0; i < n; i++) {
		arb_init(s->p[i]);
		arb_init(s->q[i]);
	}
}

/* e^eps/(1+e^eps) and its complement, with delta at +inf of P and -inf of Q. */
static void declared_pair(step *s, double eps, double delta)
{
	new_outcomes(s, 4);
	arb_t x, y;
	arb_init(x); arb_init(y);
	arb_set_d(x, eps);
	arb_exp(x, x, PREC);
	arb_add_ui(y, x, 1, PREC);
	arb_div(s->p[0], x, y, PREC);
	arb_inv(s->p[1], y, PREC);
	arb_set_d(s->p[2], delta);
	arb_sub_ui(x, s->p[2], 1, PREC);
	arb_neg(x, x);
	for (int i = 0; i < 2; i++)
		arb_mul(s->p[i], s->p[i], x, PREC);
	arb_set(s->q[0], s->p[1]);
	arb_set(s->q[1], s->p[0]);
	arb_set(s->q[3], s->p[2]);
	if (delta == 0)
		s->outcomes = 2;
	arb_clear(x); arb_clear(y);
}

static void response_pair(step *s, double probability, ulong categories)
{
	new_outcomes(s, 3);
	arb_t x;
	arb_init(x);
	arb_set_d(s->p[1], probability);
	arb_div_ui(s->p[1], s->p[1], categories, PREC);
	arb_set_d(x, probability);
	arb_sub_ui(x, x, 1, PREC);
	arb_sub(s->p[0], s->p[1], x, PREC);
	arb_mul_ui(s->p[2], s->p[1], categories - 2, PREC);
	arb_set(s->q[0], s->p[1]);
	arb_set(s->q[1], s->p[0]);
	arb_set(s->q[2], s->p[2]);
	if (categories == 2)
		s->outcomes = 2;
	arb_clear(x);
}

static void listed_pair(step *s)
{
	expect(" p");
	slong n = whole(1, MAX_OUTCOMES);
	new_outcomes(s, n);
	arb_t sum;
	arb_init(sum);
	for (int which = 0; which < 2; which++) {
		if (which) {
			expect(" q");
			if ((slong)whole(1, MAX_OUTCOMES) != n)
				bad("p and q differ in length");
		}
		arb_t *x = which ? s->q : s->p;
		arb_zero(sum);
		for (slong i = 0; i < n; i++) {
			arb_set_d(x[i], number(0, 1));
			arb_add(sum, sum, x[i], PREC);
		}
		if (fabs(arf_get_d(arb_midref(sum), ARF_RND_NEAR) - 1) > 1e-9)
			bad("probabilities do not sum to 1");
		for (slong i = 0; i < n; i++)
			arb_div(x[i], x[i], sum, PREC);
	}
	arb_clear(sum);
}

static void read_step(certificate *c)
{
	if (c->steps == MAX_STEPS) {
		c->unknown = "more than 64 steps";
		skip_line();
		return;
	}
	step *s = &c->step[c->steps];
	memset(s, 0, sizeof *s);
	s->count = whole(1, 1ul << 53);
	s->rate = 1;
	expect(" ");
	char w[128];
	strcpy(w, word());
	int declared = 0;
	if (!strcmp(w, "gaussian") || !strcmp(w, "laplace")) {
		s->kind = *w == 'g' ? GAUSSIAN : LAPLACE;
		expect(" noise-multiplier");
		s->noise = number(1e-6, 1e15);
	} else if (!strcmp(w, "pure") || !strcmp(w, "approximate")) {
		expect(" epsilon");
		double eps = number(0, 1e6), delta = 0;
		if (*w == 'a') {
			expect(" delta");
			delta = number(0, 1);
		}
		declared_pair(s, eps, delta);
		declared = 1;
	} else if (!strcmp(w, "randomized-response")) {
		expect(" probability");
		double p = number(0, 1);
		expect(" categories");
		response_pair(s, p, whole(2, 1000000000));
		declared = 2;
	} else if (!strcmp(w, "finite")) {
		listed_pair(s);
		declared = 1;
	} else {
		if (strcmp(w, "other"))
			bad("a mechanism is not known");
		c->unknown = "a mechanism or a sampling scheme that it does not know (other)";
		skip_line();
		return;
	}
	if (!strncmp(at, " poisson rate", 13)) {
		at += 13;
		s->rate = number(0, 1);
		if (s->rate == 0)
			c->unknown = "a sampling rate of 0";
		if (s->rate < 1 && c->relation == SUBSTITUTE && s->kind != GAUSSIAN)
			c->unknown = "this mechanism on a Poisson sample under substitute";
		if (s->rate < 1 && c->relation == ZERO_OUT && declared)
			c->unknown = "this mechanism on a Poisson sample under zero-out";
	}
	if (declared == 2 && c->relation == ZERO_OUT)
		c->unknown = "randomized response under zero-out";
	c->steps++;
}

/* ---- the whole ---- */

static void check_bytes(size_t n)
{
	if (memchr(text, 0, n))
		bad("there is a byte 0");
	const size_t tail = 7 + 64 + 1;
	if (n < tail || strncmp(text + n - tail, "sha256 ", 7) || text[n - 1] != '\n' || (n > tail && text[n - tail - 1] != '\n'))
		bad("the last line is not the hash");
	char hex[65];
	sha256(hex, (unsigned char *)text, n - tail);
	if (strncmp(hex, text + n - 65, 64))
		bad("the hash is not that of the bytes before it");
}

void read_certificate(certificate *c, const char *file)
{
	memset(c, 0, sizeof *c);
	line = 1;
	FILE *f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
	if (!f) {
		perror(file);
		exit(BAD_INPUT);
	}
	size_t n = fread(text, 1, MAX_BYTES + 1, f);
	if (ferror(f) || n > MAX_BYTES)
		bad("the file cannot be read or is above 1 MiB");
	text[n] = 0;
	check_bytes(n);
	c->step = calloc(MAX_STEPS, sizeof *c->step);
	if (!c->step)
		bad("there is no memory");
	at = text;
	expect("accountant certificate 1");
	end_line();
	expect("version ");
	skip_line();
	end_line();
	expect("neighbors ");
	const char *w = word();
	if (!strcmp(w, "add-remove"))
		c->relation = ADD_REMOVE;
	else if (!strcmp(w, "substitute"))
		c->relation = SUBSTITUTE;
	else if (!strcmp(w, "zero-out"))
		c->relation = ZERO_OUT;
	else
		bad("neighbors is not a relation");
	end_line();
	expect("records-per-person");
	if (whole(1, 1ul << 53) != 1)
		c->unknown = "persons with several records";
	end_line();
	int steps = 0;
	while (!strncmp(at, "step", 4)) {
		at += 4;
		read_step(c);
		end_line();
		steps++;
	}
	if (!steps)
		bad("there is no step");
	expect("delta");
	c->delta = number(0, 1);
	if (!(c->delta > 0 && c->delta < 1))
		bad("delta is not in (0, 1)");
	end_line();
	expect("lower");
	c->lower = number(0, INFINITY);
	end_line();
	expect("upper");
	c->upper = number(0, INFINITY);
	if (c->lower > c->upper)
		bad("lower is above upper");
	end_line();
	expect("direction ");
	w = word();
	const char *first = c->relation == SUBSTITUTE ? "forward" : "remove", *second = c->relation == SUBSTITUTE ? "backward" : "add";
	if (!strcmp(w, second))
		c->direction = 1;
	else if (strcmp(w, first))
		bad("direction is not one of the relation");
	end_line();
	expect("engine ");
	w = word();
	if (strcmp(w, "contour") && strcmp(w, "lattice") && strcmp(w, "closed-form"))
		bad("engine is not known");
	end_line();
	expect("contour theta");
	c->theta = number(-1e300, 1e300);
	expect(" period");
	c->period = number(0, 1e300);
	expect(" frequencies");
	whole(0, 1ul << 53);
	end_line();
	expect("budget");
	static const char *const parts[] = { " discretization", " quadrature", " truncation", " aliasing", " round-off" };
	for (int i = 0; i < 5; i++) {
		expect(parts[i]);
		number(0, INFINITY);
	}
	expect(" theory-gap");
	c->gap = number(0, INFINITY);
	if (c->gap > 0)
		c->unknown = "a gap of theory: its two ends are of different pairs of distributions";
	end_line();
	if (at != text + n - 72)
		bad("there are lines that do not belong here");
}
