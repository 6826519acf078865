/* The keeper as a small program: what keeper.py is, at a tenth of its memory and of its start.
 *
 * keeper.py tells what a keeper is for and what comes in by the environment; both must do the same,
 * and run the same tests.  This one is used where a compiler was at hand when the package was built.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "TSERVICE_PANE_"
#define DEFAULT_PATH "/bin:/usr/bin"

/* Seconds for tmux to pass the last bytes on, and between the end of the terminal and of this. */
static const struct timespec linger = {.tv_sec = 1};
static const struct timespec apart = {.tv_nsec = 200 * 1000 * 1000};

/* What tmux puts into a pane's environment or may change there, and what Python does to itself. */
static const char *const overwritten[] = {
    "PATH", "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE",
    "PWD", "SHELL", "LINES", "COLUMNS", "LC_CTYPE",
};
/* Meant for the program: it shares this process group, so that the terminal's keys reach it. */
static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

#define COUNT(array) (sizeof(array) / sizeof *(array))

extern char **environ;
static volatile pid_t program;

static void *must(void *memory) {
    if (memory == NULL) abort();
    return memory;
}

/* Put a word into the stream; a terminal that is gone needs none. */
static void say(const char *token, const char *word, int argument) {
    char text[512];
    int size = snprintf(text, sizeof text, "\033]7773;%s;%s;%d\a", token, word, argument);
    if (size > 0 && (size_t)size < sizeof text && write(STDOUT_FILENO, text, (size_t)size) < 0)
        return;
}

/* Print a file and remove it; the program starts all the same where that cannot be done. */
static void show(const char *path) {
    char data[65536];
    ssize_t size = 0, written = 0;
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return;
    if (unlink(path) == 0)
        while (written >= 0 && (size = read(descriptor, data, sizeof data)) > 0)
            for (ssize_t at = 0; at < size; at += written)
                if ((written = write(STDOUT_FILENO, data + at, (size_t)(size - at))) < 0) break;
    close(descriptor);
}

/* The value of PREFIX + name, or NULL. */
static const char *given(const char *name) {
    char *whole = NULL;
    if (asprintf(&whole, PREFIX "%s", name) < 0) abort();
    const char *value = getenv(whole);
    free(whole);
    return value;
}

/* Whether the variable goes on to the program under its own name. */
static bool kept(const char *entry) {
    size_t length = strcspn(entry, "=");
    if (entry[length] == '\0' || strncmp(entry, PREFIX, strlen(PREFIX)) == 0) return false;
    for (size_t at = 0; at < COUNT(overwritten); at++)
        if (strlen(overwritten[at]) == length && memcmp(entry, overwritten[at], length) == 0)
            return false;
    char *own = NULL;
    if (asprintf(&own, "ENV_%.*s", (int)length, entry) < 0) abort();
    bool replaced = given(own) != NULL;
    free(own);
    return !replaced;
}

/* The program's environment: what it was meant to be, exactly. */
static char **pane_environment(void) {
    static const char own[] = PREFIX "ENV_";
    size_t count = 0, at = 0;
    while (environ[count] != NULL) count++;
    char **found = must(calloc(count + 1, sizeof *found));
    for (char **entry = environ; *entry != NULL; entry++) {
        if (strncmp(*entry, own, strlen(own)) == 0)
            found[at++] = *entry + strlen(own);
        else if (kept(*entry))
            found[at++] = *entry;
    }
    return found;
}

/* The program and its arguments. */
static char **command(void) {
    size_t count = 0;
    char **found = must(calloc(1, sizeof *found));
    for (;;) {
        char name[32];
        snprintf(name, sizeof name, "ARG%zu", count);
        const char *word = given(name);
        if (word == NULL) return found;
        found = must(realloc(found, (count + 2) * sizeof *found));
        found[count++] = must(strdup(word));
        found[count] = NULL;
    }
}

static bool runs(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

/* Look the name up in the pane's own PATH, not in this process's; NULL: nothing there can be run. */
static char *find(const char *name, char **env) {
    if (strchr(name, '/') != NULL) return must(strdup(name));
    const char *path = DEFAULT_PATH;
    for (; *env != NULL; env++)
        if (strncmp(*env, "PATH=", 5) == 0) path = *env + 5;
    for (;;) {
        size_t length = strcspn(path, ":");
        char *candidate = NULL;
        const char *folder = length > 0 ? path : ".";
        if (asprintf(&candidate, "%.*s/%s", length > 0 ? (int)length : 1, folder, name) < 0) abort();
        if (runs(candidate)) return candidate;
        free(candidate);
        if (path[length] == '\0') return NULL;
        path += length + 1;
    }
}

/* Start the program with every signal as a program expects it; 0 or an error number. */
static int start(char **argv, char **env, const char *cwd, pid_t *pid) {
    if (chdir(cwd) < 0) return errno;
    char *file = argv[0] == NULL ? NULL : find(argv[0], env);
    if (file == NULL) return ENOENT;
    for (size_t at = 0; at < COUNT(ignored); at++) signal(ignored[at], SIG_IGN);
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigfillset(&defaults);
    sigdelset(&defaults, SIGKILL);
    sigdelset(&defaults, SIGSTOP);
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &defaults);
    if (error == 0)
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = posix_spawn(pid, file, NULL, &attributes, argv, env);
    free(file);
    return error;
}

/* The terminal is gone.  A stopped program must go on to hear of it. */
static void hung_up(int number) {
    int before = errno;
    kill(program, number);
    kill(program, SIGCONT);
    errno = before;
}

/* Wait for the program, and tell it meanwhile when the terminal is gone: the system tells the
 * leader of the terminal's session, which a shell expects to be, and what is in the foreground. */
static int wait_for(pid_t pid) {
    struct sigaction told = {.sa_handler = hung_up};
    siginfo_t ended;
    int status = 0;
    program = pid;
    sigemptyset(&told.sa_mask);
    sigaction(SIGHUP, &told, NULL);
    /* Until it is waited for in earnest nobody else can have its number. */
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    signal(SIGHUP, SIG_DFL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

static void rest(struct timespec left) {
    while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

/* Wait until everything was passed on, then leave the terminal, then wait again: tmux 3.3a misses
 * that its child has ended if it happens while it deals with the closed terminal. */
static void leave(void) {
    rest(linger);
    signal(SIGHUP, SIG_IGN);
    for (int descriptor = 0; descriptor < 3; descriptor++) close(descriptor);
    rest(apart);
}

/* End this process the way that the status tells. */
static _Noreturn void end_as(int status) {
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
        kill(getpid(), number);
    }
    _exit(WEXITSTATUS(status));
}

int main(void) {
    const char *token = given("TOKEN"), *cwd = given("CWD"), *preface = given("PREFACE");
    char **argv = command(), **env = pane_environment();
    pid_t pid = 0;
    if (token == NULL) token = "";
    if (preface != NULL) show(preface);
    int error = start(argv, env, cwd == NULL ? "/" : cwd, &pid);
    if (error != 0) {
        say(token, "failed", error);
        leave();
        _exit(127);
    }
    say(token, "started", (int)pid);
    int status = wait_for(pid);
    if (WIFSIGNALED(status))
        say(token, "signal", WTERMSIG(status));
    else
        say(token, "exit", WEXITSTATUS(status));
    leave();
    end_as(status);
}
