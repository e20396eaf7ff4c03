import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterReadinessWatcher } from '@nestjs/event-emitter';
import { type BloomEvent, OnBloomEvent } from 'nestjs-bloom';

@Injectable()
export class EventForwarder {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly listeners: EventEmitterReadinessWatcher,
  ) {}

  @OnBloomEvent()
  async forward(event: BloomEvent): Promise<void> {
    // Events of the start wait until the methods with @OnEvent are known.
    await this.listeners.waitUntilReady();
    this.emitter.emit(`bloom.${event.type}`, event);
  }
}
