import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { quantile } from '../src/counters.js';
import type { BloomEvent } from 'nestjs-bloom';
import { eventLine } from '../src/event-text.js';
import { EventBoard } from '../src/event-board.js';
import { Rates } from '../src/rates.js';
import { Viewer } from '../src/viewer.js';
import { eventually } from '../../../test/support/eventually.js';

const reading = (id: string, at: number, absent: number) => ({
  id,
  at,
  counters: new Map([['absent', absent]]),
});

describe('Rates of several instances', () => {
  it('are known when an instance was read twice, and are added up', () => {
    const rates = new Rates();
    rates.observe([reading('a', 1000, 10), reading('b', 1000, 0)]);
    expect(rates.of('absent')).toBeUndefined();
    rates.observe([reading('a', 2000, 30), reading('b', 3000, 8)]);
    expect(rates.of('absent')).toBe(20 + 4);
    expect(rates.ofInstance('b', 'absent')).toBe(4);
    expect(rates.of('nothing')).toBe(0);
  });

  it('stay while an instance has not reported again, and go with it', () => {
    const rates = new Rates();
    rates.observe([reading('a', 1000, 0), reading('b', 1000, 0)]);
    rates.observe([reading('a', 2000, 5), reading('b', 2000, 7)]);
    rates.observe([reading('a', 2000, 5), reading('b', 3000, 7)]);
    expect(rates.of('absent')).toBe(5);
    rates.observe([reading('b', 4000, 8)]);
    expect(rates.of('absent')).toBe(1);
  });

  it('begin anew with a count that fell, and survive a clock that was set back', () => {
    const rates = new Rates();
    rates.observe([reading('a', 1000, 1000)]);
    rates.observe([reading('a', 2000, 3)]);
    expect(rates.of('absent')).toBe(3);
    rates.observe([reading('a', 500, 4)]);
    expect(rates.of('absent')).toBe(3);
    rates.observe([reading('a', 1500, 6)]);
    expect(rates.of('absent')).toBe(2);
  });
});

describe('A quantile of a histogram', () => {
  it.each([
    [[0, 0, 0], undefined],
    [[10, 0, 0], 0.95],
    [[0, 10, 0], 9.55],
    [[0, 0, 10], 10],
    [[90, 10, 0], 5.5],
  ])('of %j is %p', (counts, expected) => {
    const found = quantile(0.95, { bounds: [1, 10], counts });
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(expected);
  });
});

describe('The events that the dashboard shows', () => {
  it('quote no id and no error', () => {
    const board = new EventBoard();
    const error = new Error('the id 4711');
    board.note({
      type: 'wrong-absent',
      filter: 'f',
      id: '4711',
      method: 'm',
      wrongAbsents: 1,
      absents: 2,
      distrusted: true,
    });
    board.note({ type: 'invalid-id', filter: 'f', error, method: 'm' });
    board.note({ type: 'ids-skipped', filter: 'f', skipped: 1, example: "'4711'", error });
    board.note({ type: 'rebuild-failed', filter: 'f', error });
    board.note({ type: 'store-error', filter: 'f', operation: 'add', error });
    board.note({ type: 'filter-missing', filter: '4711', method: 'm', error });
    board.note({ type: 'top-up-failed', filter: 'f', error });
    board.note({ type: 'mark-moved-back', filter: 'f', mark: '4711', to: '4711', reason: 'after 4711' });
    board.note({ type: 'feed-failed', filter: 'f', error });
    board.note({ type: 'feed-gap', filter: 'f', reason: 'after 4711' });
    expect(board.all()).toHaveLength(10);
    expect(JSON.stringify(board.all())).not.toContain('4711');
  });

  it('are told in a sentence, however few there are of something', () => {
    const text = (event: BloomEvent) => eventLine(event, 0)!.text;
    const filter = 'f';
    expect([
      text({ type: 'copy-leased', filter }),
      text({ type: 'copy-unleased', filter, reason: 'The lease has ended.' }),
      text({ type: 'adds-delayed', filter, times: 1, ms: 5 }),
      text({ type: 'mark-moved-back', filter, mark: '7', to: undefined, reason: '' }),
      text({ type: 'circuit-closed', rejected: 1 }),
      text({ type: 'overfull', filter, count: 1, capacity: 1, modelledErrorRate: 1, remedy: 'Rebuild it.' }),
      text({ type: 'failed-adds', filter, ids: 1, capacity: 1, method: 'A.b' }),
      text({ type: 'rebuild-started', filter, capacity: 1, bytes: 1, waitMs: 0 }),
      text({ type: 'ids-skipped', filter, skipped: 1, example: 'x', error: undefined }),
      text({ type: 'rebuild-finished', filter, ids: 1, distinctIds: 1, durationMs: 1.4 }),
      text({ type: 'add-queued', filter, queued: 1, error: undefined }),
      text({ type: 'add-queued', filter, queued: 1234, error: undefined }),
    ]).toEqual([
      'This process answers "absent" from its copy.',
      'This process confirms absent ids with Redis until its copy has a lease again. The lease has ended.',
      expect.stringMatching(/^Adds of this process waited 1 time within a minute for half a lease or longer/),
      'The mark of topUp is gone until the next rebuild has set one. The log says why.',
      'Redis answers again; 1 lookup went through unchecked.',
      'It holds 1 id and is planned for 1. Rebuild it.',
      'This process has added 1 id for calls that failed, the last one of A.b.',
      'A rebuild has started, for 1 id.',
      'The build left out 1 id of the source that cannot be added. The log has an example.',
      'Rebuilt with 1 id in 1 ms.',
      '1 id could not be added yet.',
      '1,234 ids could not be added yet.',
    ]);
  });

  it('are few of one kind, and bounded in number', () => {
    const board = new EventBoard();
    for (let at = 0; at < 999; at++) board.note({ type: 'connection-error', error: undefined }, at);
    expect(board.all()).toHaveLength(1);
    board.note({ type: 'connection-error', error: undefined }, 2000);
    expect(board.all()[1]).toMatchObject({ number: 2, text: expect.stringContaining('(and 998 more)') });
    for (let at = 0; at < 1000; at++) board.note({ type: 'circuit-closed', rejected: at }, at);
    expect(board.all()).toHaveLength(200);
    expect(board.takeFresh()).toHaveLength(200);
    expect(board.takeFresh()).toEqual([]);
  });
});

describe('A page that does not read its stream', () => {
  it('is skipped and then let go', async () => {
    const viewers: Viewer[] = [];
    let closed = 0;
    const server = createServer((message, response) => {
      const exchange = { request: message as never, message, response };
      viewers.push(
        new Viewer(exchange, { filter: undefined, canAct: false, now: 0, onClose: () => closed++ }),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    socket.pause();
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually('it is open', () => viewers.length === 1);
    const [viewer] = viewers;
    viewer!.needsBacklog = false;
    expect(viewer!.isReady(0)).toBe(true);
    // More than the buffers of both sockets hold.
    viewer!.send('tick', 'x'.repeat(50_000_000));
    for (let tick = 0; tick < 10; tick++) expect(viewer!.isReady(0)).toBe(false);
    expect(viewer!.needsBacklog).toBe(true);
    expect(closed).toBe(0);
    expect(viewer!.isReady(0)).toBe(false);
    await eventually('it is let go', () => closed === 1);
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
});
