import { Logger } from '@nestjs/common';
import {
  BloomConfigError,
  BloomIdError,
  BloomRebuildError,
  BloomUnavailableError,
  describeError,
  escaped,
} from '../../common/index.js';
import type { BloomGuardMode, BloomService, GuardableFilter } from '../../service/index.js';
import { verdictOf } from '../../store/index.js';

/** What the page gets for an action. `message` is for people. */
export interface ActionAnswer {
  readonly status: number;
  readonly message: string;
  readonly verdict?: 'absent' | 'maybe' | 'unknown';
}

/** A rebuild that cannot start says so within this time, as a rule. */
const SOON_MS = 300;
/** Null withdraws what was set. */
const MODES: readonly unknown[] = ['on', 'shadow', 'off', null] satisfies (BloomGuardMode | null)[];

/** What the buttons of a filter do. */
export class FilterActions {
  private readonly logger = new Logger('Bloom');

  constructor(private readonly service: BloomService) {}

  /** Undefined for an action that there is not. */
  async act(name: string, body: Record<string, unknown>, by: string): Promise<ActionAnswer | undefined> {
    const filter = typeof body['filter'] === 'string' ? this.service.find(body['filter']) : undefined;
    if (!filter) return { status: 404, message: 'There is no filter of this name here.' };
    switch (name) {
      case 'inspect':
        return inspect(filter, body['id']);
      case 'rebuild':
        return this.rebuild(filter, body['force'] === true, by);
      case 'stop':
        return this.stop(filter, by);
      case 'mode':
        return this.setMode(filter, body['mode'], by);
      default:
        return undefined;
    }
  }

  private async rebuild(filter: GuardableFilter, force: boolean, by: string): Promise<ActionAnswer> {
    this.logger.log(
      `Filter '${filter.name}': ${escaped(by)} has asked for a rebuild${force ? ' by force' : ''}.`,
    );
    const ended = filter.rebuild(force ? { force } : {}).then(
      (report): ActionAnswer =>
        report.outcome === 'published'
          ? { status: 200, message: 'The rebuild is done.' }
          : { status: 409, message: `No rebuild: ${report.reason}` },
      // The log has the error, and the page the event.
      (error: unknown): ActionAnswer => ({ status: 409, message: refusal(error) }),
    );
    let patience: NodeJS.Timeout | undefined;
    const started = new Promise<ActionAnswer>((resolve) => {
      patience = setTimeout(() => resolve({ status: 202, message: 'The rebuild has started.' }), SOON_MS);
    });
    return Promise.race([ended, started]).finally(() => clearTimeout(patience));
  }

  private async stop({ name }: GuardableFilter, by: string): Promise<ActionAnswer> {
    try {
      return (await this.service.stopRebuild(name, { by }))
        ? { status: 202, message: 'The rebuild is asked to stop.' }
        : { status: 409, message: 'No rebuild of it runs.' };
    } catch (error) {
      return { status: 503, message: refusal(error) };
    }
  }

  private async setMode({ name }: GuardableFilter, mode: unknown, by: string): Promise<ActionAnswer> {
    if (!MODES.includes(mode))
      return { status: 400, message: "Expected mode to be 'on', 'shadow', 'off' or null." };
    try {
      await this.service.setMode(name, mode as BloomGuardMode | null, { by });
      const message =
        mode === null
          ? 'Each instance has its own mode.'
          : `Mode '${String(mode)}' is set for all instances.`;
      return { status: 200, message };
    } catch (error) {
      return { status: 503, message: refusal(error) };
    }
  }
}

async function inspect(filter: GuardableFilter, id: unknown): Promise<ActionAnswer> {
  if (typeof id !== 'string' || id === '') return { status: 400, message: 'Expected an id.' };
  try {
    const key = filter.keys.of(id);
    if (filter.guarding.isQueued(key, filter.keys))
      return { status: 200, verdict: 'maybe', message: 'waits to be added' };
    const asked = filter.checkKey(key);
    const isHere = typeof asked === 'string';
    const verdict = verdictOf(await asked);
    const by = isHere ? 'answered in this process' : 'answered by the store';
    return { status: 200, verdict, message: verdict === 'unknown' ? 'the filter cannot tell now' : by };
  } catch (error) {
    if (error instanceof BloomIdError)
      return { status: 200, verdict: 'unknown', message: 'this cannot be an id' };
    return { status: 200, verdict: 'unknown', message: 'the filter cannot tell now' };
  }
}

/** Errors of a rebuild may quote ids, which are for the log. */
function refusal(error: unknown): string {
  if (error instanceof BloomRebuildError)
    return error.reason === 'aborted'
      ? 'The rebuild was stopped.'
      : `The rebuild failed: ${error.reason}. The log has the error.`;
  if (error instanceof BloomConfigError || error instanceof BloomUnavailableError)
    return describeError(error);
  return 'It failed. The log has the error.';
}
