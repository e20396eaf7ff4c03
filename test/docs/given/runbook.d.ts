// docs/runbook.md leaves out nothing.
export {};
