// The verdict of a task's checker, and failures of the task itself.
#ifndef WARPBOARD_VERDICT_H
#define WARPBOARD_VERDICT_H

#include <string>

namespace warpboard {

struct Verdict {
    bool passed = false;
    std::string message;
};

// TaskFailed reports that a generator, reference, or checker failed. The task's author must fix it.
struct TaskFailed {
    std::string sentence;
};

}  // namespace warpboard

#endif
