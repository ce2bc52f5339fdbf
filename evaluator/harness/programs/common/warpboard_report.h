// The result pipe, and the statistics that go through it.
#ifndef WARPBOARD_REPORT_H
#define WARPBOARD_REPORT_H

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "utils.h"

namespace warpboard {

// The pipe's descriptor, taken out of reach before the submission's static constructors run: another
// number, closed on exec, and no longer named by the environment.
inline int result_fd = -1;

static __attribute__((constructor(101))) void claim_result_fd() {
    const char* name = std::getenv("POPCORN_FD");
    if (name == nullptr) return;
    int given = std::atoi(name);
    result_fd = fcntl(given, F_DUPFD_CLOEXEC, 200);
    if (result_fd >= 0) close(given);
    unsetenv("POPCORN_FD");
}

// Writes "key: value" lines.
class Report {
public:
    Report() {
        if (result_fd >= 0) return;
        std::fprintf(stderr, "POPCORN_FD names no open descriptor\n");
        std::_Exit(ExitCodes::EXIT_PIPE_FAILED);
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

    static void write_all(const std::string& text) {
        for (size_t done = 0; done < text.size();) {
            ssize_t n = write(result_fd, text.data() + done, text.size() - done);
            if (n <= 0) std::_Exit(ExitCodes::EXIT_PIPE_FAILED);
            done += static_cast<size_t>(n);
        }
    }
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

}  // namespace warpboard

#endif
