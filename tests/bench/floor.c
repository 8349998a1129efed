/* The floor under `urepo new --each`: the same directories, files, digests and syncs, and nothing else.
 *
 *   floor LIST STAGE YEAR
 *
 * LIST has the paths of the sources, each ended by a NUL byte; STAGE and YEAR are empty directories of one file
 * system. Each source becomes STAGE/N with `doc/` and a sidecar of 600 bytes. Two threads read, write and digest; one
 * syncfs makes all of it durable; a rename puts each item into YEAR; the directory is synced; a line of 400 bytes
 * for each item goes into a ledger, which is synced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS 2
#define SIDECAR 600
#define LINE 400
#define PIECE (256 * 1024)

static char **sources;
static size_t count;
static atomic_size_t next;
static int stage, year;

static int checked(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "error: cannot %s: %s\n", what, strerror(errno));
        exit(1);
    }
    return result;
}

static void write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        checked(written < 0 ? -1 : 0, "write");
        bytes += written;
        length -= (size_t)written;
    }
}

static void store(size_t number, char *buffer)
{
    const char *source = sources[number];
    const char *slash = strrchr(source, '/');
    char name[32], sidecar[SIDECAR];
    struct stat stat;
    struct timespec times[2];
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX sha256;
    ssize_t length;

    int from = checked(open(source, O_RDONLY | O_CLOEXEC), "open a source");
    checked(fstat(from, &stat), "inspect a source");
    snprintf(name, sizeof name, "%zu", number);
    checked(mkdirat(stage, name, 0777), "make an item");
    int item = checked(openat(stage, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open an item");
    checked(mkdirat(item, "doc", 0777), "make doc");
    int doc = checked(openat(item, "doc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open doc");
    int to = checked(openat(doc, slash ? slash + 1 : source, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                     "make a file");
    SHA256_Init(&sha256);
    while ((length = read(from, buffer, PIECE)) > 0) {
        SHA256_Update(&sha256, buffer, (size_t)length);
        write_all(to, buffer, (size_t)length);
    }
    checked(length < 0 ? -1 : 0, "read");
    SHA256_Final(digest, &sha256);
    times[0].tv_nsec = UTIME_OMIT;
    times[1] = stat.st_mtim;
    checked(futimens(to, times), "set a time");
    close(to);
    close(from);
    memset(sidecar, 'x', sizeof sidecar);
    for (int at = 0; at < SHA256_DIGEST_LENGTH; at++)
        sprintf(sidecar + 2 * at, "%02x", digest[at]);
    to = checked(openat(item, "item.toml", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), "make a sidecar");
    write_all(to, sidecar, sizeof sidecar);
    close(to);
    close(doc);
    close(item);
}

static void *work(void *unused)
{
    char *buffer = malloc(PIECE);
    (void)unused;
    for (size_t number; (number = atomic_fetch_add(&next, 1)) < count;)
        store(number, buffer);
    free(buffer);
    return NULL;
}

static void append(const char *name)
{
    char *lines = malloc(count * LINE);
    int file = checked(openat(year, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666), "open a ledger");
    memset(lines, 'x', count * LINE);
    write_all(file, lines, count * LINE);
    checked(fsync(file), "sync a ledger");
    close(file);
    free(lines);
}

int main(int arguments, char **argument)
{
    pthread_t threads[THREADS];
    struct stat stat;
    char name[32], final[64];

    if (arguments != 4) {
        fprintf(stderr, "usage: floor LIST STAGE YEAR\n");
        return 2;
    }
    int list = checked(open(argument[1], O_RDONLY | O_CLOEXEC), "open the list");
    checked(fstat(list, &stat), "inspect the list");
    char *text = malloc((size_t)stat.st_size + 1);
    checked(read(list, text, (size_t)stat.st_size) == stat.st_size ? 0 : -1, "read the list");
    for (off_t at = 0; at < stat.st_size; at++)
        count += text[at] == 0;
    sources = malloc(count * sizeof *sources);
    for (size_t number = 0, at = 0; number < count; number++, at += strlen(text + at) + 1)
        sources[number] = text + at;
    stage = checked(open(argument[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the stage");
    year = checked(open(argument[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the year");
    for (int at = 0; at < THREADS; at++)
        pthread_create(&threads[at], NULL, work, NULL);
    for (int at = 0; at < THREADS; at++)
        pthread_join(threads[at], NULL);
    checked(syncfs(stage), "sync the file system");
    for (size_t number = 0; number < count; number++) {
        snprintf(name, sizeof name, "%zu", number);
        snprintf(final, sizeof final, "11.21.02.13.%06zu", number);
        checked(renameat2(stage, name, year, final, RENAME_NOREPLACE), "put an item in place");
    }
    checked(fsync(year), "sync the year");
    append("ledger");
    return 0;
}
