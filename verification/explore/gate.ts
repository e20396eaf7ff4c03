import type { Command } from 'ioredis';
import type { Breakage } from './broken-store.js';
import type { Random } from '../../test/support/random.js';
import type { Step } from './action.js';
import type { VirtualInterval } from './ambient.js';
import { changesSize, describeReply, isReady, isSwap, rawCommand, scriptOf } from './commands.js';
import { type Held, type GatedInstance, NEVER_MS } from './gated-instance.js';
import type { OlderCopy } from './older-copy.js';
import type { Oracle } from './oracle.js';
import type { Scenario } from './scenario.js';
import type { Reply } from './server-link.js';
import type { SimulatedServer } from './simulated-server.js';

const SLOW_WEIGHT = 0.03;
const ADD = new Set(['add', 'bitmapAdd', 'growingAdd']);

export interface GateOptions {
  readonly scenario: Scenario;
  readonly server: SimulatedServer;
  readonly breakage: Breakage;
  readonly oracle: Oracle;
  readonly olderCopy: OlderCopy;
  readonly random: Random;
  /** Collects the names of all keys that are named. */
  readonly keys: Set<string>;
  readonly note: (text: string) => void;
}

/** Holds what the processes of a schedule wait for: commands, timers, pages of the table. */
export class Gate {
  /** The instance whose code runs now, as far as timers go. */
  working: GatedInstance | undefined;

  constructor(private readonly options: GateOptions) {}

  onInterval(callback: () => void, ms: number): VirtualInterval {
    const interval: VirtualInterval = { callback, ms, cleared: false, unref: () => interval };
    this.working?.intervals.push(interval);
    return interval;
  }

  onTimeout(callback: () => void, ms: number): void {
    const { working } = this;
    // What is left of a deadline is a deadline.
    if (ms >= NEVER_MS / 2 || !working) return;
    working.held.push({ weight: 1, what: `waits ${ms} ms`, isDue: () => true, go: callback });
  }

  letThrough(instance: GatedInstance, held: Held): Step {
    const { command } = held;
    this.working = instance;
    if (!command) {
      return {
        send: [],
        deliver: () => {
          this.options.note(`${instance.name} ${held.what}`);
          remove(instance.held, held);
          held.go();
        },
      };
    }
    return {
      send: [rawCommand(command, held.what, this.options.breakage)],
      deliver: ([reply]) => {
        remove(instance.held, held);
        this.answer(instance, held, reply!);
      },
    };
  }

  /** Gives a reply to the command that waits for it, noting what the server has done by it. */
  answer(instance: GatedInstance, held: Held, reply: Reply): void {
    const { command, what } = held;
    this.observe(instance, held, reply);
    if (held.isGhost || !command) return;
    if (what === 'describe' && 'value' in reply && isReady(reply.value)) instance.hasSeenLive = true;
    const { secondHalfOfSwap } = this.options.breakage;
    if (what === 'swap' && secondHalfOfSwap && 'value' in reply && String(reply.value) === 'OK') {
      instance.held.push({ ...held, what: 'second half of swap', weight: SLOW_WEIGHT });
    } else if ('error' in reply) {
      command.reject(reply.error);
    } else {
      command.resolve(reply.value);
    }
  }

  observe(instance: GatedInstance, { what, command, isOfPeer, empties }: Held, reply: Reply): void {
    const { oracle, note } = this.options;
    this.working = instance;
    const who = isOfPeer ? `peer of ${instance.name}` : instance.name;
    note(`${who} ${what} ${describeReply(command!, what, reply)}`);
    if ('error' in reply) return;
    if (isOfPeer) {
      oracle.recorded(instance.peerAdding, 'peer');
      return;
    }
    this.options.olderCopy.note(what, command!, reply);
    if (what === 'publish' && String(reply.value) === 'OK') {
      instance.drain = oracle.awaited();
      oracle.published();
      instance.hasPublished = true;
    }
    if (isSwap(what) && empties && String(reply.value) === 'OK') oracle.emptied();
    const { source } = instance.options;
    if (source && String(reply.value) === 'OK' && changesSize(command!, what)) oracle.resized(source.read);
    if (isSwap(what) || what === 'withdraw') instance.hasPublished = false;
    if (what === 'withdraw') {
      instance.addsAtWithdrawal = oracle.adds;
      // What it has staged is there for a while.
      if (instance.hasLateSwap) instance.weight = SLOW_WEIGHT;
    }
    if (ADD.has(what) && Array.isArray(reply.value)) oracle.recorded(instance.adding);
  }

  hold(instance: GatedInstance, command: Command, isOfPeer: boolean): void {
    const { scenario, server } = this.options;
    const what = scriptOf(command, server) ?? command.name;
    for (const key of keysOf(command)) this.options.keys.add(key);
    const isSlow = this.options.random.below(1_000) < scenario.slowShare * 1_000;
    const weight = isSlow ? SLOW_WEIGHT : 1;
    const empties = instance.resetting > 0;
    instance.held.push({ command, isOfPeer, what, weight, empties, isDue: () => true, go() {} });
  }

  turn(instance: GatedInstance, what: string, isDue = () => true, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const held: Held = { what, weight: 1, isDue, go: resolve };
      instance.held.push(held);
      signal?.addEventListener('abort', () => {
        remove(instance.held, held);
        reject(signal.reason as Error);
      });
    });
  }
}

export function remove<Item>(items: Item[], item: Item): void {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
}

function keysOf(command: Command): string[] {
  const { name, args } = command;
  if (!name.startsWith('eval')) return [String(args[0])];
  const count = Number(args[1]);
  // `offline` names every segment there might be; those there are have been named before.
  return count > 1_000 ? [String(args[2])] : args.slice(2, 2 + count).map(String);
}
