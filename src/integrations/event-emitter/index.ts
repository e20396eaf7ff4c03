export { BloomEventEmitterModule, type BloomEventEmitterOptions } from './bloom-event-emitter.module.js';
