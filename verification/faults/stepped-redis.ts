import { createHash } from 'node:crypto';
import { type Command, Redis } from 'ioredis';
import { luaSources } from '../../test/support/lua-sources.js';
import type { Step } from './rebuilder-protocol.js';

const NAMES = new Map(
  Object.entries(luaSources).map(([name, { source }]) => [
    createHash('sha1').update(source).digest('hex'),
    name,
  ]),
);
const SWAPS = ['swap', 'bitmapSwap', 'bfSwap', 'cfSwap'];
/** Commands of every kind of filter. */
const COMMANDS: Partial<Record<Step, readonly string[]>> = {
  lease: ['acquire'],
  stage: ['stage', 'bitmapStage'],
  publish: ['publish'],
  load: ['load'],
  merge: ['merge', 'bitmapMerge'],
  verify: ['check', 'bitmapCheck'],
  announced: ['copyAnnounce'],
  swap: SWAPS,
  'swap, its reply unread': SWAPS,
  'clean-up': ['unlink'],
  release: ['release'],
};

/** A client that stops once before, or right after, it sends the command of a step. */
export class SteppedRedis extends Redis {
  isArmed = false;

  constructor(
    url: string,
    private readonly step: Step,
    private readonly stop: () => Promise<void>,
  ) {
    super(url);
  }

  override sendCommand(...call: Parameters<Redis['sendCommand']>): unknown {
    const [command] = call;
    const isStep = this.isArmed && this.isOfStep(command);
    if (!isStep) return super.sendCommand(...call);
    this.isArmed = false;
    if (this.step === 'swap, its reply unread') {
      const reply = super.sendCommand(...call);
      void this.stop();
      return reply;
    }
    void this.stop().then(() => super.sendCommand(...call));
    return command.promise;
  }

  private isOfStep(command: Command): boolean {
    if (!COMMANDS[this.step]?.includes(nameOf(command) ?? '')) return false;
    // The first of these commands announces.
    return this.step !== 'announced' || String(command.args.at(-1)) === '0';
  }
}

/** The name of the script, for a command that runs one. */
function nameOf({ name, args }: Command): string | undefined {
  return name === 'evalsha' ? NAMES.get(String(args[0])) : name;
}
