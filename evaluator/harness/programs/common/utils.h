// What a C++ or CUDA task and its submissions may use: TestReporter for the checker, CUDA_CHECK for
// calls of the CUDA runtime, DeviceBuffer for inputs and outputs that live on the GPU; and for generators
// warpboard::Random.
#ifndef WARPBOARD_UTILS_H
#define WARPBOARD_UTILS_H

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "warpboard_exit.h"

// Not for submissions: they report nothing, and including <string> takes nvcc longer than compiling a small kernel.
#ifndef WARPBOARD_SUBMISSION

#include <string>
#include <string_view>
#include <type_traits>

#include "warpboard_random.h"

namespace warpboard {

// Text collects a checker's message. It formats numbers like std::ostream, which takes longer to compile.
class Text {
public:
    template <class T>
    Text& operator<<(const T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char>) {
            append(value);
        } else if constexpr (std::is_enum_v<T>) {
            *this << static_cast<std::underlying_type_t<T>>(value);
        } else if constexpr (std::is_integral_v<T>) {
            text_ += std::to_string(value);
        } else if constexpr (std::is_floating_point_v<T>) {
            print("%g", static_cast<double>(value));
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            text_ += std::string_view(value);
        } else if constexpr (std::is_pointer_v<T>) {
            print("%p", static_cast<const void*>(value));
        } else {
            print("%g", static_cast<double>(static_cast<float>(value)));  // __half, __nv_bfloat16
        }
        return *this;
    }

    const std::string& str() const { return text_; }

private:
    void append(bool value) { text_ += value ? '1' : '0'; }
    void append(char value) { text_ += value; }

    template <class T>
    void print(const char* format, T value) {
        char buffer[64];
        std::snprintf(buffer, sizeof buffer, format, value);
        text_ += buffer;
    }

    std::string text_;
};

}  // namespace warpboard

// TestReporter takes the verdict of check_implementation, which must call pass() or fail() exactly
// once: reporter.fail() << "error at " << i << ": expected " << want << ", got " << got;
class TestReporter {
public:
    TestReporter() = default;
    TestReporter(const TestReporter&) = delete;
    TestReporter& operator=(const TestReporter&) = delete;

    void pass() { ++passes_; }

    warpboard::Text& fail() {
        ++failures_;
        return text_;
    }

    // Fails and returns false if the two values differ.
    template <class A, class B>
    bool check_equal(std::string_view what, const A& got, const B& want) {
        if (got == want) return true;
        fail() << what << ": expected " << want << ", got " << got;
        return false;
    }

    bool has_passed() const { return passes_ == 1 && failures_ == 0; }
    bool has_verdict() const { return passes_ + failures_ == 1; }
    const std::string& message() const { return text_.str(); }

private:
    int passes_ = 0;
    int failures_ = 0;
    warpboard::Text text_;
};

#endif  // WARPBOARD_SUBMISSION

#ifdef __CUDACC__

#define CUDA_CHECK(...) WARPBOARD_CUDA(__VA_ARGS__)

namespace warpboard {

// Allocate and free the GPU memory of a DeviceBuffer. Judge and runner implement them differently: the runner uses
// memory that it shares with the judge while some is free.
void* take_device(size_t bytes);
void give_device(void* memory, size_t bytes) noexcept;

}  // namespace warpboard

// DeviceBuffer owns `size` elements of GPU memory. Copying it copies the memory. In a generator or checker new memory
// is filled with 0xFF (NaN for floats); in a submission its contents are undefined.
template <class T>
class DeviceBuffer {
public:
    DeviceBuffer() = default;

    explicit DeviceBuffer(size_t size) : size_(size) {
        if (size_ > 0) data_ = static_cast<T*>(warpboard::take_device(bytes()));
    }

    DeviceBuffer(const T* host, size_t size) : DeviceBuffer(size) {
        if (size_ > 0) CUDA_CHECK(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice));
    }

    DeviceBuffer(const DeviceBuffer& other) : DeviceBuffer(other.size_) {
        if (size_ > 0) CUDA_CHECK(cudaMemcpy(data_, other.data_, bytes(), cudaMemcpyDeviceToDevice));
    }

    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

    DeviceBuffer& operator=(DeviceBuffer other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    ~DeviceBuffer() {
        if (data_ != nullptr) warpboard::give_device(data_, bytes());
    }

    // Returns a buffer of memory that is already allocated, and that give_device must be able to free.
    static DeviceBuffer view(void* memory, size_t size) {
        DeviceBuffer buffer;
        if (size > 0) buffer.data_ = static_cast<T*>(memory);
        buffer.size_ = size;
        return buffer;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    size_t bytes() const { return size_ * sizeof(T); }

    // Copies all elements to host memory of sufficient size.
    void copy_to(T* host) const {
        if (size_ > 0) CUDA_CHECK(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost));
    }

private:
    T* data_ = nullptr;
    size_t size_ = 0;
};

#endif  // __CUDACC__

#endif
