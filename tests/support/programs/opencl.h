/* Stands in for CUDA where OpenCL runs the kernels: kernels.cl has their text, and the host's code is the exported one.
   Memory of the device is a buffer, and the address that the host holds is that of an array which nobody reads. */
#ifndef GATEWISE_CPU_H
#define GATEWISE_CPU_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <string>

typedef void* cudaStream_t;
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

struct dim3 {
  unsigned x, y;
  explicit dim3(unsigned x_size, unsigned y_size = 1) : x(x_size), y(y_size) {}
};

struct Buffer {
  cl_mem memory;
  size_t size;
};

struct Place {
  cl_mem memory;
  size_t offset, size;
};

static void demand(bool is_true, const char* what) {
  if (is_true) return;
  fprintf(stderr, "OpenCL: %s failed\n", what);
  exit(9);
}

/* The first device, its only queue, which runs one thing after the other, and its buffers by the host's addresses. */
struct Device {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  std::map<const char*, Buffer> buffers;

  Device() {
    cl_platform_id platform;
    demand(!clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    demand(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr), "clGetDeviceIDs");
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, id, 0, nullptr);
    std::string text;
    FILE* file = fopen("kernels.cl", "r");
    demand(file, "kernels.cl");
    for (int letter; (letter = fgetc(file)) != EOF;) text += (char)letter;
    fclose(file);
    const char* start = text.c_str();
    program = clCreateProgramWithSource(context, 1, &start, nullptr, nullptr);
    if (!clBuildProgram(program, 1, &id, "-cl-std=CL1.2", nullptr, nullptr)) return;
    static char log[1 << 16];
    clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, nullptr);
    demand(false, log);
  }

  Place find(const void* pointer) {
    auto each = buffers.upper_bound((const char*)pointer);
    demand(each != buffers.begin(), "an address of the device");
    --each;
    const size_t offset = (size_t)((const char*)pointer - each->first);
    demand(offset < each->second.size, "an address of the device");
    return {each->second.memory, offset, each->second.size - offset};
  }
};

static Device& device() {
  static Device only;
  return only;
}

static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }

static inline cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}

static inline cudaError_t cudaMalloc(void** pointer, size_t size) {
  *pointer = malloc(size);
  cl_mem memory = clCreateBuffer(device().context, CL_MEM_READ_WRITE, size, nullptr, nullptr);
  device().buffers[(const char*)*pointer] = {memory, size};
  return memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  clReleaseMemObject(device().find(pointer).memory);
  device().buffers.erase((const char*)pointer);
  free(pointer);
  return cudaSuccess;
}

static inline cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  const Place place = device().find(kind == cudaMemcpyHostToDevice ? to : from);
  demand(size <= place.size, "room for a copy");
  cl_command_queue queue = device().queue;
  const cl_int error =
      kind == cudaMemcpyHostToDevice
          ? clEnqueueWriteBuffer(queue, place.memory, CL_TRUE, place.offset, size, from, 0, nullptr, nullptr)
          : clEnqueueReadBuffer(queue, place.memory, CL_TRUE, place.offset, size, to, 0, nullptr, nullptr);
  demand(!error, "a copy");
  return cudaSuccess;
}

static inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; ++row)
    cudaMemcpy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width, kind);
  return cudaSuccess;
}

static cl_mem set_argument(cl_kernel kernel, cl_uint i, int32_t value) {
  demand(!clSetKernelArg(kernel, i, sizeof value, &value), "clSetKernelArg");
  return nullptr;
}

template <typename T>
static cl_mem set_argument(cl_kernel kernel, cl_uint i, const T* pointer) {
  Place place = device().find(pointer);
  cl_buffer_region region = {place.offset, place.size};
  cl_int error;
  cl_mem part = clCreateSubBuffer(place.memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  demand(!error, "clCreateSubBuffer, which wants aligned addresses,");
  demand(!clSetKernelArg(kernel, i, sizeof part, &part), "clSetKernelArg");
  return part;
}

template <typename... Arguments>
static void launch(const char* name, dim3 grid, dim3 block, Arguments... arguments) {
  cl_int error;
  cl_kernel kernel = clCreateKernel(device().program, name, &error);
  demand(!error, name);
  cl_uint i = 0;
  cl_mem parts[] = {set_argument(kernel, i++, arguments)...};
  const size_t local[] = {block.x, block.y}, global[] = {(size_t)grid.x * block.x, (size_t)grid.y * block.y};
  demand(!clEnqueueNDRangeKernel(device().queue, kernel, 2, nullptr, global, local, 0, nullptr, nullptr), name);
  clFinish(device().queue); /* Oclgrind does not keep what kernels need */
  for (cl_mem part : parts)
    if (part) clReleaseMemObject(part);
  clReleaseKernel(kernel);
}

#define LAUNCH(kernel, grid, block, stream, ...) ((void)(stream), launch(#kernel, grid, block, __VA_ARGS__))

#endif
