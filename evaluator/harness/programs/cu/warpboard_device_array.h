// Adds DeviceBuffer to the types of arrays in inputs and answers.
#ifndef WARPBOARD_DEVICE_ARRAY_H
#define WARPBOARD_DEVICE_ARRAY_H

#include "utils.h"
#include "warpboard_walk.h"

namespace warpboard {

template <class T>
struct IsDeviceArray<DeviceBuffer<T>> : std::true_type {};

}  // namespace warpboard

#endif
