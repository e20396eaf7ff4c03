/** Refuses an option of one filter unless what is expected of it holds. */
export type Expect = (option: string, got: unknown, expected: string, holds: boolean) => void;
