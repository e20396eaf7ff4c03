import { GenerationKeys } from '../generation/generation-keys.js';

/** Names of the keys of a cuckoo filter: each generation has its own. */
export class CfKeys extends GenerationKeys {
  constructor(keyPrefix: string, filter: string) {
    super(`${keyPrefix}:{${filter}}:cf`);
  }

  generation(token: string): string {
    return `${this.data}:${token}`;
  }

  /** The set of the fingerprints that have to stay. */
  kept(token: string): string {
    return `${this.data}:${token}:kept`;
  }

  /** What came of one removal. */
  removal(call: string): string {
    return `${this.data}:removal:${call}`;
  }
}
