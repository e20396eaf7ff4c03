import { parseArgs } from 'node:util';

export interface DemoArguments {
  /** End after the figures instead of serving on. */
  readonly exit: boolean;
  /** The figures as JSON instead of a table. */
  readonly json: boolean;
  readonly help: boolean;
}

export const USAGE = `Usage: npm run demo -- [--exit] [--json]

  --exit   end after the figures; exit code 1 when an existing product was answered "not found"
  --json   print the figures as one JSON object (npm run -s demo -- --json keeps npm's own lines away)
  --help   print this

Environment: PORT, CATALOG (a CSV file), DATABASE_URL (Postgres), REDIS_URL. See sample-app/README.md.
`;

export class UsageError extends Error {}

/** @throws {UsageError} */
export function parseDemoArguments(words: readonly string[]): DemoArguments {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        exit: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return { exit: values.exit ?? false, json: values.json ?? false, help: values.help ?? false };
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** @throws {UsageError} */
export function parsePort(text: string | undefined): number {
  if (!text) return 0;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new UsageError(`Expected PORT to be a number from 0 (any free port) to 65535, got '${text}'.`);
  }
  return port;
}
