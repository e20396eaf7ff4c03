import type { Breakage } from './broken-store.js';
import type { Random } from '../../test/support/random.js';
import type { Step } from './action.js';
import type { VirtualInterval, VirtualTimeout } from './ambient.js';
import {
  changesSize,
  describeReply,
  isDone,
  isEarly,
  isReady,
  isSwap,
  keysOf,
  rawCommand,
  scriptOf,
} from './commands.js';
import { type Held, type HeldCommand, type GatedInstance, NEVER_MS } from './gated-instance.js';
import { remove } from './held.js';
import type { LeasedTime } from './leased/leased-time.js';
import { deliverMessages, LOST, takingMessages } from './leased/messages.js';
import type { OlderCopy } from './older-copy.js';
import type { Oracle } from './oracle.js';
import type { Scenario } from './scenario.js';
import type { Reply } from './server-link.js';
import { infoOf, type SimulatedServer } from './simulated-server.js';

const SLOW_WEIGHT = 0.03;
/** In percent. */
const REFUSED_SILENCE = 20;
/** After these a blocking read may have something. */
const WRITES_STREAMS = new Set(['add', 'swap', 'offline']);
const ADD = new Set(['add', 'bitmapAdd', 'growingAdd']);

export interface GateOptions {
  /** What the names of all keys begin with. */
  readonly base: string;
  readonly scenario: Scenario;
  readonly server: SimulatedServer;
  readonly breakage: Breakage;
  readonly oracle: Oracle;
  readonly olderCopy: OlderCopy;
  /** Undefined where timers do not wait for time. */
  readonly time: LeasedTime | undefined;
  readonly random: Random;
  readonly instances: readonly GatedInstance[];
  /** Collects the names of all keys that are named. */
  readonly keys: Set<string>;
  readonly note: (text: string) => void;
}

/** A timer that fires whenever the schedule says so. */
const UNCLEARED: VirtualTimeout = { clear() {}, ref: () => UNCLEARED, unref: () => UNCLEARED };

/** Holds what the processes of a schedule wait for: commands, timers, pages of the table. */
export class Gate {
  /** The instance whose code runs now, as far as timers go. */
  working: GatedInstance | undefined;

  constructor(private readonly options: GateOptions) {}

  onInterval(callback: () => void, ms: number): VirtualInterval {
    const { time } = this.options;
    if (time) return time.onInterval(this.working, callback, ms);
    const interval: VirtualInterval = {
      callback,
      ms,
      cleared: false,
      ref: () => interval,
      unref: () => interval,
    };
    this.working?.intervals.push(interval);
    return interval;
  }

  onTimeout(callback: () => void, ms: number): VirtualTimeout {
    const { working } = this;
    const { time } = this.options;
    if (time) return time.onTimeout(working, callback, ms);
    // What is left of a deadline is a deadline.
    if (ms < NEVER_MS / 2) {
      working?.held.push({ weight: 1, what: `waits ${ms} ms`, isDue: () => true, go: callback });
    }
    return UNCLEARED;
  }

  letThrough(instance: GatedInstance, held: Held): Step {
    const { command, reply: given } = held;
    this.working = instance;
    if (given) return { send: [], deliver: () => this.deliver(instance, held, given) };
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
    if (command.name.endsWith('subscribe')) return this.subscribing(instance, held);
    const { time, instances } = this.options;
    if (command.name === 'info') return this.asking(instance, held);
    if (command.name === 'CLIENT') return this.silencing(instance, held);
    const base = keysOf(command)[0]!.replace(/:[^:]*$/, '');
    const taking = time ? takingMessages(held.what, base) : [];
    return {
      send: [rawCommand(command, held.what, this.options.breakage), ...taking],
      deliver: ([reply, published]) => {
        if (time) deliverMessages(time, instances, published);
        if (this.options.time?.isLate()) {
          this.observe(instance, held, reply!);
          held.reply = reply!;
        } else {
          remove(instance.held, held);
          this.answer(instance, held, reply!);
        }
      },
    };
  }

  /** The one real connection cannot subscribe for them. */
  private subscribing(instance: GatedInstance, held: Held): Step {
    const { command, client } = held;
    const deliver = () => {
      remove(instance.held, held);
      this.options.note(`${instance.name} ${held.what}`);
      const channel = String(command!.args[0]);
      if (held.what === 'subscribe') client?.channels.add(channel);
      else client?.channels.delete(channel);
      command!.resolve(1);
    };
    return { send: [], deliver };
  }

  /** Some servers let nobody do without replies. */
  private silencing(instance: GatedInstance, held: Held): Step {
    const deliver = () => {
      remove(instance.held, held);
      this.options.note(`${instance.name} ${held.what}`);
      if (this.options.random.below(100) < REFUSED_SILENCE) held.command!.reject(new Error('NOPERM'));
      else held.command!.resolve('OK');
    };
    return { send: [], deliver };
  }

  /** The one real server does not restart: which run of it answers is in a key. */
  private asking(instance: GatedInstance, held: Held): Step {
    const deliver = ([reply]: readonly Reply[]) => {
      remove(instance.held, held);
      this.options.note(`${instance.name} ${held.what}`);
      if ('value' in reply!) held.command!.resolve(infoOf(reply.value));
    };
    return { send: [{ name: 'get', args: [`${this.options.base}:server`] }], deliver };
  }

  /** Gives a command the reply that was on its way. */
  private deliver(instance: GatedInstance, held: Held, reply: Reply): void {
    this.options.note(`${instance.name} has the reply of ${held.what}`);
    remove(instance.held, held);
    this.settle(instance, held, reply);
  }

  /** Gives a reply to the command that waits for it, noting what the server has done by it. */
  answer(instance: GatedInstance, held: Held, reply: Reply): void {
    this.observe(instance, held, reply);
    this.settle(instance, held, reply);
  }

  private settle(instance: GatedInstance, held: Held, reply: Reply): void {
    const { command, what } = held;
    if (held.isGhost || !command) return;
    if (what === 'add') instance.addedAt = this.options.time?.nowOf(instance);
    if (what === 'describe' && 'value' in reply && isReady(reply.value)) instance.hasSeenLive = true;
    const { secondHalfOfSwap } = this.options.breakage;
    if (what === 'swap' && secondHalfOfSwap && 'value' in reply && isDone(reply.value)) {
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
    if (WRITES_STREAMS.has(what)) this.options.time?.wrote();
    this.options.time?.sightings.onReply(instance, what, command!, reply.value);
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
    if (isSwap(what) && isDone(reply.value)) oracle.written++;
    if (isSwap(what) && empties && isDone(reply.value)) oracle.emptied();
    const { source } = instance.options;
    if (source && String(reply.value) === 'OK' && changesSize(command!, what)) oracle.resized(source.read);
    if ((isSwap(what) && !isEarly(reply.value)) || what === 'withdraw') instance.hasPublished = false;
    if (what === 'withdraw') {
      instance.addsAtWithdrawal = oracle.adds;
      // What it has staged is there for a while.
      if (instance.hasLateSwap) instance.weight = SLOW_WEIGHT;
    }
    if (ADD.has(what) && Array.isArray(reply.value)) {
      if (this.options.time) recordUnrecorded(oracle, instance, String(reply.value[0]).length);
      else oracle.recorded(instance.adding);
    }
  }

  hold(instance: GatedInstance, { command, client, isOfPeer, isAnswered }: HeldCommand): void {
    const { scenario, server, time } = this.options;
    if (!isAnswered && time!.chance.below(100) < LOST) return;
    const what = scriptOf(command, server) ?? command.name;
    for (const key of keysOf(command)) this.options.keys.add(key);
    const isSlow = this.options.random.below(1_000) < scenario.slowShare * 1_000;
    const weight = isSlow ? SLOW_WEIGHT : 1;
    const empties = instance.resetting > 0;
    const held: Held = { command, isOfPeer, what, weight, empties, isDue: () => true, go() {} };
    if (!time) {
      instance.held.push(held);
      return;
    }
    const { isDue, ...timing } = what === 'xread' ? time.heldFeedRead(instance) : held;
    instance.held.push({
      ...held,
      ...timing,
      client,
      isDue() {
        return this.reply !== undefined || (!instance.cut.has(client) && isDue());
      },
    });
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

/**
 * The command of an add has ids of one or of several adds that are under way, and its reply says of how many.
 */
function recordUnrecorded(oracle: Oracle, { unrecorded }: GatedInstance, count: number): void {
  const ids = [...unrecorded].flat();
  const areAll = ids.length === count;
  oracle.recorded(ids, 'library', areAll);
  if (areAll) unrecorded.clear();
}
