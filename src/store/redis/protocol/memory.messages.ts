interface MemoryFacts {
  readonly used: number;
  readonly limit: number;
  readonly policy: string;
}

const printedMemory = ({ used, limit }: MemoryFacts) => `used_memory is ${used} of maxmemory ${limit}`;

export const outOfMemory = (what: string, retryAfterMs: number) =>
  `${what} Raise maxmemory, give the filters a Redis of their own, or raise the error rate of the filter. An automatic attempt ` +
  `waits ${Math.round(retryAfterMs / 1000)} seconds.`;

export const stepRefused = (cause: string) =>
  `Redis refused a step of the rebuild, since it is out of memory: ${cause}.`;

export const noRoomForStaging = (neededBytes: number, memory: MemoryFacts) =>
  `Redis has no memory for a second generation: it needs ${neededBytes} bytes, ${printedMemory(memory)} (maxmemory-policy ` +
  `${memory.policy}).`;

export const stagingKeysEvicted = (gone: number, staged: number, memory: MemoryFacts) =>
  `${gone} of ${staged} staged keys are gone: Redis evicts keys (maxmemory-policy ${memory.policy}), ${printedMemory(memory)}.`;

export const othersNeedMemory = (memory: MemoryFacts) =>
  `Others need the memory of the staged keys: ${printedMemory(memory)}, and the next writes would be refused.`;
