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
#include <utility>
#include <vector>

#include "warpboard_exit.h"

namespace warpboard {

// Report writes "key: value" lines.
class Report {
public:
    Report() {
        const char* given = std::getenv("POPCORN_FD");
        if (given != nullptr) fd_ = std::atoi(given);
        if (fcntl(fd_, F_SETFD, FD_CLOEXEC) == 0) return;
        std::fprintf(stderr, "POPCORN_FD names no open descriptor\n");
        std::_Exit(ExitCodes::EXIT_PIPE_FAILED);
    }

    // Writes the line with the verdict, which ends the report.
    void verdict(bool passed) { log("check", std::string(passed ? "pass" : "fail")); }

    void log(const std::string& key, const std::string& value) { write_all(key + ": " + one_line(value) + "\n"); }
    void log(const std::string& key, size_t value) { log(key, std::to_string(value)); }
    void log(const std::string& key, double value) { log(key, number(value)); }

    static std::string list(const std::vector<double>& values) {
        std::string text;
        for (double value : values) {
            if (!text.empty()) text += ',';
            text += number(value);
        }
        return text;
    }

    static std::string number(double value) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.10g", value);
        return buffer;
    }

private:
    // Replaces each line break, which would start another key, by the two characters "\n". Readers of the report
    // reverse this.
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

    int fd_ = -1;
};

// Stats has durations in nanoseconds and their statistics.
class Stats {
public:
    Stats() = default;
    explicit Stats(std::vector<double> times) : times_(std::move(times)) {}

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
        report.log(prefix + "times", Report::list(times_));
    }

    // Returns a quantile, by linear interpolation between adjacent values, as NumPy does by default.
    static double quantile(const std::vector<double>& sorted, double q) {
        double position = q * static_cast<double>(sorted.size() - 1);
        size_t below = static_cast<size_t>(position);
        size_t above = std::min(below + 1, sorted.size() - 1);
        return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
    }

private:
    std::vector<double> times_;
};

}  // namespace warpboard

#endif
