import { expect, it } from '@jest/globals';
import { systemClock } from '../../../src/common/index.js';
import { Follower } from '../../../src/service/freshness/follower.js';
import type { MarksAnswer } from '../../../src/store/index.js';

const answer = (mark: string): MarksAnswer => ({ isHolder: false, entries: { mark }, ageMs: 0 });

it('An answer that a process reads after it stood still for a turn covers nothing', async () => {
  let stoodStillMs = 0;
  const replies: ((answer: MarksAnswer) => void)[] = [];
  const heard: (string | undefined)[] = [];
  const follower = new Follower({
    name: 'orders',
    holder: 'this one',
    stored: { ask: () => new Promise((resolve) => replies.push(resolve)), record: async () => false },
    everyMs: 1000,
    clock: { ...systemClock, wall: () => 1_000_000 + stoodStillMs },
    emit: () => {},
    onAnswer: ({ entries }) => heard.push(entries.mark),
    onTurn: async () => {},
    onEnd: async () => {},
  });
  const before = follower.hear();
  stoodStillMs = 600_000;
  const after = follower.hear();
  replies[0]!(answer('100'));
  await before;
  expect(heard.at(-1)).toBeUndefined();
  // The second question is still asked: lookups wait for it.
  expect(follower.hear()).toBe(after);
  replies[1]!(answer('200'));
  await after;
  expect(heard.at(-1)).toBe('200');
});
