import { dropped, granted, NO_READER, withReader } from './leased-copies-changes.js';
import type { Safety } from './leased-copies-safeties.js';
import type { Grant, NextCopy, Reader, State } from './leased-copies-state.js';

type Take = (next: State, step: string) => void;
type Become = (next: Reader, step: string) => void;

const FRESH: Grant = { before: 0 };

/** What a reader does next, as long as the rules hold that it is made with. */
export function readerSteps(has: (safety: Safety) => boolean, announces: boolean) {
  return stepsOfReader;

  function stepsOfReader(state: State, reader: Reader, become: Become, take: Take, i: number): void {
    const { live, entries, feed } = state;
    const { copy, belief, renewal, acknowledged } = reader;
    const isOfFeed = copy?.feed === feed || !has('feed-identity');
    if (live && !copy) {
      const { generation, hasId } = live;
      if (has('number-before-load')) {
        const loading = { generation, hasId: false, applied: entries.length, feed, isLoading: true };
        const next = { ...reader, copy: loading, belief: FRESH, acknowledged: entries.length };
        take(granted(withReader(state, i, next), has), 'a reader takes a lease');
      } else {
        become(
          { ...reader, copy: { generation, hasId, applied: 0, feed, isLoading: true } },
          'a reader loads',
        );
      }
    }
    if (live && copy?.isLoading && copy.generation === live.generation && copy.feed === feed) {
      if (has('number-before-load')) {
        const loaded = { ...copy, hasId: copy.hasId || live.hasId, isLoading: false };
        become({ ...reader, copy: loaded, belief: sinceAsked(reader.belief) }, 'a reader has loaded');
      } else {
        const loaded = { ...copy, applied: entries.length, isLoading: false };
        const next = { ...reader, copy: loaded, belief: FRESH, acknowledged: entries.length };
        take(granted(withReader(state, i, next), has), 'a reader takes a lease');
      }
    }
    if (copy?.isLoading && copy.feed !== feed && !has('one-server')) {
      become({ ...reader, copy: { ...copy, isLoading: false } }, 'a reader has loaded from another server');
    }
    // The server puts a reader that it does not know on the list again, from what that one has applied.
    if (live && copy && !renewal && isOfFeed && (!copy.isLoading || has('number-before-load'))) {
      const isKnown = copy.generation === live.generation || reader.next?.staging === live.staging;
      if (isKnown || !has('tag-in-entry')) {
        const asked = { before: 0, number: entries.length };
        const next = { ...reader, renewal: asked, acknowledged: acknowledged ?? copy.applied };
        take(granted(withReader(state, i, next), has), 'a reader asks for a renewal');
      }
    }
    if (renewal) {
      if (copy && (copy.applied >= renewal.number || !has('renew-applied'))) {
        become({ ...reader, belief: sinceAsked(renewal), renewal: undefined }, 'a renewal counts');
      }
      become({ ...reader, renewal: undefined }, 'a renewal comes too late');
    }
    if (acknowledged !== undefined) {
      const applied = copy ? (isOfFeed ? copy.applied : -1) : entries.length;
      const number = has('ack-applied') ? applied : entries.length;
      if (number > acknowledged) become({ ...reader, acknowledged: number }, 'a reader acknowledges');
    }
    if (copy && copy.feed === feed && copy.applied < entries.length) {
      if (copy.applied < state.trimmed) {
        const next = has('gap-seen')
          ? dropped(reader)
          : { ...reader, copy: { ...copy, applied: state.trimmed } };
        become(next, 'a reader meets a gap');
        // A message may be there yet.
        applyEntry(state, reader, copy.applied, become);
      } else applyEntry(state, reader, copy.applied, become);
      // Messages before it are lost, or come later.
      if (!has('message-follows')) {
        for (let ahead = copy.applied + 1; ahead < entries.length; ahead++)
          applyEntry(state, reader, ahead, become);
      }
    }
    stepsOfNext(state, reader, become);
    if (belief) become({ ...reader, belief: undefined }, 'a lease ends for its reader');
    if (copy && !belief) become({ ...NO_READER, acknowledged }, 'a reader drops its copy');
    if (acknowledged !== undefined && !belief && !renewal) {
      become({ ...reader, acknowledged: undefined }, 'the list drops a reader');
    }
  }

  /** The waits that began since a lease was asked for go on until that lease is over. */
  function sinceAsked(grant: Grant | undefined): Grant | undefined {
    return grant && (has('before-asking') ? { before: grant.before } : FRESH);
  }

  /** A reader makes a copy of the staging beside the one from which it answers. */
  function stepsOfNext({ staging, isAnnounced, build }: State, reader: Reader, become: Become): void {
    const { copy, next } = reader;
    if (!announces || !copy || copy.isLoading || staging === undefined) return;
    if (next?.staging !== build.runsLeft && (isAnnounced || !has('announced-first'))) {
      const begun = { staging: build.runsLeft, hasId: false, isLoading: true };
      become({ ...reader, next: begun }, 'a reader begins to copy a staging');
    }
    if (next?.isLoading && next.staging === build.runsLeft) {
      const loaded = { ...next, hasId: next.hasId || staging, isLoading: false };
      become({ ...reader, next: loaded }, 'a reader has copied a staging');
    }
  }

  /** Entries that were applied before change nothing, however often they come. */
  function applyEntry({ entries }: State, reader: Reader, at: number, become: Become) {
    const copy = reader.copy!;
    const { generation, isAdd, staging } = entries[at]!;
    const applied = at + 1;
    const isForNext = isAdd && staging !== undefined && reader.next?.staging === staging;
    const next = reader.next && { ...reader.next, hasId: reader.next.hasId || isForNext };
    if (generation === copy.generation) {
      const hasId = copy.hasId || isAdd;
      become({ ...reader, copy: { ...copy, hasId, applied }, next }, 'a reader applies an entry');
    } else if (next && follows(next, staging)) {
      const { hasId } = next;
      const successor = { ...copy, generation, hasId, applied, isLoading: false };
      become({ ...reader, copy: successor, next: undefined }, 'a reader goes on with its next copy');
    } else if (has('tag-in-entry')) become(dropped(reader), 'a reader meets another generation');
    else become({ ...reader, copy: { ...copy, applied }, next }, 'a reader passes an entry over');
  }

  function follows(next: NextCopy, staging: number | undefined): boolean {
    if (next.isLoading && has('next-whole')) return false;
    return staging !== undefined && (next.staging === staging || !has('next-of-swap'));
  }
}
