// docs/prometheus.md leaves out nothing.
export {};
