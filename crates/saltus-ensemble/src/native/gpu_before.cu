/* One trajectory in each thread of a GPU. */
#define SALTUS_ONE
#define FUNCTION static __device__ __forceinline__
#define OUTLINE static __device__ __noinline__
#define EXPORT FUNCTION
#define CONSTANT static __constant__ const
#define UNROLL _Pragma("unroll")
/* (Long code is read slowly.) */
#define ROLLED _Pragma("unroll 1")
#define PAIRED _Pragma("unroll 2")
#define FOURFOLD _Pragma("unroll 4")
#ifndef NAN
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#endif
