import type { BloomFilterState } from 'nestjs-bloom/store';

export const OTHER_RUN =
  'The server restarted or failed over since this generation went live: a process takes it out of service as suspect at its next look, unless it ' +
  'has trustAfterFailover.';

export const KEY_DAMAGED =
  'A key of the filter is gone or damaged: the next lookup of an application takes it out of service as lost.';

export const COUNTS_NOT_BELIEVED = 'The numbers of the last build were changed since; they count as 0.';

export const noMetadata = (key: string) =>
  `There are no metadata at '${key}': the filter was never built, or it has another name, keyPrefix or database.`;

export const formatTooNew = (found: string, supported: string) =>
  `The filter is stored in format ${found}, and this version knows ${supported}: upgrade nestjs-bloom.`;

export const metadataNonsense = (fault: string) =>
  `The metadata are not valid (${fault}): the next process that looks takes the filter out of service as lost.`;

export const NOTES: Readonly<Record<BloomFilterState, string | undefined>> = {
  ready: undefined,
  unbuilt: 'No generation has gone live yet: every lookup goes through.',
  lost: 'Keys were gone or damaged: every lookup goes through until it is rebuilt.',
  suspect:
    'The server restarted or failed over, or a process distrusts the filter: every lookup goes through until it is rebuilt.',
};

export const notAnswering = (state: string) => `The filter is ${state}.`;

export const askApplication = (layout: string) =>
  `From Redis alone a filter of layout '${layout}' cannot be asked for this id: ask with --app.`;

export const idTooLong = (maxIdBytes: number) =>
  `The id is longer than maxIdBytes, ${maxIdBytes}: add() rejects it.`;

/** Bits of an id. */
export interface BitsOfId {
  readonly hashCount?: number | undefined;
  /** Whether it is one bit that no other id has. */
  readonly isOwnBit?: boolean;
  /** Which block, where one is known. */
  readonly place?: string | undefined;
}

const printedBits = ({ hashCount, place }: BitsOfId) =>
  `${hashCount === undefined ? 'bits' : `${hashCount} bits`}${place === undefined ? '' : ` in ${place}`}`;

const ownBit = ({ place }: BitsOfId) => `The bit in ${place}, which no other id has,`;

export const someBitsMissing = (bits: BitsOfId, generation: string) =>
  `${bits.isOwnBit ? `${ownBit(bits)} is not set` : `Not all of its ${printedBits(bits)} are set`}: it was not added to generation ${generation}, and no row had it when that was built.`;

export const allBitsSet = (bits: BitsOfId) =>
  bits.isOwnBit
    ? `${ownBit(bits)} is set: it was added, or a row had it when the generation was built.`
    : `All of its ${printedBits(bits)} are set: it was added, or it is one of the few absent ids that pass.`;
