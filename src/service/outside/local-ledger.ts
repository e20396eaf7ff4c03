import type {
  LedgerAnswer,
  LedgerEntries,
  LedgerNote,
  LedgerQuestion,
  OutsideLedger,
} from '../../store/index.js';

/** Where no other process has the filter, or the store cannot tell it anything. */
export class LocalLedger implements OutsideLedger {
  private entries: LedgerEntries = {};
  private holder: string | undefined;
  private at: number | undefined;

  async ask({ holder, lifeMs }: LedgerQuestion): Promise<LedgerAnswer> {
    if (lifeMs > 0) this.holder = holder;
    else if (this.holder === holder) this.holder = undefined;
    const ageMs = this.at === undefined ? undefined : performance.now() - this.at;
    return { isHolder: this.holder === holder && lifeMs > 0, entries: this.entries, ageMs };
  }

  async note({ holder, expectedMark, entries }: LedgerNote): Promise<boolean> {
    if (holder !== undefined && holder !== this.holder) return false;
    if (expectedMark !== undefined && expectedMark !== (this.entries.mark ?? '')) return false;
    const merged = Object.entries({ ...this.entries, ...entries }).filter(([, text]) => text !== '');
    this.entries = Object.fromEntries(merged) as LedgerEntries;
    if (holder !== undefined) this.at = performance.now();
    return true;
  }
}
