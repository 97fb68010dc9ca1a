/*
 * Reads a certificate (docs/reference/certificates.md). Lines in one order, one space between words, numbers as C's %a writes them, and as the
 * last line the SHA-256 of all bytes before it. Whatever does not keep the form is refused with its line; memory is asked for once.
 */
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

static const char *at;
static int line;
static char wrong[128];
static jmp_buf refuse;

static _Noreturn void bad(const char *what)
{
	snprintf(wrong, sizeof wrong, "line %d: %s", line, what);
	longjmp(refuse, 1);
}

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

/* A number, as printf writes it with %a: each number has one form, and 0 has no sign. */
static double number(double lo, double hi)
{
	expect(" ");
	char again[64], *end;
	const char *w = word();
	double x = strtod(w, &end);
	snprintf(again, sizeof again, "%a", x);
	if (*end || strcmp(again, w) || (x == 0 && signbit(x)))
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

/* n probabilities, of which the first MAX_OUTCOMES are kept. */
static void probabilities(double *x, slong n)
{
	double sum = 0;
	for (slong i = 0; i < n; i++) {
		double p = number(0, 1);
		if (i < MAX_OUTCOMES)
			x[i] = p;
		sum += p;
	}
	if (fabs(sum - 1) > 1e-9)
		bad("probabilities do not sum to 1");
}

/* The words of noise: its multiplier and, on whole numbers, the sensitivity. */
static void read_noise(step *s, enum kind k, int whole_numbers)
{
	s->kind = k;
	expect(" noise-multiplier");
	s->noise = number(1e-6, 1e15);
	if (whole_numbers) {
		expect(" sensitivity");
		s->sensitivity = whole(1, 1000000);
	}
}

/* A sample: Poisson, or a batch of fixed size. */
static void read_sampling(step *s)
{
	if (!strncmp(at, " poisson rate", 13)) {
		at += 13;
		s->rate = number(0, 1);
	} else if (!strncmp(at, " without-replacement population", 31)) {
		at += 31;
		s->population = whole(1, 1ul << 53);
		expect(" batch");
		s->batch = whole(1, s->population);
		s->rate = (double)s->batch/s->population;
	}
}

/* What of a step of noise is not covered, or NULL; otherwise how far the noise is moved, and by what. */
static const char *move(step *s, enum relation r, ulong records)
{
	s->shift = s->records = 1;
	if (s->population && s->batch < s->population) {
		if (r != ADD_REMOVE)
			return "a batch of fixed size under this relation";
		if (records > 1)
			return "persons with several records in a batch of fixed size";
		if (s->kind == DISCRETE_GAUSSIAN)
			return "discrete Gaussian noise on a sample";
		s->shift = 2; /* another record takes the place */
		return NULL;
	}
	if (s->rate == 1) {
		/* In a batch of fixed size another record takes the place of one that is away. */
		s->shift = (r == SUBSTITUTE || (s->population && r == ADD_REMOVE) ? 2 : 1)*records;
		return s->population && records > 1 ? "persons with several records in a batch of fixed size" : NULL;
	}
	if (s->rate == 0)
		return "a sampling rate of 0";
	if (s->kind != GAUSSIAN && r == SUBSTITUTE)
		return "this mechanism on a Poisson sample under substitute";
	if (records > 1 && (s->kind != GAUSSIAN || records > MAX_RECORDS))
		return "persons with so many records on a sample";
	s->records = records;
	return NULL;
}

/* What of a step of a given guarantee or pair is not covered, or NULL. */
static const char *declared(step *s, enum relation r, ulong records, int pure, int response)
{
	s->shift = s->records = 1;
	if (s->population)
		return "a batch of fixed size with such a mechanism";
	if (s->rate == 0)
		return "a sampling rate of 0";
	if (s->rate < 1 && r != ADD_REMOVE)
		return "this mechanism on a Poisson sample under this relation";
	if (response && r == ZERO_OUT)
		return "randomized response under zero-out";
	if (records > 1 && (!pure || s->rate < 1 || records >= MAX_OUTCOMES))
		return "persons with several records";
	s->shift = records;
	return NULL;
}

/* Counts a line together with a step that has the same words, which stand at at; returns 0 if there is none. */
static int merge(certificate *c, ulong count)
{
	size_t n = strcspn(at, "\n") + 1; /* with the line feed, so that no line is the start of another */
	for (slong i = 0; i < c->steps; i++) {
		step *s = &c->step[i];
		if (strncmp(at, s->words, n))
			continue;
		if (count > (1ul << 53) - s->count)
			c->unknown = "more than 2^53 runs of one mechanism";
		else
			s->count += count;
		skip_line();
		return 1;
	}
	return 0;
}

/* Reads a step. Pairs are made when all words have been read, so that a refusal leaves no memory behind. */
static void read_step(certificate *c, ulong records)
{
	static const char *const names[] = { "gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "pure", "approximate",
		"randomized-response", "finite", "other" };
	enum { GAUSS, LAP, DGAUSS, DLAP, PURE, APPROXIMATE, RESPONSE, LISTED, OTHER, NAMES };
	ulong count = whole(1, 1ul << 53);
	if (merge(c, count))
		return;
	if (c->steps == MAX_STEPS) {
		c->unknown = "more than 256 different steps";
		skip_line();
		return;
	}
	step *s = &c->step[c->steps];
	memset(s, 0, sizeof *s); /* one that was not covered may have stood here */
	s->count = count;
	s->words = at;
	s->rate = s->sensitivity = 1;
	expect(" ");
	const char *w = word();
	int name = 0;
	while (name < NAMES && strcmp(w, names[name]))
		name++;
	double eps = 0, delta = 0, p[MAX_OUTCOMES], q[MAX_OUTCOMES];
	slong n = 0;
	ulong categories = 0, dimension = 1;
	switch (name) {
	case GAUSS:
		read_noise(s, GAUSSIAN, 0);
		break;
	case LAP:
		read_noise(s, LAPLACE, 0);
		break;
	case DGAUSS:
		read_noise(s, DISCRETE_GAUSSIAN, 1);
		expect(" dimension");
		dimension = whole(0, 1);
		break;
	case DLAP:
		read_noise(s, FINITE, 1);
		break;
	case PURE:
	case APPROXIMATE:
		expect(" epsilon");
		eps = number(0, 1e6);
		if (name == APPROXIMATE) {
			expect(" delta");
			delta = number(0, 1);
		}
		break;
	case RESPONSE:
		expect(" probability");
		delta = number(0, 1);
		expect(" categories");
		categories = whole(2, 1000000000);
		break;
	case LISTED:
		expect(" p");
		n = whole(1, MAX_BYTES);
		probabilities(p, n);
		expect(" q");
		if ((slong)whole(1, MAX_BYTES) != n)
			bad("p and q differ in length");
		probabilities(q, n);
		break;
	case OTHER:
		c->unknown = "a mechanism or a sampling scheme that it does not know (other)";
		skip_line();
		return;
	default:
		bad("a mechanism is not known");
	}
	read_sampling(s);
	if (*at != '\n')
		bad("there is more on the line, or less");
	const char *unknown = name <= DLAP ? move(s, c->relation, records) : declared(s, c->relation, records, name == PURE, name == RESPONSE);
	if (!unknown && !dimension && s->sensitivity*s->shift > 1)
		unknown = "discrete Gaussian noise on a vector, but that moved by 1";
	if (!unknown && name == DLAP && s->sensitivity*s->shift + 1 > MAX_OUTCOMES)
		unknown = "discrete Laplace noise with such a sensitivity";
	if (!unknown && n > MAX_OUTCOMES)
		unknown = "a finite pair of more than 4096 outcomes";
	if (unknown) {
		c->unknown = unknown;
		return;
	}
	if (name == DLAP)
		discrete_laplace_pair(s);
	else if (name == PURE)
		pure_pair(s, eps);
	else if (name == APPROXIMATE)
		declared_pair(s, eps, delta);
	else if (name == RESPONSE)
		response_pair(s, delta, categories);
	else if (name == LISTED)
		listed_pair(s, n, p, q);
	c->steps++;
}

/* ---- the whole ---- */

static void check_bytes(const char *text, size_t n)
{
	const size_t tail = 7 + 64 + 1;
	for (size_t i = 0; i < n; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n')
			bad("there is a byte that is neither printable ASCII nor a line feed");
	if (n < tail || strncmp(text + n - tail, "sha256 ", 7) || text[n - 1] != '\n' || (n > tail && text[n - tail - 1] != '\n'))
		bad("the last line is not the hash");
	char hex[65];
	sha256(hex, (const unsigned char *)text, n - tail);
	if (strncmp(hex, text + n - 65, 64))
		bad("the hash is not that of the bytes before it");
}

static void read_head(certificate *c, ulong *records)
{
	expect(FIRST_LINE);
	line++;
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
	*records = whole(1, 1ul << 20);
	end_line();
}

static void read_claim(certificate *c)
{
	expect("delta");
	c->delta = number(0, 1);
	if (c->delta == 1)
		bad("delta is not in [0, 1)");
	if (c->delta == 0)
		c->unknown = "a delta of 0, which no ball proves";
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
	const char *w = word();
	if (!strcmp(w, c->relation == SUBSTITUTE ? "backward" : "add"))
		c->direction = 1;
	else if (strcmp(w, c->relation == SUBSTITUTE ? "forward" : "remove"))
		bad("direction is not one of the relation");
	end_line();
}

static void read_budget(certificate *c)
{
	expect("engine ");
	const char *w = word();
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
	if (number(0, INFINITY) > 0)
		c->unknown = "a gap of theory: its two ends are of different pairs of distributions";
	end_line();
}

const char *parse_certificate(certificate *c, const char *text, size_t n)
{
	memset(c, 0, sizeof *c);
	at = text;
	line = 1;
	if (setjmp(refuse)) {
		certificate_clear(c);
		return wrong;
	}
	check_bytes(text, n);
	c->step = calloc(MAX_STEPS, sizeof *c->step);
	if (!c->step)
		bad("there is no memory");
	ulong records;
	read_head(c, &records);
	const char *first = at;
	for (; !strncmp(at, "step", 4); end_line()) {
		at += 4;
		read_step(c, records);
	}
	if (at == first)
		bad("there is no step");
	read_claim(c);
	read_budget(c);
	if (at != text + n - 72)
		bad("there are lines that do not belong here");
	return NULL;
}

void certificate_clear(certificate *c)
{
	for (slong i = 0; c->step && i < c->steps; i++)
		outcomes_clear(&c->step[i]);
	free(c->step);
	c->step = NULL;
}
