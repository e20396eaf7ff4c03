/** Which run of a server answers is asked again after this time. */
export const ASK_RUN_EVERY_MS = 1000;
/** Servers that are remembered; names of connections that were closed are among them. */
const MAX_SERVERS = 1000;

/** A run of a server, as it was seen at a moment by `performance.now()`. */
export interface SeenRun {
  readonly runId: string;
  readonly at: number;
}

/**
 * Which run of which server answers on a connection. The server builds a text of a kilobyte for it, so that all filters of the
 * connection share one answer.
 */
export class ServerRuns {
  private readonly seen = new Map<string, SeenRun>();
  private readonly onTheirWay = new Map<string, Promise<SeenRun | undefined>>();

  /** The answer of the last second for a server as the connection names it, or that on its way; undefined: ask. */
  recent(server: string): SeenRun | Promise<SeenRun | undefined> | undefined {
    const seen = this.seen.get(server);
    if (seen && performance.now() - seen.at < ASK_RUN_EVERY_MS) return seen;
    return this.onTheirWay.get(server);
  }

  /** Shares the answer to a question that is on its way. One that fails, or that says nothing of the server, is no answer. */
  share(server: string, question: Promise<SeenRun | undefined>): void {
    const answer = question
      .catch(() => undefined)
      .then((seen) => {
        if (this.onTheirWay.get(server) === answer) this.onTheirWay.delete(server);
        if (this.seen.size >= MAX_SERVERS) this.seen.clear();
        if (seen) this.seen.set(server, seen);
        return seen;
      });
    this.onTheirWay.set(server, answer);
  }
}
