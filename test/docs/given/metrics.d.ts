// docs/metrics.md leaves out nothing.
export {};
