import { oneOf, readOptions } from '../shared/command-line.js';
import { PROTOCOLS } from './protocols.js';

export interface ModelArguments {
  /** The large systems too. */
  readonly full: boolean;
  readonly json: boolean;
  readonly help: boolean;
  /** Only this protocol. */
  readonly protocol: string | undefined;
}

export const USAGE = `Usage: npm run model -- [--full] [--protocol NAME] [--json]

Looks at every state that the modelled protocols can come to, with all their rules, and then without each rule, which must break the promise.

  --full            explore the large systems as well: minutes, and some GiB of memory
  --protocol NAME   only one protocol: ${PROTOCOLS.map(({ name }) => name).join(', ')}
  --json            print the figures as one JSON object
`;

/** @throws {UsageError} */
export function parseModelArguments(words: readonly string[]): ModelArguments {
  const {
    full = false,
    json = false,
    help = false,
    protocol,
  } = readOptions(words, {
    full: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    protocol: { type: 'string' },
  });
  const names = PROTOCOLS.map(({ name }) => name);
  return { full, json, help, protocol: oneOf('protocol', protocol, names) };
}
