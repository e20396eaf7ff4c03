;; Reads plain rows: messages of COPY in the binary format that each hold one whole row with one value. Each value is written as its text, one after the
;; other, with the place where it ends. PlainRows gives the addresses; TupleReader and PackedWriter do the same without this module, and read all else.
;;
;; Memory: 0 ids written by the last call. A message is the code 'd' and its length from there on, 4 bytes; then the number of fields, 2, the
;; length of the value, 4, and the value. All numbers are big-endian, so that the constants here have their bytes the other way round.
(module
  (memory (export "memory") 3)

  ;; 0 integer, 1 uuid, 2 text, 3 bytes. Reads from $at to below $end, writes ids to $out, which is to be address $outBase of a batch, and ends to $ends.
  ;; Returns where the first message begins that is not whole, or not plain. There has to be room for what the bytes make, and 40 more.
  (func (export "read") (param $kind i32) (param $at i32) (param $end i32) (param $out i32) (param $shift i32) (param $ends i32)
    (result i32)
    (local $length i32) (local $value i32) (local $from i32) (local $to i32) (local $ids i32)
    (local $word i64) (local $seen i64) (local $number i64) (local $upper i64) (local $digits i64)
    (local $zeros i64) (local $upper4 v128) (local $lower4 v128)
    (local $first v128) (local $last v128)
    (local.set $ids (local.get $ends))
    (block $stop
      (loop $next
        (local.set $value (i32.add (local.get $at) (i32.const 11)))
        (br_if $stop (i32.gt_u (local.get $value) (local.get $end)))
        (br_if $stop (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x64)))
        (br_if $stop (i32.ne (i32.load16_u offset=5 (local.get $at)) (i32.const 0x0100)))
        (local.set $length (i32.load offset=7 (local.get $at)))
        (local.set $length (i32.or
          (i32.and (i32.rotl (local.get $length) (i32.const 8)) (i32.const 0x00ff00ff))
          (i32.and (i32.rotr (local.get $length) (i32.const 8)) (i32.const 0xff00ff00))))
        ;; The length of the message is that of the value and 10 more.
        (local.set $to (i32.load offset=1 (local.get $at)))
        (local.set $to (i32.or
          (i32.and (i32.rotl (local.get $to) (i32.const 8)) (i32.const 0x00ff00ff))
          (i32.and (i32.rotr (local.get $to) (i32.const 8)) (i32.const 0xff00ff00))))
        (br_if $stop (i32.ne (local.get $to) (i32.add (local.get $length) (i32.const 10))))
        ;; A null has the length -1, which is beyond all as an unsigned number.
        (br_if $stop (i32.gt_u (local.get $length) (i32.sub (local.get $end) (local.get $value))))

        (block $written
          (if (i32.eqz (local.get $kind)) (then
            (br_if $stop (i32.ne (local.get $length) (i32.const 8)))
            (local.set $number (i64x2.extract_lane 0 (i8x16.swizzle
              (v128.load64_zero (local.get $value))
              (v128.const i8x16 7 6 5 4 3 2 1 0 7 6 5 4 3 2 1 0))))
            (if (i64.lt_s (local.get $number) (i64.const 0)) (then
              (i32.store8 (local.get $out) (i32.const 0x2d))
              (local.set $out (i32.add (local.get $out) (i32.const 1)))
              (local.set $number (i64.sub (i64.const 0) (local.get $number)))))
            ;; The first eight digits or less, without zeros before them; then eight at a time.
            (local.set $from (i32.const 0))
            (local.set $upper (local.get $number))
            (loop $more
              (if (i64.ge_u (local.get $upper) (i64.const 100000000)) (then
                (local.set $upper (i64.div_u (local.get $upper) (i64.const 100000000)))
                (local.set $from (i32.add (local.get $from) (i32.const 1)))
                (br $more))))
            (local.set $digits (call $eight (i32.wrap_i64 (local.get $upper))))
            (local.set $zeros (i64.and
              (i64.ctz (i64.or (local.get $digits) (i64.const 0x0100000000000000))) (i64.const 0x38)))
            (i64.store (local.get $out) (i64.shr_u
              (i64.or (local.get $digits) (i64.const 0x3030303030303030)) (local.get $zeros)))
            (local.set $out (i32.add (local.get $out)
              (i32.sub (i32.const 8) (i32.wrap_i64 (i64.shr_u (local.get $zeros) (i64.const 3))))))
            (loop $more
              (br_if $written (i32.eqz (local.get $from)))
              (local.set $number (i64.sub (local.get $number) (i64.mul (local.get $upper)
                (select (i64.const 100000000) (i64.const 10000000000000000)
                  (i32.eq (local.get $from) (i32.const 1))))))
              (local.set $upper (select (local.get $number) (i64.div_u (local.get $number) (i64.const 100000000))
                (i32.eq (local.get $from) (i32.const 1))))
              (i64.store (local.get $out)
                (i64.or (call $eight (i32.wrap_i64 (local.get $upper))) (i64.const 0x3030303030303030)))
              (local.set $out (i32.add (local.get $out) (i32.const 8)))
              (local.set $from (i32.sub (local.get $from) (i32.const 1)))
              (br $more))))

          (if (i32.eq (local.get $kind) (i32.const 1)) (then
            (br_if $stop (i32.ne (local.get $length) (i32.const 16)))
            (local.set $lower4 (v128.load (local.get $value)))
            ;; Two digits of each byte, then their characters.
            (local.set $upper4 (i8x16.shr_u (local.get $lower4) (i32.const 4)))
            (local.set $lower4 (v128.and (local.get $lower4)
              (v128.const i32x4 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f 0x0f0f0f0f)))
            (local.set $first (i8x16.swizzle (v128.const i8x16 48 49 50 51 52 53 54 55 56 57 97 98 99 100 101 102)
              (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $upper4) (local.get $lower4))))
            (local.set $last (i8x16.swizzle (v128.const i8x16 48 49 50 51 52 53 54 55 56 57 97 98 99 100 101 102)
              (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $upper4) (local.get $lower4))))
            ;; 8-4-4-4-12
            (v128.store64_lane 0 (local.get $out) (local.get $first))
            (i32.store8 offset=8 (local.get $out) (i32.const 0x2d))
            (v128.store32_lane offset=9 2 (local.get $out) (local.get $first))
            (i32.store8 offset=13 (local.get $out) (i32.const 0x2d))
            (v128.store32_lane offset=14 3 (local.get $out) (local.get $first))
            (i32.store8 offset=18 (local.get $out) (i32.const 0x2d))
            (v128.store32_lane offset=19 0 (local.get $out) (local.get $last))
            (i32.store8 offset=23 (local.get $out) (i32.const 0x2d))
            (v128.store32_lane offset=24 1 (local.get $out) (local.get $last))
            (v128.store64_lane offset=28 1 (local.get $out) (local.get $last))
            (local.set $out (i32.add (local.get $out) (i32.const 36)))
            (br $written)))

          ;; As it is, eight bytes at a time.
          (local.set $from (local.get $value))
          (local.set $to (i32.add (local.get $value) (local.get $length)))
          (local.set $seen (i64.const 0))
          (loop $more
            (if (i32.lt_u (local.get $from) (local.get $to)) (then
              (local.set $word (i64.load (local.get $from)))
              (i64.store (i32.add (local.get $out) (i32.sub (local.get $from) (local.get $value))) (local.get $word))
              (local.set $from (i32.add (local.get $from) (i32.const 8)))
              (if (i32.gt_u (local.get $from) (local.get $to)) (then
                ;; Without what follows the value.
                (local.set $word (i64.shl (local.get $word)
                  (i64.extend_i32_u (i32.shl (i32.sub (local.get $from) (local.get $to)) (i32.const 3)))))))
              (local.set $seen (i64.or (local.get $seen) (local.get $word)))
              (br $more))))
          ;; Text that is not ASCII may be no UTF-8.
          (br_if $stop (i32.and
            (i32.eq (local.get $kind) (i32.const 2))
            (i64.ne (i64.and (local.get $seen) (i64.const 0x8080808080808080)) (i64.const 0))))
          (local.set $out (i32.add (local.get $out) (local.get $length))))

        (i32.store (local.get $ids) (i32.add (local.get $out) (local.get $shift)))
        (local.set $ids (i32.add (local.get $ids) (i32.const 4)))
        (local.set $at (i32.add (local.get $value) (local.get $length)))
        (br $next)))
    (i32.store (i32.const 0) (i32.shr_u (i32.sub (local.get $ids) (local.get $ends)) (i32.const 2)))
    (local.get $at))

  ;; The eight decimal digits of a number below 10^8, a byte each, the first one in the lowest (P. Khuong, "How to print integers really fast", 2017).
  (func $eight (param $number i32) (result i64)
    (local $rest i64) (local $upper i64)
    ;; Two numbers of four digits, then four of two digits. A product and a shift divide by 100 and by 10.
    (local.set $upper (i64.extend_i32_u (i32.div_u (local.get $number) (i32.const 10000))))
    (local.set $rest (i64.or (local.get $upper) (i64.shl
      (i64.sub (i64.extend_i32_u (local.get $number)) (i64.mul (local.get $upper) (i64.const 10000)))
      (i64.const 32))))
    (local.set $upper (i64.and
      (i64.shr_u (i64.mul (local.get $rest) (i64.const 10486)) (i64.const 20))
      (i64.const 0x0000007f0000007f)))
    (local.set $rest (i64.or (local.get $upper) (i64.shl
      (i64.sub (local.get $rest) (i64.mul (local.get $upper) (i64.const 100)))
      (i64.const 16))))
    (local.set $upper (i64.and
      (i64.shr_u (i64.mul (local.get $rest) (i64.const 103)) (i64.const 10))
      (i64.const 0x000f000f000f000f)))
    (i64.or (local.get $upper) (i64.shl
      (i64.sub (local.get $rest) (i64.mul (local.get $upper) (i64.const 10)))
      (i64.const 8)))))
