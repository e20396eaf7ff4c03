/** Globals of Jest, which pages leave out. Each page has them, so they can be declared again. */
declare function describe(name: string, run: () => void): void;
declare function it(name: string, run: () => Promise<void>): void;
declare function expect(value: unknown): {
  toBe(value: unknown): void;
  rejects: { toThrow(message: string): Promise<void> };
};
