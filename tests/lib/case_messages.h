/* case_messages.h -- the messages of many similar cases as golden lines (tests/lib/golden.h). */
#ifndef EDDY_TESTS_LIB_CASE_MESSAGES_H
#define EDDY_TESTS_LIB_CASE_MESSAGES_H

/* Messages of cases, each kind of message once, whatever its numbers and what it
 * has in brackets or quotes. */
typedef struct case_messages {
    int  count, read, refused;
    char kinds[200][300];
} case_messages;
/* Counts a case that was read (NULL) or refused, and keeps a message of a new kind, without a prefix
 * that it may have. */
void case_messages_add(case_messages *m, const char *message, const char *prefix);
/* Around the cases of a golden file. Lines are compared only if gcc compiled the library for x86:
 * the order in which a compiler evaluates arguments decides which of two errors comes first. */
void case_messages_begin(const char *golden);
void case_messages_finish(void);
/* The numbers and the messages as golden lines; clears them. */
void case_messages_end(case_messages *m, const char *what);

#endif
