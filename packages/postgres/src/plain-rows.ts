import { instantiateIfPossible, type WasmExports } from 'nestjs-bloom/sources';
import type { ColumnKind } from './column-kind.js';
import type { PackedWriter } from './packed-writer.js';
import { wasmModules } from './wasm.generated.js';

const KINDS: Readonly<Record<ColumnKind, number>> = { integer: 0, uuid: 1, text: 2, bytes: 3 };
/** Bytes that are read at once: what a socket gives. */
const MOST_BYTES = 65_536;
/** Bytes of a row without a character: code, length, number of fields, length. */
const LEAST_ROW_BYTES = 11;

// What is where in the memory, in bytes.
const BYTES_AT = 64;
const ENDS_AT = BYTES_AT + MOST_BYTES + 64;
const IDS_AT = ENDS_AT + 4 * Math.ceil(MOST_BYTES / LEAST_ROW_BYTES) + 4;

interface RowsExports extends WasmExports {
  read(kind: number, at: number, end: number, out: number, shift: number, ends: number): number;
}

interface RowsModule {
  readonly wasm: RowsExports;
  readonly memory: Uint8Array;
  readonly words: Uint32Array;
}

let instance: { readonly module: RowsModule | undefined } | undefined;

/** Undefined where the engine runs no WebAssembly. */
function rowsModule(): RowsModule | undefined {
  instance ??= made();
  return instance.module;
}

function made() {
  const wasm = instantiateIfPossible<RowsExports>(wasmModules.rows);
  if (!wasm) return { module: undefined };
  const { buffer } = wasm.memory;
  return { module: { wasm, memory: new Uint8Array(buffer), words: new Uint32Array(buffer) } };
}

/**
 * Writes the values of rows that are as nearly all of them are, by the WebAssembly of `wat/rows.wat`: each is
 * whole, in a message of its own, and not null.
 */
export class PlainRows {
  /** Those that were read last. */
  rows = 0;

  private bytes: Uint8Array = new Uint8Array(0);
  /** What of the bytes is in the memory of the module. */
  private from = 0;
  private to = 0;

  /** Undefined where the engine runs no WebAssembly. */
  static of(kind: ColumnKind, writer: PackedWriter): PlainRows | undefined {
    const module = rowsModule();
    return module && new PlainRows(module, KINDS[kind], writer);
  }

  private constructor(
    private readonly module: RowsModule,
    private readonly kind: number,
    private readonly writer: PackedWriter,
  ) {}

  /**
   * To be called before the first `take` of these bytes. All of them have to be taken before another reader
   * begins, since all have one memory.
   */
  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.from = this.to = 0;
  }

  /** Takes messages from `at` on; where the first one begins that is not whole, or not plain. */
  take(at: number): number {
    this.rows = 0;
    for (let from = at; ;) {
      if (from < this.from || from >= this.to) this.load(from);
      const read = this.read(from);
      if (read === this.bytes.length) return read;
      if (read === from) {
        if (from === this.from || this.to === this.bytes.length) return from;
        // The message may go on after what is in the memory.
        this.load(from);
      }
      from = read;
    }
  }

  private load(at: number): void {
    this.from = at;
    this.to = Math.min(this.bytes.length, at + MOST_BYTES);
    this.module.memory.set(this.bytes.subarray(at, this.to), BYTES_AT);
  }

  private read(at: number): number {
    const { module, writer, from, to } = this;
    const { wasm, memory, words } = module;
    const shift = BYTES_AT - from;
    const read =
      wasm.read(this.kind, at + shift, to + shift, IDS_AT, writer.length - IDS_AT, ENDS_AT) - shift;
    const rows = words[0]!;
    if (rows > 0) {
      const ends = words.subarray(ENDS_AT / 4, ENDS_AT / 4 + rows);
      writer.append(memory.subarray(IDS_AT, IDS_AT + ends[rows - 1]! - writer.length), ends);
      this.rows += rows;
    }
    return read;
  }
}
