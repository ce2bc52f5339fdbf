// What a task says of an answer, and that it failed itself.
#ifndef WARPBOARD_VERDICT_H
#define WARPBOARD_VERDICT_H

#include <string>

namespace warpboard {

struct Verdict {
    bool passed = false;
    std::string message;
};

// A generator, reference or checker that failed; the task's author has to see to it.
struct TaskFailed {
    std::string sentence;
};

}  // namespace warpboard

#endif
