// What docs/overload.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
