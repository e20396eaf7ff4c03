import autocannon from 'autocannon';

/** Requests per second on 64 connections, each for the next of `paths`; every answer must have the status. */
export async function requestsPerSecond(
  url: string,
  options: { nextPath: () => string; seconds: number; status: number },
): Promise<{ rate: number; requests: number }> {
  const { nextPath, seconds, status } = options;
  const result = await autocannon({
    url,
    connections: 64,
    duration: seconds,
    requests: [{ setupRequest: (request) => ({ ...request, path: nextPath() }) }],
  });
  const right = result.statusCodeStats?.[`${status}`]?.count ?? 0;
  const answered = Object.values(result.statusCodeStats ?? {}).reduce((sum, { count = 0 }) => sum + count, 0);
  if (result.errors > 0 || right !== answered)
    throw new Error(
      `Expected ${url} to answer ${answered} requests with ${status}, got ${right} and ${result.errors} errors.`,
    );
  return { rate: answered / result.duration, requests: answered };
}
