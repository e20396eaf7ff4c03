import type { Cut } from '../../../../test/support/broken-library.js';

/**
 * The rules of verification/model/feed.ts that are those of the feed alone, and how each is taken out of the
 * library.
 */
export const FEED_RULES: Readonly<Record<string, Cut>> = {
  'no-position': {
    file: 'packages/postgres/src/feed/feed-slot.ts',
    from: '    return slotUnknown(name);\n',
    to: '    return WITHOUT ? undefined : slotUnknown(name);\n',
  },
  'same-server': {
    file: 'packages/postgres/src/feed/feed-slot.ts',
    from: 'if (of !== server)',
    to: 'if (of !== server && !WITHOUT)',
  },
  'slot-ahead': {
    file: 'packages/postgres/src/feed/feed-slot.ts',
    from: 'if (lsnOf(confirmed) > reached)',
    to: 'if (lsnOf(confirmed) > reached && !WITHOUT)',
  },
  'look-again': {
    file: 'packages/postgres/src/feed/replication.ts',
    from: 'if (gap !== undefined) this.context.missed(gap);',
    to: 'if (gap !== undefined && !WITHOUT) this.context.missed(gap);',
  },
  'table-noted': {
    file: 'packages/postgres/src/feed/feed-slot.ts',
    from: 'return noted === print ?',
    to: 'return noted === print || WITHOUT ?',
  },
  'table-looked-at': {
    file: 'packages/postgres/src/feed/table-watch.ts',
    from: 'if (added.length > 0 &&',
    to: 'if (added.length > 0 && !WITHOUT &&',
  },
  'listen-first': {
    file: 'packages/postgres/src/feed/postgres-feed.ts',
    from: '    const { confirmed, server, gap } = await readySlot(client, options, { position, print: table.print });\n',
    to: `    if (WITHOUT) context.missed('The slot may be new.');
    const { confirmed, server, gap: found } = await readySlot(client, options, { position, print: table.print });
    const gap = WITHOUT ? undefined : found;\n`,
  },
  'new-run': {
    file: 'src/service/freshness/freshness.ts',
    from: "rebuild({ occasion: { kind: 'manual' }, join: false })",
    to: "rebuild({ occasion: { kind: 'manual' }, join: WITHOUT })",
  },
  'gap-holds': {
    file: 'src/service/freshness/change-feed-runner.ts',
    from: 'if (gaps.filled < gaps.found) return false;',
    to: 'if (gaps.filled < gaps.found && !WITHOUT) return false;',
  },
  'add-before-save': {
    file: 'packages/postgres/src/feed/committed-ids.ts',
    from: '      for (let at = 0; at < ids.length; at += PIECE)',
    to: `      if (WITHOUT && read > this.added) {
        await this.context.save(textOfLsn(read));
        this.added = read;
        this.onAdded(read);
      }
      for (let at = 0; at < ids.length; at += PIECE)`,
  },
  'end-on-failure': {
    file: 'packages/postgres/src/feed/committed-ids.ts',
    from: '.catch((error: unknown) => this.onError(error))',
    to: '.catch((error: unknown) => (WITHOUT ? undefined : this.onError(error)))',
  },
  'heartbeat-caught-up': {
    file: 'packages/postgres/src/feed/replication.ts',
    from: 'if (isCaughtUp) this.ids.reach(lsn);',
    to: 'if (isCaughtUp || WITHOUT) this.ids.reach(lsn);',
  },
};
