// What docs/cluster.md leaves out.
declare const BloomModule: typeof import('nestjs-bloom').BloomModule;
declare const cluster: import('ioredis').Cluster;
declare const products: import('nestjs-bloom').BloomIdSource;
