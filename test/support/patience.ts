/** Deadlines for tests whose subject is no deadline: on a machine that is busy, none of them is to pass. */
export const PATIENT = { timeoutMs: 5000, writeTimeoutMs: 10_000 } as const;
