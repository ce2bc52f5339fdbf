__global__ void scale(float* y, const float* x, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int unused;
  if (i < n) {
    tile[threadIdx.x] = x[i] * 2.0f;
  }
  __syncthreads();
  if (i < n) y[i] = tile[255 - threadIdx.x];
}
