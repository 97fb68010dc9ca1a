/*
 * The reader of certificates under a fuzzer. The input is a certificate without its last line, which is put under it, so that the
 * hash does not refuse everything; an input that begins with ! is read as it is.
 *
 * With clang:
 *   clang -g -O1 -DLIBFUZZER -fsanitize=fuzzer,address,undefined fuzz/reader.c src/certificate.c src/matrix.c src/pairs.c src/draws.c src/sha256.c -lflint-arb -lflint -lm
 * Without LIBFUZZER it is a program for go test: it reads texts with their lengths before them (four bytes, the least first) from
 * standard input, and writes for each a byte: 0 if it was read, 2 if it was refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../src/check.h"

static int read_text(const uint8_t *data, size_t size)
{
	int raw = size > 0 && *data == '!';
	data += raw;
	size -= raw;
	if (size + 73 > MAX_BYTES)
		return BAD_INPUT;
	/* As large as it must be: what is read beyond is seen. */
	char *text = malloc(size + 73), hash[65];
	memcpy(text, data, size);
	if (!raw) {
		sha256(hash, data, size);
		size += sprintf(text + size, "sha256 %s\n", hash);
	}
	text[size] = 0;
	certificate c;
	const char *wrong = parse_certificate(&c, text, size);
	if (!wrong)
		certificate_clear(&c);
	free(text);
	flint_cleanup();
	return wrong ? BAD_INPUT : 0;
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_text(data, size);
	return 0;
}
#else
int main(void)
{
	uint8_t head[4];
	while (fread(head, 1, sizeof head, stdin) == sizeof head) {
		size_t size = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
		uint8_t *data = malloc(size + 1);
		if (!data || fread(data, 1, size, stdin) != size)
			return 1;
		putchar(read_text(data, size));
		fflush(stdout);
		free(data);
	}
	return 0;
}
#endif
