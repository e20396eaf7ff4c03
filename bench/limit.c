// The limit in process: layout `blocked` of src/filter/blocked-layout.ts in C, one thread.
// Arguments: ids, blocks, hash count, queries of one measurement. Commands on standard input: `hits` and `misses`;
// the answer to each is queries per second and how many were found.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POOL (1 << 20)
#define ID_BYTES 14

static const uint32_t key0 = 0x12345678, key1 = 0x9abcdef0;
static uint8_t present[POOL][16], absent[POOL][16];
static uint8_t *filter;
static uint64_t blocks;
static int hash_count;

#define ROTATE(x, b) (((x) << (b)) | ((x) >> (32 - (b))))
#define ROUND                                                                                                          \
  v0 += v1, v1 = ROTATE(v1, 5) ^ v0, v0 = ROTATE(v0, 16), v2 += v3, v3 = ROTATE(v3, 8) ^ v2, v0 += v3,                  \
      v3 = ROTATE(v3, 7) ^ v0, v2 += v1, v1 = ROTATE(v1, 13) ^ v2, v2 = ROTATE(v2, 16)

static inline uint64_t hash(const uint8_t *id, int length) {
  uint32_t v0 = key0, v1 = key1 ^ 0xee, v2 = key0 ^ 0x6c796765, v3 = key1 ^ 0x74656462, word;
  int i = 0;
  for (; i + 4 <= length; i += 4) {
    memcpy(&word, id + i, 4);
    v3 ^= word;
    ROUND;
    v0 ^= word;
  }
  word = (uint32_t)length << 24;
  for (int shift = 0; i < length; i++, shift += 8) word |= (uint32_t)id[i] << shift;
  v3 ^= word;
  ROUND;
  v0 ^= word;
  v2 ^= 0xee;
  ROUND;
  ROUND;
  ROUND;
  uint32_t first = v1 ^ v3;
  v1 ^= 0xdd;
  ROUND;
  ROUND;
  ROUND;
  return ((uint64_t)first << 32) | (v1 ^ v3);
}

static inline uint32_t *block_of(uint64_t hashed) {
  return (uint32_t *)(filter + (((hashed >> 32) * blocks) >> 32) * 256);
}

static inline uint32_t position(uint32_t *seed) {
  *seed = *seed * 0x93d765dd + 0x9e3779b9;
  return 32 + (((*seed >> 12) * 2016) >> 20);
}

static void add(const uint8_t *id) {
  uint64_t hashed = hash(id, ID_BYTES);
  uint32_t *block = block_of(hashed), seed = hashed;
  for (int i = 0; i < hash_count; i++) {
    uint32_t p = position(&seed);
    block[p >> 5] |= 1u << (p & 31);
  }
}

static int might_contain(const uint8_t *id) {
  uint64_t hashed = hash(id, ID_BYTES);
  uint32_t *block = block_of(hashed), seed = hashed;
  for (int i = 0; i < hash_count; i++) {
    uint32_t p = position(&seed);
    if (!(block[p >> 5] & (1u << (p & 31)))) return 0;
  }
  return 1;
}

static void write_id(uint8_t *to, const char *prefix, long number) {
  char text[32];
  snprintf(text, sizeof text, "%s-%09ld", prefix, number * 7919 % 1000000000);
  memcpy(to, text, ID_BYTES);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count != 5) return 2;
  long ids = atol(arguments[1]), queries = atol(arguments[4]), found = 0;
  blocks = atol(arguments[2]);
  hash_count = atoi(arguments[3]);
  filter = aligned_alloc(4096, (blocks * 256 + 4095) / 4096 * 4096);
  memset(filter, 0, blocks * 256);
  uint8_t id[16];
  for (long i = 0; i < ids; i++) {
    write_id(id, "prod", i);
    add(id);
  }
  srand(1);
  for (int i = 0; i < POOL; i++) {
    write_id(present[i], "prod", (((long)rand() << 20) ^ rand()) % ids);
    write_id(absent[i], "none", i);
  }
  printf("ready\n");
  fflush(stdout);
  char command[16];
  while (fgets(command, sizeof command, stdin)) {
    uint8_t(*pool)[16] = command[0] == 'h' ? present : absent;
    double start = seconds();
    found = 0;
    for (long i = 0; i < queries; i++) found += might_contain(pool[i & (POOL - 1)]);
    printf("%.0f %ld\n", queries / (seconds() - start), found);
    fflush(stdout);
  }
  return 0;
}
