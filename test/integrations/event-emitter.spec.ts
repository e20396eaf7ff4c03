import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { BloomConfigError, type BloomEventOf, BloomService } from 'nestjs-bloom';
import {
  BloomEventEmitterModule,
  type BloomEventEmitterOptions,
} from '../../src/integrations/event-emitter/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { products, shop } from './support/shop.js';

@Injectable()
class Listener {
  readonly heard: string[] = [];
  readonly finished: BloomEventOf<'rebuild-finished'>[] = [];

  @OnEvent('bloom.*')
  onAny(this: Listener, { type }: { type: string }) {
    this.heard.push(type);
  }

  @OnEvent('bloom.rebuild-finished')
  onFinished(event: BloomEventOf<'rebuild-finished'>) {
    this.finished.push(event);
  }
}

let running: Awaited<ReturnType<typeof startContext>> | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

async function start(options?: BloomEventEmitterOptions, filter: object = products) {
  const { imports, providers } = shop({ filters: [filter as typeof products] });
  running = await startContext({
    imports: [
      ...imports,
      EventEmitterModule.forRoot({ wildcard: true }),
      BloomEventEmitterModule.forRoot(options),
    ],
    providers: [...providers, Listener],
  });
  return running;
}

describe('BloomEventEmitterModule', () => {
  it('emits every event under its type, for listeners of one and of all', async () => {
    const app = await start();
    await app.get(BloomService).filter('products').rebuild();
    const { finished, heard } = app.get(Listener);
    expect(finished).toMatchObject([{ type: 'rebuild-finished', filter: 'products', ids: 50 }]);
    expect(heard).toEqual(
      expect.arrayContaining(['rebuild-started', 'rebuild-progress', 'rebuild-finished']),
    );
  });

  it('keeps what is reported before the listeners are known', async () => {
    const app = await start({}, { ...products, rebuild: { onBoot: 'always', drainMs: 0 } });
    await eventually('the first build is heard of', () => app.get(Listener).finished.length === 1);
    expect(app.get(Listener).heard).toContain('rebuild-started');
  });

  it('takes another prefix', async () => {
    const app = await start({ prefix: 'filters:' });
    const heard: unknown[] = [];
    app.get(EventEmitter2).on('filters:rebuild-finished', (event) => heard.push(event));
    await app.get(BloomService).filter('products').rebuild();
    expect(heard).toHaveLength(1);
    expect(app.get(Listener).heard).toEqual([]);
  });

  it('goes on when a listener throws', async () => {
    const app = await start();
    app.get(EventEmitter2).on('bloom.rebuild-started', () => {
      throw new Error('a listener of the application');
    });
    const { outcome } = await app.get(BloomService).filter('products').rebuild();
    expect(outcome).toBe('published');
    expect(app.get(Listener).finished).toHaveLength(1);
  });

  it('says what is missing without EventEmitterModule', async () => {
    const starting = startContext({ imports: [...shop().imports, BloomEventEmitterModule.forRoot()] });
    await expect(starting).rejects.toThrow(
      /Import EventEmitterModule\.forRoot\(\) of @nestjs\/event-emitter/,
    );
  });

  it('refuses options that cannot work', () => {
    expect(() => BloomEventEmitterModule.forRoot({ prefix: 7 } as never)).toThrow(BloomConfigError);
    expect(() => BloomEventEmitterModule.forRoot({ prefx: 'a' } as never)).toThrow(/prefx/);
  });
});
