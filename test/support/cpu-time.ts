/** Processor time that this process has used, in milliseconds: unlike the clock, it does not depend on what else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Processor time that some work takes, in milliseconds. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const started = cpuMs();
  await work();
  return cpuMs() - started;
}
