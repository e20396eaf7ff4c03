import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { BloomEventOf } from 'nestjs-bloom';

@Injectable()
export class Alarms {
  readonly heard: string[] = [];

  @OnEvent('bloom.not-ready')
  onNotReady({ filter, state }: BloomEventOf<'not-ready'>) {
    this.heard.push(`${filter} is ${state}`);
  }

  @OnEvent('bloom.rebuild-finished')
  onFinished({ filter, ids }: BloomEventOf<'rebuild-finished'>) {
    this.heard.push(`${filter} was built of ${ids} ids`);
  }
}
