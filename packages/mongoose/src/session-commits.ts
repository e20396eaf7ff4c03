import type { IdRegistrar, Registration } from 'nestjs-bloom/sources';

/** A session of the driver, whose transaction a write may be part of. */
export interface WrittenSession {
  inTransaction(): boolean;
  commitTransaction(...args: unknown[]): Promise<unknown>;
  abortTransaction(...args: unknown[]): Promise<unknown>;
}

/**
 * Adds the ids of what was written once more when it can be seen, where a rebuild may have missed both their
 * first add and their documents.
 */
export class SessionCommits {
  private readonly uncommitted = new WeakMap<WrittenSession, Registration[]>();

  constructor(private readonly registrar: IdRegistrar) {}

  async noteWritten(registration: Registration, session: WrittenSession | undefined): Promise<void> {
    if (!session?.inTransaction()) {
      await this.registrar.registerAgain(registration);
      return;
    }
    const open = this.uncommitted.get(session);
    if (open) open.push(registration);
    else this.follow(session, [registration]);
  }

  /** The driver has no event of a commit. `withTransaction` calls this method as well. */
  private follow(session: WrittenSession, registrations: Registration[]): void {
    this.uncommitted.set(session, registrations);
    const { commitTransaction, abortTransaction } = session;
    session.commitTransaction = async (...args) => {
      let isCommitted = false;
      try {
        const result = await commitTransaction.apply(session, args);
        isCommitted = true;
        return result;
      } finally {
        // Also after an error, which may follow the commit; then the commit may be tried again.
        const ended = isCommitted ? registrations.splice(0) : [...registrations];
        await Promise.all(ended.map((one) => this.registrar.registerFailed(one)));
      }
    };
    session.abortTransaction = async (...args) => {
      registrations.length = 0;
      return abortTransaction.apply(session, args);
    };
  }
}
