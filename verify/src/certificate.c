/*
 * Reads a certificate (docs/reference/certificates.md). Lines in one order, one space between words, numbers as C's %a writes them, and as the
 * last line the SHA-256 of all bytes before it. Whatever does not keep the form is refused with its line.
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

static double number_of(const char *key, double lo, double hi)
{
	expect(key);
	return number(lo, hi);
}

static ulong whole_of(const char *key, ulong lo, ulong hi)
{
	expect(key);
	return whole(lo, hi);
}

static void skip_line(void)
{
	at += strcspn(at, "\n");
}

/* ---- steps ---- */

static void step_clear(step *s)
{
	outcomes_clear(s);
	arb_clear(s->norm);
	for (slong i = 0; i < s->parts; i++)
		certificate_clear(&s->part[i]);
	flint_free(s->part);
	memset(s, 0, sizeof *s);
}

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
	s->noise = number_of(" noise-multiplier", 1e-6, 1e15);
	if (whole_numbers)
		s->sensitivity = whole_of(" sensitivity", 1, 1000000);
}

/* Whether the text goes on with these words, which are read then. */
static int next(const char *words)
{
	size_t n = strlen(words);
	int is = !strncmp(at, words, n);
	at += is ? n : 0;
	return is;
}

/* A sample: Poisson, or a batch of fixed size. */
static void read_sampling(step *s)
{
	if (next(" random-allocation steps")) {
		s->places = whole(1, 1ul << 53);
		s->uses = whole_of(" uses", 1, 1ul << 53);
		int once = !next(" redraw each-epoch");
		if (once)
			expect(" redraw once");
		ulong epochs = whole_of(" epochs", 1, 1ul << 53);
		s->uses = next(" first") && whole(1, 1ul << 53) != s->places ? 0 : s->uses;
		arb_sqrt_ui(s->norm, once ? epochs : 1, 300);
		s->uses = !once && epochs > (1ul << 53)/s->count ? 0 : s->uses;
		s->count *= once ? 1 : epochs;
	}
	int again = next(" with-replacement");
	if (next(" poisson rate"))
		s->rate = number(0, 1);
	else if (again || next(" without-replacement")) {
		s->population = whole_of(" population", 1, 1ul << 53);
		s->batch = whole_of(" batch", 1, s->population);
		s->rate = (double)s->batch/s->population;
		s->draws = again && s->batch > 1 ? s->batch : 0;
	}
}

/* How many draws of one record are counted; the others, next to none, are missing. */
static void count_draws(certificate *c, step *s)
{
	slong n;
	s->records = s->draws < MAX_RECORDS ? s->draws : MAX_RECORDS;
	VECTOR w = chances_of_draws(&n, s, 1e-90, 1200);
	s->records = n;
	arb_addmul_ui(c->missing, w + n + 1, s->count, 1200);
	complement(w, w, 1200);
	s->rate = mid(w);
}

/* What of a batch of fixed size is not covered, or NULL. The noise is moved by 2 where another record takes a place. */
static const char *fixed_size(certificate *c, step *s, ulong records)
{
	enum relation r = c->relation;
	if (records > 1)
		return "persons with several records in a batch of fixed size";
	if (s->kind != GAUSSIAN && s->kind != LAPLACE)
		return "such noise in a batch of fixed size";
	if (s->draws)
		count_draws(c, s);
	int displaced = r == ZERO_OUT && s->kind == GAUSSIAN;
	s->shift = displaced ? 1 : 2;
	s->form = r == ADD_REMOVE ? PLAIN : displaced ? DISPLACED : ENVELOPE;
	if (s->form != PLAIN || (s->draws && s->kind == LAPLACE))
		c->apart |= s->draws || (r == ZERO_OUT && !displaced) ? 2 : 1;
	return NULL;
}

/* What of a step of noise is not covered, or NULL; otherwise how far the noise is moved, and by what. */
static const char *move(certificate *c, step *s, ulong records)
{
	enum relation r = c->relation;
	s->shift = s->records = 1;
	if (s->places) {
		if (s->kind != GAUSSIAN || r == SUBSTITUTE || records > 1 || s->uses != 1 || s->places > 100000)
			return "such random allocation";
		s->kind = s->places > 1 ? ALLOCATION : GAUSSIAN;
		return NULL;
	}
	if (s->population && (s->draws || s->batch < s->population))
		return fixed_size(c, s, records);
	if (s->rate == 1) {
		/* In a batch of fixed size another record takes the place of one that is away. */
		s->shift = (r == SUBSTITUTE || (s->population && r == ADD_REMOVE) ? 2 : 1)*records;
		return s->population && records > 1 ? "persons with several records in a batch of fixed size" : NULL;
	}
	if (s->rate == 0)
		return "a sampling rate of 0";
	s->form = r == SUBSTITUTE ? OPPOSITE : PLAIN;
	if (records > 1 && (s->kind != GAUSSIAN || records > MAX_RECORDS))
		return "persons with so many records on a sample";
	s->records = records;
	return NULL;
}

/* What of a step of a given guarantee or pair is not covered, or NULL. */
static const char *declared(certificate *c, step *s, ulong records, int pure)
{
	s->shift = s->records = 1;
	if (s->population)
		return "a batch of fixed size with such a mechanism";
	if (s->rate == 0)
		return "a sampling rate of 0";
	if (s->rate < 1 && c->relation == SUBSTITUTE) {
		s->form = ENVELOPE;
		c->apart |= 1;
	}
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
		if (strncmp(at, s->words, n) || s->draws || s->places || s->units || s->parts || !arb_is_zero(s->norm))
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

/* Room for n numbers, which is given back with the certificate. */
static arb_ptr hold(certificate *c, int i, slong n)
{
	if (c->held[i])
		_arb_vec_clear(c->held[i], c->length[i]);
	c->length[i] = n;
	return c->held[i] = _arb_vec_init(n);
}

/* A list of n numbers. */
static arb_ptr numbers(certificate *c, int held, slong n, double least, double most)
{
	arb_ptr x = hold(c, held, n);
	for (slong i = 0; i < n; i++)
		arb_set_d(x + i, number(least, most));
	return x;
}

/* The first n coefficients of a Toeplitz matrix, in the words of its strategy; NULL of another one. */
static arb_ptr coefficients(certificate *to, slong *bands, slong n)
{
	const slong prec = 300;
	arb_ptr c = NULL, scales, decays;
	*bands = 1;
	if (next(" identity")) {
		c = hold(to, 0, 1);
		arb_one(c);
	} else if (next(" square-root bands")) {
		*bands = whole(1, 1ul << 22);
		*bands = *bands < n ? *bands : n;
		c = hold(to, 0, *bands);
		arb_one(c);
		for (slong t = 1; t < *bands; t++) {
			arb_mul_ui(c + t, c + t - 1, 2*t - 1, prec);
			arb_div_ui(c + t, c + t, 2*t, prec);
		}
	} else if (next(" toeplitz coefficients")) {
		*bands = whole(1, MAX_ROWS);
		c = numbers(to, 0, *bands, -1e60, 1e60);
		*bands = *bands < n ? *bands : n;
	} else if (next(" blt scales")) {
		slong terms = whole(1, 64);
		scales = numbers(to, 1, terms, 0, 1e60);
		expect(" decays");
		if ((slong)whole(1, 64) != terms)
			bad("scales and decays differ in length");
		decays = numbers(to, 2, terms, 0, 1);
		*bands = n;
		c = hold(to, 0, n);
		arb_one(c);
		for (slong t = 1; t < n; t++)
			for (slong i = 0; i < terms; i++) {
				arb_add(c + t, c + t, scales + i, prec);
				arb_mul(scales + i, scales + i, decays + i, prec);
			}
	}
	return c;
}

/* A run with correlated noise. Returns what of it is not covered, or NULL; then one step follows, or two. */
static const char *read_matrix(certificate *c, step *s, ulong records)
{
	s->noise = number_of(" noise-multiplier", 1e-6, 1e15);
	slong n = whole_of(" steps", 1, MAX_ROWS), bands, b = n, k = 1;
	arb_ptr list = coefficients(c, &bands, n);
	int completion = 0, epochs = 0;
	if (!list)
		completion = whole_of(" tree completion", 0, 1);
	const char *unknown = NULL;
	int full = !next(" cyclic-poisson cycle");
	if (!full) {
		b = whole(1, MAX_ROWS);
		s->rate = number_of(" rate", 0x1p-1074, 1);
		if (!list || bands > b || records > 1 || c->relation == SUBSTITUTE || c->steps + 1 == c->room)
			unknown = "such a matrix mechanism with cyclic Poisson sampling";
		const step run = *s;
		for (int rest = 0; rest < 2 && !unknown; rest++) { /* columns of group 0 with all coefficients; the last one may have fewer */
			slong turns = (n - 1)/b + 1, cut = n - (turns - 1)*b < bands;
			step *x = &c->step[c->steps];
			if (rest ? !cut : turns == cut)
				continue;
			*x = run;
			arb_init(x->norm);
			x->count *= rest ? 1 : turns - cut;
			toeplitz_norm(x->norm, list, bands, rest ? n - (turns - 1)*b : n, n, 1, 0);
			c->steps++;
		}
	} else if (!next(" single")) {
		epochs = next(" epochs");
		if (epochs) {
			k = whole(1, MAX_ROWS);
			if (n % k)
				bad("the epochs do not divide the steps");
			b = n/k;
		} else {
			b = whole_of(" min-separation", 1, 1ul << 53);
			k = whole_of(" at-most", 1, 1ul << 53);
			b = b < n ? b : n;
			k = k < (n - 1)/b + 1 ? k : (n - 1)/b + 1;
		}
	}
	if (full) {
		s->shift = (c->relation == SUBSTITUTE ? 2 : 1)*records;
		arb_init(s->norm);
		int exact = list ? toeplitz_norm(s->norm, list, bands, n, b, k, epochs) : tree_norm(s->norm, n, completion, b, k, epochs);
		c->apart |= exact ? 0 : 2;
		c->steps++;
	}
	return unknown;
}

static void read_step(certificate *c, ulong records);

/* The next lines: steps of a part of a menu or of a search. */
static void read_part(certificate *c, certificate *part, ulong records)
{
	slong n = whole_of(" steps", 1, MAX_STEPS);
	part->relation = c->relation;
	part->step = flint_calloc(n + 1, sizeof *part->step); /* a matrix may be two */
	part->room = n + 1;
	for (slong i = 0; i < n; i++) {
		end_line();
		expect("inner");
		read_step(part, records);
	}
	c->unknown = part->unknown ? part->unknown : arb_is_zero(part->missing) ? c->unknown : "draws with replacement in a menu or a search";
}

/* Reads what stands behind the word adaptive or selection. */
static void read_parts(certificate *c, step *s, int search, ulong records)
{
	if (c->cost)
		bad("a menu or a search is inside of another");
	s->kind = search ? SEARCH : MENU;
	s->shift = 1;
	c->apart |= 2;
	slong n = 1;
	if (search) {
		s->shape = number_of(" negative-binomial shape", -1, 1e6);
		s->gamma = number_of(" gamma", 0x1p-1022, 1);
	} else {
		s->units = whole_of(" units", 1, 100000);
		n = whole_of(" types", 1, 64);
	}
	s->part = flint_calloc(n, sizeof *s->part);
	s->parts = n;
	for (slong i = 0; i < s->parts; i++) {
		s->part[i].cost = 1;
		if (!search) {
			end_line();
			s->part[i].cost = whole_of("type cost", 1, 1ul << 53);
		}
		read_part(c, &s->part[i], records);
	}
}

/* Reads a step. Pairs are made when all words have been read, so that a refusal leaves no memory behind. */
static void read_step(certificate *c, ulong records)
{
	static const char *const names[] = { "gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "pure", "approximate",
		"randomized-response", "finite", "matrix", "exponential", "permute-and-flip", "noisy-max noise", "threshold noise gaussian", "select-partitions", "adaptive",
		"selection", "other" };
	enum { GAUSS, LAP, DGAUSS, DLAP, PURE, APPROXIMATE, RESPONSE, LISTED, MATRIX, CHOICE, FLIP, NOISY, THRESH, KEYS, ADAPTIVE, SELECTION, OTHER, NAMES };
	ulong count = whole(1, 1ul << 53);
	if (merge(c, count))
		return;
	if (c->steps == c->room) {
		c->unknown = "more than 256 different steps";
		skip_line();
		return;
	}
	step *s = &c->step[c->steps];
	step_clear(s); /* one that was not covered may have stood here */
	s->count = count;
	s->words = at;
	s->rate = s->sensitivity = s->records = 1;
	expect(" ");
	int name = 0;
	while (name < NAMES && !(next(names[name]) && (*at == ' ' || *at == '\n')))
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
		dimension = whole_of(" dimension", 0, 1);
		break;
	case DLAP:
		read_noise(s, FINITE, 1);
		break;
	case PURE:
	case APPROXIMATE:
		eps = number_of(" epsilon", 0, 1e6);
		if (name == APPROXIMATE)
			delta = number_of(" delta", 0, 1);
		break;
	case RESPONSE:
		delta = number_of(" probability", 0, 1);
		categories = whole_of(" categories", 2, 1000000000);
		break;
	case LISTED:
		n = whole_of(" p", 1, MAX_BYTES);
		probabilities(p, n);
		expect(" q");
		if ((slong)whole(1, MAX_BYTES) != n)
			bad("p and q differ in length");
		probabilities(q, n);
		break;
	case MATRIX:
		s->shift = 1;
		const char *lacks = read_matrix(c, s, records);
		c->unknown = lacks ? lacks : c->unknown;
		return;
	case NOISY:
	case FLIP:
	case CHOICE:
		if (name == NOISY && next(" gumbel"))
			name = CHOICE;
		else if (name == NOISY && next(" laplace"))
			c->apart |= 2;
		else if (name == NOISY)
			expect(" exponential");
		eps = number_of(" epsilon", 1e-9, 100);
		s->kind = name == CHOICE ? EXPONENTIAL : LAPLACE;
		s->noise = name == CHOICE ? eps : 1/eps; /* rounded, and mended by the norm */
		if (name != CHOICE) {
			BALLS(x);
			arb_set_d(s->norm, s->noise);
			arb_mul(s->norm, s->norm, D(eps), 300);
		}
		break;
	case THRESH:
		s->noise = number_of(" standard-deviation", 1e-6, 1e12);
		s->threshold = number_of(" threshold", 1, 1e15);
		s->units = whole_of(" partitions", 1, 1000000);
		s->kind = THRESHOLD;
		break;
	case KEYS:
		eps = number_of(" epsilon", 1e-9, 100);
		delta = number_of(" delta", 1e-290, 1);
		categories = whole_of(" partitions", 1, 1000000);
		break;
	case ADAPTIVE:
	case SELECTION:
		read_parts(c, s, name == SELECTION, records);
		c->steps++;
		return;
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
	const char *unknown = NULL;
	if (name >= CHOICE) {
		int sampled = s->rate < 1 || s->population || s->places;
		unknown = sampled || records > 1 ? "what chooses, on samples or of persons with several records" : name >= THRESH && c->relation != ADD_REMOVE ? "a threshold under another relation than add-remove" : NULL;
		unknown = name == CHOICE && c->cost ? "exponential mechanisms in a menu or a search" : unknown;
		s->units = s->units ? s->units : categories; /* of keys, which are no one line with others */
		unknown = name == KEYS && count > (1ul << 53)/categories ? "more than 2^53 runs of one mechanism" : unknown;
		s->shift = 1;
		c->last += name == CHOICE ? 1 : count;
		s->count *= name == KEYS ? categories : 1;
		c->last += s->count - count;
	} else
		unknown = name <= DLAP ? move(c, s, records) : declared(c, s, records, name == PURE);
	if (s->places && name != GAUSS)
		unknown = "random allocation of another mechanism than Gaussian noise";
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
		response_pair(s, delta, categories, c->relation == ZERO_OUT);
	else if (name == LISTED)
		listed_pair(s, n, p, q);
	else if (name == KEYS && !selection_pair(s, eps, delta))
		c->unknown = "a selection of keys of so many persons";
	c->steps++;
	if (s->form == ENVELOPE && s->kind == FINITE && !envelope_pair(s))
		c->unknown = "a pair on a Poisson sample under substitute that is not its own mirror image";
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
	at += *at >= '1' && *at <= '3';
	end_line();
	expect("version ");
	skip_line();
	end_line();
	expect("neighbors ");
	c->relation = next("add-remove") ? ADD_REMOVE : next("substitute") ? SUBSTITUTE : ZERO_OUT;
	if (c->relation == ZERO_OUT)
		expect("zero-out");
	end_line();
	*records = whole_of("records-per-person", 1, 1ul << 20);
	end_line();
}

static void read_claim(certificate *c)
{
	c->delta = number_of("delta", 0, 1);
	if (c->delta == 1)
		bad("delta is not in [0, 1)");
	end_line();
	c->lower = number_of("lower", 0, INFINITY);
	end_line();
	c->upper = number_of("upper", 0, INFINITY);
	if (c->lower > c->upper)
		bad("lower is above upper");
	end_line();
	expect("direction ");
	c->direction = next(c->relation == SUBSTITUTE ? "backward" : "add") ? 1 : next("none") ? -1 : 0;
	if (c->direction == 0)
		expect(c->relation == SUBSTITUTE ? "forward" : "remove");
	end_line();
}

static void read_budget(certificate *c)
{
	expect("engine ");
	if (!next("contour") && !next("lattice"))
		expect("closed-form");
	end_line();
	c->theta = number_of("contour theta", -1e300, 1e300);
	c->period = number_of(" period", 0, 1e300);
	whole_of(" frequencies", 0, 1ul << 53);
	end_line();
	static const char *const parts[] = { "budget discretization", " quadrature", " truncation", " aliasing", " round-off", " theory-gap" };
	for (int i = 0; i < 6; i++)
		number_of(parts[i], 0, INFINITY);
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
	c->step = flint_calloc(MAX_STEPS, sizeof *c->step);
	c->room = MAX_STEPS;
	ulong records;
	read_head(c, &records);
	const char *first = at;
	for (; !strncmp(at, "step", 4); end_line()) {
		at += 4;
		read_step(c, records);
	}
	if (at == first)
		bad("there is no step");
	ulong runs = 0;
	for (slong i = 0; i < c->steps; i++)
		runs += c->step[i].count;
	for (slong i = 0; i < c->steps && c->steps > 1; i++)
		if (c->step[i].kind == EXPONENTIAL)
			c->unknown = "exponential mechanisms beside others";
	if (c->last > 1)
		c->apart |= c->steps == 1 && runs == c->last ? 1 : 2; /* of what chooses only one may come last */
	if (c->apart == 1 && runs == 1)
		c->apart = 0;
	read_claim(c);
	read_budget(c);
	if (at != text + n - 72)
		bad("there are lines that do not belong here");
	return NULL;
}

void certificate_clear(certificate *c)
{
	for (slong i = 0; c->step && i < c->room; i++)
		step_clear(&c->step[i]);
	for (int i = 0; i < 3; i++)
		if (c->held[i])
			_arb_vec_clear(c->held[i], c->length[i]);
	flint_free(c->step);
	c->step = NULL;
	arb_clear(c->missing);
}
