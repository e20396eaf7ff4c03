import { describeError } from '../../../common/index.js';
import { boardRefused } from '../board/board.messages.js';
import { ASK_RUN_EVERY_MS, type SeenRun } from '../client/server-path.js';
import { isRefusal } from '../client/server-replies.js';
import type { FilterContext } from './filter-context.js';
import type { MetadataReading } from './stored-meta.js';

/** How often it is asked which run of the server answers. */
export const READ_AGAIN_MS = ASK_RUN_EVERY_MS;

/** The fields that name a generation, and say whether it answers. */
const LIVE_FIELDS = ['format', 'state', 'tag', 'token', 'sum', 'runId', 'builds'];

/** What the server has of a filter, and when it was known which server that is. */
export interface Described extends MetadataReading {
  readonly type: string;
  readonly fields: readonly string[];
  /** Record of the mode of all processes, '' for none; undefined where it was not read. */
  readonly mode: string | undefined;
}

/** Reads the metadata of one filter, and notes which server they came from. */
export class MetadataReader {
  private lastServer: Pick<MetadataReading, 'server' | 'runId'> | undefined;
  /** The live generation as it was described last. */
  private lastDescribed = '';
  /** Key of the mode of all processes, which each reading reads as well; undefined: none does. */
  modeKey: string | undefined;

  constructor(private readonly context: FilterContext) {}

  /** The server that answers now, as the connection names it. */
  private server(): string {
    const { connection, keys } = this.context;
    return connection.serverOf(keys.meta);
  }

  /**
   * Reads what is stored. For a second look at a known filter, all filters of a connection ask once a second
   * which run of the server answers. A filter that has changed asks again. A reading is as old as the older
   * of both answers.
   */
  async describe(isKnown: boolean): Promise<Described> {
    const { connection } = this.context;
    const server = this.server();
    const recent = isKnown ? connection.runs.recent(server) : undefined;
    // Awaited only if it is there: filters that look at this moment have to find the question under way.
    const seen = recent && (await recent);
    if (seen && this.lastServer?.server === server && this.lastServer.runId === seen.runId) {
      const { type, fields, mode } = await this.ask(true);
      if (server === this.server() && this.lastDescribed === liveText(fields)) {
        return { type, fields, mode, server, runId: seen.runId, readAt: seen.at };
      }
    }
    return this.askServer();
  }

  /**
   * Whether another server has answered, on a connection that was not closed: one that took over, or one that
   * never had what was acknowledged here.
   */
  isReplaced({ server, runId }: MetadataReading): boolean {
    const before = this.lastServer;
    // A command that was sent again on the next connection says nothing of the one before.
    if (runId === '' || server !== this.server() || before?.server !== server || before.runId === runId)
      return false;
    const { connection, emit, name } = this.context;
    const text = connection.path.adviceOnReplaced(before.runId, runId);
    if (text !== undefined) emit({ type: 'advice', filter: name, text });
    return true;
  }

  /** Notes the server whose metadata are used. */
  accept({ server, runId }: MetadataReading): void {
    if (runId !== '' && server === this.server()) this.lastServer = { server, runId };
  }

  private async askServer(): Promise<Described> {
    const { connection } = this.context;
    const server = this.server();
    const asked = this.ask(false).then((found) => ({ ...found, server, readAt: performance.now() }));
    const seenRun = ({ runId, readAt }: Described): SeenRun | undefined =>
      // A command that was sent again on the next connection says nothing of the one before.
      runId === '' || server !== this.server() ? undefined : { runId, at: readAt };
    connection.runs.share(server, asked.then(seenRun));
    const described = await asked;
    this.lastDescribed = liveText(described.fields);
    return described;
  }

  /** A user who may not read the mode reads the metadata without it from then on. */
  private async ask(isRunKnown: boolean): Promise<Pick<Described, 'type' | 'fields' | 'mode' | 'runId'>> {
    const { scripts, keys, emit, name } = this.context;
    const { modeKey } = this;
    try {
      const { mode, ...found } = await scripts.describe(keys.meta, isRunKnown, modeKey);
      return { ...found, mode: modeKey === undefined ? undefined : mode };
    } catch (error) {
      const text = describeError(error);
      if (modeKey === undefined || !isRefusal(text)) throw error;
      const found = await scripts.describe(keys.meta, isRunKnown);
      if (this.modeKey !== undefined) emit({ type: 'advice', filter: name, text: boardRefused(name, text) });
      this.modeKey = undefined;
      return { ...found, mode: undefined };
    }
  }
}

function liveText(fields: readonly string[]): string {
  const found: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    if (LIVE_FIELDS.includes(fields[i]!)) found.push(fields[i]!, fields[i + 1]!);
  }
  return found.join(' ');
}
