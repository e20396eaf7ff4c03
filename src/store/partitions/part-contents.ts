import { randomBytes } from 'node:crypto';
import { BloomUnavailableError } from '../../common/index.js';
import type { FilterContents, OpenFilterOptions, PartEpochs } from '../index.js';
import { epochKeepsChanging } from './partitions.messages.js';

/** How often an epoch is begun that other processes begin too. */
const MAX_ATTEMPTS = 20;

/** The contents of an epoch in which nothing is built. */
const NOTHING: FilterContents = { spelling: '-', rows: undefined };

/** The text of an epoch: its name, `ending` until all parts have been ended, and the contents that count. */
interface Epoch {
  readonly name: string;
  readonly isEnding: boolean;
  readonly contents: FilterContents;
}

export interface PartContentsOptions {
  readonly filter: string;
  readonly contents: NonNullable<OpenFilterOptions['contents']>;
  readonly hasSource: boolean;
  /** In order; the first one keeps the epoch. */
  readonly parts: readonly PartEpochs[];
}

/**
 * Keeps the parts of a filter together whose processes may have different contents.
 * `verification/model/spelled-parts.ts` is its model.
 */
export class PartContents {
  private asking: Promise<string> | undefined;

  constructor(private readonly options: PartContentsOptions) {}

  /** The name of the epoch, read after this call; '' when it is one of other contents. */
  async epoch(): Promise<string> {
    const { contents, hasSource } = this.options;
    const own = await contents();
    const text = await this.ask();
    // What an older version has built, or nobody, is not to be ended where it cannot be built again.
    const found = text === '' && !hasSource ? await this.replace('', begun(own, false)) : text;
    return oursIn(found, own)?.name ?? '';
  }

  /**
   * Makes sure that nothing is live or staged that processes have built with other contents. A build begins
   * an epoch of its own contents. An add that is written nowhere, since a build will read its row, needs
   * none: after it adds of all processes go on without another one.
   *
   * @throws {BloomUnavailableError} when that could not be done.
   */
  async confirm(use: 'build' | 'add'): Promise<void> {
    const { filter, contents, parts } = this.options;
    const own = await contents();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const text = await this.ask();
      const epoch = oursIn(text, own) ?? (use === 'add' ? nobodys(text) : undefined);
      if (epoch && !epoch.isEnding) return;
      // Another process has ended some parts, and may have died.
      const ending = epoch ? text : begun(use === 'add' ? NOTHING : own, true);
      if (!epoch && (await this.replace(text, ending)) !== ending) continue;
      await Promise.all(parts.map((part) => part.endOthers()));
      const ended = ending.replace(' ending ', ' ended ');
      if ((await this.replace(ending, ended)) === ended) return;
    }
    throw new BloomUnavailableError(epochKeepsChanging(filter));
  }

  /** Calls of one turn share a question, which is asked after all of them. */
  private ask(): Promise<string> {
    this.asking ??= Promise.resolve().then(() => {
      this.asking = undefined;
      return this.options.parts[0]!.ask();
    });
    return this.asking;
  }

  private replace(before: string, next: string): Promise<string> {
    return this.options.parts[0]!.replace(before, next);
  }
}

function oursIn(text: string, own: FilterContents): Epoch | undefined {
  const epoch = parsed(text);
  if (epoch?.contents.spelling !== own.spelling) return undefined;
  const { rows } = epoch.contents;
  return rows === undefined || own.rows === undefined || rows === own.rows ? epoch : undefined;
}

function nobodys(text: string): Epoch | undefined {
  const epoch = parsed(text);
  return epoch?.contents.spelling === NOTHING.spelling ? epoch : undefined;
}

function begun({ spelling, rows = '' }: FilterContents, isEnding: boolean): string {
  return `${randomBytes(8).toString('hex')} ${isEnding ? 'ending' : 'ended'} ${spelling} ${rows}`;
}

function parsed(text: string): Epoch | undefined {
  const [, name, state, spelling, rows] = /^(\S+) (ending|ended) (\S+) (.*)$/.exec(text) ?? [];
  if (name === undefined || spelling === undefined) return undefined;
  return { name, isEnding: state === 'ending', contents: { spelling, rows: rows || undefined } };
}
