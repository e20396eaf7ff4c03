import { parseArgs, type ParseArgsConfig } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** Arguments that do not exist, or make no sense. */
export class UsageError extends Error {}

/** @throws {UsageError} for a word that none of the options is. */
export function readOptions<Known extends Options>(words: readonly string[], options: Known) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** @throws {UsageError} */
export function positiveInteger(name: string, text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`Expected --${name} to be a positive integer, got '${text}'.`);
}

/** @throws {UsageError} */
export function oneOf<Name extends string>(
  name: string,
  text: string | undefined,
  names: readonly Name[],
): Name | undefined {
  const found = names.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new UsageError(`Expected --${name} to be one of ${names.join(', ')}, got '${text}'.`);
}

/**
 * Runs a program with what was typed. Its exit code: what it returns, 1 for an error, 2 for arguments that do
 * not exist.
 */
export async function runProgram<Given extends { readonly help: boolean }>(program: {
  readonly usage: string;
  parse(words: readonly string[]): Given;
  run(given: Given): number | Promise<number>;
}): Promise<void> {
  const { usage } = program;
  try {
    const given = program.parse(process.argv.slice(2));
    if (given.help) process.stdout.write(usage);
    else process.exitCode = await program.run(given);
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(
      isUsage ? `${error.message}\n\n${usage}` : `${(error as Error).stack ?? String(error)}\n`,
    );
    process.exitCode = isUsage ? 2 : 1;
  }
}
