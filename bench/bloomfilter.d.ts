/** npm `bloomfilter`, which has no types. */
declare module 'bloomfilter' {
  export class BloomFilter {
    static withTargetError(ids: number, errorRate: number): BloomFilter;
    add(id: string): void;
    test(id: string): boolean;
  }
}
