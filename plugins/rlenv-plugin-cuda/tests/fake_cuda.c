/* A driver without a device: memory is the host's, and a launch calls a function below by the name of the kernel. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef uint64_t ptr;
enum { HONEST, BEYOND, BEFORE, INPUT, TRAP, ENDLESS, NOTHING, TIRED, MOODY, NUMBA = 50 };
static const char *names[] = {"honest", "beyond", "before", "input", "trap", "endless", "nothing", "tired", "moody"};
static int failed, hangs, launches;
int cuInit(unsigned f) { return f; }
int cuDeviceGet(int *d, int n) { *d = n; return 0; }
int cuDevicePrimaryCtxSetFlags_v2(int d, unsigned f) { return d; }
int cuDevicePrimaryCtxRetain(void **c, int d) { *c = (void *)1; return 0; }
int cuCtxSetCurrent(void *c) { return 0; }
int cuStreamCreate(void **s, unsigned f) { *s = (void *)2; return f != 1; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  *v = a == 75 ? 9 : a == 76 ? 0 : a == 38 ? 4096 : a == 97 ? 232448 : a == 108 ? 1024 : 0;
  return 0;
}
int cuDeviceGetName(char *n, int l, int d) { strncpy(n, "fake", l); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { *b = 1 << 30; return 0; }
int cuCtxSetLimit(int l, size_t v) { return l != 6 || v; }
int cuCtxResetPersistingL2Cache(void) { return 0; }
int cuMemAlloc_v2(ptr *p, size_t n) { *p = (ptr)malloc(n); return 0; }
int cuMemFree_v2(ptr p) { free((void *)p); return failed; }
int cuMemcpyHtoD_v2(ptr d, const void *s, size_t n) { memcpy((void *)d, s, n); return failed; }
int cuMemcpyDtoH_v2(void *d, ptr s, size_t n) { memcpy(d, (void *)s, n); return failed; }
int cuMemcpyDtoDAsync_v2(ptr d, ptr s, size_t n, void *q) { memcpy((void *)d, (void *)s, n); return failed; }
int cuMemsetD8Async(ptr d, unsigned char b, size_t n, void *q) { memset((void *)d, b, n); return failed; }
int cuModuleLoadData(void **m, const void *i) { *m = (void *)3; return memcmp(i, "\177ELF", 4) != 0; }
int cuModuleUnload(void *m) { return m != (void *)3; }
int cuModuleGetFunction(void **f, void *m, const char *n) {
  for (intptr_t i = 0; i < 9; i++) if (!strcmp(n, names[i])) { *f = (void *)(i + 1); return 0; }
  if (strstr(n, "honest")) { *f = (void *)(NUMBA + 1); return 0; }
  return 500;
}
/* numba's (a, c, t) and (t, o): arrays of one dimension are seven parameters, the fifth is the address. */
static int numba(void **w, int count) {
  const float *a = *(float **)w[4]; double c = count == 2 ? 1.0 : *(double *)w[7];
  int at = count == 2 ? 7 : 8;
  float *o = *(float **)w[at + 4];
  if (*(int64_t *)w[at] || *(int64_t *)w[at + 1] || *(int64_t *)w[at + 3] != 4 || *(int64_t *)w[at + 6] != 4) return 1;
  if (*(int64_t *)w[at + 2] != *(int64_t *)w[at + 5]) return 1;
  for (int64_t i = 0; i < *(int64_t *)w[at + 5]; i++) o[i] = (float)(a[i] * c);
  return 0;
}
int cuFuncSetAttribute(void *f, int a, int v) { return a != 8 || v > 232448; }
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned s, void *q, void **w, void **e) {
  if ((intptr_t)f == NUMBA + 1) return numba(w, s == 64 ? 2 : 3);
  const float *a = *(float **)w[0]; float c = *(float *)w[1]; float *o = *(float **)w[2]; int n = *(int *)w[3];
  int which = (int)(intptr_t)f - 1, busy = 0;
  launches++;
  if (gx * bx < (unsigned)n || gy * gz * by * bz != 1) return 1;
  for (int i = 0; i < n && which != NOTHING; i++) o[i] = a[i] * c;
  if (which == BEYOND) o[n] = 1;
  if (which == BEFORE) ((float *)o)[-1] = 1;
  if (which == INPUT) ((float *)a)[0] += 1;
  if (which == TRAP) failed = 719;
  if (which == ENDLESS) hangs = 1;
  if (which == TIRED && launches > 20) o[0] += 1;
  if (which == MOODY) o[0] = (float)launches;
  for (volatile int i = 0; i < 200000; i++) busy += i;
  return 0;
}
int cuStreamQuery(void *q) { return failed ? failed : hangs ? 600 : 0; }
int cuCtxSynchronize(void) { while (hangs) { } return failed; }
int cuEventCreate(void **e, unsigned f) { *e = calloc(1, sizeof(struct timespec)); return 0; }
int cuEventRecord(void *e, void *q) { clock_gettime(CLOCK_MONOTONIC, e); return failed; }
int cuEventSynchronize(void *e) { return failed; }
int cuEventElapsedTime(float *ms, struct timespec *a, struct timespec *b) {
  *ms = (b->tv_sec - a->tv_sec) * 1e3 + (b->tv_nsec - a->tv_nsec) / 1e6;
  return 0;
}
