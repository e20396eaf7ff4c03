import type { BloomEventListener } from '../common/index.js';
import type { BoardMode } from '../store/index.js';
import type { BloomGuardMode } from './guard-counts.js';
import type { GuardState } from './guard-state.js';
import type { BloomSharedMode } from './instances.js';

const MODES: readonly unknown[] = ['on', 'shadow', 'off'] satisfies BloomGuardMode[];

export function isGuardMode(mode: unknown): mode is BloomGuardMode {
  return MODES.includes(mode);
}

/** The mode of all processes, as this process has heard it last. */
export class SharedMode {
  /** The last record that was applied. */
  known: BoardMode | undefined;
  /** What the process returns to when the mode of all is withdrawn. */
  private own: BloomGuardMode;

  constructor(
    private readonly filter: string,
    private readonly guarding: Pick<GuardState, 'mode'>,
    private readonly emit: BloomEventListener,
  ) {
    this.own = guarding.mode;
  }

  /** Applies a record that is later than the one before; a mode of which this version knows nothing changes nothing. */
  apply(record: BoardMode | undefined): void {
    const { known, guarding } = this;
    if (!record || (known && record.at <= known.at)) return;
    if (record.mode !== undefined && !isGuardMode(record.mode)) return;
    this.known = record;
    const wasShared = known?.mode !== undefined;
    // What the application has set itself since the record before is the process's own.
    const isOwn = !wasShared || guarding.mode !== known.mode;
    if (isOwn) this.own = guarding.mode;
    if (record.mode === undefined && !wasShared) return;
    if (record.mode !== undefined) guarding.mode = record.mode;
    else if (!isOwn) guarding.mode = this.own;
    this.emit({
      type: 'mode-changed',
      filter: this.filter,
      mode: guarding.mode,
      by: record.by,
      at: new Date(record.at),
      ...(record.mode === undefined && { withdrawn: true }),
    });
  }
}

/** Undefined where nobody has set a mode for all. */
export function sharedModeOf(record: BoardMode | undefined): BloomSharedMode | undefined {
  if (!record || !isGuardMode(record.mode)) return undefined;
  return { mode: record.mode, by: record.by, at: new Date(record.at) };
}
