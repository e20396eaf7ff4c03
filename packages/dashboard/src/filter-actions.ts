import { Logger } from '@nestjs/common';
import {
  BloomConfigError,
  type BloomGuardMode,
  BloomIdError,
  BloomRebuildError,
  type BloomService,
  BloomUnavailableError,
} from 'nestjs-bloom';
import { describeError, escaped, explainVerdict } from 'nestjs-bloom/integrations';

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

const CANNOT_TELL = 'the filter cannot tell now';
const ANSWERED_BY = {
  queue: 'waits to be added',
  process: 'answered in this process',
  store: 'answered by the store',
} as const;

/** What the buttons of a filter do. */
export class FilterActions {
  private readonly logger = new Logger('Bloom');

  constructor(private readonly service: BloomService) {}

  /** Undefined for an action that there is not. */
  async act(name: string, body: Record<string, unknown>, by: string): Promise<ActionAnswer | undefined> {
    const filter = body['filter'];
    if (typeof filter !== 'string' || !this.service.has(filter))
      return { status: 404, message: 'There is no filter of this name here.' };
    switch (name) {
      case 'inspect':
        return this.inspect(filter, body['id']);
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

  private async inspect(filter: string, id: unknown): Promise<ActionAnswer> {
    if (typeof id !== 'string' || id === '') return { status: 400, message: 'Expected an id.' };
    try {
      const { verdict, by } = await explainVerdict(this.service, filter, id);
      return { status: 200, verdict, message: verdict === 'unknown' ? CANNOT_TELL : ANSWERED_BY[by] };
    } catch (error) {
      const message = error instanceof BloomIdError ? 'this cannot be an id' : CANNOT_TELL;
      return { status: 200, verdict: 'unknown', message };
    }
  }

  private async rebuild(filter: string, force: boolean, by: string): Promise<ActionAnswer> {
    this.logger.log(`Filter '${filter}': ${escaped(by)} has asked for a rebuild${force ? ' by force' : ''}.`);
    const ended = this.service
      .filter(filter)
      .rebuild(force ? { force } : {})
      .then(
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

  private async stop(filter: string, by: string): Promise<ActionAnswer> {
    try {
      return (await this.service.stopRebuild(filter, { by }))
        ? { status: 202, message: 'The rebuild is asked to stop.' }
        : { status: 409, message: 'No rebuild of it runs.' };
    } catch (error) {
      return { status: 503, message: refusal(error) };
    }
  }

  private async setMode(filter: string, mode: unknown, by: string): Promise<ActionAnswer> {
    if (!MODES.includes(mode))
      return { status: 400, message: "Expected mode to be 'on', 'shadow', 'off' or null." };
    try {
      await this.service.setMode(filter, mode as BloomGuardMode | null, { by });
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
