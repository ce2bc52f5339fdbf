// The result pipe, and the statistics that go through it.
#ifndef WARPBOARD_REPORT_H
#define WARPBOARD_REPORT_H

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "warpboard_exit.h"

// Nameless, so that no other unit of the program gets at any of this by its name.
namespace warpboard {
namespace {

// What the environment says, taken before anything of the submission's runs and wiped where it was: the
// result pipe under a number of chance and closed on exec, the run's secret seed, and the word that
// proves that a verdict is the harness's.
struct Claimed {
    static constexpr size_t room = 64;

    int fd;
    char seed[room];
    char token[room];
};
Claimed claimed = {-1, {}, {}};

// Moves the value of a variable out of the environment, wiping it where it was.
void take(char** environment, const char* name, char* into) {
    const size_t length = std::strlen(name);
    for (char** entry = environment; *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, name, length) != 0 || (*entry)[length] != '=') continue;
        std::strncpy(into, *entry + length + 1, Claimed::room - 1);
        std::memset(*entry, '*', std::strlen(*entry));
        do entry[0] = entry[1];
        while (*entry++ != nullptr);
        return;
    }
}

void claim(char** environment) {
    char given[Claimed::room] = "";
    take(environment, "POPCORN_FD", given);
    take(environment, "POPCORN_SEED", claimed.seed);
    take(environment, "WARPBOARD_TOKEN", claimed.token);
    if (given[0] == '\0') return;
    unsigned chance = 0;
    if (getrandom(&chance, sizeof chance, 0) < 0) chance = 0;
    const int fd = std::atoi(given);
    claimed.fd = fcntl(fd, F_DUPFD_CLOEXEC, 200 + static_cast<int>(chance % 800));
    if (claimed.fd < 0) claimed.fd = fcntl(fd, F_DUPFD_CLOEXEC, 200);  // fewer numbers are allowed
    if (claimed.fd >= 0) close(fd);
}

#ifdef __CUDACC__
__attribute__((constructor(101))) void claim_early() { claim(environ); }
#else
// Earlier than constructors of any priority, this unit being linked first; and earlier than the C library
// knows its environment.
void claim_early(int, char**, char** environment) { claim(environment); }
__attribute__((section(".preinit_array"), used)) void (*claim_first)(int, char**, char**) = claim_early;
#endif

// The run's secret seed, which is here only once; empty if it has none.
std::string take_seed() {
    std::string seed = claimed.seed;
    std::memset(claimed.seed, 0, sizeof claimed.seed);
    return seed;
}

// Writes "key: value" lines.
class Report {
public:
    Report() : fd_(claimed.fd), token_(claimed.token) {
        claimed.fd = -1;
        std::memset(claimed.token, 0, sizeof claimed.token);
        if (fd_ >= 0) return;
        std::fprintf(stderr, "POPCORN_FD names no open descriptor\n");
        std::_Exit(ExitCodes::EXIT_PIPE_FAILED);
    }

    // The line that ends the report.
    void verdict(bool passed) {
        log("check", std::string(passed ? "pass" : "fail") + (token_.empty() ? "" : " ") + token_);
    }

    void log(const std::string& key, const std::string& value) { write_all(key + ": " + one_line(value) + "\n"); }
    void log(const std::string& key, size_t value) { log(key, std::to_string(value)); }
    void log(const std::string& key, double value) { log(key, number(value)); }

    static std::string number(double value) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.10g", value);
        return buffer;
    }

private:
    // A line break would start another key; readers turn the two characters back.
    static std::string one_line(const std::string& value) {
        std::string out;
        for (char c : value) {
            if (c == '\n') out += "\\n";
            else out += c;
        }
        return out;
    }

    void write_all(const std::string& text) {
        for (size_t done = 0; done < text.size();) {
            ssize_t n = write(fd_, text.data() + done, text.size() - done);
            if (n <= 0) std::_Exit(ExitCodes::EXIT_PIPE_FAILED);
            done += static_cast<size_t>(n);
        }
    }

    int fd_;
    std::string token_;
};

// Durations in nanoseconds and what is said about them.
class Stats {
public:
    void add(double ns) { times_.push_back(ns); }

    size_t runs() const { return times_.size(); }
    double total() const { return std::accumulate(times_.begin(), times_.end(), 0.0); }
    double mean() const { return total() / static_cast<double>(runs()); }

    // Sample standard deviation.
    double std() const {
        if (runs() < 2) return 0;
        double sum = 0, centre = mean();
        for (double t : times_) sum += (t - centre) * (t - centre);
        return std::sqrt(sum / static_cast<double>(runs() - 1));
    }

    // Standard error of the mean.
    double err() const { return std() / std::sqrt(static_cast<double>(runs())); }

    void log(Report& report, const std::string& prefix) const {
        std::vector<double> sorted = times_;
        std::sort(sorted.begin(), sorted.end());
        report.log(prefix + "runs", runs());
        report.log(prefix + "mean", mean());
        report.log(prefix + "std", std());
        report.log(prefix + "err", err());
        report.log(prefix + "best", sorted.front());
        report.log(prefix + "worst", sorted.back());
        report.log(prefix + "median", quantile(sorted, 0.5));
        report.log(prefix + "p95", quantile(sorted, 0.95));
        std::string list;
        for (double t : times_) {
            if (!list.empty()) list += ',';
            list += Report::number(t);
        }
        report.log(prefix + "times", list);
    }

private:
    // Linear interpolation between the neighbours, as NumPy does by default.
    static double quantile(const std::vector<double>& sorted, double q) {
        double position = q * static_cast<double>(sorted.size() - 1);
        size_t below = static_cast<size_t>(position);
        size_t above = std::min(below + 1, sorted.size() - 1);
        return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
    }

    std::vector<double> times_;
};

}  // namespace
}  // namespace warpboard

#endif
