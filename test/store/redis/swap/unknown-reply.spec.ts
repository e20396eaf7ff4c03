import { describe, expect, it } from '@jest/globals';
import { BloomUnavailableError } from 'nestjs-bloom';
import { coreLua } from '../../../../src/store/redis/index.js';
import { wordIn } from '../../../../src/store/redis/swap/rebuild-step.js';

describe('A reply of a script', () => {
  const [script] = Object.values(coreLua) as Parameters<typeof wordIn>[1][];

  it('is one of its words', () => {
    expect(wordIn(['OK', 'LEASE'], script!, Buffer.from('LEASE'))).toBe('LEASE');
  });

  it.each([Buffer.from('GAP'), 'GAP'])('is refused otherwise, and named as text', (reply) => {
    const act = () => wordIn(['OK', 'LEASE'], script!, reply);
    expect(act).toThrow(BloomUnavailableError);
    expect(act).toThrow("'GAP'");
  });
});
