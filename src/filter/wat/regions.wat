;; Finds the bits of many ids, and sets those of one region, as BlockedLayout does one by one. RegionsModule says what is where in the memory.
(module
  (memory (export "memory") 8)

  ;; Finds $count ids, of which the first begins at $start. Each ends at the number at $ends and following, which $shift makes an address, and is located by
  ;; the generation whose number stands at $numbers and following: of each, four words at $generations are the two halves of its key, its blocks, and the
  ;; bytes of its longest id. Writes the block and the seed of each id to $located. Returns how many ids it has found: it stops before one that is empty
  ;; or too long.
  (func (export "locate") (param $count i32) (param $start i32) (param $shift i32)
    (param $ends i32) (param $numbers i32) (param $generations i32) (param $located i32) (result i32)
    (local $i i32) (local $end i32) (local $length i32) (local $left i32) (local $word i32) (local $generation i32)
    (local $key0 i32) (local $key1 i32) (local $v0 i32) (local $v1 i32) (local $v2 i32) (local $v3 i32) (local $hash i32)
    (block $out
      (loop $next
        (br_if $out (i32.ge_u (local.get $i) (local.get $count)))
        (local.set $end (i32.add (local.get $shift)
          (i32.load (i32.add (local.get $ends) (i32.shl (local.get $i) (i32.const 2))))))
        (local.set $length (i32.sub (local.get $end) (local.get $start)))
        (local.set $generation (i32.add (local.get $generations) (i32.shl
          (i32.load (i32.add (local.get $numbers) (i32.shl (local.get $i) (i32.const 2))))
          (i32.const 4))))
        ;; With one byte less, an empty id is the longest of all.
        (br_if $out (i32.ge_u
          (i32.sub (local.get $length) (i32.const 1))
          (i32.load offset=12 (local.get $generation))))

        (local.set $key0 (i32.load (local.get $generation)))
        (local.set $key1 (i32.load offset=4 (local.get $generation)))
        ;; HalfSipHash-1-3, as in HalfSipHash: a round for each whole word, one for the bytes that are left, and twice three rounds, after each of which
        ;; a half of the hash is there.
        (local.set $v0 (local.get $key0))
        (local.set $v1 (i32.xor (local.get $key1) (i32.const 0xee)))
        (local.set $v2 (i32.xor (local.get $key0) (i32.const 0x6c796765)))
        (local.set $v3 (i32.xor (local.get $key1) (i32.const 0x74656462)))
        (local.set $left (i32.add (i32.shr_u (local.get $length) (i32.const 2)) (i32.const 7)))
        (loop $round
          (local.set $word (i32.const 0))
          (if (i32.ge_u (local.get $left) (i32.const 7)) (then
            (local.set $word (i32.load (local.get $start)))
            (if (i32.eq (local.get $left) (i32.const 7)) (then
              ;; Of the last word only the bytes that belong to the id, and the length above them.
              (local.set $word (i32.or
                (i32.and (local.get $word) (i32.sub
                  (i32.shl (i32.const 1) (i32.shl (i32.and (local.get $length) (i32.const 3)) (i32.const 3)))
                  (i32.const 1)))
                (i32.shl (local.get $length) (i32.const 24))))))
            (local.set $start (i32.add (local.get $start) (i32.const 4)))))
          (local.set $v3 (i32.xor (local.get $v3) (local.get $word)))
          (local.set $v0 (i32.add (local.get $v0) (local.get $v1)))
          (local.set $v1 (i32.xor (i32.rotl (local.get $v1) (i32.const 5)) (local.get $v0)))
          (local.set $v0 (i32.rotl (local.get $v0) (i32.const 16)))
          (local.set $v2 (i32.add (local.get $v2) (local.get $v3)))
          (local.set $v3 (i32.xor (i32.rotl (local.get $v3) (i32.const 8)) (local.get $v2)))
          (local.set $v0 (i32.add (local.get $v0) (local.get $v3)))
          (local.set $v3 (i32.xor (i32.rotl (local.get $v3) (i32.const 7)) (local.get $v0)))
          (local.set $v2 (i32.add (local.get $v2) (local.get $v1)))
          (local.set $v1 (i32.xor (i32.rotl (local.get $v1) (i32.const 13)) (local.get $v2)))
          (local.set $v2 (i32.rotl (local.get $v2) (i32.const 16)))
          (local.set $v0 (i32.xor (local.get $v0) (local.get $word)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (if (i32.eq (local.get $left) (i32.const 6)) (then
            (local.set $v2 (i32.xor (local.get $v2) (i32.const 0xee)))))
          (if (i32.eq (local.get $left) (i32.const 3)) (then
            (local.set $hash (i32.xor (local.get $v1) (local.get $v3)))
            (local.set $v1 (i32.xor (local.get $v1) (i32.const 0xdd)))))
          (br_if $round (local.get $left)))

        (i64.store (local.get $located) (i64.or
          ;; floor(first half · blocks / 2^32)
          (i64.shr_u
            (i64.mul (i64.extend_i32_u (local.get $hash)) (i64.load32_u offset=8 (local.get $generation)))
            (i64.const 32))
          (i64.shl
            (i64.extend_i32_u (i32.xor (local.get $v1) (local.get $v3)))
            (i64.const 32))))
        (local.set $located (i32.add (local.get $located) (i32.const 8)))
        (local.set $start (local.get $end))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next)))
    (local.get $i))

  ;; Sets the bits of the blocks and seeds from $at to below $end, of a region that begins at $region. Returns how many ids had a bit that was not set.
  (func (export "set") (param $at i32) (param $end i32) (param $region i32) (param $hashCount i32) (result i32)
    (local $seed i32) (local $left i32) (local $block i32) (local $position i32) (local $word i32)
    (local $bit i32) (local $before i32) (local $changed i32) (local $new i32)
    (block $out
      (loop $next
        (br_if $out (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $block (i32.add (local.get $region)
          (i32.shl (i32.and (i32.load (local.get $at)) (i32.const 1023)) (i32.const 8))))
        (local.set $seed (i32.load offset=4 (local.get $at)))
        (local.set $left (local.get $hashCount))
        (local.set $changed (i32.const 0))
        (loop $bits
          (local.set $seed (i32.add (i32.mul (local.get $seed) (i32.const 0x93d765dd)) (i32.const 0x9e3779b9)))
          ;; The tag takes the first 32 bits.
          (local.set $position (i32.add (i32.const 32) (i32.shr_u
            (i32.mul (i32.shr_u (local.get $seed) (i32.const 12)) (i32.const 2016))
            (i32.const 20))))
          (local.set $word (i32.add (local.get $block)
            (i32.shl (i32.shr_u (local.get $position) (i32.const 5)) (i32.const 2))))
          (local.set $bit (i32.shl (i32.const 1) (local.get $position)))
          (local.set $before (i32.load (local.get $word)))
          (i32.store (local.get $word) (i32.or (local.get $before) (local.get $bit)))
          (local.set $changed (i32.or (local.get $changed)
            (i32.and (local.get $bit) (i32.xor (local.get $before) (i32.const -1)))))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br_if $bits (local.get $left)))
        (local.set $new (i32.add (local.get $new) (i32.ne (local.get $changed) (i32.const 0))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (local.get $new)))
