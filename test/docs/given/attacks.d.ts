// docs/attacks.md leaves out nothing.
export {};
