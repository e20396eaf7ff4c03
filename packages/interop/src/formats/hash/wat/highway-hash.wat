;; HighwayHash with 128 bits of output (J. Alakuijala, B. Cox, J. Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
;; multiply and permute", 2016) and Redisson's key.
;;
;; Memory: 0 the packet of the last bytes, when they are no whole one; afterwards the hash. 32 whole packets.
(module
  (memory (export "memory") 1)

  ;; Four lanes of 64 bits each: a has the lanes 0 and 1, b the lanes 2 and 3.
  (global $v0a (mut v128) (v128.const i64x2 0 0))
  (global $v0b (mut v128) (v128.const i64x2 0 0))
  (global $v1a (mut v128) (v128.const i64x2 0 0))
  (global $v1b (mut v128) (v128.const i64x2 0 0))
  (global $mul0a (mut v128) (v128.const i64x2 0 0))
  (global $mul0b (mut v128) (v128.const i64x2 0 0))
  (global $mul1a (mut v128) (v128.const i64x2 0 0))
  (global $mul1b (mut v128) (v128.const i64x2 0 0))

  ;; mul0 and mul1 are constants, v0 = mul0 ^ key, v1 = mul1 ^ key with its halves swapped.
  (func (export "start")
    (global.set $mul0a (v128.const i64x2 0xdbe6d5d5fe4cce2f 0xa4093822299f31d0))
    (global.set $mul0b (v128.const i64x2 0x13198a2e03707344 0x243f6a8885a308d3))
    (global.set $mul1a (v128.const i64x2 0x3bd39e10cb0ef593 0xc0acf169b5f18a8c))
    (global.set $mul1b (v128.const i64x2 0xbe5466cf34e90c6c 0x452821e638d01377))
    (global.set $v0a (v128.xor (global.get $mul0a) (v128.const i64x2 0x9e3779b97f4a7c15 0xf39cc0605cedc834)))
    (global.set $v0b (v128.xor (global.get $mul0b) (v128.const i64x2 0x1082276bf3a27251 0xf86c6a11d0c18e95)))
    (global.set $v1a (v128.xor (global.get $mul1a) (v128.const i64x2 0x7f4a7c159e3779b9 0x5cedc834f39cc060)))
    (global.set $v1b (v128.xor (global.get $mul1b) (v128.const i64x2 0xf3a272511082276b 0xd0c18e95f86c6a11))))

  ;; Takes in whole packets.
  (func (export "absorb") (param $packets i32)
    (local $at i32) (local $end i32)
    (local.set $end (i32.shl (local.get $packets) (i32.const 5)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (call $update (v128.load offset=32 (local.get $at)) (v128.load offset=48 (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 32)))
        (br $next)))))

  ;; Takes in the last packet of $size bytes, unless that is 0, and puts the hash to 0.
  (func (export "finish") (param $size i32)
    (local $round i32) (local $left i32)
    (if (local.get $size) (then
      ;; v0 += (size << 32) + size, where the halves never carry; each half of v1 is rotated by size.
      (global.set $v0a (i64x2.add (global.get $v0a) (i32x4.splat (local.get $size))))
      (global.set $v0b (i64x2.add (global.get $v0b) (i32x4.splat (local.get $size))))
      (local.set $left (i32.sub (i32.const 32) (local.get $size)))
      (global.set $v1a (v128.or
        (i32x4.shl (global.get $v1a) (local.get $size))
        (i32x4.shr_u (global.get $v1a) (local.get $left))))
      (global.set $v1b (v128.or
        (i32x4.shl (global.get $v1b) (local.get $size))
        (i32x4.shr_u (global.get $v1b) (local.get $left))))
      (call $update (v128.load (i32.const 0)) (v128.load (i32.const 16)))))
    (local.set $round (i32.const 6))
    (loop $next
      ;; The lanes 2, 3, 0 and 1 of v0, their halves swapped.
      (call $update
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (global.get $v0b) (global.get $v0b))
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (global.get $v0a) (global.get $v0a)))
      (local.set $round (i32.sub (local.get $round) (i32.const 1)))
      (br_if $next (local.get $round)))
    (v128.store (i32.const 0) (i64x2.add
      (i64x2.add (global.get $v0a) (global.get $mul0a))
      (i64x2.add (global.get $v1b) (global.get $mul1b)))))

  ;; The shuffles stand here, and not in functions: V8 inlines none, and a call costs more than a shuffle.
  (func $update (param $a v128) (param $b v128)
    (local $v0a v128) (local $v0b v128) (local $v1a v128) (local $v1b v128) (local $lows v128) (local $highs v128)
    (local.set $v1a (i64x2.add (global.get $v1a) (i64x2.add (global.get $mul0a) (local.get $a))))
    (local.set $v1b (i64x2.add (global.get $v1b) (i64x2.add (global.get $mul0b) (local.get $b))))
    ;; mul0 ^= low half of v1 * high half of v0
    (local.set $lows (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
      (local.get $v1a) (local.get $v1b)))
    (local.set $highs (i8x16.shuffle 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31
      (global.get $v0a) (global.get $v0b)))
    (global.set $mul0a (v128.xor (global.get $mul0a) (i64x2.extmul_low_i32x4_u (local.get $lows) (local.get $highs))))
    (global.set $mul0b (v128.xor (global.get $mul0b) (i64x2.extmul_high_i32x4_u (local.get $lows) (local.get $highs))))
    (local.set $v0a (i64x2.add (global.get $v0a) (global.get $mul1a)))
    (local.set $v0b (i64x2.add (global.get $v0b) (global.get $mul1b)))
    ;; mul1 ^= low half of v0 * high half of v1
    (local.set $lows (i8x16.shuffle 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27
      (local.get $v0a) (local.get $v0b)))
    (local.set $highs (i8x16.shuffle 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31
      (local.get $v1a) (local.get $v1b)))
    (global.set $mul1a (v128.xor (global.get $mul1a) (i64x2.extmul_low_i32x4_u (local.get $lows) (local.get $highs))))
    (global.set $mul1b (v128.xor (global.get $mul1b) (i64x2.extmul_high_i32x4_u (local.get $lows) (local.get $highs))))
    ;; v0 += zip(v1); v1 += zip(v0)
    (local.set $v0a (i64x2.add (local.get $v0a) (i8x16.shuffle 3 12 2 5 14 1 15 0 11 4 10 13 9 6 8 7
      (local.get $v1a) (local.get $v1a))))
    (local.set $v0b (i64x2.add (local.get $v0b) (i8x16.shuffle 3 12 2 5 14 1 15 0 11 4 10 13 9 6 8 7
      (local.get $v1b) (local.get $v1b))))
    (global.set $v0a (local.get $v0a))
    (global.set $v0b (local.get $v0b))
    (global.set $v1a (i64x2.add (local.get $v1a) (i8x16.shuffle 3 12 2 5 14 1 15 0 11 4 10 13 9 6 8 7
      (local.get $v0a) (local.get $v0a))))
    (global.set $v1b (i64x2.add (local.get $v1b) (i8x16.shuffle 3 12 2 5 14 1 15 0 11 4 10 13 9 6 8 7
      (local.get $v0b) (local.get $v0b))))))
