/** An application with a schedule of its own and jobs of filters, all of which would be noticed. */
export const SHOP_FILES = {
  'dist/package.json': '{ "type": "module" }',
  'dist/app.module.ts': `
    import { Injectable, Module } from '@nestjs/common';
    import { Interval, ScheduleModule, Timeout } from '@nestjs/schedule';
    import { BloomModule, uuid } from 'nestjs-bloom';

    const ids = (head, count) => Array.from({ length: count }, (_, i) => head + '-' + i);

    @Injectable()
    export class ProductIds {
      count() { return 10_000; }
      async *ids({ signal }) {
        if (process.env.SOURCE === 'broken') throw new Error('the table is gone');
        for (let page = 0; page < 10; page++) {
          signal.throwIfAborted();
          if (process.env.SOURCE === 'slow') await new Promise((resolve) => setTimeout(resolve, 300));
          if (process.env.SOURCE === 'hanging') await new Promise(() => setInterval(() => {}, 1000));
          if (process.env.SOURCE === 'empty') return;
          yield ids('p' + page, 1000);
        }
      }
    }

    @Injectable()
    export class Jobs {
      @Interval(20) every() { console.log('A JOB RAN'); }
      @Timeout(1) once() { console.log('A JOB RAN'); }
    }

    const user = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';
    const common = { capacity: 1000, errorRate: 1e-6 };
    @Module({
      imports: [
        ScheduleModule.forRoot(),
        BloomModule.forRoot(process.env.SHOP_REDIS ? { redis: process.env.SHOP_REDIS, timeoutMs: 2000, writeTimeoutMs: 10_000 } : {}),
        BloomModule.forFeature([
          { name: 'products', ...common, source: ProductIds, rebuild: { onBoot: 'always', cron: '* * * * * *', drainMs: 100 } },
          { name: 'users', ...common, normalize: uuid, source: { async *ids() { yield user; } }, rebuild: { drainMs: 0 } },
          { name: 'seen', ...common },
        ]),
      ],
      providers: [ProductIds, Jobs],
    })
    export class AppModule {}
  `,
  'dist/other.module.ts': `
    export { AppModule as ShopModule, Jobs } from './app.module.js';
  `,
  'dist/plain.module.ts': `
    import { Module } from '@nestjs/common';
    @Module({})
    export class PlainModule {}
  `,
  'dist/broken.module.ts': `
    import './gone.js';
  `,
  'dist/main.ts': 'console.log("THE APPLICATION RUNS");',
};
