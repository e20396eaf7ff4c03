;; MurmurHash3 x64 128 with seed 0 (A. Appleby, public domain).
;;
;; Memory: 0 the hash, 16 the bytes after the last whole block and zeros, 32 whole blocks; afterwards hashes with suffixes.
(module
  (memory (export "memory") 1)

  ;; After the whole blocks.
  (global $h1 (mut i64) (i64.const 0))
  (global $h2 (mut i64) (i64.const 0))

  (func (export "start")
    (global.set $h1 (i64.const 0))
    (global.set $h2 (i64.const 0)))

  ;; Takes in whole blocks of 16 bytes.
  (func (export "absorb") (param $blocks i32)
    (local $at i32) (local $end i32) (local $h1 i64) (local $h2 i64)
    (local.set $h1 (global.get $h1))
    (local.set $h2 (global.get $h2))
    (local.set $end (i32.shl (local.get $blocks) (i32.const 4)))
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (local.set $h1 (call $end1
          (i64.xor (local.get $h1) (call $mix1 (i64.load offset=32 (local.get $at)))) (local.get $h2)))
        (local.set $h2 (call $end2
          (i64.xor (local.get $h2) (call $mix2 (i64.load offset=40 (local.get $at)))) (local.get $h1)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next))))
    (global.set $h1 (local.get $h1))
    (global.set $h2 (local.get $h2)))

  ;; Puts the hash of $length bytes to 0.
  (func (export "finish") (param $length i32)
    (local $h1 i64) (local $h2 i64)
    (local.set $h1 (i64.xor (global.get $h1) (call $mix1 (i64.load (i32.const 16)))))
    (local.set $h2 (i64.xor (global.get $h2) (call $mix2 (i64.load (i32.const 24)))))
    (local.set $h1 (i64.xor (local.get $h1) (i64.extend_i32_u (local.get $length))))
    (local.set $h2 (i64.xor (local.get $h2) (i64.extend_i32_u (local.get $length))))
    (local.set $h1 (i64.add (local.get $h1) (local.get $h2)))
    (local.set $h2 (i64.add (local.get $h2) (local.get $h1)))
    (local.set $h1 (call $final (local.get $h1)))
    (local.set $h2 (call $final (local.get $h2)))
    (local.set $h1 (i64.add (local.get $h1) (local.get $h2)))
    (i64.store (i32.const 0) (local.get $h1))
    (i64.store (i32.const 8) (i64.add (local.get $h2) (local.get $h1))))

  ;; Puts the first halves of the hashes of $length bytes followed by the byte $i, for $i to below $end, to 32 + 8 $i. All in one
  ;; function: V8 inlines none, and a call costs more than what it would do.
  (func (export "finishWithSuffixes") (param $length i32) (param $i i32) (param $end i32)
    (local $total i64) (local $shift i64) (local $isSecond i32) (local $isWhole i32) (local $k i64) (local $other i64)
    (local $h1 i64) (local $h2 i64)
    (local.set $total (i64.extend_i32_u (i32.add (local.get $length) (i32.const 1))))
    ;; A shift counts modulo 64: that of the half that the suffix is in.
    (local.set $shift (i64.extend_i32_u (i32.shl (local.get $length) (i32.const 3))))
    (local.set $isSecond (i32.and (local.get $length) (i32.const 8)))
    (local.set $isWhole (i32.eq (i32.and (local.get $length) (i32.const 15)) (i32.const 15)))
    ;; The half without the suffix; when that is the second one, it is zeros.
    (if (local.get $isSecond) (then (local.set $other (call $mix1 (i64.load (i32.const 16))))))
    (loop $next
      (local.set $k (i64.or
        (i64.load offset=16 (local.get $isSecond))
        (i64.shl (i64.extend_i32_u (local.get $i)) (local.get $shift))))
      (if (local.get $isSecond)
        (then
          (local.set $h1 (i64.xor (global.get $h1) (local.get $other)))
          (local.set $h2 (i64.xor (global.get $h2) (i64.mul
            (i64.rotl (i64.mul (local.get $k) (i64.const 0x4cf5ad432745937f)) (i64.const 33))
            (i64.const 0x87c37b91114253d5)))))
        (else
          (local.set $h1 (i64.xor (global.get $h1) (i64.mul
            (i64.rotl (i64.mul (local.get $k) (i64.const 0x87c37b91114253d5)) (i64.const 31))
            (i64.const 0x4cf5ad432745937f))))
          (local.set $h2 (global.get $h2))))
      ;; The suffix ends a whole block.
      (if (local.get $isWhole) (then
        (local.set $h1 (call $end1 (local.get $h1) (global.get $h2)))
        (local.set $h2 (call $end2 (local.get $h2) (local.get $h1)))))
      (local.set $h2 (i64.xor (local.get $h2) (local.get $total)))
      (local.set $h1 (i64.add (i64.xor (local.get $h1) (local.get $total)) (local.get $h2)))
      (local.set $h2 (i64.add (local.get $h2) (local.get $h1)))
      (local.set $h1 (i64.xor (local.get $h1) (i64.shr_u (local.get $h1) (i64.const 33))))
      (local.set $h2 (i64.xor (local.get $h2) (i64.shr_u (local.get $h2) (i64.const 33))))
      (local.set $h1 (i64.mul (local.get $h1) (i64.const 0xff51afd7ed558ccd)))
      (local.set $h2 (i64.mul (local.get $h2) (i64.const 0xff51afd7ed558ccd)))
      (local.set $h1 (i64.xor (local.get $h1) (i64.shr_u (local.get $h1) (i64.const 33))))
      (local.set $h2 (i64.xor (local.get $h2) (i64.shr_u (local.get $h2) (i64.const 33))))
      (local.set $h1 (i64.mul (local.get $h1) (i64.const 0xc4ceb9fe1a85ec53)))
      (local.set $h2 (i64.mul (local.get $h2) (i64.const 0xc4ceb9fe1a85ec53)))
      (local.set $h1 (i64.xor (local.get $h1) (i64.shr_u (local.get $h1) (i64.const 33))))
      (local.set $h2 (i64.xor (local.get $h2) (i64.shr_u (local.get $h2) (i64.const 33))))
      (i64.store offset=32 (i32.shl (local.get $i) (i32.const 3)) (i64.add (local.get $h1) (local.get $h2)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $end)))))

  (func $mix1 (param $k i64) (result i64)
    (i64.mul
      (i64.rotl (i64.mul (local.get $k) (i64.const 0x87c37b91114253d5)) (i64.const 31))
      (i64.const 0x4cf5ad432745937f)))

  (func $mix2 (param $k i64) (result i64)
    (i64.mul
      (i64.rotl (i64.mul (local.get $k) (i64.const 0x4cf5ad432745937f)) (i64.const 33))
      (i64.const 0x87c37b91114253d5)))

  (func $end1 (param $h1 i64) (param $h2 i64) (result i64)
    (i64.add
      (i64.mul (i64.add (i64.rotl (local.get $h1) (i64.const 27)) (local.get $h2)) (i64.const 5))
      (i64.const 0x52dce729)))

  (func $end2 (param $h2 i64) (param $h1 i64) (result i64)
    (i64.add
      (i64.mul (i64.add (i64.rotl (local.get $h2) (i64.const 31)) (local.get $h1)) (i64.const 5))
      (i64.const 0x38495ab5)))

  (func $final (param $h i64) (result i64)
    (local.set $h (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))))
    (local.set $h (i64.mul (local.get $h) (i64.const 0xff51afd7ed558ccd)))
    (local.set $h (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))))
    (local.set $h (i64.mul (local.get $h) (i64.const 0xc4ceb9fe1a85ec53)))
    (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33)))))
