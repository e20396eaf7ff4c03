/**
 * Processor time that this process has used, in milliseconds: unlike the clock, it does not depend on what
 * else the machine does.
 */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Processor time that some work takes, in milliseconds: the least of so many turns, since what the process
 * does besides, such as collecting garbage, only ever adds to it.
 */
export async function leastCpuMsOf(work: () => unknown, turns = 3): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < turns; turn++) {
    const started = cpuMs();
    await work();
    least = Math.min(least, cpuMs() - started);
  }
  return least;
}
