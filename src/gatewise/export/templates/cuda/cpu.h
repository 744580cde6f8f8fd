/* Stands in for CUDA where a C++ compiler, not nvcc, compiles the source: memory of the device is memory of the host,
   and a launch runs its threads one after the other, which it may, as none waits for another. */
#ifndef GATEWISE_CPU_H
#define GATEWISE_CPU_H

#include <stdlib.h>
#include <string.h>

#define __global__ static
#define __device__ static

struct dim3 {
  unsigned x, y;
  explicit dim3(unsigned x_size, unsigned y_size = 1) : x(x_size), y(y_size) {}
};
static thread_local dim3 gridDim(1), blockDim(1), blockIdx(0, 0), threadIdx(0, 0);

#define LAUNCH(kernel, grid, block, stream, ...)                                              \
  do {                                                                                        \
    gridDim = (grid);                                                                         \
    blockDim = (block);                                                                       \
    (void)(stream);                                                                           \
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)                                \
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)                              \
        for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)                        \
          for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(__VA_ARGS__); \
  } while (0)

static inline int atomicAdd(int *address, int value) {
  const int before = *address;
  *address += value;
  return before;
}

typedef void *cudaStream_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

static inline cudaError_t cudaGetLastError() { return cudaSuccess; }

static inline cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }

static inline cudaError_t cudaMalloc(void **pointer, size_t size) {
  *pointer = malloc(size);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaFree(void *pointer) {
  free(pointer);
  return cudaSuccess;
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind) {
  memcpy(to, from, size);
  return cudaSuccess;
}

static inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                       size_t height, cudaMemcpyKind) {
  for (size_t row = 0; row < height; ++row)
    memcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
  return cudaSuccess;
}

#endif
