// Descriptions of inputs and answers as bytes: numbers as the machine has them, and raw memory.
#ifndef WARPBOARD_BYTES_H
#define WARPBOARD_BYTES_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace warpboard {

class Writer {
public:
    template <class T>
    void number(T value) {
        raw(&value, sizeof value);
    }
    void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

// Reader reads untrusted bytes. It throws at their end.
class Reader {
public:
    Reader(const void* data, size_t size) : next_(static_cast<const unsigned char*>(data)), left_(size) {}

    template <class T>
    T number() {
        T value;
        raw(&value, sizeof value);
        return value;
    }
    void raw(void* into, size_t size) {
        if (const void* from = take(size); size > 0) std::memcpy(into, from, size);
    }
    const void* take(size_t size) {
        if (size > left_) throw std::runtime_error("a description ends too early");
        const unsigned char* from = next_;
        next_ += size;
        left_ -= size;
        return from;
    }
    size_t left() const { return left_; }

private:
    const unsigned char* next_;
    size_t left_;
};

}  // namespace warpboard

#endif
