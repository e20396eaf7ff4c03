/** The types of Node have no WebAssembly. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { readonly exports: unknown };
};

/** What every module exports. */
export interface WasmExports {
  /** Its memory; a larger one has another buffer. */
  readonly memory: {
    /** Its bytes. */
    readonly buffer: ArrayBuffer;
  };
}

/** A module of a folder `wat/`, from its base64. */
export function instantiate<Exports extends WasmExports>(base64: string): Exports {
  const { Module, Instance } = WebAssembly;
  return new Instance(new Module(Buffer.from(base64, 'base64'))).exports as Exports;
}

/** Undefined where the engine runs no WebAssembly (`--jitless`): for what only makes something faster. */
export function instantiateIfPossible<Exports extends WasmExports>(base64: string): Exports | undefined {
  try {
    return instantiate<Exports>(base64);
  } catch {
    return undefined;
  }
}
