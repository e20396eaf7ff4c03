import {
  checkForeignOptions,
  checkForeignKey,
  checkStoredBits,
  type ForeignKeyOptions,
} from '../bits/foreign-key.js';

/** A filter of go-zero on the very key that go-zero uses. */
export interface GoZeroStoredLayout extends ForeignKeyOptions {
  readonly kind: 'go-zero';
  /** As given to `bloom.New`. */
  readonly key: string;
  /** As given to `bloom.New`: stored nowhere, and silently wrong if one side has another number. */
  readonly bits: number;
}

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGoZeroLayout(layout: GoZeroStoredLayout): void {
  checkForeignKey('key', layout.key);
  checkStoredBits(layout.bits);
  checkForeignOptions(layout);
}
